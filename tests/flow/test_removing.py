"""To stop searching something is not to erase it, and erasing it reaches no copy unasked."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.cli.forget import preview_erasure, redraw_reports, resolve_pages
from config.errors import Problem
from graph.session import ThreadSession
from library.page_retrieval import search_pages
from library.scope import read_page_record
from library.tables import former_documents, pages
from library.undo import remove_pages
from memory.registry import undo_event
from privacy.erasure_target import ErasureTarget
from privacy.service import execute_erasure
from storage.engine import read_rows
from storage.events import list_events
from tests.flow.test_defects import quiet
from tests.flow.test_forgetting import asked
from tools.folder_ingestion import ingest_folder

pytestmark = [
    pytest.mark.usefixtures("either"),
    pytest.mark.extractive(
        "Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks"
    ),
]

ME = "local/"
TEXT = "# The heath\n\nThe bell heather of Orrest flowers in late August.\n"
QUERY = "When does the bell heather of Orrest flower?"


async def folder(tmp_path: Path, name: str, text: str = TEXT, file: str = "heath.md") -> str:
    place = tmp_path / name
    place.mkdir(exist_ok=True)
    (place / file).write_text(text, encoding="utf-8")
    return (await ingest_folder(ME, place, quiet)).root


async def found(query: str = QUERY, *folders: str) -> list[str]:
    groups = list(folders) or None
    return [one.page.id for one in await search_pages(ME, query, 5, groups=groups)]


async def forgotten(origin: str, *, copies: bool = False) -> Any:
    these = await resolve_pages(ME, [], origin, forgotten=True)
    target = ErasureTarget(ME, pages=tuple(these.ids), origin=origin)
    plan = await preview_erasure(target, these.shared, copies=copies)
    await execute_erasure(plan.plan, partial(redraw_reports, ME))
    return plan


async def test_what_is_removed_is_not_found_and_comes_back_as_it_was(tmp_path: Path):
    root = await folder(tmp_path, "a")
    (page,) = await found()

    done = await remove_pages(ME, [page], root)

    assert (done.pages, done.files) == (1, 1)
    assert await found() == []
    assert (await read_page_record(ME, page))["text"].startswith("# The heath")
    await undo_event(ME, done.event)
    assert await found() == await found(QUERY, root) == [page]
    again = (await list_events(ME))[0]
    assert again.event.name == "pages.restore"
    await undo_event(ME, again.id)
    assert await found() == []


async def test_undoing_brings_nothing_back_that_its_file_does_not_say_any_more(tmp_path: Path):
    root = await folder(tmp_path, "a")
    done = await remove_pages(ME, await found(), root)
    await folder(tmp_path, "a", TEXT.replace("late August", "early June of each year"))

    await undo_event(ME, done.event)

    (page,) = await found()
    assert "early June" in (await read_page_record(ME, page))["text"]


async def test_more_pages_than_a_statement_can_name_are_removed_and_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("storage.batches.VALUES_PER_STATEMENT", 2)
    for number in range(5):
        text = TEXT.replace("Orrest", f"Orrest, number {number},")
        root = await folder(tmp_path, "a", text, f"heath{number}.md")
    every = await found()

    done = await remove_pages(ME, every, root)

    assert (len(every), done.pages, await found()) == (5, 5, [])
    await undo_event(ME, done.event)
    assert sorted(await found()) == sorted(every)


async def test_removing_touches_no_report_and_no_conversation(
    thread: ThreadSession, choices: dict[str, object], tmp_path: Path
):
    root = await folder(tmp_path, "a")
    run = await asked(thread, {**choices, "files": [root]}, QUERY, 1)
    before = {one: one.read_bytes() for one in (Path("reports") / run).iterdir()}
    messages = (await thread.current()).values["messages"]

    await remove_pages(ME, (await resolve_pages(ME, [], root)).ids, root)

    assert {one: one.read_bytes() for one in before} == before
    assert (await thread.current()).values["messages"] == messages


async def test_removing_a_folder_leaves_what_another_folder_holds_too(tmp_path: Path):
    root, other = await folder(tmp_path, "a"), await folder(tmp_path, "b")
    (page,) = await found()

    these = await resolve_pages(ME, [], other)
    done = await remove_pages(ME, these.ids, other)

    assert (done.pages, done.files) == (0, 1)
    assert await found(QUERY, root) == [page]
    assert await found(QUERY, other) == []


async def test_a_removed_folder_is_searched_again_when_it_is_read_again(tmp_path: Path):
    root = await folder(tmp_path, "a")
    await remove_pages(ME, (await resolve_pages(ME, [], root)).ids, root)

    await ingest_folder(ME, Path(root), quiet)

    assert await found(QUERY, root)


async def test_forgetting_one_folder_leaves_the_copy_in_another_and_its_reports(
    thread: ThreadSession, choices: dict[str, object], tmp_path: Path
):
    root, other = await folder(tmp_path, "a"), await folder(tmp_path, "b")
    run = await asked(thread, {**choices, "files": [root]}, QUERY, 1)
    before = {one: one.read_bytes() for one in (Path("reports") / run).iterdir()}
    (page,) = await found(QUERY, root)

    plan = await forgotten(other)

    assert plan.copies == {page: f"{root}/heath.md"}
    assert (plan.rewritten_files, plan.plan.threads) == ([], [])
    assert await found(QUERY, root) == [page]
    assert await found(QUERY, other) == []
    assert {one: one.read_bytes() for one in before} == before


async def test_a_copy_in_a_file_with_other_bytes_keeps_what_was_made_of_it(
    thread: ThreadSession, choices: dict[str, object], tmp_path: Path
):
    root = await folder(tmp_path, "a")
    other = await folder(tmp_path, "b", f"{TEXT}\n\n", "copy.md")
    run = await asked(thread, {**choices, "files": [root]}, QUERY, 1)
    before = (Path("reports") / run / "report.md").read_bytes()

    plan = await forgotten(other)

    assert list(plan.copies.values()) == [f"{root}/heath.md"]
    assert (Path("reports") / run / "report.md").read_bytes() == before
    assert len(await found(QUERY, root)) == 1
    assert await found(QUERY, other) == []


async def test_copies_go_too_where_the_person_says_so_and_every_file_is_named_before(
    thread: ThreadSession, choices: dict[str, object], tmp_path: Path
):
    root, other = await folder(tmp_path, "a"), await folder(tmp_path, "b")
    run = await asked(thread, {**choices, "files": [root]}, QUERY, 1)
    report = (Path("reports") / run).absolute()

    plan = await forgotten(other, copies=True)

    assert plan.copies == {}
    assert {str(one) for one in report.iterdir()} <= set(plan.rewritten_files)
    assert plan.plan.threads == ["t1"]
    assert b"late August" not in (report / "report.md").read_bytes()
    assert await found(QUERY, root) == []


async def test_a_page_that_was_removed_and_then_forgotten_does_not_come_back(tmp_path: Path):
    root = await folder(tmp_path, "a")
    these = await resolve_pages(ME, [], root)
    done = await remove_pages(ME, these.ids, root)
    plan = await preview_erasure(ErasureTarget(ME, pages=tuple(these.ids)), {}, copies=False)
    await execute_erasure(plan.plan, partial(redraw_reports, ME))

    with pytest.raises(Problem) as told:
        await undo_event(ME, done.event)
    assert told.value.code == "undo_conflict"


@pytest.mark.parametrize("way", ["removed", "edited", "deleted", "removed and renamed"])
async def test_what_a_file_held_before_is_forgotten_by_the_name_of_its_folder(
    thread: ThreadSession, choices: dict[str, object], tmp_path: Path, way: str
):
    await folder(tmp_path, "a", "# The fell\n\nThe ring ouzel of Orrest sings in April.\n", "b.md")
    root = await folder(tmp_path, "a")
    run = await asked(thread, {**choices, "files": [root]}, QUERY, 1)
    if way.startswith("removed"):
        await remove_pages(ME, (await resolve_pages(ME, [], root)).ids, root)
    if way == "edited":
        await folder(tmp_path, "a", TEXT.replace("late August", "early June of each year"))
    if way == "deleted":
        (Path(root) / "heath.md").unlink()
        await ingest_folder(ME, Path(root), quiet)
    if way.endswith("renamed"):
        os.rename(root, tmp_path / "b")

    await forgotten(root)

    assert not [row for row in await read_rows(select(pages.c.text)) if "late August" in row.text]
    assert b"late August" not in (Path("reports") / run / "report.md").read_bytes()
    assert (await read_rows(select(former_documents))).all() == []


async def test_what_a_file_held_before_stays_where_it_was_moved_to(tmp_path: Path):
    root = await folder(tmp_path, "a")
    await folder(tmp_path, "a", "# The fell\n\nThe ring ouzel of Orrest sings in April.\n", "b.md")
    other = await folder(tmp_path, "b")
    (page,) = await found(QUERY, other)
    (Path(root) / "heath.md").unlink()
    await ingest_folder(ME, Path(root), quiet)

    plan = await forgotten(root)

    assert plan.copies == {page: f"{other}/heath.md"}
    assert await found(QUERY, other) == [page]
