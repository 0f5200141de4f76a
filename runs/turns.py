"""Compact a thread: of each finished turn only the last checkpoint is kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from sqlite3 import Cursor
from typing import NamedTuple

MOST = 100
"""How many checkpoints are deleted at a time; a thread of an older version may have hundreds."""

CUT = "cut"
"""Set in the metadata of a checkpoint whose parent is the end of an earlier turn."""

META = "CASE WHEN json_valid(CAST(metadata AS TEXT)) THEN CAST(metadata AS TEXT) END"

ROWS = (
    f"SELECT checkpoint_id, parent_checkpoint_id, json_extract({META}, '$.source'), "  # noqa: S608
    f"json_extract({META}, '$.{CUT}') FROM checkpoints "
    "WHERE thread_id = ? AND checkpoint_ns = '' ORDER BY checkpoint_id"
)

ADOPT = (
    f"UPDATE checkpoints SET parent_checkpoint_id = ?, metadata = json_set({META}, '$.{CUT}', 1) "  # noqa: S608
    "WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ?"
)

THOSE = (
    "WHERE thread_id = ? AND checkpoint_ns = '' "
    "AND checkpoint_id IN (SELECT value FROM json_each(?))"
)

DELETE = (f"DELETE FROM checkpoints {THOSE}", f"DELETE FROM writes {THOSE}")  # noqa: S608 - our own


class Saved(NamedTuple):
    """The place of a checkpoint of the whole graph in its thread."""

    id: str
    parent: str | None
    source: str | None
    """Its source: `input`, `loop`, `update` or `fork`."""
    cut: int | None
    """Whether the checkpoints between it and its parent were deleted."""


def compact(cursor: Cursor, thread: str) -> bool:
    """Delete the inner checkpoints of the finished turns before the newest question.

    Of a turn the checkpoint before the next question stays, and the last one of every fork: a
    person may continue from each of them.

    Returns:
        Whether anything was deleted.
    """
    every = [Saved(*row) for row in cursor.execute(ROWS, (thread,)).fetchall()]
    gone = _within(every)[:MOST]
    if not gone:
        return False
    parents = {one.id: one.parent for one in every}
    for one in every:
        if one.parent in gone and one.id not in gone:
            cursor.execute(ADOPT, (_kept(one.parent, parents, gone), thread, one.id))
    for delete in DELETE:
        cursor.execute(delete, (thread, json.dumps(gone)))
    return True


def _within(every: Sequence[Saved]) -> list[str]:
    """Return the checkpoints before the newest question that no turn ends with."""
    parents = {one.parent for one in every}
    ends = {one.parent for one in every if one.source == "input" or one.cut}
    ends |= {one.id for one in every if one.id not in parents}
    newest = max(one.id for one in every if one.source == "input")
    return [one.id for one in every if one.id not in ends and one.id < newest]


def _kept(parent: str | None, parents: dict[str, str | None], gone: Sequence[str]) -> str | None:
    """Return the nearest ancestor that is kept."""
    while parent in gone:
        parent = parents[parent] if parent else None
    return parent
