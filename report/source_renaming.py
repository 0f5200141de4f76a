"""Rename the sources in records that are carried from one thread to another.

A page has a number of its own in each thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from graph.records import Source
from report.source_registry import CitablePage, register_sources
from text.regex import regex

Record = TypeVar("Record")

_MARK = regex(r'(?<=\[)S[1-9]\d*(?=\])|(?<=<q s=")S[1-9]\d*(?=">)')

_ID_FIELDS = ("cited", "sources", "source", "stale")
"""The fields of records that hold ids of sources rather than text."""


async def carry_sources(thread: str, sources: Sequence[Source]) -> dict[str, Source]:
    """Register sources of any thread in this one; return them by their former ids."""
    citable = [
        CitablePage(one["page"], one["title"], one["location"], one["kind"]) for one in sources
    ]
    registered = await register_sources(thread, citable)
    return {old["id"]: new for old, new in zip(sources, registered, strict=True)}


def rename_sources(record: Record, names: Mapping[str, str]) -> Record:
    """Return a record with the ids of sources in its fields and texts replaced.

    Args:
        record: Plain data, such as a finding or a report.
        names: The new ids by the old ones; an id that is not among them stays.
    """
    return cast("Record", _renamed(record, names, is_id=False))


def _renamed(value: Any, names: Mapping[str, str], *, is_id: bool) -> Any:
    if isinstance(value, str):
        if is_id:
            return names.get(value, value)
        return _MARK.sub(lambda mark: names.get(mark[0], mark[0]), value)
    if isinstance(value, dict):
        return {
            name: _renamed(part, names, is_id=name in _ID_FIELDS) for name, part in value.items()
        }
    if isinstance(value, list):
        return [_renamed(part, names, is_id=is_id) for part in value]
    return value
