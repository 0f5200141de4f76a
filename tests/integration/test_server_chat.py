"""The development server as a chat page uses it: what a person reads, from question to report."""

from __future__ import annotations

import asyncio
import base64
import time
from typing import Any

import pytest

from evals.openai_server import Server as ModelServer
from tests.chat_page import ChatPage
from tests.integration.serving import (
    ANSWERED,
    APPROVE,
    Server,
    asked,
    context,
    dossier,
    listed,
    reviewed,
)

pytest.importorskip("langgraph_sdk", reason="the server extra is not installed")

pytestmark = pytest.mark.integration

MODES = ["values", "messages-tuple", "updates", "custom"]
FOLLOW_UP = "What did Ebbinghaus measure?"


async def shown(client: Any, thread: str, *, subgraphs: bool = True, **more: Any) -> ChatPage:
    """Return what a chat page has shown of a run."""
    page = ChatPage()
    stream = client.runs.stream(
        thread, "dossier", stream_mode=MODES, stream_subgraphs=subgraphs, **more
    )
    async for part in stream:
        assert part.event != "error", part.data
        page.take(part.event, part.data or {})
    return page


def edit(**args: object) -> dict[str, Any]:
    """Return the command that a chat page sends for the fields a person has typed into."""
    action = {"name": "research_plan", "args": args}
    return {"resume": {"decisions": [{"type": "edit", "edited_action": action}]}}


async def test_a_chat_from_question_to_follow_up_reads_well(client: Any):
    thread = (await client.threads.create())["thread_id"]

    first = await shown(client, thread, input=asked(), context=context())
    (pause,) = first.interrupts
    fields = pause["value"]["action_requests"][0]["args"]
    added = "What does a trace in the brain do?\n   search: memory trace\n"
    changes = edit(**{**fields, "add_steps": added})
    edited = await shown(client, thread, command=changes, context=context())
    again = await shown(client, thread, input=asked(FOLLOW_UP), context=context())

    assert all(isinstance(value, str) for value in fields.values())
    assert fields["step_1"]
    assert [kind for kind, _ in first.screens[-1]] == ["human", "ai"]
    assert "Researching 2 of 2: What does a trace in the brain do?" in edited.seen
    assert [kind for kind, _ in edited.screens[-1]] == ["human", "ai"]
    report = edited.screens[-1][-1][1]
    assert "## Sources" in report
    assert "](#user-content-fn-1-1)" in report
    assert "[^1-1]: “" in report
    assert [kind for kind, _ in again.screens[-1]] == ["human", "ai", "human", "ai"]
    assert again.interrupts
    for page in (first, edited, again):
        assert "<question>" not in page.seen
        assert '"research"' not in page.seen


async def test_the_report_and_how_far_it_is_arrive_without_subgraphs(client: Any):
    thread, _ = await reviewed(client)

    page = await shown(client, thread, subgraphs=False, command=APPROVE, context=context())

    report = page.screens[-1][-1][1]
    growing = {text for screen in page.screens for kind, text in screen[-1:] if kind == "ai"}
    assert "Researching 1 of" in page.seen
    assert "Writing the report" in page.seen
    assert len(growing) > 10
    assert "## Sources" in report
    assert "Researching" not in report


@pytest.mark.parametrize("subgraphs", [True, False])
async def test_a_client_is_told_how_far_a_run_is(client: Any, subgraphs: bool):
    thread = (await client.threads.create())["thread_id"]
    stream = client.runs.stream(
        thread,
        "dossier",
        input=asked(),
        context=context(auto_accept=True),
        stream_mode="custom",
        stream_subgraphs=subgraphs,
    )
    told = [part.data async for part in stream if part.event.startswith("custom")]

    names = [one["event"] for one in told]
    assert names[0] == "understanding"
    assert names[-1] == "answered"
    assert {"searching", "found", "plan", "researching", "step_done", "writing"} <= set(names)
    assert {one["run"] for one in told} == {f"{thread}-1"}
    assert told[-1]["spent"]["calls"] > 0
    assert [one["seconds"] for one in told] == sorted(one["seconds"] for one in told)


async def test_a_page_that_is_reloaded_while_a_run_works_goes_on_with_its_stream(client: Any):
    thread, _ = await reviewed(client)
    whole = {"stream_mode": MODES, "stream_subgraphs": True, "stream_resumable": True}
    stream = client.runs.stream(
        thread, "dossier", command=APPROVE, context=context(), on_disconnect="continue", **whole
    )
    run, last = "", ""
    async for part in stream:
        run, last = run or part.data["run_id"], part.id
        if part.event.startswith("messages"):
            break
    await stream.aclose()

    page = ChatPage()
    now = await client.threads.get_state(thread)
    page.take("values", now["values"])
    async for part in client.runs.join_stream(thread, run, last_event_id=last):
        page.take(part.event, part.data or {})

    assert "Writing the report" in page.seen
    assert "## Sources" in page.screens[-1][-1][1]
    assert [kind for kind, _ in page.screens[-1]] == ["human", "ai"]


