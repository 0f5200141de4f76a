"""A server runs and reads nothing of the folder that it is started in, and keeps no secret."""

from __future__ import annotations

import asyncio
import base64
import json
import pickle
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.integration.serving import ANSWERED, ROOT, Server, asked, context, serving

sdk = pytest.importorskip("langgraph_sdk", reason="the server extra is not installed")

pytestmark = pytest.mark.integration

CODE = ("app", "config", "graph", "nodes", "runs", "storage")
"""The packages of which a copy stands in the folder."""

SECRET = "hunter2-Zebra9"
ASKED = f"My password is {SECRET}. What did Ebbinghaus measure?"

NOTED = base64.b64encode(b"Ebbinghaus measured forgetting with syllables. " * 9).decode()

BETRAYAL = "import pathlib; pathlib.Path({mark!r}).write_text('run')\n"
"""Code that leaves a mark when it is run."""


class Pickled:
    """An object that leaves a mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, (BETRAYAL.format(mark=str(self.mark)),)


def cloned(folder: Path) -> None:
    """Make a folder that looks like a checkout, with its own configuration of a server."""
    for name in CODE:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "AGENTS.md"):
        shutil.copy(ROOT / name, folder / name)
    graphs = {name: f"{name}.py:graph" for name in ("dossier", "research", "theirs")}
    told = {"dependencies": ["."], "graphs": graphs, "http": {"app": "theirs.py:app"}}
    (folder / "langgraph.json").write_text(json.dumps(told))


def poisoned(folder: Path, mark: Path) -> None:
    """Put everything into a folder that a program started there might run or read."""
    betrayal = BETRAYAL.format(mark=str(mark))
    for name in ("graph", "langgraph_api", "starlette"):
        (folder / name).mkdir(exist_ok=True)
        file = folder / name / "__init__.py"
        file.write_text(betrayal + (file.read_text() if file.exists() else ""))
    for name in ("sitecustomize", "usercustomize", "dossier", "theirs", "httptools", "uvloop"):
        (folder / f"{name}.py").write_text(betrayal)
    settings = {"DOSSIER_HOME": folder / "theirs", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    lines = [f"{name}={value}" for name, value in settings.items()]
    (folder / ".env").write_text("\n".join([*lines, "DOSSIER_MODEL=openai:theirs", ""]))
    state = folder / ".langgraph_api"
    state.mkdir()
    for name in (".langgraph_ops", ".langgraph_checkpoint.1", ".langgraph_retry_counter", "store"):
        (state / f"{name}.pckl").write_bytes(pickle.dumps(Pickled(mark)))


def contents(folder: Path) -> dict[str, bytes]:
    every = (one for one in folder.rglob("*") if one.is_file())
    return {str(one.relative_to(folder)): one.read_bytes() for one in every}


def holding(home: Path) -> list[str]:
    every = (one for one in home.rglob("*") if one.is_file())
    return [
        one.name
        for one in every
        if any(told.encode() in one.read_bytes() for told in (SECRET, NOTED))
    ]


async def told(server: Server) -> Any:
    """Send a secret in by every way, and return what the last run says."""
    secret = f"my password is {SECRET}"
    accepted = context(auto_accept=True)
    async with sdk.get_client(url=server.url, api_key=server.token) as client:
        await client.assistants.create("dossier", metadata={"note": secret}, name=secret)
        await client.store.put_item(["notes"], "one", {"text": secret})
        thread = (await client.threads.create(metadata={"note": secret}))["thread_id"]
        await client.runs.wait(thread, "dossier", input=asked(ASKED), context=context())
        file = {
            "type": "file",
            "mimeType": "text/plain",
            "data": NOTED,
            "metadata": {"name": "n.txt"},
        }
        said = [{"type": "text", "text": "What does it say?"}, file]
        sent = {"messages": [{"role": "user", "content": said}]}
        await client.runs.wait(thread, "dossier", input=sent, context=context())
        reject = {"decisions": [{"type": "reject", "message": f"only 1885; {secret}"}]}
        await client.runs.wait(thread, "dossier", command={"resume": reject}, context=context())
        values = {"messages": [{"role": "user", "content": secret}]}
        await client.threads.update_state(thread, values, as_node="profile")
        again = (await client.threads.get_state(thread))["values"]["messages"]
        await client.runs.create(
            thread,
            "dossier",
            input={"messages": [*again, *asked(ASKED)["messages"]], "note": secret},
            context=accepted,
        )
        runs = await client.runs.list(thread)
        await client.runs.join(thread, runs[0]["run_id"])
        return await client.threads.get_state(thread)


async def chosen(server: Server) -> tuple[set[str], Any]:
    """Return the graphs that a server offers, and how a run of it ends."""
    async with sdk.get_client(url=server.url, api_key=server.token) as client:
        graphs = {one["graph_id"] for one in await client.assistants.search()}
        thread = (await client.threads.create())["thread_id"]
        choices = context(auto_accept=True)
        state = await client.runs.wait(thread, "dossier", input=asked(), context=choices)
    return graphs, state


class Ended(NamedTuple):
    """What a server did that was started in a hostile folder and sent secrets, and has ended."""

    home: Path
    folder: Path
    mark: Path
    before: dict[str, bytes]
    graphs: set[str]
    state: Any
    secret_state: Any


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """One server for all tests here, which takes seconds to start."""
    root = tmp_path_factory.mktemp("stranger")
    folder, home, mark = root / "there", root / "home", root / "mark"
    home.mkdir()
    cloned(folder)
    poisoned(folder, mark)
    before = contents(folder)
    with serving(home, folder) as server:
        graphs, state = asyncio.run(chosen(server))
        secret_state = asyncio.run(told(server))
    return Ended(home, folder, mark, before, graphs, state, secret_state)


def test_a_server_answers_and_touches_nothing_where_it_is_started(ended: Ended):
    assert ended.graphs == {"dossier", "research", "recall"}
    assert ended.state["status"] in ANSWERED
    assert not ended.mark.exists()
    assert contents(ended.folder) == ended.before
    assert (ended.home / "server").is_dir()


def test_a_secret_sent_by_any_way_and_a_file_are_in_no_file_and_the_person_is_told(ended: Ended):
    state = ended.secret_state

    # The server writes its own files when it ends.
    assert [*ended.home.glob("server/*/*/.langgraph_ops.pckl")]
    assert holding(ended.home) == []
    assert state["values"]["status"] in ("succeeded", "partial")
    assert "password" in json.dumps(state["values"]["messages"][-1])
