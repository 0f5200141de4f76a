"""What a plan is shown of the first search."""

from __future__ import annotations

from graph.records import Background, Passage, Source
from report.first_passages import select_first_passages

LONG = "The queen of the hive lays up to two thousand eggs on a day in early summer"


def source(name: str, location: str, kind: str = "file") -> Source:
    return Source(id=name, page=name, title=name, location=location, kind=kind)  # type: ignore[typeddict-item]


SOURCES = {
    "S1": source("S1", "/docs/a.md#one"),
    "S2": source("S2", "/docs/a.md#two"),
    "S3": source("S3", "/docs/b.md"),
    "S4": source("S4", "", "computed"),
}


def choose(*queries: list[tuple[str, str]]) -> list[tuple[str, str]]:
    entries = {
        str(at): Background(
            query=str(at),
            status="ok",
            reason="",
            passages=[Passage(source=name, text=text) for name, text in found],
        )
        for at, found in enumerate(queries, start=1)
    }
    return [(one["source"], one["text"]) for one in select_first_passages(entries, SOURCES)]


def test_the_best_of_every_query_comes_first():
    assert choose([("S1", "one"), ("S1", "two")], [("S3", "three")]) == [
        ("S1", "one"),
        ("S3", "three"),
        ("S1", "two"),
    ]


def test_a_passage_that_says_the_same_in_nearly_the_same_words_is_left_out():
    found = choose([("S1", f"{LONG}.")], [("S3", f"{LONG}!")], [("S3", f"{LONG} of 2020.")])

    assert found == [("S1", f"{LONG}."), ("S3", f"{LONG} of 2020.")]


def test_a_document_has_two_passages_at_most_whatever_its_pages_are():
    many = [("S1", "one"), ("S2", "two"), ("S1", "three"), ("S3", "four")]

    assert choose(many) == [("S1", "one"), ("S2", "two"), ("S3", "four")]


def test_a_single_document_keeps_all_of_its_passages():
    many = [("S1", "one"), ("S2", "two"), ("S1", "three")]

    assert choose(many) == many


def test_what_was_computed_is_kept_and_comes_first():
    rows = [("S4", f"Row {at}.") for at in range(4)]

    assert choose([("S1", "one"), ("S3", "two"), *rows])[:4] == rows
