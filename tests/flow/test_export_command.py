"""`dossier export RUN` writes the report of a run in every format, and nothing by halves."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from app.cli.dispatch import Invocation
from app.cli.export_command import export_run
from config.errors import Problem
from graph.context import Context
from graph.session import ThreadSession
from report.exports.bundle import read_bundle
from report.rendering.markdown_report import render_markdown
from runs.lifecycle import create_run, find_run
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import quiet

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "Checks", "Lessons"
)

QUOTE = "The waggle dance tells other bees the direction of food."


@pytest.fixture
async def asked(thread: ThreadSession, choices: dict[str, object], script: Script) -> str:
    script.on("reporter", f'They show the way: <q s="S1">{QUOTE}</q> [S1]')
    state = (await thread.begin("How do bees dance?", make(choices), quiet)).state
    return str(state["run"])


async def export(
    run: str, name: str = "", out: Path | None = None, *, style: str = "", force: bool = False
) -> None:
    invocation = Invocation(as_json=True)
    await export_run(run=run, format=name, style=style, out=out, force=force, invocation=invocation)


async def find_report(run: str) -> Path:
    return Path((await find_run(Invocation().owner, run)).folder)


@pytest.mark.parametrize("name", ["md", "html"])
async def test_what_a_run_wrote_is_exported_as_it_is(asked: str, tmp_path: Path, name: str):
    await export(asked, name, tmp_path / "again")

    written = (await find_report(asked)) / f"report.{name}"
    assert (tmp_path / "again").read_bytes() == written.read_bytes()


@pytest.mark.parametrize("name", ["docx", "epub", "json", "bib", "csl"])
async def test_a_file_is_named_by_its_run_where_no_name_is_given(
    asked: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
):
    monkeypatch.chdir(tmp_path)

    await export(asked, name)

    told = json.loads(capsys.readouterr().out)
    suffix = "csl.json" if name == "csl" else name
    file = tmp_path / f"{asked}.{suffix}"
    assert told == {
        "run": asked,
        "format": name,
        "file": str(file),
        "bytes": file.stat().st_size,
    }


async def test_a_bundle_of_a_run_has_the_report_and_the_day_each_page_was_read(
    asked: str, tmp_path: Path
):
    await export(asked, out=tmp_path / "a.json")

    data = (tmp_path / "a.json").read_bytes()
    written = ((await find_report(asked)) / "report.md").read_text("utf-8")
    assert render_markdown(read_bundle(data)) == written
    (evidence,) = json.loads(data)["evidence"]
    assert QUOTE in evidence["text"]
    assert len(evidence["read"]) == len("2026-01-12")


async def test_a_file_that_is_there_is_replaced_only_with_force(asked: str, tmp_path: Path):
    file = tmp_path / "a.bib"
    file.write_text("mine")

    with pytest.raises(Problem) as refused:
        await export(asked, out=file)
    assert (refused.value.code, file.read_text()) == ("output_exists", "mine")

    await export(asked, out=file, force=True)
    assert file.read_text().startswith("@misc{")
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


async def test_a_run_without_a_report_is_told_with_its_status(asked: str, tmp_path: Path):
    owner = Invocation().owner
    run = await create_run(owner, "new", 1, "Why?", Context())

    with pytest.raises(Problem) as refused:
        await export(run, "md", tmp_path / "a.md")

    assert refused.value.code == "report_not_found"
    assert "running" in str(refused.value)
    assert not (tmp_path / "a.md").exists()
