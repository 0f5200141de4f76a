"""How the built-in model changes a report of its own."""

from __future__ import annotations

import pytest

from models.extractive.prompt_parser import ParsedPrompt, PromptFinding
from models.extractive.revising import revise_report

UNSURE = ParsedPrompt(question="Who keeps bees?").words["related"]
DANCE = '<q s="S1">Karl von Frisch described the waggle dance in 1927.</q>'
ROUND = '<q s="S2">Bees dance the round dance where food is near.</q>'
REPORT = f"{UNSURE} {DANCE}\n\n## Dances\n\n- {DANCE}\n\n## Honey\n\n- {DANCE}\n"


def revise(kind: str, *, topic: str = "", version: str = REPORT, finding: str = ""):
    found = (PromptFinding("s1", topic, "ok", finding),) if finding else ()
    prompt = ParsedPrompt(
        question="What do the bees dance?",
        version=version,
        version_kind=kind,
        topic=topic,
        findings=found,
    )
    return revise_report(prompt)


@pytest.mark.parametrize("kind", ["shorten", "rewrite", "deepen"])
def test_an_answer_that_was_not_certain_is_not_certain_in_another_form(kind: str):
    assert revise(kind).unsure == ""
    assert revise(kind, version=f"The sources put it this way: {DANCE}").unsure is None


def test_what_deepens_a_section_stands_in_it_and_tells_nothing_twice():
    text = revise("deepen", topic="Dances", finding=f"- {DANCE}\n- {ROUND}").text

    assert text.count("## Dances") == 1
    assert text.index("## Dances") < text.index(ROUND) < text.index("## Honey")
    assert text.count(DANCE) == REPORT.count(DANCE)


def test_what_is_added_gets_a_section_of_its_own_behind_the_others():
    text = revise("add", topic="Round dance", finding=f"- {ROUND}").text

    assert text.startswith(REPORT.strip())
    assert text.index("## Honey") < text.index("## Round dance") < text.index(ROUND)