async def test_a_plan_that_was_changed_in_studio_goes_on(client: Any):
    thread, _ = await reviewed(client)
    plan = (await client.threads.get_state(thread))["values"]["plan"]
    step = {**plan["steps"][0], "title": "Ebbinghaus", "queries": ["Ebbinghaus"]}

    await client.threads.update_state(
        thread, {"plan": {**plan, "steps": [step]}}, as_node="planner"
    )
    stands = await client.threads.get_state(thread)
    await client.runs.wait(thread, "dossier", input=None, context=context())
    state = await client.runs.wait(thread, "dossier", command=APPROVE, context=context())

    assert stands["next"] == ["human_feedback"]
    assert state["status"] in ANSWERED
    assert [one["title"] for one in state["findings"].values()] == ["Ebbinghaus"]


def _wait_for_a_call(model: ModelServer) -> None:
    for _ in range(400):
        if model.log:
            return
        time.sleep(0.05)
    pytest.fail("the model was never asked")


async def test_a_run_that_is_cancelled_is_so_in_its_state_and_can_be_gone_on_with(
    client: Any, silent_model: ModelServer
):
    silent = context(models={"default": "openai:gpt-4o"}, auto_accept=True)
    thread = (await client.threads.create())["thread_id"]
    silent_model.log.clear()
    run = await client.runs.create(thread, "dossier", input=asked(), context=silent)
    await asyncio.to_thread(_wait_for_a_call, silent_model)
    await client.runs.cancel(thread, run["run_id"], wait=True)

    left = await client.threads.get_state(thread)
    state = await client.runs.wait(thread, "dossier", input=None, context=context(auto_accept=True))

    assert left["values"]["status"] == "cancelled"
    assert left["next"]
    assert state["status"] == "succeeded"


async def test_a_deleted_thread_leaves_no_run_no_page_no_trace_and_no_lock(
    client: Any, server: Server
):
    thread, _ = await reviewed(client)
    await client.runs.wait(thread, "dossier", command=APPROVE, context=context())
    kept = await dossier(server, "pages", "list", "--kind", "report", "--json")
    await client.threads.delete(thread)

    left = await dossier(server, "pages", "list", "--kind", "report", "--json")
    assert f"{thread}-1".encode() in kept.stdout
    assert thread.encode() not in left.stdout
    assert await listed(server, thread) == {}
    assert not [one for one in server.home.rglob(f"{thread}*") if ".langgraph" not in str(one)]


async def test_replies_name_no_command_of_the_terminal(client: Any):
    thread = (await client.threads.create())["thread_id"]
    told = await client.runs.wait(thread, "dossier", input=asked("I live in Bergen."))
    wrong = context(memory=["nowhere/at/all"], auto_accept=True)
    failed = await client.runs.wait(
        (await client.threads.create())["thread_id"],
        "dossier",
        input=asked(),
        context=wrong,
        raise_error=False,
    )

    assert told["messages"][-1]["content"].startswith("Noted")
    assert "dossier " not in told["messages"][-1]["content"]
    assert "`dossier" not in str(failed)


async def test_a_file_sent_in_the_chat_is_read_and_a_picture_is_named(client: Any, server: Server):
    told = "The harbour crane of Stavern lifts nine tonnes."
    data = base64.b64encode(told.encode()).decode()
    text = {"type": "file", "mimeType": "text/plain", "data": data, "metadata": {"name": "c.txt"}}
    photo = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    words = {"type": "text", "text": "What does the harbour crane of Stavern lift?"}
    said = {"messages": [{"role": "user", "content": [words, text, photo]}]}
    thread = (await client.threads.create())["thread_id"]

    page = await shown(client, thread, input=said, context=context(auto_accept=True))

    report = page.screens[-1][-1][1]
    assert "nine tonnes" in report
    assert "Not read: image.png (an image)." in report
    assert await asyncio.to_thread(_saying, server, data) == []
    history = await client.threads.get_history(thread, limit=50)
    assert data not in str(history)


def _saying(server: Server, words: str) -> list[str]:
    """Return the files of the data folder that hold some words, but those of the server itself."""
    files = [one for one in server.home.rglob("*") if one.is_file()]
    ours = [one for one in files if ".langgraph_api" not in str(one)]
    return [str(one) for one in ours if words.encode() in one.read_bytes()]


async def test_what_a_step_asks_is_shown_and_answered_as_a_plan_is(
    client: Any, silent_model: ModelServer
):
    asks = {"name": "ask_user", "args": {"question": "In which country?", "default": "Germany"}}
    silent_model.replace([{"answered": 0, "tool_calls": [asks]}, {"reply": "Nothing is known."}])
    choices = context(models={"researcher": "openai:gpt-4o"}, max_steps=1, max_reflections=0)
    thread = (await client.threads.create())["thread_id"]
    await shown(client, thread, input=asked(), context=choices)

    page = await shown(client, thread, command=APPROVE, context=choices)
    (pause,) = page.interrupts
    (request,) = pause["value"]["action_requests"]
    # The answer is typed into the field of a chat page.
    action = {"name": "ask_user", "args": {**request["args"], "answer": "Austria"}}
    decision = {"decisions": [{"type": "edit", "edited_action": action}]}
    end = await shown(client, thread, command={"resume": decision}, context=choices)
    told = [
        one.body["messages"]
        for one in silent_model.log
        if one.body["messages"][-1]["role"] == "tool"
    ]
    silent_model.replace([{"hang": 600}])

    assert request["args"] == {"question": "In which country?", "options": [], "answer": "Germany"}
    assert "q1. In which country?" in page.screens[-1][-1][1]
    assert "Austria" in told[0][-1]["content"]
    assert [kind for kind, _ in end.screens[-1]] == ["human", "ai"]
    assert not end.interrupts
