from typing import get_type_hints

import typing_extensions

from graph import state
from graph.records import entries_of_turn, key_by_turn, turn_key
from graph.state import merge_entries


def test_the_newer_entry_wins_so_that_a_redo_replaces():
    assert merge_entries({"1/a": 1, "1/b": 2}, {"1/b": 3}) == {"1/a": 1, "1/b": 3}


def test_joining_changes_neither_table():
    old, new = {"a": 1}, {"b": 2}

    merge_entries(old, new)

    assert (old, new) == ({"a": 1}, {"b": 2})


def test_there_may_be_nothing_yet():
    assert merge_entries(None, {"a": 1}) == {"a": 1}
    assert entries_of_turn(None, 1) == {}


def test_a_turn_sees_only_its_own_entries():
    table = {
        turn_key(1, "s1"): "old",
        turn_key(11, "s1"): "eleven",
        turn_key(2, "s1"): "new",
        "2/a/b": "deep",
    }

    assert entries_of_turn(table, 1) == {"s1": "old"}
    assert entries_of_turn(table, 2) == {"s1": "new", "a/b": "deep"}


def test_the_entries_of_a_turn_keep_their_order():
    table = {turn_key(1, name): 0 for name in ("s2", "s10", "s1")}

    assert list(entries_of_turn(table, 1)) == ["s2", "s10", "s1"]


def test_what_is_named_for_a_turn_is_that_turns():
    assert entries_of_turn(key_by_turn(3, {"a": 1, "b/c": 2}), 3) == {"a": 1, "b/c": 2}
    assert entries_of_turn(key_by_turn(3, {"a": 1}), 2) == {}


def test_every_shape_is_made_of_what_a_server_can_describe_on_this_python():
    shapes = [one for one in vars(state).values() if typing_extensions.is_typeddict(one)]

    # `typing.TypedDict` of Python < 3.12 breaks the schema endpoints of a server.
    assert len(shapes) > 10
    assert {type(shape) for shape in shapes} == {type(typing_extensions.TypedDict("T", {}))}


def test_what_must_not_grow_for_ever_is_replaced_and_what_branches_write_is_merged():
    hints = get_type_hints(state.State, include_extras=True)
    merged = {
        name for name, hint in hints.items() if merge_entries in getattr(hint, "__metadata__", ())
    }

    assert merged == {
        *("answers", "background", "consulted", "findings", "pauses", "sources", "unsearched")
    }
