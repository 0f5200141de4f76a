"""A file or a web page that memory has found is cited like one that was read just now."""

from __future__ import annotations

import pytest

from graph.records import Source
from report.citations import (
    describe_location,
    describe_place,
    get_document_key,
    get_origin,
    to_whole_document,
)
from report.independence import group_sources
from report.rendering.original_link import build_original_link


def source(name: str, location: str, **more: str) -> Source:
    known = {"id": name, "page": f"p{name}", "title": "Pipes", "location": location}
    return Source(**{**known, "kind": "memory", **more})  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    ("location", "origin"),
    [
        ("/home/me/pipes.txt#L1-L10", "file"),
        ("https://pipes.example/a", "web"),
        ("dossier memory show abc", "memory"),
        ("", "memory"),
    ],
)
def test_a_source_out_of_memory_is_known_by_its_location(location: str, origin: str):
    assert get_origin(source("S1", location)) == origin


def test_the_place_in_a_file_stands_beside_its_number_and_not_in_its_path():
    found = source("S1", "/home/me/pipes.txt#L1-L10")

    assert to_whole_document(found)["location"] == "/home/me/pipes.txt"
    assert describe_place(found, "en") == "lines 1–10"
    assert get_document_key(found) == get_document_key(source("S2", "/home/me/pipes.txt#L11-L20"))


def test_two_pages_of_one_site_are_one_independent_source_out_of_memory_too():
    one = source("S1", "https://pipes.example/a", site="pipes.example")
    two = source("S2", "https://pipes.example/b", site="pipes.example")

    assert len(group_sources([one, two], {}).dependent) == 1
    assert build_original_link(one, "").startswith("https://pipes.example/a")


@pytest.mark.parametrize(
    ("location", "title", "told"),
    [
        ('time/convert {"time": "12:00"}', "time: convert (time 12:00)", ""),
        ('time/convert {"time": "12:00"}#part=2', "x", "time: convert (time 12:00)"),
        ("time/now {}", "Now", "time: now"),
        ('db/ask {"in": ["a", 2], "of": {"x": null}}', "", "db: ask (in (a, 2), of (x null))"),
        ("db/ask {broken", "", "db/ask {broken"),
    ],
)
def test_a_call_of_a_tool_is_told_in_words_and_once(location: str, title: str, told: str):
    called = Source(id="S1", page="p", title=title, location=location, kind="tool")

    assert describe_location(called) == told
    assert describe_location({**called, "kind": "file"}) == location
