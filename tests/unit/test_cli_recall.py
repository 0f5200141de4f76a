"""What `dossier recall` prints of the pages that its notes rest on."""

from __future__ import annotations

from typing import Any

import pytest

from app.cli.recall_command import LONGEST, RecallAnswer, RecallExtract, _print

LONG = "\n\n".join(
    [
        "# The gate",
        *(f"Board {number} of the gate is made of oak and painted." for number in range(30)),
        "The gate shuts at nine in the evening, when the lamp is lit.",
        *(f"Hinge {number} is oiled in spring and again in autumn." for number in range(30)),
    ]
)
STATE: Any = {"language": "en", "notes": "- It shuts when the lamp is lit [S1].", "reports": []}


def recalled(text: str) -> RecallAnswer:
    extract = RecallExtract("S1", "p1", "The gate", "/notes/gate.md#the-gate", text)
    return RecallAnswer("When is it closed?", STATE["notes"], [extract], ["p1"], [], 1, {})


def test_a_passage_of_a_few_lines_is_printed_with_its_place(capsys: pytest.CaptureFixture[str]):
    _print(recalled(LONG), STATE, whole=False)

    notes, rest = capsys.readouterr().out.split("\n\n", 1)
    head, said = rest.strip().split("\n", 1)
    assert notes.startswith("- It shuts")
    assert head == "[S1] The gate  /notes/gate.md#the-gate"
    assert said.startswith("… The gate shuts at nine in the evening, when the lamp is lit. Hinge 0")
    assert said.endswith(" …")
    assert LONGEST / 2 < len(said) <= LONGEST + 4


def test_whole_pages_are_printed_where_they_are_asked_for(capsys: pytest.CaptureFixture[str]):
    _print(recalled(LONG), STATE, whole=True)

    assert LONG in capsys.readouterr().out


def test_a_short_page_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]):
    _print(recalled("# The gate\n\nIt shuts at nine."), STATE, whole=False)

    assert capsys.readouterr().out.endswith("# The gate\n\nIt shuts at nine.\n")
