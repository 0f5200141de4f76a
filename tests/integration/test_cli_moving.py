"""Everything that is remembered is written to one file, and read in another home."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.command import WHO, Forks, Place

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def exported(place: Place, forks: Forks) -> Path:
    """What a home exports in which a run was asked, with a fact and a memory file."""
    forks.run(place, "ask", WHO, "--docs", "bees", "--yes")
    forks.run(place, "memory", "add", "I keep bees in Graz")
    (place.home / "AGENTS.md").write_text("Answer in metres.\n")
    done = forks.run(place, "memory", "export", "all.json", "--json")
    assert done.status == 0, done.err
    return place.folder / "all.json"


def test_another_home_knows_it_all_after_the_import(exported: Path, tmp_path: Path, forks: Forks):
    other = Place(tmp_path)

    first = forks.run(other, "memory", "import", str(exported), "--vouch", "--json")
    again = forks.run(other, "memory", "import", str(exported), "--vouch")

    assert (first.status, first.told["facts"], first.told["files"]) == (0, 1, 1)
    assert again.out == "Everything is known already.\n"
    found = forks.run(other, "memory", "search", "Graz", "--json").told
    assert found[0]["text"] == "I keep bees in Graz"
    assert forks.run(other, "recall", WHO, "--json").told["notes"]
    assert (other.home / "AGENTS.md").read_text() == "Answer in metres.\n"


def test_what_would_speak_for_the_person_is_named_and_not_used_unless_they_vouch(
    exported: Path, tmp_path: Path, forks: Forks
):
    other = Place(tmp_path)

    first = forks.run(other, "memory", "import", str(exported))
    again = forks.run(other, "memory", "import", str(exported))

    assert first.out.startswith("New: ")
    assert "fact" not in first.out
    assert "speak for you: facts, memory files, the log. If the file is yours" in first.err
    assert again.out == "Everything else is known already.\n"
    gone = forks.run(other, "memory", "search", "Graz", "--json")
    assert (gone.status, gone.told) == (1, [])
    assert not (other.home / "AGENTS.md").exists()


def test_the_file_is_for_its_owner_alone_and_is_never_overwritten_unasked(
    exported: Path, place: Place, forks: Forks
):
    again = forks.run(place, "memory", "export", "all.json", "--json")

    assert exported.stat().st_mode & 0o777 == 0o600
    assert (again.status, again.told["error"]["code"]) == (5, "output_exists")
    assert forks.run(place, "memory", "export", "all.json", "--force").status == 0


def test_without_a_file_it_is_printed(exported: Path, place: Place, forks: Forks):
    printed = forks.run(place, "memory", "export").told

    assert printed["facts"] == json.loads(exported.read_text("utf-8"))["facts"]


@pytest.mark.parametrize(
    ("text", "status", "code"),
    [
        (None, 4, "file_not_found"),
        ("{}", 2, "export_invalid"),
        ("x", 2, "export_invalid"),
    ],
)
def test_what_cannot_be_imported_is_told_in_one_line(
    place: Place, forks: Forks, text: str | None, status: int, code: str
):
    if text is not None:
        (place.folder / "wrong.json").write_text(text)
    name = "nowhere.json" if text is None else "wrong.json"

    wrong = forks.run(place, "memory", "import", name, "--json")

    assert (wrong.status, wrong.told["error"]["code"]) == (status, code)
    assert len(wrong.err.splitlines()) == 1


@pytest.mark.parametrize("length", [250, 255, 256, 5_000])
def test_a_file_is_exported_under_every_name_that_the_disk_takes(
    exported: Path, place: Place, forks: Forks, length: int
):
    name = "x" * length

    done = forks.run(place, "memory", "export", name)

    if length <= 255:
        assert (done.status, (place.folder / name).is_file()) == (0, True)
    else:
        assert done.problem.startswith("error[output_not_writable]")
        assert " — " in done.problem
