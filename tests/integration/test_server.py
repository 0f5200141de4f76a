"""The LangGraph development server, driven as a client drives it."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import httpx
import pytest

from evals.openai_server import Server as ModelServer
from tests.collector import Collector, SentSpan
from tests.integration.serving import (
    ANSWERED,
    ROOT,
    Server,
    asked,
    context,
    dossier,
    listed,
    reviewed,
)

pytest.importorskip("langgraph_sdk", reason="the server extra is not installed")

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("graph", ["dossier", "recall"])
async def test_studio_can_draw_each_graph_and_its_forms(client: Any, graph: str):
    (assistant,) = await client.assistants.search(graph_id=graph)

    drawn = await client.assistants.get_graph(assistant["assistant_id"], xray=True)
    schemas = await client.assistants.get_schemas(assistant["assistant_id"])

    assert len(drawn["nodes"]) > 4
    assert "max_steps" in schemas["context_schema"]["properties"]
    assert schemas["state_schema"]["properties"]


async def test_a_run_pauses_at_the_plan_with_a_schema_for_the_answer_and_resumes(client: Any):
    thread, result = await reviewed(client)

    (pause,) = result["__interrupt__"]
    assert pause["value"]["action_requests"][0]["args"]["step_1"]
    assert "decisions" in str(pause["response_schema"])
    resume = {"resume": {"decisions": [{"type": "approve"}]}}
    state = await client.runs.wait(thread, "dossier", command=resume, context=context())

    assert state["status"] == "succeeded"
    assert state["report"]["cited"]


async def test_a_collector_is_told_of_the_sessions_of_a_run_as_the_ledger_has_them(
    client: Any, server: Server, span_collector: Collector
):
    thread, _ = await reviewed(client)
    resume = {"resume": {"decisions": [{"type": "approve"}]}}
    await client.runs.wait(thread, "dossier", command=resume, context=context())

    spans = await _wait_for_sessions(span_collector, thread, 2)

    first, second = sorted((one for one in spans if not one.parent), key=lambda one: one.started)
    assert first.attributes["dossier.status"] == "waiting_review"
    assert second.attributes["dossier.status"] == "succeeded"
    assert second.links == [(first.trace, first.id)]
    ids = {one.id for one in spans}
    assert all(not one.parent or one.parent in ids for one in spans)
    shown = json.loads((await dossier(server, "runs", "show", f"{thread}-1", "--json")).stdout)
    made = [one.attributes for one in spans if "dossier.attempt" in one.attributes]
    assert len(made) == shown["spent"]["calls"]
    read = sum(one["gen_ai.usage.input_tokens"] for one in made)
    assert read == shown["spent"]["tokens_in"]


async def _wait_for_sessions(told: Collector, thread: str, count: int) -> list[SentSpan]:
    """Return the spans of a thread when so many sessions have ended."""
    for _ in range(100):
        its = [span for span in told.spans if span.attributes["gen_ai.conversation.id"] == thread]
        if sum(not span.parent for span in its) >= count:
            return its
        await asyncio.sleep(0.1)
    pytest.fail("the sessions were not told")


async def test_an_answer_of_the_wrong_shape_leaves_the_review_waiting(client: Any):
    thread, _ = await reviewed(client)

    wrong = {"resume": {"decisions": [{"type": "shrug"}]}}
    refused = await client.runs.wait(thread, "dossier", command=wrong, context=context())
    right = {"resume": {"decisions": [{"type": "approve"}]}}
    state = await client.runs.wait(thread, "dossier", command=right, context=context())

    assert "bad_feedback" in refused["__interrupt__"][0]["value"]["note"]
    assert state["status"] == "succeeded"


async def test_every_stream_mode_that_clients_use_arrives(client: Any):
    thread = (await client.threads.create())["thread_id"]
    modes = ["values", "updates", "messages-tuple", "custom"]
    seen: set[str] = set()
    stream = client.runs.stream(
        thread, "dossier", input=asked(), context=context(auto_accept=True), stream_mode=modes
    )
    tokens = ""
    async for part in stream:
        seen.add(part.event)
        if part.event == "messages":
            tokens += str(part.data[0]["content"])

    assert {"values", "updates", "messages", "custom"} <= seen
    assert "error" not in seen
    assert '"research"' not in tokens


async def test_history_can_be_forked_and_run_again(client: Any):
    thread = (await client.threads.create())["thread_id"]
    accepted = context(auto_accept=True)
    await client.runs.wait(thread, "dossier", input=asked(), context=accepted)
    history = await client.threads.get_history(thread, limit=50)
    before = next(state for state in history if "reporter" in state["next"])

    again = await client.runs.wait(
        thread, "dossier", checkpoint=before["checkpoint"], input=None, context=accepted
    )

    assert again["status"] == "succeeded"
    assert len(await client.threads.get_history(thread, limit=50)) > len(history)


async def test_a_run_can_be_cancelled_and_the_thread_used_again(client: Any):
    thread = (await client.threads.create())["thread_id"]
    run = await client.runs.create(
        thread, "dossier", input=asked(), context=context(auto_accept=True)
    )
    await client.runs.cancel(thread, run["run_id"], wait=True)

    state = await client.runs.wait(
        thread, "dossier", input=asked(), context=context(auto_accept=True)
    )

    assert state["status"] == "succeeded"


async def test_a_second_run_on_a_busy_thread_is_refused(client: Any):
    thread = (await client.threads.create())["thread_id"]
    accepted = context(auto_accept=True)
    run = await client.runs.create(thread, "dossier", input=asked(), context=accepted)

    with pytest.raises(Exception, match="already running"):
        await client.runs.create(
            thread, "dossier", input=asked(), context=accepted, multitask_strategy="reject"
        )

    await client.runs.join(thread, run["run_id"])


async def test_the_recall_graph_answers_from_what_was_read(client: Any):
    question = asked("What did Ebbinghaus measure?")
    state = await client.runs.wait(None, "recall", input=question)

    assert "Ebbinghaus" in state["notes"]
    assert state["pages"]


async def test_a_bad_choice_is_told_by_name(client: Any):
    thread = (await client.threads.create())["thread_id"]
    run = await client.runs.create(
        thread, "dossier", input=asked(), context=context(max_steps=1000)
    )
    result = await client.runs.join(thread, run["run_id"])
    ended = await client.runs.get(thread, run["run_id"])

    assert ended["status"] == "error"
    assert "max_steps" in str(result)


@pytest.mark.parametrize(
    ("choice", "told"),
    [({"max_setps": 2}, "did you mean max_steps"), ({"search": ["ask"]}, "unknown_provider")],
)
async def test_a_choice_that_nobody_knows_is_not_passed_over(client: Any, choice: Any, told: str):
    thread = (await client.threads.create())["thread_id"]

    result = await client.runs.wait(
        thread, "dossier", input=asked(), context=context(**choice), raise_error=False
    )

    assert told in str(result)


def _wait_for_a_call(model: ModelServer) -> None:
    while not model.log:
        time.sleep(0.05)


async def test_the_command_line_lists_the_runs_of_the_server(client: Any, server: Server):
    thread, _ = await reviewed(client)

    assert await listed(server, thread) == {f"{thread}-1": "waiting_review"}


async def test_a_person_uploads_asks_of_it_and_shares_the_report(client: Any, server: Server):
    async with (
        httpx.AsyncClient(base_url=server.url, timeout=120) as stranger,
        httpx.AsyncClient(
            base_url=server.url, headers={"x-api-key": server.token}, timeout=120
        ) as http,
    ):
        assert (await stranger.get("/api/health")).json() == {"status": "alive"}
        assert (await stranger.get("/api/ready")).json()["ready"]
        assert (await stranger.get("/api/uploads")).status_code == 401
        folder = (await http.post("/api/upload-folders", json={"name": "Memory"})).json()["id"]
        sent = {"name": "ebbinghaus.md", "folder": folder}
        text = (ROOT / "examples" / "docs" / "ebbinghaus.md").read_bytes()
        upload = (await http.post("/api/uploads", params=sent, content=text)).json()
        assert upload["received"] == len(text)
        thread = (await client.threads.create())["thread_id"]
        chosen = context(auto_accept=True, files=[folder])
        question = asked("What did Ebbinghaus measure?")
        state = await client.runs.wait(thread, "dossier", input=question, context=chosen)
        assert state["status"] in ANSWERED, state
        (source,) = (await http.get(f"/api/reports/{thread}/sources")).json()
        assert source["location"].startswith("/ebbinghaus.md")
        shared = (await http.post(f"/api/reports/{thread}/shares", json={})).json()
        page = await stranger.get(shared["url"])
        assert "Ebbinghaus" in page.text
        assert str(server.home) not in page.text
        unknown = context(auto_accept=True, files=["upload-" + "0" * 24])
        failed = await client.runs.wait(
            None, "dossier", input=question, context=unknown, raise_error=False
        )
        assert "upload_not_found" in str(failed)


async def test_a_run_is_stopped_over_http(client: Any, server: Server, silent_model: ModelServer):
    silent_model.log.clear()
    silent = context(models={"default": "openai:gpt-4o"})
    thread = (await client.threads.create())["thread_id"]
    run = await client.runs.create(thread, "dossier", input=asked(), context=silent)
    await asyncio.to_thread(_wait_for_a_call, silent_model)

    async with httpx.AsyncClient(base_url=server.url, timeout=120) as http:
        http.headers["x-api-key"] = server.token
        told = (await http.post(f"/api/runs/{thread}/cancel")).json()

    assert told == {"run": f"{thread}-1", "cancelled": 1}
    await client.runs.join(thread, run["run_id"])
    assert (await listed(server, thread)) == {f"{thread}-1": "cancelled"}


async def test_the_report_of_a_run_is_served_in_a_format_to_whom_has_the_token(
    client: Any, server: Server
):
    thread = (await client.threads.create())["thread_id"]
    await client.runs.wait(thread, "dossier", input=asked(), context=context(auto_accept=True))
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as http:
        refused = await http.get(f"/reports/{thread}?format=docx")
        http.headers["x-api-key"] = server.token
        told = (await http.get(f"/reports/{thread}")).json()
        got = await http.get(f"/reports/{thread}?format=docx")
        described = (await http.get("/openapi.json")).json()

    assert refused.status_code == 401
    assert (told["thread"], told["status"]) == (thread, "succeeded")
    assert got.content.startswith(b"PK")
    assert got.headers["content-disposition"].startswith("attachment; ")
    assert "style" in str(described["paths"]["/reports/{run}"]["get"]["parameters"])


async def test_a_run_that_the_server_works_on_is_not_touched_from_the_command_line(
    client: Any, server: Server, silent_model: ModelServer
):
    silent_model.log.clear()
    silent = context(models={"default": "openai:gpt-4o"})
    thread = (await client.threads.create())["thread_id"]
    run = await client.runs.create(thread, "dossier", input=asked(), context=silent)
    await asyncio.to_thread(_wait_for_a_call, silent_model)

    stands = await listed(server, thread)
    refused = await dossier(server, "resume", f"{thread}-1")
    await client.runs.cancel(thread, run["run_id"], wait=True)

    assert stands == {f"{thread}-1": "running"}
    assert refused.returncode == 5
    assert b"run_in_progress" in refused.stderr
    assert await listed(server, thread) == {f"{thread}-1": "cancelled"}


async def test_a_question_asked_instead_of_a_decision_ends_the_waiting_run(
    client: Any, server: Server
):
    thread, _ = await reviewed(client)

    again = asked("What is the forgetting curve?")
    await client.runs.wait(thread, "dossier", input=again, context=context(auto_accept=True))

    stands = await listed(server, thread)
    assert stands.pop(f"{thread}-2") in ANSWERED
    assert stands == {f"{thread}-1": "cancelled"}


async def test_another_question_asked_of_an_earlier_state_is_a_run_of_its_own(
    client: Any, server: Server
):
    thread = (await client.threads.create())["thread_id"]
    accepted = context(auto_accept=True)
    await client.runs.wait(thread, "dossier", input=asked(), context=accepted)
    history = await client.threads.get_history(thread, limit=50)
    before = next(state for state in history if "__start__" in state["next"])

    again = asked("What is the forgetting curve?")
    state = await client.runs.wait(
        thread, "dossier", checkpoint=before["checkpoint"], input=again, context=accepted
    )

    assert state["question"] == "What is the forgetting curve?"
    stands = await listed(server, thread)
    assert sorted(stands) == [f"{thread}-1", f"{thread}-1.2"]
    assert all(status in ANSWERED for status in stands.values())


async def test_a_run_that_fails_on_the_server_is_listed_as_failed(client: Any, server: Server):
    thread = (await client.threads.create())["thread_id"]
    unknown = context(models={"default": "nobody:nothing"})

    await client.runs.wait(thread, "dossier", input=asked(), context=unknown, raise_error=False)

    assert await listed(server, thread) == {f"{thread}-1": "failed"}
