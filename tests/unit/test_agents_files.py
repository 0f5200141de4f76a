"""The AGENTS.md a person wrote for the agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.errors import Problem
from memory.agents_files import AgentsFiles
from memory.base import Note, Query


@pytest.fixture
def file(home: Path) -> Path:
    """Where the file lies."""
    home.mkdir(parents=True)
    return home / "AGENTS.md"


async def recalled() -> list[Note]:
    return await AgentsFiles().recall(Query("local/", "planner", "How do bees dance?"), 3_000)


async def refused() -> Problem:
    with pytest.raises(Problem) as failure:
        await recalled()
    return failure.value


async def test_what_the_file_says_is_recalled(file):
    file.write_text("# Style\n\nUse metric units. 用中文。\n", encoding="utf-8")

    assert await recalled() == [Note("AGENTS.md", "# Style\n\nUse metric units. 用中文。")]


async def test_a_change_in_the_file_is_recalled_at_once(file):
    file.write_text("Use metric units.")
    await recalled()
    file.write_text("Use imperial units.")

    assert [note.text for note in await recalled()] == ["Use imperial units."]


async def test_a_file_that_is_taken_away_is_forgotten_at_once(file):
    file.write_text("Use metric units.")
    await recalled()
    file.unlink()

    assert await recalled() == []


@pytest.mark.parametrize("text", ["", " \n\t", "<!-- nothing -->", "<!-- a\nb -->\n<!--c-->"])
async def test_a_file_that_says_nothing_is_no_note(file, text: str):
    file.write_text(text)

    assert await recalled() == []


async def test_without_a_file_or_a_home_there_is_nothing_to_recall():
    assert await recalled() == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Be brief.<!-- note to\nmyself --> Be kind.", "Be brief. Be kind."),
        ("<!-- a -->Be<!-- b --> brief.", "Be brief."),
        ("Be brief. <!-- not closed", "Be brief. <!-- not closed"),
        ("a --> b", "a --> b"),
    ],
)
async def test_comments_are_left_out(file, text: str, left: str):
    file.write_text(text)

    assert [note.text for note in await recalled()] == [left]


async def test_a_byte_order_mark_is_no_text(file):
    file.write_bytes(b"\xef\xbb\xbfBe brief.")

    assert [note.text for note in await recalled()] == ["Be brief."]


async def test_a_file_that_is_no_text_is_told_with_its_path(file):
    file.write_bytes(b"Be br\xff\xfeef.")

    problem = await refused()

    assert (problem.code, problem.where) == ("memory_file_unreadable", str(file))
    assert problem.exit_status == 2


async def test_a_folder_in_its_place_is_told_with_its_path(file):
    file.mkdir()

    problem = await refused()

    assert (problem.code, problem.where) == ("memory_file_unreadable", str(file))


async def test_a_file_that_would_fill_every_call_is_told_with_its_length(file):
    file.write_text("x" * 20_000)
    assert len((await recalled())[0].text) == 20_000
    file.write_text("x" * 5_000_000)

    problem = await refused()

    assert (problem.code, problem.where) == ("memory_file_too_large", str(file))
    assert "5000000" in problem.what
