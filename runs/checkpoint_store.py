"""How checkpoints are kept in SQLite.

Each entry of a thread once, of each finished turn only the last checkpoint, and ids in the order in
which they are saved.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from sqlite3 import Cursor
from typing import Any, NamedTuple

from langgraph.checkpoint.base import id as ids

from graph.state import GROWING_CHANNELS
from text.regex import regex

THREADS_OF_RUNS = (
    "SELECT DISTINCT thread_id FROM checkpoints WHERE json_extract(CAST(metadata AS TEXT), "
    "'$.run_id') IN (SELECT value FROM json_each(?))"
)

DELETE_RUNS = (
    "DELETE FROM writes WHERE (thread_id, checkpoint_ns, checkpoint_id) IN (SELECT thread_id, "
    "checkpoint_ns, checkpoint_id FROM checkpoints WHERE json_extract(CAST(metadata AS TEXT), "
    "'$.run_id') IN (SELECT value FROM json_each(?)))",
    "DELETE FROM checkpoints WHERE json_extract(CAST(metadata AS TEXT), '$.run_id') "
    "IN (SELECT value FROM json_each(?))",
)

COPY_THREAD = (
    "INSERT OR REPLACE INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, "
    "parent_checkpoint_id, type, checkpoint, metadata) SELECT ?, checkpoint_ns, checkpoint_id, "
    "parent_checkpoint_id, type, checkpoint, metadata FROM checkpoints WHERE thread_id = ?",
    "INSERT OR REPLACE INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, "
    "idx, channel, type, value) SELECT ?, checkpoint_ns, checkpoint_id, task_id, task_path, "
    "idx, channel, type, value FROM writes WHERE thread_id = ?",
    "INSERT OR REPLACE INTO blobs (thread_id, digest, type, value, erased) SELECT ?, digest, type, "
    "value, erased FROM blobs WHERE thread_id = ?",
)

PRUNE_THREAD = (
    "DELETE FROM checkpoints WHERE thread_id = ?1 AND checkpoint_id NOT IN (SELECT "
    "MAX(newest.checkpoint_id) FROM checkpoints AS newest WHERE newest.thread_id = ?1 "
    "AND newest.checkpoint_ns = checkpoints.checkpoint_ns)",
    "DELETE FROM writes WHERE thread_id = ?1 AND NOT EXISTS (SELECT 1 FROM checkpoints AS kept "
    "WHERE kept.thread_id = ?1 AND kept.checkpoint_ns = writes.checkpoint_ns "
    "AND kept.checkpoint_id = writes.checkpoint_id)",
)

DELETE_THREAD = (
    "DELETE FROM checkpoints WHERE thread_id = ?",
    "DELETE FROM writes WHERE thread_id = ?",
    "DELETE FROM blobs WHERE thread_id = ?",
)

SAVE_CHECKPOINT = (
    "INSERT OR REPLACE INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, "
    "parent_checkpoint_id, type, checkpoint, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)"
)

DELETE_BRANCHES = (
    "DELETE FROM checkpoints WHERE thread_id = ? AND checkpoint_ns > '' AND checkpoint_id < ?",
    "DELETE FROM writes WHERE thread_id = ? AND checkpoint_ns > '' AND checkpoint_id < ?",
)
"""Delete what the branches of a thread saved before a checkpoint of the whole graph."""

NEWEST_CHECKPOINT = "SELECT MAX(checkpoint_id) FROM checkpoints WHERE thread_id = ?"

HAS_BRANCHES = "SELECT 1 FROM checkpoints WHERE thread_id = ? AND checkpoint_ns > '' LIMIT 1"

_TIMED = regex(r"([0-9a-f]{8})-([0-9a-f]{4})-6([0-9a-f]{3})-[0-9a-f]{4}-[0-9a-f]{12}")
"""A UUID of version 6; its time is in the first three parts, the highest digits first."""

LAST_TICKS = 2**60 - 2**40
"""The largest time of an id, in ticks of 100 ns, that leaves room for another day of ids."""


def advance_checkpoint_ids(newest: str) -> None:
    """Make every id that this process generates from now on greater than a saved one.

    LangGraph derives ids from the time and takes the highest for the newest, even if the clock
    was set back since. Ids of other kinds are ignored.

    Raises:
        ValueError: When the id is so high that hardly any other can follow.
    """
    found = _TIMED.fullmatch(newest)
    if not found:
        return
    ticks = int("".join(found.groups()), 16)
    if ticks >= LAST_TICKS:
        raise ValueError(newest)
    # The generator never returns a time before its last one.
    ids._last_v6_timestamp = max(ticks, ids._last_v6_timestamp or 0)  # type: ignore[assignment]


MAX_DELETED = 100
"""How many checkpoints are deleted at a time; a thread of an older version may have hundreds."""

CUT_MARK = "cut"
"""Set in the metadata of a checkpoint whose parent is the end of an earlier turn."""

META = "CASE WHEN json_valid(CAST(metadata AS TEXT)) THEN CAST(metadata AS TEXT) END"

ROWS = (
    f"SELECT checkpoint_id, parent_checkpoint_id, json_extract({META}, '$.source'), "  # noqa: S608
    f"json_extract({META}, '$.{CUT_MARK}') FROM checkpoints "
    "WHERE thread_id = ? AND checkpoint_ns = '' ORDER BY checkpoint_id"
)

ADOPT = (
    "UPDATE checkpoints SET parent_checkpoint_id = ?, "  # noqa: S608
    f"metadata = json_set({META}, '$.{CUT_MARK}', 1) "
    "WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id = ?"
)

THOSE = (
    "WHERE thread_id = ? AND checkpoint_ns = '' "
    "AND checkpoint_id IN (SELECT value FROM json_each(?))"
)

DELETE = (f"DELETE FROM checkpoints {THOSE}", f"DELETE FROM writes {THOSE}")  # noqa: S608 - our own


class SavedPlace(NamedTuple):
    """The place of a checkpoint of the whole graph in its thread."""

    id: str
    parent: str | None
    source: str | None
    """Its source: `input`, `loop`, `update` or `fork`."""
    cut: int | None
    """Whether the checkpoints between it and its parent were deleted."""


def compact_turns(cursor: Cursor, thread: str) -> bool:
    """Delete the inner checkpoints of the finished turns before the newest question.

    Of a turn the checkpoint before the next question stays, and the last one of every fork: a
    person may continue from each of them.

    Returns:
        Whether anything was deleted.
    """
    every = [SavedPlace(*row) for row in cursor.execute(ROWS, (thread,)).fetchall()]
    gone, adopted = plan_compaction(every)
    for child, parent in adopted.items():
        cursor.execute(ADOPT, (parent, thread, child))
    for delete in DELETE if gone else ():
        cursor.execute(delete, (thread, json.dumps(gone)))
    return bool(gone)


def plan_compaction(every: Sequence[SavedPlace]) -> tuple[list[str], dict[str, str | None]]:
    """Return which checkpoints go, and the new parent of each whose parent goes.

    Args:
        every: All checkpoints of the whole graph in a thread, in the order of their ids.
    """
    gone = _inner_checkpoints(every)[:MAX_DELETED]
    parents = {one.id: one.parent for one in every}
    adopted = {
        one.id: _nearest_ancestor(one.parent, parents, gone)
        for one in every
        if one.parent in gone and one.id not in gone
    }
    return gone, adopted


def _inner_checkpoints(every: Sequence[SavedPlace]) -> list[str]:
    """Return the checkpoints before the newest question that no turn ends with."""
    parents = {one.parent for one in every}
    ends = {one.parent for one in every if one.source == "input" or one.cut}
    ends |= {one.id for one in every if one.id not in parents}
    newest = max(one.id for one in every if one.source == "input")
    return [one.id for one in every if one.id not in ends and one.id < newest]


def _nearest_ancestor(
    parent: str | None, parents: dict[str, str | None], gone: Sequence[str]
) -> str | None:
    """Return the nearest ancestor that is kept."""
    while parent in gone:
        parent = parents[parent] if parent else None
    return parent


BLOBS_TABLE = (
    "CREATE TABLE IF NOT EXISTS blobs (thread_id TEXT NOT NULL, digest BLOB NOT NULL, type TEXT, "
    "value BLOB, erased INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (thread_id, digest))"
)
"""Entries of the growing channels of a thread, by the hash of each when it was stored."""

BLOBS_KEY = "blobs"
"""The key of a checkpoint that lists the channels whose entries are stored separately."""

SMALL = 64
"""The size in bytes up to which an entry stays in the checkpoint itself."""

KNOWN_BLOBS = "SELECT digest, erased FROM blobs WHERE thread_id = ?"
KEEP = "INSERT INTO blobs (thread_id, digest, type, value) VALUES (?, ?, ?, ?)"
LOAD = "SELECT digest, type, value, erased FROM blobs WHERE thread_id = ?"
DROP = (
    "DELETE FROM blobs WHERE thread_id = ? AND hex(digest) NOT IN (SELECT value FROM json_each(?))"
)
ROOTS = "SELECT type, checkpoint FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''"

UNREADABLE_ERRORS = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
    NotImplementedError,
)
"""What reading damaged data raises; JSON and msgpack raise kinds of `ValueError`."""

Typed = tuple[str, bytes]
"""A serialised value: its type, and its bytes."""


class _StoredEntry(NamedTuple):
    """An entry as it is kept."""

    typed: Typed
    erased: int
    """Whether something was forgotten in it since."""


class _SplitChannels(NamedTuple):
    """The channels of a checkpoint with hashes in place of entries, and those entries."""

    values: dict[str, Any]
    split: list[str]
    """The channels that have hashes."""
    entries: dict[bytes, Typed]


def split_entries(
    values: Mapping[str, Any], dump: Callable[[Any], Typed], erased: Iterable[bytes]
) -> _SplitChannels:
    """Take the entries out of the channels that grow with every turn.

    Args:
        values: What the channels hold.
        dump: Serialises a value.
        erased: The hashes of entries of which something was forgotten since they were stored; an
            equal new entry stays in the checkpoint, in full.
    """
    entries: dict[bytes, Typed] = {}
    spoilt = frozenset(erased)

    def taken(one: Any) -> Any:
        typed = dump(one)
        digest = _digest(typed)
        if digest in spoilt or (len(typed[1]) <= SMALL and not isinstance(one, bytes)):
            return one
        entries[digest] = typed
        return digest

    held = [name for name in GROWING_CHANNELS if isinstance(values.get(name), list | dict)]
    return _SplitChannels(
        {**values, **{name: _each(values[name], taken) for name in held}}, held, entries
    )


def store_entries(
    cursor: Cursor, thread: str, entries: Mapping[bytes, Typed], known: Iterable[bytes]
) -> None:
    """Write the entries of a thread that are not there yet."""
    new = entries.keys() - set(known)
    cursor.executemany(KEEP, [(thread, digest, *entries[digest]) for digest in new])


def join_entries(
    checkpoint: dict[str, Any], load: Callable[[Typed], Any], kept: Mapping[bytes, _StoredEntry]
) -> None:
    """Replace the hashes in a checkpoint by their entries.

    Raises:
        KeyError: When one is missing.
        ValueError: When one is not what was kept.
    """
    values = checkpoint["channel_values"]
    for name in checkpoint.pop(BLOBS_KEY, ()):
        values[name] = _each(
            values[name], lambda one: load(_same(one, kept[one])) if isinstance(one, bytes) else one
        )


def _same(digest: bytes, kept: _StoredEntry) -> Typed:
    """Return an entry that is still what it was when it was kept, or that was erased in part."""
    if not kept.erased and _digest(kept.typed) != digest:
        msg = "an entry is not what was kept"
        raise ValueError(msg)
    return kept.typed


def _digest(typed: Typed) -> bytes:
    return blake2b(typed[0].encode() + typed[1], digest_size=16).digest()


def load_entries(cursor: Cursor, thread: str) -> dict[bytes, _StoredEntry]:
    """Return the serialised entries of a thread."""
    rows = cursor.execute(LOAD, (thread,))
    return {digest: _StoredEntry((kind, data), erased) for digest, kind, data, erased in rows}


def delete_unused_entries(cursor: Cursor, thread: str, load: Callable[[Typed], Any]) -> None:
    """Delete the entries that no checkpoint of a thread holds any more."""
    held: set[str] = set()
    for typed in cursor.execute(ROOTS, (thread,)).fetchall():
        checkpoint = load(typed)
        for name in checkpoint.get(BLOBS_KEY, ()):
            every = checkpoint["channel_values"][name]
            some = every.values() if isinstance(every, dict) else every
            held |= {one.hex().upper() for one in some if isinstance(one, bytes)}
    cursor.execute(DROP, (thread, json.dumps(sorted(held))))


def _each(entries: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(entries, dict):
        return {name: change(one) for name, one in entries.items()}
    return [change(one) for one in entries]
