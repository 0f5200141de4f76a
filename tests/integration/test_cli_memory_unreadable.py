"""A memory file that nobody can read stops no command that looks at memory or forgets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.command import Forks, Place

pytestmark = pytest.mark.integration

BAD: dict[str, Callable[[Path], object]] = {
    "no text": lambda file: file.write_bytes(b"\xff\xfe"),
    "too large": lambda file: file.write_bytes(b"a" * 65_537),
    "a folder": lambda file: file.mkdir(),
    "a link to itself": lambda file: file.symlink_to(file),
}


@pytest.fixture(params=BAD)
def bad(request: pytest.FixtureRequest, tmp_path: Path, forks: Forks) -> Place:
    """A home with a fact and a page, and with a memory file that cannot be read."""
    place = Place(tmp_path)
    forks.run(place, "ingest", "bees")
    forks.run(place, "memory", "add", "My locker stands in hall 774102")
    BAD[request.param](place.home / "AGENTS.md")
    return place


def fact(place: Place, forks: Forks) -> str:
    listed = forks.run(place, "memory", "list", "--memory", "facts", "--json").told
    return str(listed[0]["id"])


def test_what_is_remembered_is_listed_shown_found_and_edited(bad: Place, forks: Forks):
    id, path = fact(bad, forks), str(bad.home / "AGENTS.md")
    listed = forks.run(bad, "memory", "list", "--json").told
    shown = forks.run(bad, "memory", "show", path, "--json").told

    assert [one["state"] for one in listed if one["memory"] == "instructions"] == ["unreadable"]
    assert (shown["state"], shown["id"]) == ("unreadable", path)
    assert shown["text"].startswith(("it is no", "it has 65537", "it cannot be read"))
    assert "(unreadable) it " in forks.run(bad, "memory", "list").out
    assert forks.run(bad, "memory", "show", id).status == 0
    found = forks.run(bad, "memory", "search", "locker", "--json")
    assert id in [one["id"] for one in found.told]
    edited = forks.run(bad, "memory", "edit", id, "My locker stands in hall 774103")
    assert edited.status == 0


def test_the_rest_is_forgotten_and_the_file_is_named(bad: Place, forks: Forks):
    path = str(bad.home / "AGENTS.md")

    done = forks.run(bad, "memory", "forget", fact(bad, forks), "--yes", "--json")
    pages = forks.run(bad, "pages", "forget", "--origin", "bees", "--yes")
    itself = forks.run(bad, "memory", "forget", path, "--yes")

    assert (done.status, done.told["facts"]) == (6, 1)
    assert [one["where"] for one in done.told["unread"]] == [path]
    assert (pages.status, pages.out.splitlines()[0]) == (6, "2 pages forgotten.")
    assert f"{path} stays as it is: it " in pages.out
    assert (itself.status, itself.out.splitlines()[0]) == (6, "Nothing more forgotten.")
    assert forks.run(bad, "memory", "list", "--memory", "facts", "--json").told == []


def test_the_rest_is_exported_and_the_file_is_named(bad: Place, forks: Forks):
    done = forks.run(bad, "memory", "export", "all.json", "--json")
    piped = forks.run(bad, "memory", "export")

    assert (done.status, done.told["facts"], done.told["files"]) == (6, 1, 0)
    assert [one["where"] for one in done.told["unread"]] == [str(bad.home / "AGENTS.md")]
    assert (piped.status, len(piped.told["facts"])) == (6, 1)
    assert piped.problem.startswith("left out: error[memory_file_")


def test_a_link_out_of_a_project_keeps_no_memory_of_the_project_closed(
    tmp_path: Path, forks: Forks
):
    place, hive = Place(tmp_path / "place"), tmp_path / "hive"
    hive.mkdir()
    (tmp_path / "elsewhere.md").write_text("secret\n")
    (hive / "AGENTS.md").symlink_to(tmp_path / "elsewhere.md")
    words = ("--project", str(hive))
    forks.run(place, "ask", "Bees?", *words, "--trust", "--quick")

    (one,) = forks.run(place, "memory", "list", "--memory", "instructions", *words, "--json").told

    assert (one["state"], one["text"]) == (
        "unreadable",
        "it is a link that leads out of the project — put the file itself into the project",
    )
