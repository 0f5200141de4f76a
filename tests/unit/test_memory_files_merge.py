"""Two changes of one text become one, and nothing that anybody wrote is lost."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.agents_md.proposals import MergedText, merge_texts

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "", "用中文"]), max_size=8).map("\n".join)

DIFFERENT = st.sets(st.sampled_from(["a\n", "b\n", "c\n", "d\n"])).map("".join)


def counted(text: str) -> Counter[str]:
    return Counter(text.split("\n"))


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("a\n", "a\nb\n", "a\nc\n", "a\nb\nc\n"),
        ("a\n", "b\na\n", "a\nc\n", "b\na\nc\n"),
        ("a\nb\n", "a1\nb\n", "a\nb1\n", "a1\nb1\n"),
        ("a\nb\nc\n", "a\nc\n", "a\nb\nc\nd\n", "a\nc\nd\n"),
        ("a\nb\nc\n", "b\nc\n", "a\nb\n", "b\n"),
        ("", "a\n", "b\n", "a\nb\n"),
        ("a\n", "a\nb\nc\n", "a\nb\nd\n", "a\nb\nc\nd\n"),
        ("a\n", "a\nb\n", "a\nb\n", "a\nb\n"),
    ],
)
def test_changes_side_by_side_agree(base: str, ours: str, theirs: str, merged: str):
    assert merge_texts(base, ours, theirs) == MergedText(merged, 0)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("a\n", "b\n", "c\n", "b\nc\n"),
        ("a\nb\n", "", "a\nc\n", "c\n"),
        ("a\nb\nc\n", "d\n", "a\nb\nx\nc\n", "d\nx\n"),
    ],
)
def test_where_both_change_a_line_both_texts_stand_and_it_is_told(
    base: str, ours: str, theirs: str, merged: str
):
    assert merge_texts(base, ours, theirs) == MergedText(merged, 1)


@given(LINES, LINES, LINES)
def test_no_line_that_either_side_added_is_lost(base: str, ours: str, theirs: str):
    merged = counted(merge_texts(base, ours, theirs).text)

    for side in (counted(ours), counted(theirs)):
        for line, count in (side - counted(base)).items():
            assert merged[line] >= count


@given(LINES, LINES, LINES)
def test_a_line_that_neither_side_took_out_stays(base: str, ours: str, theirs: str):
    merged, mine, other = (
        counted(one) for one in (merge_texts(base, ours, theirs).text, ours, theirs)
    )

    for line, count in counted(base).items():
        if mine[line] >= count and other[line] >= count:
            assert merged[line] >= count


@given(LINES, LINES)
def test_a_side_that_changed_nothing_leaves_the_other_as_it_is(base: str, changed: str):
    assert (
        merge_texts(base, changed, base)
        == merge_texts(base, base, changed)
        == MergedText(changed, 0)
    )


@given(LINES, LINES)
def test_the_same_change_twice_is_one(base: str, changed: str):
    assert merge_texts(base, changed, changed) == MergedText(changed, 0)


@given(DIFFERENT, st.sets(st.sampled_from("vw")), st.sets(st.sampled_from("xyz")))
def test_what_was_added_before_is_not_added_again(base: str, mine: set[str], more: set[str]):
    ours, theirs = (base + "".join(f"{one}\n" for one in sorted(each)) for each in (mine, more))
    once = merge_texts(base, ours, theirs)

    assert merge_texts(base, once.text, theirs) == once


def test_many_equal_lines_are_merged_at_once():
    base = "\n" * 60_000

    assert merge_texts(base, f"a{base}", f"{base}b") == MergedText(f"a{base}b", 0)
