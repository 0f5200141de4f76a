"""Store each entry of a thread once, however many of its checkpoints contain it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from sqlite3 import Cursor
from typing import Any, NamedTuple

from graph.state import GROWING

TABLE = (
    "CREATE TABLE IF NOT EXISTS blobs (thread_id TEXT NOT NULL, digest BLOB NOT NULL, type TEXT, "
    "value BLOB, erased INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (thread_id, digest))"
)
"""Entries of the growing channels of a thread, by the hash of each when it was stored."""

HELD = "blobs"
"""The key of a checkpoint that lists the channels whose entries are stored separately."""

SMALL = 64
"""The size in bytes up to which an entry stays in the checkpoint itself."""

KNOWN = "SELECT digest, erased FROM blobs WHERE thread_id = ?"
KEEP = "INSERT INTO blobs (thread_id, digest, type, value) VALUES (?, ?, ?, ?)"
LOAD = "SELECT digest, type, value, erased FROM blobs WHERE thread_id = ?"
DROP = (
    "DELETE FROM blobs WHERE thread_id = ? AND hex(digest) NOT IN (SELECT value FROM json_each(?))"
)
ROOTS = "SELECT type, checkpoint FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''"

UNREADABLE = (
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


class Kept(NamedTuple):
    """An entry as it is kept."""

    typed: Typed
    erased: int
    """Whether something was forgotten in it since."""


class Parted(NamedTuple):
    """The channels of a checkpoint with hashes in place of entries, and those entries."""

    values: dict[str, Any]
    held: list[str]
    """The channels that have hashes."""
    entries: dict[bytes, Typed]


def parted(
    values: Mapping[str, Any], dump: Callable[[Any], Typed], erased: Iterable[bytes]
) -> Parted:
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

    held = [name for name in GROWING if isinstance(values.get(name), list | dict)]
    return Parted({**values, **{name: _each(values[name], taken) for name in held}}, held, entries)


def keep(
    cursor: Cursor, thread: str, entries: Mapping[bytes, Typed], known: Iterable[bytes]
) -> None:
    """Write the entries of a thread that are not there yet."""
    new = entries.keys() - set(known)
    cursor.executemany(KEEP, [(thread, digest, *entries[digest]) for digest in new])


def joined(
    checkpoint: dict[str, Any], load: Callable[[Typed], Any], kept: Mapping[bytes, Kept]
) -> None:
    """Replace the hashes in a checkpoint by their entries.

    Raises:
        KeyError: When one is missing.
        ValueError: When one is not what was kept.
    """
    values = checkpoint["channel_values"]
    for name in checkpoint.pop(HELD, ()):
        values[name] = _each(
            values[name], lambda one: load(_same(one, kept[one])) if isinstance(one, bytes) else one
        )


def _same(digest: bytes, kept: Kept) -> Typed:
    """Return an entry that is still what it was when it was kept, or that was erased in part."""
    if not kept.erased and _digest(kept.typed) != digest:
        msg = "an entry is not what was kept"
        raise ValueError(msg)
    return kept.typed


def _digest(typed: Typed) -> bytes:
    return blake2b(typed[0].encode() + typed[1], digest_size=16).digest()


def loaded(cursor: Cursor, thread: str) -> dict[bytes, Kept]:
    """Return the serialised entries of a thread."""
    rows = cursor.execute(LOAD, (thread,))
    return {digest: Kept((kind, data), erased) for digest, kind, data, erased in rows}


def sweep(cursor: Cursor, thread: str, load: Callable[[Typed], Any]) -> None:
    """Delete the entries that no checkpoint of a thread holds any more."""
    held: set[str] = set()
    for typed in cursor.execute(ROOTS, (thread,)).fetchall():
        checkpoint = load(typed)
        for name in checkpoint.get(HELD, ()):
            every = checkpoint["channel_values"][name]
            some = every.values() if isinstance(every, dict) else every
            held |= {one.hex().upper() for one in some if isinstance(one, bytes)}
    cursor.execute(DROP, (thread, json.dumps(sorted(held))))


def _each(entries: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(entries, dict):
        return {name: change(one) for name, one in entries.items()}
    return [change(one) for one in entries]
