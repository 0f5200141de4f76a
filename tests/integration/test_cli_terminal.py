"""The review of a plan at a terminal, where a person types, leaves or hangs up."""

from __future__ import annotations

import stat
from collections.abc import Callable

import pytest

from tests.integration.command import LONG, WHO, Done, Forks, Place, status

pytestmark = pytest.mark.integration

PROMPT = "with words? "


def test_at_a_terminal_the_plan_is_shown_and_a_approves_it(place: Place):
    with place.terminal(
        "ask", WHO, "--again", "new", "--docs", "bees", "--thread", "shown"
    ) as terminal:
        screen = terminal.wait_for(PROMPT)
        terminal.type("a\n")
        ending = terminal.end()

    assert f"1. {WHO}" in screen
    assert "\x1b[36m" in terminal.raw
    assert ending == 0
    report = terminal.screen.partition(PROMPT)[2]
    assert "1927" in report
    assert "How it was researched" in report
    assert "every sentence was compared" not in report


def test_what_was_typed_before_the_plan_is_shown_decides_nothing(forks: Forks, place: Place):
    words = ["ask", WHO, "--again", "new", "--docs", "bees", "--thread", "early"]
    with forks.terminal(place, *words) as terminal:
        terminal.type("a\n\n")
        terminal.wait_for(PROMPT)
        terminal.type("\x04")
        ending = terminal.end()

    assert ending == 130
    assert "Nothing is decided" in terminal.screen
    assert status(forks, place, "early-1") == "waiting_review"


def test_at_a_terminal_an_edit_that_is_impossible_is_told_and_can_be_mended(
    wait: Callable[[str], Done], forks: Forks, place: Place
):
    wait("mended")
    editor = place.folder / "editor"
    # The first time it writes a cycle, and then breaks the cycle that it finds written.
    editor.write_text(
        "#!/bin/sh\n"
        "if grep -q '^   after: 1$' $1; then sed -i '/^   after: 1$/d' $1\n"
        "else echo '   after: 1' >> $1; fi\n"
        "sed -i 's/^# .*/# My winter cluster/' $1\n"
    )
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)

    settings = {"EDITOR": str(editor), "NO_COLOR": "1"}
    with forks.terminal(place, "resume", "mended-1", "--out", "mended", **settings) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("e\n")
        terminal.wait_for("error[plan_cycle]")
        terminal.wait_for(PROMPT)
        terminal.type("e\n")
        ending = terminal.end()

    assert ending == 0
    assert not any(f"\x1b[{colour}m" in terminal.raw for colour in (31, 33, 36))
    assert (place.folder / "mended" / "report.md").read_text("utf-8").startswith("# My winter")


def test_at_a_terminal_a_rejection_asks_for_words_and_shows_another_plan(
    wait: Callable[[str], Done], forks: Forks, place: Place
):
    wait("words")

    with forks.terminal(place, "resume", "words-1", EDITOR="true") as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("\n")
        terminal.wait_for(PROMPT)
        terminal.type("e\n")
        terminal.wait_for("Nothing was changed")
        terminal.wait_for(PROMPT)
        terminal.type("r\n")
        terminal.wait_for("What should be different?")
        terminal.type("also the winter\n")
        terminal.wait_for("2.")
        terminal.wait_for(PROMPT)
        terminal.type("r no, only the queen\n")
        terminal.wait_for(PROMPT)
        terminal.type("\x04")

        assert terminal.end() == 130
    assert terminal.screen.rstrip().endswith("Go on with: dossier resume words-1")


def test_ctrl_c_at_the_review_leaves_it_waiting(
    wait: Callable[[str], Done], forks: Forks, place: Place
):
    wait("left")

    with forks.terminal(place, "resume", "left-1") as terminal:
        terminal.wait_for(PROMPT)
        assert terminal.interrupt() == 130
    assert terminal.screen.rstrip().endswith("Go on with: dossier resume left-1")
    assert "Traceback" not in terminal.screen
    assert status(forks, place, "left-1") == "waiting_review"


def test_who_cannot_see_a_question_is_asked_none(forks: Forks, place: Place):
    words = ["ask", WHO, "--docs", "bees"]
    with forks.terminal(place, *words, err=place.folder / "log") as terminal:
        ending = terminal.end()

    assert ending == 0
    assert "the plan is approved as it is" in (place.folder / "log").read_text("utf-8")
    assert PROMPT not in terminal.screen


def test_a_terminal_that_is_closed_at_the_review_loses_nothing(forks: Forks, place: Place):
    words = ["ask", WHO, "--again", "new", "--docs", "bees", "--thread", "closed"]
    with forks.terminal(place, *words) as terminal:
        terminal.wait_for(PROMPT)
        terminal.hang_up()
        ending = terminal.process.wait(LONG)

    before = status(forks, place, "closed-1")
    resumed = forks.run(place, "resume", "closed-1", "--approve")

    # A closed terminal sends a signal and ends the input, and either may come first.
    assert ending in (129, 130)
    assert before == "waiting_review"
    assert resumed.status == 0
