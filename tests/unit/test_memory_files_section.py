"""The part of a memory file that agents write, and the part that they cannot touch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.errors import Problem
from memory.files.section import BEGIN, END, divided, replaced

LINES = st.text("ab \t\r\n用<!-#`", max_size=60)


def test_the_first_lines_make_the_section_at_the_end():
    made = replaced("Be brief.", "- Use metric units\n", "f")

    assert made == f"Be brief.\n\n{BEGIN}\n- Use metric units\n{END}\n"


def test_an_empty_file_begins_with_the_section():
    assert replaced("", "- a\n", "f") == f"{BEGIN}\n- a\n{END}\n"


@given(LINES, LINES, st.text("ab 用", min_size=1), st.text("ab 用"))
def test_nothing_outside_of_the_section_ever_changes(before: str, after: str, one: str, two: str):
    first = replaced(before, one, "f")
    assert first.startswith(before)

    whole = first + after
    changed = replaced(whole, two, "f")

    assert changed.startswith(before)
    assert changed.endswith(after)
    assert changed.count(BEGIN) == changed.count(END) == 1 or one.strip() == ""


@given(st.text("ab 用\n", min_size=1))
def test_what_is_written_is_read_again(lines: str):
    inside = divided(replaced("Be brief.", lines, "f"), "f").inside

    assert inside.rstrip("\n") == (lines.rstrip("\n") if lines.strip() else "")


def test_the_marks_stay_when_nothing_is_between_them():
    made = replaced(f"a\n{BEGIN}\n- b\n{END}\nc", "", "f")

    assert made == f"a\n{BEGIN}\n{END}\nc"


def test_a_file_from_windows_keeps_its_line_ends():
    made = replaced("Be brief.\r\n", "- a\n- b\n", "f")

    assert made == f"Be brief.\r\n\r\n{BEGIN}\r\n- a\r\n- b\r\n{END}\r\n"
    assert divided(made, "f").inside == "- a\n- b\n"


@pytest.mark.parametrize(
    "text",
    [
        BEGIN,
        END,
        f"{END}\n{BEGIN}",
        f"{BEGIN}\n{BEGIN}\n{END}",
        f"{BEGIN}\n{END}\n{BEGIN}\n{END}",
    ],
)
def test_marks_that_a_person_broke_are_left_to_them(text: str):
    with pytest.raises(Problem) as problem:
        replaced(text, "- a\n", "f")

    assert (problem.value.code, problem.value.where) == ("memory_section_broken", "f")


def test_marks_within_a_line_are_words():
    text = f"Agents write between {BEGIN} and {END}."

    assert divided(text, "f").inside == ""
