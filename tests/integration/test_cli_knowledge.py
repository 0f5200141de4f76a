"""Knowledge bases are named, searched, refreshed and removed by commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.command import WHO, Done, Forks, Place

pytestmark = pytest.mark.integration

ABOUT = ("--about", "Who described the waggle dance of bees")


@pytest.fixture(scope="module")
def added(place: Place, forks: Forks) -> Done:
    """How the folder of the place became a knowledge base."""
    return forks.run(place, "kb", "add", "bees", "bees", *ABOUT, "--json")


def test_a_folder_becomes_a_base_that_is_listed_and_shown(place: Place, forks: Forks, added: Done):
    listed = forks.run(place, "kb", "list", "--json").told
    shown = forks.run(place, "kb", "show", "bees", "--json").told

    assert (added.status, added.told["read"]) == (0, 2)
    assert [(one["name"], one["kind"], one["operator"]) for one in listed] == [
        ("bees", "folder", False)
    ]
    assert shown["location"] == str(place.docs)
    assert shown["status"] == "2 documents"


@pytest.mark.usefixtures("added")
def test_a_base_is_searched_alone_and_found_by_no_other_search(place: Place, forks: Forks):
    found = forks.run(place, "kb", "search", "bees", WHO, "--json").told
    elsewhere = forks.run(place, "search", WHO, "--json").told

    assert "Karl von Frisch" in found[0]["text"]
    assert not [one for one in elsewhere if "Frisch" in str(one)]


@pytest.mark.usefixtures("added")
def test_a_question_is_answered_from_a_base_without_any_other_file(place: Place, forks: Forks):
    done = forks.run(place, "ask", WHO, "--yes", "--json", "--out", "kb-out", "--thread", "kb")

    assert done.status in (0, 6), done.err
    report = (place.folder / "kb-out" / "report.md").read_text("utf-8")
    assert "Karl von Frisch" in report
    assert "1 from a knowledge base" in report


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        (("kb", "add", "bees", "bees", *ABOUT), "knowledge_exists", 5),
        (("kb", "add", "none", "bees", *ABOUT), "knowledge_invalid", 2),
        (("kb", "add", "more", "nowhere", *ABOUT), "docs_not_found", 4),
        (("kb", "add", "more", "bees", "--about", " "), "knowledge_invalid", 2),
        (("kb", "add", "more", "bees", *ABOUT, "--option", "x"), "knowledge_invalid", 2),
        (("kb", "add", "more", "s3x://a", *ABOUT), "knowledge_invalid", 2),
        (("kb", "show", "beas"), "knowledge_unknown", 4),
        (("kb", "search", "beas", WHO), "knowledge_unknown", 4),
        (("kb", "refresh", "beas"), "knowledge_unknown", 4),
        (("kb", "remove", "beas"), "knowledge_unknown", 4),
        (("ask", WHO, "--yes", "--set", 'knowledge=["beas"]'), "knowledge_unknown", 4),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(
    place: Place, forks: Forks, words: tuple[str, ...], code: str, status: int
):
    done = forks.run(place, *words)

    assert done.status == status
    assert f"error[{code}]" in done.err


def test_bases_of_the_operator_are_everybodys_and_removed_by_no_one(tmp_path: Path, forks: Forks):
    place = Place(tmp_path)
    place.home.mkdir(parents=True, exist_ok=True)
    text = f'[shared]\nabout = "Bees and their dances"\nlocation = "{place.docs}"\n'
    (place.home / "knowledge.toml").write_text(text, encoding="utf-8")

    unread = forks.run(place, "doctor")
    assert "shared: nothing of it was read in yet" in unread.out
    assert forks.run(place, "kb", "refresh", "--json").told[0]["read"] == 2
    assert "shared: 2 documents" in forks.run(place, "doctor").out
    for user in ("ann", "ben"):
        own = ["kb", "add", "mine", "bees", "--about", f"bees of {user}"]
        assert forks.run(place, *own, DOSSIER_USER=user).status == 0
        listed = forks.run(place, "kb", "list", "--json", DOSSIER_USER=user).told
        assert [one["name"] for one in listed] == ["mine", "shared"]
        assert listed[0]["about"] == f"bees of {user}"
    refused = forks.run(place, "kb", "remove", "shared", DOSSIER_USER="ann")
    assert (refused.status, "knowledge_shared" in refused.err) == (3, True)
    assert forks.run(place, "kb", "remove", "mine", DOSSIER_USER="ann").status == 0
    left = forks.run(place, "kb", "search", "mine", WHO, "--json", DOSSIER_USER="ben").told
    assert left
