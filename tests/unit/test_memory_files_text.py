"""Which part of a memory file a model is shown."""

from __future__ import annotations

import pytest

from memory.agents_md.content import visible_text
from tests.cases import each_case


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Be brief.<!-- note to\nmyself --> Be kind.", "Be brief. Be kind."),
        ("<!-- a -->Be<!-- b --> brief.", "Be brief."),
        ("Be brief. <!-- not closed", "Be brief. <!-- not closed"),
        ("a --> b", "a --> b"),
        ("<!--> kept <!-- gone -->", "kept"),
        ("<!-- a <!-- b --> c -->", "c -->"),
        ("<!--\n```\n--> a\n<!-- b -->", "a"),
    ],
)
def test_comments_are_left_out(text: str, left: str):
    assert visible_text(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "```html\n<!-- kept -->\n```",
        "~~~\n<!-- kept -->\n~~~",
        "````\n```\n<!-- kept -->\n````",
        "```\n<!-- kept -->\n``` no end\n<!-- kept -->",
        "```\n<!-- open\n```\nBe brief. -->",
        "Write `<!-- kept -->` there.",
        "Write ``<!-- a ` b -->`` there.",
    ],
)
def test_a_comment_in_code_is_an_example(text: str):
    assert visible_text(text) == text


def test_a_code_block_hides_no_comment_after_it():
    assert visible_text("```\n<!-- a -->\n```\nb <!-- c -->") == "```\n<!-- a -->\n```\nb"


@each_case(
    [
        "\x1b",
        "\x00",
        "\x85",
        "\u200b",
        "\u200c",
        "\u200d",
        "\u2060",
        "\ufeff",
        "\u00ad",
        "\u202e",
        "\u2066",
        "\U000e0041",
    ]
)
def test_characters_that_nobody_sees_are_left_out(hidden: str):
    assert visible_text(f"Be{hidden} br{hidden}ief.{hidden}") == "Be brief."


@pytest.mark.parametrize("text", ["می‌خواهم", "👩\u200d💻", "❤️\u200d🔥", "用中文。", "क्\u200dष"])
def test_what_belongs_to_a_writing_stays(text: str):
    assert visible_text(text) == text


def test_joiners_in_a_row_hide_nothing():
    assert visible_text("字\u200d\u200c\u200d\u200c字") == "字字"


@pytest.mark.parametrize("part", ["<!--", "`", "```x\n", "` ", "~~~\n<!-- ", "`a"])
def test_no_file_takes_long_to_read(part: str):
    text = part * (60_000 // len(part))

    assert len(visible_text(text)) <= len(text)
