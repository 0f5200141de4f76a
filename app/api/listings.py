"""Lists that are read part by part: the cursor at the end of a part leads to the next one."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Sequence
from typing import Annotated, Any, Generic, NoReturn, TypeVar

from fastapi import Query
from pydantic import BaseModel, Field, StringConstraints

from config.errors import ErrorCode, Problem

Item = TypeVar("Item")

MAX_LIMIT = 200
"""The most entries of a part of a list."""

_MOST = 2**62
"""No number in a cursor is larger."""

Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="The most entries to return.")]

Cursor = Annotated[
    str,
    StringConstraints(max_length=500),
    Query(description="`next` of the part before; the first part is returned without it."),
]


class Listing(BaseModel, Generic[Item]):
    """A part of a list."""

    items: list[Item]
    next: str = Field(description="The cursor of the next part; empty at the end of the list.")


def write_cursor(*values: str | float) -> str:
    """Return the cursor of what follows an entry, by the values that the list is ordered by."""
    data = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def read_cursor(cursor: str, *kinds: type) -> list[Any]:
    """Return the values of a cursor that `write_cursor` has written; none of an empty one.

    Args:
        cursor: What a client sends.
        kinds: The type of each value.

    Raises:
        Problem: `bad_cursor`.
    """
    if not cursor:
        return []
    try:
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        values = json.loads(data)
    except (binascii.Error, ValueError, RecursionError):
        _refuse(cursor)
    if not isinstance(values, list) or [*map(type, values)] != [*kinds]:
        _refuse(cursor)
    if not all(map(_is_fit, values)):
        _refuse(cursor)
    return values


def _is_fit(value: Any) -> bool:
    """Tell whether a database can compare a column with a value."""
    if isinstance(value, str):
        return value.isprintable()
    return bool(math.isfinite(value) and abs(value) < _MOST)


def _refuse(cursor: str) -> NoReturn:
    hint = "send `next` of the part before as it was, or none for the first part"
    raise Problem(ErrorCode.BAD_CURSOR, "this is no cursor", where=cursor[:80], hint=hint)


def make_listing(items: Sequence[Item], limit: int, more: str) -> Listing[Item]:
    """Return a part of a list that was read with one entry more than its limit.

    Args:
        items: The entries, one more than the limit if there is a next part.
        limit: The most entries to return.
        more: The cursor of what follows the last entry that is returned.
    """
    return Listing(items=list(items[:limit]), next=more if len(items) > limit else "")
