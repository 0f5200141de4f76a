"""The titles of what tools of servers say."""

from __future__ import annotations

import pytest

from tools.mcp.tool_results import MAX_NAMED, title_of

HASHES = ["d4e213b9ab4800dfbc7ac676c1fa3b9c424d9e15", "e7dc55f19b35578b013f5b30d55f033cf1d23b54"]
TEXT = "the wheel and the gate of the old mill by the river that was built for the monks "


def test_calls_that_differ_in_a_hash_have_other_titles():
    titles = [
        title_of("git", "git_show", {"repo_path": "/home/me/code/rainlog", "revision": one})
        for one in HASHES
    ]

    assert titles == [
        "git: git_show (repo_path rainlog, revision d4e213b9ab)",
        "git: git_show (repo_path rainlog, revision e7dc55f19b)",
    ]


def test_a_long_argument_leaves_room_for_those_behind_it():
    one = title_of("mill", "find", {"about": TEXT * 3, "year": 1998, "kind": "letters"})

    assert "year 1998" in one
    assert "kind letters" in one
    assert len(one) <= len("mill: find ()") + MAX_NAMED


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("/srv/mills/", "mills"),
        (r"C:\data\mills.csv", "mills.csv"),
        ("/", "/"),
        ("owner/repo", "owner/repo"),
        ("12:00", "12:00"),
        ("https://mills.example/a", "https://mills.example/a"),
    ],
)
def test_a_path_is_told_by_its_name(value: str, shown: str):
    assert title_of("s", "t", {"at": value}) == f"s: t (at {shown})"


def test_a_call_without_arguments_is_told_by_its_tool():
    assert title_of("s", "t", {"at": "", "of": None}) == "s: t"
