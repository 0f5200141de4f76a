"""Memory files in any backend of deepagents."""

from __future__ import annotations

import asyncio
from typing import Any

from config.errors import ErrorCode, Problem

MISSING = "file_not_found"
"""The error of a file that is not there."""


class DeepAgentsFiles:
    """Files of whatever has `download_files`, `upload_files` and `edit`, or the same with an `a`.

    The protocol has no write that depends on what is there. An `edit` comes close, since it fails
    when the old text is not there any more; so a file is written by replacing the whole of it. How
    safe that is beside other writers is up to the backend.
    """

    def __init__(self, backend: Any) -> None:
        """Take a backend, such as `deepagents.backends.StateBackend()`."""
        self.backend = backend

    async def read(self, path: str) -> bytes | None:
        """Return what is in a file; `None` where there is none."""
        (got,) = await self._call("download_files", [path])
        if got.error == MISSING:
            return None
        if got.error or got.content is None:
            what = f"it cannot be read: {got.error or 'nothing came back'}"
            raise Problem(ErrorCode.MEMORY_FILE_UNREADABLE, what, where=path)
        return bytes(got.content)

    async def write(self, path: str, data: bytes, expected: bytes | None) -> bool:
        """Write a file, unless it is not what was expected any more."""
        if await self.read(path) != expected:
            return False
        # An edit of a file on disk gives all its lines the same end.
        if expected and b"\r" not in expected + data:
            edited = await self._call("edit", path, expected.decode(), data.decode())
            return not edited.error
        (put,) = await self._call("upload_files", [(path, data)])
        if put.error:
            what = f"it cannot be written: {put.error}"
            raise Problem(ErrorCode.MEMORY_FILE_UNWRITABLE, what, where=path)
        return await self.read(path) == data

    async def _call(self, name: str, *values: Any) -> Any:
        awaited = getattr(self.backend, f"a{name}", None)
        if awaited is not None:
            return await awaited(*values)
        return await asyncio.to_thread(getattr(self.backend, name), *values)
