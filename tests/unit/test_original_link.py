"""The address of a cited web page leads a browser to the cited words."""

from __future__ import annotations

from typing import cast
from urllib.parse import unquote

import pytest

from graph.records import Source
from report.rendering.original_link import build_original_link


def web(location: str, kind: str = "web") -> Source:
    named = {"id": "S1", "page": "p", "title": "Bees", "location": location, "kind": kind}
    return cast("Source", named)


PAGE = web("https://bees.example/dance")


def test_a_few_words_in_two_paragraphs_are_not_named():
    assert build_original_link(PAGE, "Dances\n\nAt night.") == "https://bees.example/dance"
    assert build_original_link(PAGE, "") == "https://bees.example/dance"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("Bees dance.", "Bees dance."),
        ("one, two-three & four", "one, two-three & four"),
        ("蜜蜂在黑暗中跳舞。", "蜜蜂在黑暗中跳舞。"),
    ],
)
def test_the_words_are_those_of_the_page(words: str, named: str):
    _, _, text = build_original_link(PAGE, words).partition("#:~:text=")

    assert unquote(text) == named
    assert not set(text) & set("-,& ")


def test_long_words_are_named_by_their_ends():
    link = build_original_link(
        PAGE, f"Bees dance in the dark hive {'and so on ' * 20}until day ends."
    )

    first, _, last = link.partition("#:~:text=")[2].partition(",")
    assert unquote(first) == "Bees dance in the dark"
    assert unquote(last) == "so on until day ends."


def test_long_chinese_words_are_named_by_their_first_and_last_clause():
    link = build_original_link(PAGE, f"蜜蜂在黑暗中跳舞，{'它们也唱歌，' * 30}直到天亮。")

    first, _, last = link.partition("#:~:text=")[2].partition(",")
    assert (unquote(first), unquote(last)) == ("蜜蜂在黑暗中跳舞", "直到天亮")


def test_a_pdf_is_opened_at_its_page():
    link = build_original_link(web("https://bees.example/a.pdf#page=3&part=2"), "Bees dance.")

    assert link == "https://bees.example/a.pdf#page=3:~:text=Bees%20dance."


@pytest.mark.parametrize("location", ["javascript:alert(1)", "/home/ada/bees.md", "", "file:///a"])
def test_what_is_no_web_address_is_no_link(location: str):
    assert build_original_link(web(location), "Bees") == ""


def test_a_file_is_no_link():
    assert build_original_link(web("https://bees.example/a", "file"), "Bees") == ""


def test_hostile_words_stay_words():
    link = build_original_link(PAGE, '"><script>alert(1)</script>\ud800&text=x')

    assert not set(link) & set("\"<>'")
    assert link.count("text=") == 1
