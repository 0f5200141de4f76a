"""What `dossier recall` prints of the pages that its notes rest on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from app.cli import recall_command
from app.cli.dispatch import Invocation
from app.cli.recall_command import LONGEST, RecallExtract, _print
from config.errors import Problem

LONG = "\n\n".join(
    [
        "# The gate",
        *(f"Board {number} of the gate is made of oak and painted." for number in range(30)),
        "The gate shuts at nine in the evening, when the lamp is lit.",
        *(f"Hinge {number} is oiled in spring and again in autumn." for number in range(30)),
    ]
)
STATE: Any = {
    "question": "When is it closed?",
    "language": "en",
    "notes": "- It shuts when the lamp is lit [S1].",
    "reports": [],
}


def show(text: str, *, whole: bool) -> None:
    extract = RecallExtract("S1", "p1", "The gate", "/notes/gate.md#the-gate", text)
    _print(STATE, [extract], {}, whole=whole)


def test_a_passage_of_a_few_lines_is_printed_with_its_place(capsys: pytest.CaptureFixture[str]):
    show(LONG, whole=False)

    notes, rest = capsys.readouterr().out.split("\n\n", 1)
    head, said = rest.strip().split("\n", 1)
    assert notes.startswith("- It shuts")
    assert head == "[S1] The gate  /notes/gate.md#the-gate"
    assert said.startswith("… The gate shuts at nine in the evening, when the lamp is lit. Hinge 0")
    assert said.endswith(" …")
    assert LONGEST / 2 < len(said) <= LONGEST + 4


def test_whole_pages_are_printed_where_they_are_asked_for(capsys: pytest.CaptureFixture[str]):
    show(LONG, whole=True)

    assert LONG in capsys.readouterr().out


def test_a_short_page_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]):
    show("# The gate\n\nIt shuts at nine.", whole=False)

    assert capsys.readouterr().out.endswith("# The gate\n\nIt shuts at nine.\n")


def test_a_question_is_read_before_an_event_loop_keeps_ctrl_c_from_ending_the_wait(
    monkeypatch: pytest.MonkeyPatch,
):
    def read(question: str) -> str:
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        return ""

    monkeypatch.setattr(recall_command, "read_question", read)

    with pytest.raises(Problem, match="there is no question"):
        recall_command.recall(
            question="-", within="", pages=False, invocation=Invocation("", as_json=False)
        )
