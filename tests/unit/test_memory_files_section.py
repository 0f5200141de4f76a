"""The part of a memory file that agents write, and the part that they cannot touch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.errors import Problem
from memory.agents_md.content import LEARNED_BEGIN, LEARNED_END, replace_learned, split_sections

LINES = st.text("ab \t\r\n用<!-#`", max_size=60)


def test_the_first_lines_make_the_section_at_the_end():
    made = replace_learned("Be brief.", "- Use metric units\n", "f")

    assert made == f"Be brief.\n\n{LEARNED_BEGIN}\n- Use metric units\n{LEARNED_END}\n"


def test_an_empty_file_begins_with_the_section():
    assert replace_learned("", "- a\n", "f") == f"{LEARNED_BEGIN}\n- a\n{LEARNED_END}\n"


@given(LINES, LINES, st.text("ab 用", min_size=1), st.text("ab 用"))
def test_nothing_outside_of_the_section_ever_changes(before: str, after: str, one: str, two: str):
    first = replace_learned(before, one, "f")
    assert first.startswith(before)

    whole = first + after
    changed = replace_learned(whole, two, "f")

    assert changed.startswith(before)
    assert changed.endswith(after)
    assert changed.count(LEARNED_BEGIN) == changed.count(LEARNED_END) == 1 or one.strip() == ""


@given(st.text("ab 用\n", min_size=1))
def test_what_is_written_is_read_again(lines: str):
    inside = split_sections(replace_learned("Be brief.", lines, "f"), "f").learned

    assert inside.rstrip("\n") == (lines.rstrip("\n") if lines.strip() else "")


def test_the_marks_stay_when_nothing_is_between_them():
    made = replace_learned(f"a\n{LEARNED_BEGIN}\n- b\n{LEARNED_END}\nc", "", "f")

    assert made == f"a\n{LEARNED_BEGIN}\n{LEARNED_END}\nc"


def test_a_file_from_windows_keeps_its_line_ends():
    made = replace_learned("Be brief.\r\n", "- a\n- b\n", "f")

    assert made == f"Be brief.\r\n\r\n{LEARNED_BEGIN}\r\n- a\r\n- b\r\n{LEARNED_END}\r\n"
    assert split_sections(made, "f").learned == "- a\n- b\n"


@pytest.mark.parametrize(
    "text",
    [
        LEARNED_BEGIN,
        LEARNED_END,
        f"{LEARNED_END}\n{LEARNED_BEGIN}",
        f"{LEARNED_BEGIN}\n{LEARNED_BEGIN}\n{LEARNED_END}",
        f"{LEARNED_BEGIN}\n{LEARNED_END}\n{LEARNED_BEGIN}\n{LEARNED_END}",
    ],
)
def test_marks_that_a_person_broke_are_left_to_them(text: str):
    with pytest.raises(Problem) as problem:
        replace_learned(text, "- a\n", "f")

    assert (problem.value.code, problem.value.where) == ("memory_section_broken", "f")


def test_marks_within_a_line_are_words():
    text = f"Agents write between {LEARNED_BEGIN} and {LEARNED_END}."

    assert split_sections(text, "f").learned == ""
