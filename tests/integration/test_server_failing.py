"""What a client of the server sees of a model that fails, and of the run once it works again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evals.openai_server import Server as ModelServer
from tests.integration.serving import ANSWERED, Server, asked, context, listed, serving
from tests.integration.test_cli_failing import GOOD, STEPS, researched

sdk = pytest.importorskip("langgraph_sdk", reason="the server extra is not installed")

pytestmark = pytest.mark.integration

FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "401": ({"error": 401}, "model_auth"),
    "500": ({"error": 500}, "model_unavailable"),
    "refusal": ({"refusal": "I cannot help with that."}, "model_refused"),
    "timeout": ({"hang": 30}, "model_timeout"),
    "empty": ({"reply": ""}, "answer_empty"),
}


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    """A model that answers every role well until a fault is put before that."""
    with ModelServer(GOOD) as server:
        yield server


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[Server]:
    """A server whose only model is that one."""
    home = tmp_path_factory.mktemp("failing")
    (home / "models.toml").write_text('default = "openai:gpt-4o"\n')
    with serving(home, **environment(home, model)) as server:
        yield server


def environment(home: Path, model: ModelServer) -> dict[str, str]:
    """Return the environment of a server whose only model is that one."""
    return {
        "DOSSIER_MODELS": str(home / "models.toml"),
        "DOSSIER_MODEL": "openai:gpt-4o",
        "OPENAI_API_KEY": "sk-none",
        "OPENAI_BASE_URL": model.url,
        "DOSSIER_RETRY_SECONDS": "0",
        "DOSSIER_CALL_SECONDS": "1",
    }


@pytest.fixture
async def client(failing: Server) -> AsyncIterator[Any]:
    """A client of that server."""
    async with sdk.get_client(url=failing.url, api_key=failing.token) as client:
        yield client


async def waited(client: Any, thread: str, **more: Any) -> Any:
    """Work on a thread to the end of the run, as `runs/wait` does; an error comes back as data."""
    choices = context(auto_accept=True, **more.pop("choices", {}))
    return await client.runs.wait(thread, "dossier", context=choices, raise_error=False, **more)


async def begun(client: Any, **choices: Any) -> tuple[str, Any]:
    thread = (await client.threads.create())["thread_id"]
    ended = await waited(client, thread, input=asked("How do bees live?"), choices=choices)
    return thread, ended


@pytest.mark.parametrize("fault", [*FAULTS])
async def test_a_run_whose_researchers_fail_shows_the_error_and_goes_on_when_they_work(
    client: Any, model: ModelServer, fault: str
):
    rule, code = FAULTS[fault]
    model.replace([{"match": "<step>", **rule}, *GOOD])

    thread, failed = await begun(client)
    state = await client.threads.get_state(thread)
    model.replace(GOOD)
    again = await waited(client, thread, input=None)

    assert failed["__error__"]["message"].startswith(f"error[{code}]: ")
    assert state["next"] == ["team"]
    assert state["tasks"][0]["error"].startswith("Problem(")
    assert again["status"] == "succeeded"
    assert again["report"]["cited"]
    assert {*researched(model)} == {*STEPS}


async def test_a_stream_of_a_run_that_fails_ends_in_the_error(client: Any, model: ModelServer):
    model.replace([{"schema": "Triage", "error": 401}, *GOOD])
    thread = (await client.threads.create())["thread_id"]
    question = asked("How do bees live?")

    parts = client.runs.stream(
        thread, "dossier", input=question, context=context(auto_accept=True), stream_mode="updates"
    )
    last = [part async for part in parts][-1]

    assert last.event == "error"
    assert "error[model_auth]" in last.data["message"]
    assert (await client.threads.get(thread))["status"] == "error"


@pytest.mark.parametrize(
    "rule",
    [
        {"match": f"<step>\n{STEPS[1]}", "error": 500},
        {"system": "You write the report", "error": 500},
    ],
)
async def test_a_run_of_which_a_part_failed_says_so_first_and_that_part_can_be_repeated(
    client: Any, model: ModelServer, rule: dict[str, Any]
):
    model.replace([rule, *GOOD])

    thread, part = await begun(client)
    model.replace(GOOD)
    whole = await waited(client, thread, input=None)

    assert part["status"] == "partial"
    first = part["report"]["notices"][0]
    assert first.startswith("Partial: the model failed: the model's server could not be reached")
    assert first.endswith("running this thread again without an input.")
    assert first in part["messages"][-1]["content"].split("\n\n")[1]
    assert whole["status"] == "succeeded"
    assert {*researched(model)} <= {STEPS[1]}
    assert not [call for call in model.log if "Draft" in str(call.body.get("response_format"))]


async def test_a_run_at_its_limit_does_the_rest_when_its_context_allows_more(
    client: Any, model: ModelServer
):
    model.replace(GOOD)

    thread, capped = await begun(client, max_calls=4)
    same = await waited(client, thread, input=None, choices={"max_calls": 4})
    whole = await waited(client, thread, input=None, choices={"max_calls": 100})

    assert capped["status"] == "partial"
    assert capped["report"]["limit"] == "max_calls = 4"
    assert "the run ended at its limit max_calls = 4" in same["__error__"]["message"]
    assert "limit" not in whole["report"]
    assert whole["status"] == "succeeded"


async def until(reached: Callable[[], bool]) -> None:
    """Wait until something is so, a minute at most.

    Raises:
        AssertionError: If it never is.
    """
    for _ in range(600):
        if reached():
            return
        await asyncio.sleep(0.1)
    raise AssertionError(reached)


def has_ended(pid: int) -> bool:
    """Return whether a process of ours is no more, or waits to be forgotten."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def count_recorded(home: Path, run: str) -> int:
    """Return how many answers of models are recorded of a run."""
    with closing(sqlite3.connect(home / "dossier.db", timeout=20)) as file:
        recorded = "SELECT count(*) FROM calls WHERE run = ? AND kind = 'model'"
        return int(file.execute(recorded, [run]).fetchone()[0])


# The last test here: it stops the server of the others.
async def test_a_server_that_is_stopped_pauses_its_runs_and_goes_on_with_them_when_started_again(
    failing: Server, client: Any, model: ModelServer
):
    busy = {"match": f"<step>\n{STEPS[1]}", "error": 429, "headers": {"Retry-After": "60"}}
    model.replace([busy, *GOOD])
    thread = (await client.threads.create())["thread_id"]
    run, choices = f"{thread}-1", context(auto_accept=True)
    await client.runs.create(thread, "dossier", input=asked("How do bees live?"), context=choices)
    await until(lambda: {*researched(model)} == {*STEPS})
    await until(lambda: count_recorded(failing.home, run) == len(model.log) - 1)
    answered = [json.dumps(call.body) for call in model.log if STEPS[1] not in str(call.body)]

    os.kill(failing.pid, signal.SIGTERM)
    await until(lambda: has_ended(failing.pid))
    stopped = await listed(failing, thread)
    model.replace(GOOD)
    with serving(failing.home, **environment(failing.home, model)) as again:
        async with sdk.get_client(url=again.url, api_key=again.token) as later:
            (served,) = await later.runs.list(thread)
            await later.runs.join(thread, served["run_id"])
        ended = await listed(again, thread)

    assert stopped == {run: "paused"}
    assert ended[run] in ANSWERED
    assert answered
    assert not {json.dumps(call.body) for call in model.log} & {*answered}
