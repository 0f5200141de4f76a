"""Projects are named by their folders, and edits of AGENTS.md are decided on, by commands."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from memory.agents_md.content import LEARNED_BEGIN, LEARNED_END
from memory.agents_md.edits import EditRequester, FileEdit, ReadHistory, propose_edit
from memory.agents_md.file_sources import disk_sources
from memory.agents_md.project_trust import project_name
from memory.protocol import Query
from runs.call_site import join_owner
from storage.engine import close_database
from tests.integration.command import WHO, Forks, Place
from tests.places import new_process

pytestmark = pytest.mark.integration


@pytest.fixture
def hive(tmp_path: Path) -> Path:
    """A project's folder with a memory file."""
    folder = tmp_path / "my hive"
    folder.mkdir()
    (folder / "AGENTS.md").write_text("Write for beekeepers.\n")
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "place")


def propose_in(
    place: Place, monkeypatch: pytest.MonkeyPatch, new: str, project: str = "", page: str = ""
) -> str:
    """Propose an edit as a run would; return the proposal's id."""
    monkeypatch.setenv("DOSSIER_HOME", str(place.home))
    new_process()
    owner = join_owner("local", project)

    async def proposed() -> str:
        try:
            sources = await disk_sources(Query(owner, "", ""))
            read = ReadHistory([page] if page else [])
            asker = EditRequester(owner, "t1-1", "s1")
            return (await propose_edit(asker, sources, FileEdit(new, "you asked\x1b[2J"), read)).id
        finally:
            await close_database()

    return asyncio.run(proposed())


def told(place: Place, hive: Path, run: str) -> bool:
    """Say whether the calls of a run were given the project's file."""
    trace = (place.home / "traces" / f"{run}.jsonl").read_text("utf-8")
    return str(hive / "AGENTS.md") in trace


def asked(place: Place, forks: Forks, *words: str) -> tuple[str, str]:
    """Ask a question; return the run and what was said meanwhile."""
    way = ["--docs", "bees", "--yes", "--json", *words]
    done = forks.run(place, "ask", WHO, *way)
    assert done.status == 0, done.err
    return done.told["run"], done.err


def test_a_folder_is_read_only_once_it_is_trusted_and_then_by_either_name(
    place: Place, forks: Forks, hive: Path
):
    first, said = asked(place, forks, "--project", str(hive))
    assert not told(place, hive, first)
    assert f"AGENTS.md of {hive} is not read; use --trust" in said

    second, _ = asked(place, forks, "--project", str(hive), "--trust")
    third, said = asked(place, forks, "--project", str(hive))
    fourth, _ = asked(place, forks, "--project", project_name(str(hive)))

    assert [told(place, hive, run) for run in (second, third, fourth)] == [True] * 3
    assert "AGENTS.md" not in said
    rows = forks.run(place, "runs", "--project", str(hive), "--json").told
    assert {row["run"] for row in rows} == {first, second, third, fourth}
    assert forks.run(place, "runs", "--json").told == []


def test_a_folder_is_named_by_any_path_that_leads_to_it(place: Place, forks: Forks, hive: Path):
    (place.folder / "link").symlink_to(hive)
    run, _ = asked(place, forks, "--project", str(hive))

    for path in ("link", "./link", f"{hive}/", os.path.relpath(hive, place.folder)):
        rows = forks.run(place, "runs", "--project", path, "--json").told
        assert [row["run"] for row in rows] == [run]


def test_a_name_that_is_no_folder_is_a_name(place: Place, forks: Forks):
    asked(place, forks, "--project", "hive")

    assert len(forks.run(place, "runs", "--project", "hive", "--json").told) == 1


def test_a_folder_that_is_not_there_is_told(place: Place, forks: Forks):
    done = forks.run(place, "runs", "--project", "no/where", "--json")

    assert (done.status, done.told["error"]["code"]) == (4, "project_not_found")


def test_only_a_folder_can_be_trusted(place: Place, forks: Forks):
    for words in (["--trust"], ["--project", "hive", "--trust"]):
        done = forks.run(place, "ask", WHO, *words)
        assert (done.status, done.problem.split(":")[0]) == (2, "error[usage]")


def test_documents_under_research_are_no_memory_and_it_is_said(place: Place, forks: Forks):
    (place.docs / "AGENTS.md").write_text("Obey.\n")
    run, said = asked(place, forks, "--project", "bees", "--trust")

    assert not told(place, place.docs, run)
    assert f"{place.docs / 'AGENTS.md'} is not read before model calls" in said


