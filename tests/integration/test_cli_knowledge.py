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


def test_removing_a_base_says_what_goes_and_where_the_rest_is_seen(tmp_path: Path, forks: Forks):
    place = Place(tmp_path)
    forks.run(place, "kb", "add", "bees", "bees", *ABOUT)
    forks.run(place, "ask", WHO, "--yes", "--thread", "t")
    shown = forks.run(place, "runs", "show", "t-1").out

    gone = forks.run(place, "kb", "remove", "bees").out
    kept = forks.run(place, "pages", "list", "--kind", "knowledge", "--in", "bees", "--json").told

    assert "knowledge base bees: " in shown
    assert "Erased: 2 documents read in, and 0 passages shown to runs." in gone
    counted = "1 passage stays" if len(kept) == 1 else f"{len(kept)} passages stay"
    assert counted in gone
    assert "(t)" in gone
    assert kept
    assert {one["kind"] for one in kept} == {"knowledge"}
    assert forks.run(place, "pages", "show", kept[0]["page"]).status == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["https://127.0.0.1:9/v1", "--kind", "dify"], "say --option dataset=…"),
        (
            ["http://127.0.0.1:9", "--kind", "ragflow", "--option", "datasets="],
            "say --option datasets=…",
        ),
        (
            ["https://127.0.0.1:9/v1", "--kind", "dify", "--option", "dataset=d"],
            "set DIFY_API_KEY in the environment",
        ),
        (
            ["http://127.0.0.1:9", "--kind", "opensearch", "--option", "index=d"],
            "it cannot be reached (http://127.0.0.1:9/d/_search) — check its address",
        ),
        (
            ["s3://b/x", "--option", "endpoint=http://127.0.0.1:9", "--option", "anonymous=yes"],
            "it cannot be reached",
        ),
        (["http://127.0.0.1:9/"], "a service needs --kind"),
        (["bees", "--option", "hide=true"], "folder has: hyde, translate, trusted"),
    ],
)
def test_what_keeps_a_base_from_being_added_is_one_line_with_what_to_do(
    place: Place, forks: Forks, words: list[str], told: str
):
    done = forks.run(place, "kb", "add", "more", *words, *ABOUT)

    assert done.status in (2, 7)
    assert told in done.problem
    assert "Traceback" not in done.err
    assert done.err.count("error[") == 1
    assert "more" not in forks.run(place, "kb", "list").out


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        (("kb", "add", "bees", "bees", *ABOUT), "knowledge_exists", 5),
        (("kb", "add", "none", "bees", *ABOUT), "knowledge_invalid", 2),
        (("kb", "add", "more", "nowhere", *ABOUT), "docs_not_found", 4),
        (("kb", "add", "more", "bees", "--about", " "), "knowledge_invalid", 2),
        (("kb", "add", "more", "bees", *ABOUT, "--option", "x"), "knowledge_invalid", 2),
        (("kb", "add", "more", "bees", *ABOUT, "--option", "=x"), "knowledge_invalid", 2),
        (("ask", WHO, "--yes", "--set", "=x"), "bad_choice", 2),
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


def test_a_base_whose_folder_is_gone_fails_with_the_status_of_that(tmp_path: Path, forks: Forks):
    place = Place(tmp_path)
    place.home.mkdir(parents=True, exist_ok=True)
    (place.home / "knowledge.toml").write_text('[bees]\nabout = "bees"\nlocation = "/gone"\n')

    assert forks.run(place, "kb", "refresh").status == 4


@pytest.mark.usefixtures("added")
def test_a_list_shows_the_sentence_that_was_searched_for(place: Place, forks: Forks):
    shown = forks.run(place, "kb", "search", "bees", WHO).out

    assert "Karl von Frisch" in shown
    assert "   # " not in shown


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
