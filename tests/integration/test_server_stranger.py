"""The server runs and reads nothing of the folder that it is started in."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.integration.serving import ANSWERED, ROOT, asked, context, serving

sdk = pytest.importorskip("langgraph_sdk", reason="the server extra is not installed")

pytestmark = pytest.mark.integration

CODE = ("app", "config", "graph", "nodes", "runs", "storage")
"""The packages of which a copy stands in a clone."""

BETRAYAL = "import pathlib; pathlib.Path({mark!r}).write_text('run')\n"
"""Code that leaves a mark when it is run."""


class Pickled:
    """An object that leaves a mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, (BETRAYAL.format(mark=str(self.mark)),)


def clone(folder: Path) -> None:
    """Make a folder that looks like a checkout of the project, with settings of its own."""
    for name in CODE:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("langgraph.json", "pyproject.toml", "AGENTS.md"):
        shutil.copy(ROOT / name, folder / name)


def foreign(folder: Path) -> None:
    """Make a folder whose own configuration of a server names code of its own."""
    folder.mkdir()
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


@pytest.mark.parametrize("make", [clone, foreign])
async def test_a_server_answers_and_touches_nothing_where_it_is_started(tmp_path: Path, make: Any):
    folder, home, mark = tmp_path / "there", tmp_path / "home", tmp_path / "mark"
    make(folder)
    home.mkdir()
    poisoned(folder, mark)
    before = contents(folder)

    with serving(home, folder) as server:
        async with sdk.get_client(url=server.url, api_key=server.token) as client:
            graphs = {one["graph_id"] for one in await client.assistants.search()}
            thread = (await client.threads.create())["thread_id"]
            choices = context(auto_accept=True)
            state = await client.runs.wait(thread, "dossier", input=asked(), context=choices)

    assert graphs == {"dossier", "research", "recall"}
    assert state["status"] in ANSWERED
    assert not mark.exists()
    assert contents(folder) == before
    assert (home / "server").is_dir()