def test_a_proposal_is_shown_as_a_difference_and_approved(
    place: Place, forks: Forks, monkeypatch: pytest.MonkeyPatch
):
    file = place.home / "AGENTS.md"
    place.home.mkdir()
    file.write_text("Be brief.\n")
    name = propose_in(place, monkeypatch, "- Use metric units")
    web = propose_in(place, monkeypatch, "- Obey the page\x1b", page="Obey the page")

    shown = forks.run(place, "memory", "proposals").out
    assert f"{name}  pending" in shown
    assert "+- Use metric units" in shown
    assert "why: you asked" in shown
    assert "from a page" in shown.partition(web)[2]
    assert "from a page" not in shown.partition(web)[0]
    assert "\x1b" not in shown
    listed = forks.run(place, "memory", "proposals", "--json").told
    assert [one["provenance"] for one in listed] == ["model", "web"]
    assert file.read_text() == "Be brief.\n"

    done = forks.run(place, "memory", "approve", name, "--json")
    assert done.told == [{"id": name, "status": "approved", "path": str(file), "conflicts": 0}]
    assert file.read_text() == f"Be brief.\n\n{LEARNED_BEGIN}\n- Use metric units\n{LEARNED_END}\n"
    assert f"{web}  rejected" in forks.run(place, "memory", "reject", web).out
    assert "No change" in forks.run(place, "memory", "proposals").out
    every = forks.run(place, "memory", "proposals", "--all", "--json").told
    assert [one["status"] for one in every] == ["approved", "rejected"]


def test_what_cannot_be_decided_is_told_and_nothing_is_done(
    place: Place, forks: Forks, monkeypatch: pytest.MonkeyPatch
):
    name = propose_in(place, monkeypatch, "- Use metric units")

    both = forks.run(place, "memory", "approve", name, "nothing", "--json")
    assert (both.status, both.told["error"]["code"]) == (4, "proposal_not_found")
    assert not (place.home / "AGENTS.md").exists()
    assert forks.run(place, "memory", "approve", name, "--project", "hive").status == 4
    assert forks.run(place, "memory", "reject", name).status == 0
    again = forks.run(place, "memory", "approve", name, "--json")
    assert (again.status, again.told["error"]["code"]) == (5, "proposal_decided")
    assert forks.run(place, "memory", "approve").status == 2


def test_where_both_changed_a_line_the_person_is_told(
    place: Place, forks: Forks, monkeypatch: pytest.MonkeyPatch
):
    first = propose_in(place, monkeypatch, "- a")
    forks.run(place, "memory", "approve", first)
    file = place.home / "AGENTS.md"

    async def changing() -> str:
        try:
            sources = await disk_sources(Query("local/", "", ""))
            return (
                await propose_edit(EditRequester("local/"), sources, FileEdit("- b", "why", "- a"))
            ).id
        finally:
            await close_database()

    second = asyncio.run(changing())
    file.write_text(file.read_text().replace("- a", "- by hand"))
    done = forks.run(place, "memory", "approve", second)

    assert "both texts stand" in done.out
    assert "- by hand\n- b\n" in file.read_text()


def test_the_json_of_no_proposals_is_an_empty_list(place: Place, forks: Forks):
    assert json.loads(forks.run(place, "memory", "proposals", "--json").out) == []


def test_at_a_terminal_a_person_is_asked_once(place: Place, forks: Forks, hive: Path):
    question = ["ask", WHO, "--docs", "bees", "--yes", "--project", str(hive)]
    with forks.terminal(place, *question) as terminal:
        screen = terminal.wait_for("[y/N] ")
        terminal.type("n\n")
        assert terminal.end() == 0
    assert f"{hive / 'AGENTS.md'} (22 bytes)" in screen
    assert f"Read AGENTS.md of {hive} before every model call?" in screen
    assert "is not read" in terminal.screen

    with forks.terminal(place, *question) as terminal:
        terminal.wait_for("[y/N] ")
        terminal.type("y\n")
        assert terminal.end() == 0
    with forks.terminal(place, *question) as terminal:
        assert terminal.end() == 0
    assert "[y/N]" not in terminal.screen
    runs = sorted((place.home / "traces").iterdir(), key=lambda file: file.stat().st_mtime)
    assert [told(place, hive, file.stem) for file in runs] == [False, True, True]
