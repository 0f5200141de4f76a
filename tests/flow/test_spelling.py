"""A misspelt word of a question is searched for as the sources spell it, and the person is told."""

from __future__ import annotations

import pytest

from graph.session import ThreadSession
from tests.conftest import make
from tests.flow.test_defects import quiet


@pytest.mark.extractive("Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks")
async def test_a_misspelt_word_is_put_right_and_the_report_says_so(
    thread: ThreadSession, choices: dict[str, object]
):
    state = (await thread.begin("How do honey bees dannce?", make(choices), quiet)).state

    assert state["question"] == "How do honey bees dance?"
    assert "Searched for: dannce → dance." in state["report"]["notices"]
    assert "dannce" in str(state["messages"][0].text)


@pytest.mark.extractive("Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks")
async def test_a_question_without_a_mistake_is_told_of_none(
    thread: ThreadSession, choices: dict[str, object]
):
    state = (await thread.begin("How do bees dance?", make(choices), quiet)).state

    assert not any("→" in one for one in state["report"]["notices"])
