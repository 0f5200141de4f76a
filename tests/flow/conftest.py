"""A finished run over the three files about bees: made once, and copied for each test."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from graph.context import Context
from graph.session import open_session
from runs.call_site import join_owner
from storage.engine import close_database
from tests.conftest import BEES
from tests.fake_model import Script, scripted
from tests.places import new_process
from tools.folder_ingestion import ingest_folder

QUESTION = "How do bees dance?"
QUOTE = "The waggle dance tells other bees the direction of food."
TABLE = "| what | told |\n|---|---|\n| direction | the angle [S1] |"

LEFT = ("Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "Checks", "Lessons")
"""What is left to the extractive model."""


class FinishedRun(NamedTuple):
    """A run that has delivered its report."""

    run: str
    home: Path
    """Where the home was when it ran; its database names files there."""
    kept: Path
    """The home as the run left it."""
    docs: Path
    """The folder that was read."""


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    folder = tmp_path_factory.mktemp("finished")
    home, docs = folder / "home", folder / "bees"
    docs.mkdir()
    for name, text in BEES.items():
        (docs / name).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, scripted(patch, *LEFT) as script:
        patch.setenv("DOSSIER_HOME", str(home))
        patch.setenv("DOSSIER_KEYLESS_SEARCH", "false")
        script.on("reporter", f'They show the way: <q s="S1">{QUOTE}</q> [S1]\n\n{TABLE}')
        new_process()
        run = asyncio.run(_finish(docs, script))
        new_process()
    kept = home.rename(folder / "kept")
    return FinishedRun(run, home, kept, docs)


async def _finish(docs: Path, script: Script) -> str:
    async with open_session("t1") as thread:
        library = await ingest_folder(join_owner("local", ""), docs, lambda _: None)
        models = {"default": "fake:any"}
        context = Context(models=models, files=[library.root], auto_accept=True)
        state = (await thread.begin(QUESTION, context, lambda _: None)).state
        assert state["status"] == "succeeded", script.names()
    await close_database()
    return str(state["run"])


@pytest.fixture
def asked(home: Path, finished_run: FinishedRun, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The run of a finished report, in a home of this test that nothing has opened yet."""
    del home
    shutil.copytree(finished_run.kept, finished_run.home)
    monkeypatch.setenv("DOSSIER_HOME", str(finished_run.home))
    new_process()
    yield finished_run.run
    new_process()
    shutil.rmtree(finished_run.home)
