"""Memory files in the state of a graph: they live as long as a thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory.files.data import packed, unpacked

KEY = "files"
"""The key of the state, as in deepagents."""


def joined(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> dict[str, Any]:
    """Return files with those that were written since; one that is `None` is gone."""
    both = {**(old or {}), **new}
    return {path: file for path, file in both.items() if file is not None}


class StateFiles:
    """Files under the key `files` of a state, which is not changed: the update is handed back."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        """Take the state as a node or a tool is given it."""
        self.files: dict[str, Any] = dict(state.get(KEY) or {})
        self.written: dict[str, Any] = {}

    @property
    def update(self) -> dict[str, Any]:
        """What a node or a tool returns, so that its writes are kept."""
        return {KEY: self.written} if self.written else {}

    async def read(self, path: str) -> bytes | None:
        """Return what is in a file, own writes included."""
        return unpacked(self.files.get(path), path)

    async def write(self, path: str, data: bytes, expected: bytes | None) -> bool:
        """Write a file, unless it is not what was expected.

        Two nodes that write one file in the same step of a graph do not see each other: the state's
        reducer keeps what the last of them wrote.
        """
        old = self.files.get(path)
        if unpacked(old, path) != expected:
            return False
        self.files[path] = self.written[path] = packed(data, old)
        return True
