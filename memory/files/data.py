"""Files as plain data: the form that deepagents gives them in a graph's state and in a store."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from config.errors import Problem

FileData = Mapping[str, Any]
"""`content` as text, `encoding` as `utf-8` or `base64`, and where known when it was written."""


def unpacked(kept: FileData | str | None, where: str) -> bytes | None:
    """Return what a file holds; `None` for none.

    Args:
        kept: The file; a plain text, and text as a list of lines as it was written once, will do.
        where: Its path.

    Raises:
        Problem: `memory_file_unreadable`.
    """
    if kept is None:
        return None
    content = kept if isinstance(kept, str) else kept.get("content")
    if isinstance(content, list):
        content = "\n".join(map(str, content))
    if not isinstance(content, str):
        raise Problem("memory_file_unreadable", "it has no text", where=where)
    if isinstance(kept, str) or kept.get("encoding", "utf-8") != "base64":
        return content.encode()
    try:
        return base64.b64decode(content, validate=True)
    except binascii.Error as error:
        raise Problem("memory_file_unreadable", f"not base64: {error}", where=where) from error


def packed(data: bytes, old: object = None) -> dict[str, Any]:
    """Return a file as it is kept; what is no text in base64.

    Args:
        data: What it holds.
        old: The file whose place it takes, which knows when it was made.
    """
    now = datetime.now(UTC).isoformat()
    made = old.get("created_at", now) if isinstance(old, Mapping) else now
    try:
        kept = {"content": data.decode(), "encoding": "utf-8"}
    except UnicodeDecodeError:
        kept = {"content": base64.b64encode(data).decode(), "encoding": "base64"}
    return {**kept, "created_at": made, "modified_at": now}
