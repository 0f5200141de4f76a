"""What was read is listed, shown, searched, recalled and forgotten by commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.command import WHO, Done, Forks, Place

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def read(place: Place, forks: Forks) -> Done:
    """How the folder was read, with a file in it that is broken and one that no one reads."""
    (place.docs / "broken.pdf").write_bytes(bytes(range(256)))
    (place.docs / "film.mp4").write_bytes(b"film")
    return forks.run(place, "ingest", "bees", "--json")


@pytest.fixture(scope="module")
def found(place: Place, forks: Forks, read: Done) -> Done:
    """What a search finds in the folder."""
    return forks.run(place, "search", WHO, "--json")


def test_what_cannot_be_read_is_named_with_its_reason_and_the_rest_is_read(read: Done):
    (folder,) = read.told["folders"]
    left = {Path(one["path"]).name: one["code"] for one in folder["skipped"]}

    assert (read.status, read.told["status"]) == (6, "partial")
    assert (folder["files"], folder["read"], folder["pages"]) == (4, 2, 2)
    assert left == {"broken.pdf": "file_type_mismatch", "film.mp4": "file_type"}


def test_a_folder_is_read_once(place: Place, forks: Forks, read: Done):
    again = forks.run(place, "ingest", "bees")

    assert "4 files: 0 read, 2 known already, 2 left out; 2 pages" in again.out
    assert "left out broken.pdf: its name ends in .pdf" in again.out


def test_a_path_that_is_not_there_does_not_stop_the_others(place: Place, forks: Forks, read: Done):
    both = forks.run(place, "ingest", "nowhere", "bees/dance.md", "--json")

    assert both.status == 6
    assert [one["code"] for one in both.told["errors"]] == ["docs_not_found"]
    assert [one["files"] for one in both.told["folders"]] == [1]


def test_a_search_names_pages_with_place_score_and_the_words_found(found: Done, place: Place):
    best = found.told["pages"][0]

    assert found.status == 0
    assert best["location"] == f"{place.docs / 'dance.md'}#the-dance"
    assert "waggle dance" in best["snippet"]
    assert best["score"] > found.told["pages"][-1]["score"] or len(found.told["pages"]) == 1


def test_the_parts_of_a_score_add_up_to_it(found: Done):
    for one in found.told["pages"]:
        assert sum(one["parts"].values()) == pytest.approx(one["score"])


def test_explain_shows_the_parts_and_without_it_they_are_not_shown(
    place: Place, forks: Forks, found: Done
):
    name, value = next((n, v) for n, v in found.told["pages"][0]["parts"].items() if v)

    assert f"{name} {value:+.3f}" in forks.run(place, "search", WHO, "--explain").out
    assert f"{name} {value:+.3f}" not in forks.run(place, "search", WHO).out


def test_pages_search_is_the_same_search(place: Place, forks: Forks, found: Done):
    assert forks.run(place, "pages", "search", WHO, "--json").told == found.told


@pytest.mark.parametrize(("within", "count"), [("file", 1), ("bees", 1), ("web", 0)])
def test_a_search_stays_within_the_kind_or_folder_that_is_named(
    place: Place, forks: Forks, found: Done, within: str, count: int
):
    inside = forks.run(place, "search", "winter cluster", "--in", within, "--json")

    assert len(inside.told["pages"]) == count


def test_pages_are_listed_shown_and_counted(place: Place, forks: Forks, found: Done):
    page = found.told["pages"][0]["page"]
    listed = forks.run(place, "pages", "list", "--kind", "file", "--json").told
    shown = forks.run(place, "pages", "show", page)
    counted = forks.run(place, "pages", "stats", "--json").told

    assert page in [one["page"] for one in listed]
    assert "Karl von Frisch described the waggle dance in 1927." in shown.out
    assert counted["pages"] == 2
    assert {one["group"] for one in counted["namespaces"]} >= {"", str(place.docs)}


def test_recall_gives_notes_and_the_words_they_rest_on(place: Place, forks: Forks, found: Done):
    recalled = forks.run(place, "recall", WHO, "--in", "bees", "--json")
    told = recalled.told

    assert recalled.status == 0
    names = {"question", "notes", "extracts", "pages", "reports", "rounds", "spelling", "status"}
    assert set(told) == names
    assert "1927" in told["notes"]
    assert told["pages"][0] == found.told["pages"][0]["page"]
    assert all(one["text"] in (place.docs / "dance.md").read_text() for one in told["extracts"])


def test_recall_gives_whole_pages_where_they_are_asked_for(place: Place, forks: Forks, found: Done):
    told = forks.run(place, "recall", WHO, "--pages", "--json").told

    assert told["extracts"][0]["text"] == (place.docs / "dance.md").read_text().strip()


def test_what_memory_does_not_know_ends_with_status_1(place: Place, forks: Forks, read: Done):
    nothing = forks.run(place, "recall", "What is quantum chromodynamics?", "--json")
    elsewhere = forks.run(place, "recall", WHO, "--in", "web")

    assert (nothing.status, nothing.told["status"]) == (1, "insufficient_evidence")
    assert (nothing.told["notes"], nothing.told["pages"]) == ("", [])
    assert (elsewhere.status, elsewhere.out) == (1, "Nothing that was read before answers this.\n")


def test_what_is_forgotten_is_found_no_more_until_it_is_read_again(tmp_path: Path, forks: Forks):
    place = Place(tmp_path)
    forks.run(place, "ingest", "bees")
    by_id = forks.run(place, "search", WHO, "--json").told["pages"][0]["page"]

    one = forks.run(place, "pages", "forget", by_id, "--yes", "--json")
    rest = forks.run(place, "pages", "forget", "--origin", "bees", "--yes", "--json")

    assert (one.told["forgotten"], rest.told["forgotten"]) == (1, 1)
    assert forks.run(place, "pages", "list", "--json").told == []
    assert forks.run(place, "ingest", "bees", "--json").told["folders"][0]["pages"] == 2


def test_a_chat_is_read_searched_and_recalled_within_its_conversation(place: Place, forks: Forks):
    said = [
        {"speaker": "Ann", "date": "2023-05-08", "text": "I moved to Graz.", "conversation": "a"},
        {"speaker": "Bob", "date": "2023-05-08", "text": "I stay in Rome.", "conversation": "a"},
    ]
    lines = "\n".join(map(json.dumps, said))
    (place.folder / "chat.jsonl").write_text(f"{lines}\nno message\n")

    read = forks.run(place, "ingest", "--chat", "chat.jsonl", "--json")
    again = forks.run(place, "ingest", "--chat", "chat.jsonl")
    found = forks.run(place, "search", "Where did Ann move?", "--in", "a", "--json").told["pages"]
    by_default = forks.run(place, "search", "Where did Ann move?", "--json").told["pages"]
    everywhere = forks.run(place, "search", "Where did Ann move?", "--in", "all", "--json").told
    assert "chat" not in {one["kind"] for one in by_default}
    assert "chat" in {one["kind"] for one in everywhere["pages"]}

    assert (read.status, read.told["messages"], read.told["added"]) == (6, 2, 2)
    assert [one["number"] for one in read.told["skipped"]] == [3]
    assert "2 messages, 1 session; 0 new pages" in again.out
    assert "left out line 3" in again.out
    assert found[0]["snippet"] == "I moved to Graz."


def test_forgetting_asks_first(tmp_path: Path, forks: Forks):
    place = Place(tmp_path)
    forks.run(place, "ingest", "bees")

    with forks.terminal(place, "pages", "forget", "--origin", "bees") as terminal:
        terminal.wait_for("Forget 2 pages?")
        terminal.type("n\n")
        assert terminal.end() == 0
    assert forks.run(place, "pages", "stats", "--json").told["pages"] == 2


def test_an_unknown_page_keeps_the_others_from_being_forgotten(
    place: Place, forks: Forks, found: Done
):
    page = found.told["pages"][0]["page"]

    refused = forks.run(place, "pages", "forget", page, "nope", "--yes")

    assert (refused.status, refused.problem[:21]) == (4, "error[page_not_found]")
    assert forks.run(place, "pages", "show", page).status == 0


def test_forgetting_a_fact_says_what_it_touches_and_asks_first(tmp_path: Path, forks: Forks):
    place = Place(tmp_path)
    fact = forks.run(place, "memory", "add", "My locker stands in hall 774102", "--json").told["id"]

    with forks.terminal(place, "memory", "forget", fact) as terminal:
        terminal.wait_for("Forget 1 fact?")
        terminal.type("n\n")
        assert terminal.end() == 0
    unasked = forks.run(place, "memory", "forget", fact, "--json")
    done = forks.run(place, "memory", "forget", fact, "--yes", "--json")
    again = forks.run(place, "memory", "forget", fact, "--yes")

    assert (unasked.status, unasked.told["error"]["code"]) == (3, "forget_unconfirmed")
    assert (done.told["facts"], done.told["ids"], done.told["beyond"]) == (1, [fact], "")
    assert (again.status, again.out) == (0, "Nothing more forgotten.\n")
    assert not any(b"774102" in one.read_bytes() for one in place.home.rglob("*") if one.is_file())


def test_your_own_lines_that_say_it_too_are_named_and_stay(tmp_path: Path, forks: Forks):
    place = Place(tmp_path)
    fact = forks.run(place, "memory", "add", "My locker stands in hall 774102", "--json").told["id"]
    (place.home / "AGENTS.md").write_text("My locker stands in hall 774102.\n")

    done = forks.run(place, "memory", "forget", fact, "--yes")

    assert f"Your own lines in {place.home / 'AGENTS.md'} say it too" in done.out
    assert (place.home / "AGENTS.md").read_text() == "My locker stands in hall 774102.\n"


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["memory", "forget", "nope"], 4, "memory_not_found"),
        (["ingest"], 2, "usage"),
        (["ingest", "nowhere"], 4, "docs_not_found"),
        (["ingest", "bees", "--chat", "chat.jsonl"], 2, "usage"),
        (["ingest", "--chat", "nowhere.jsonl"], 4, "chat_not_found"),
        (["search", ""], 2, "question_empty"),
        (["search", WHO, "--in", "nowhere"], 4, "namespace_not_found"),
        (["search", WHO, "--limit", "0"], 2, "usage"),
        (["recall"], 2, "question_empty"),
        (["recall", WHO, "--in", "nowhere"], 4, "namespace_not_found"),
        (["pages", "show", "nope"], 4, "page_not_found"),
        (["pages", "list", "--kind", "poem"], 4, "namespace_not_found"),
        (["pages", "forget"], 2, "usage"),
        (["pages", "forget", "nope", "--origin", "x"], 2, "usage"),
        (["pages", "forget", "--origin", "nowhere"], 4, "page_not_found"),
        (["pages", "forget", "--origin", "bees"], 3, "forget_unconfirmed"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    place: Place, forks: Forks, read: Done, words: list[str], status: int, code: str
):
    wrong = forks.run(place, *words, "--json")

    assert (wrong.status, wrong.told["error"]["code"]) == (status, code)
    assert len(wrong.problem) < 200
