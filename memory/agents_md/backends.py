"""Backends of memory files: the state of a graph, a store, or any backend of deepagents."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import quote

from config.errors import ErrorCode, Problem
from memory.agents_md.disk import file_lock
from runs.call_site import split_owner

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore


MAX_TRIES = 100
"""How often a change is tried while others change the file."""


class FileBackend(Protocol):
    """A place for files; all its methods may be called from several tasks at once."""

    async def read(self, path: str) -> bytes | None:
        """Return the content of a file; `None` if there is none.

        Raises:
            Problem: `memory_file_unreadable` or `memory_file_too_large`, with the path.
        """
        ...

    async def write(self, path: str, data: bytes, expected: bytes | None) -> bool:
        """Write a file unless somebody else has written it since it was read.

        Args:
            path: The file.
            data: Its new content.
            expected: The content that was read; `None` for a new file.

        Returns:
            Whether it was written; if not, it is unchanged.

        Raises:
            Problem: `memory_file_unwritable`, with the path.
        """
        ...


class FileChange(NamedTuple):
    """The content of a file before and after a change."""

    before: bytes | None
    after: bytes


async def change_file(
    files: FileBackend, path: str, change: Callable[[bytes | None], bytes]
) -> FileChange:
    """Change a file, and try again if others have changed it meanwhile.

    Args:
        files: The backend of the file.
        path: The file.
        change: Takes the content of the file, and returns the new one.

    Raises:
        Problem: `memory_file_busy` after `MAX_TRIES`, or what `files` raises.
    """
    for _ in range(MAX_TRIES):
        before = await files.read(path)
        after = change(before)
        if after == (before or b"") or await files.write(path, after, before):
            return FileChange(before, after)
    what = "it is changed all the time"
    raise Problem(ErrorCode.MEMORY_FILE_BUSY, what, where=path, hint="try again")


FileData = Mapping[str, Any]
"""`content` as text, `encoding` as `utf-8` or `base64`, and perhaps when it was written."""


def _unpack_file(kept: FileData | str | None, where: str) -> bytes | None:
    """Return the content of a file; `None` for none.

    Args:
        kept: The file, also as plain text, or with text as a list of lines, an older format.
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
        raise Problem(ErrorCode.MEMORY_FILE_UNREADABLE, "it has no text", where=where)
    if isinstance(kept, str) or kept.get("encoding", "utf-8") != "base64":
        return content.encode()
    try:
        return base64.b64decode(content, validate=True)
    except binascii.Error as error:
        what = f"not base64: {error}"
        raise Problem(ErrorCode.MEMORY_FILE_UNREADABLE, what, where=where) from error


def _pack_file(data: bytes, old: object = None) -> dict[str, Any]:
    """Return a file as plain data; binary content in base64.

    Args:
        data: Its content.
        old: The file that it replaces, which has the time of its creation.
    """
    now = datetime.now(UTC).isoformat()
    made = old.get("created_at", now) if isinstance(old, Mapping) else now
    try:
        content, encoding = data.decode(), "utf-8"
    except UnicodeDecodeError:
        content, encoding = base64.b64encode(data).decode(), "base64"
    return {"content": content, "encoding": encoding, "created_at": made, "modified_at": now}


KEY = "files"
"""The key of the state, as in deepagents."""


def merge_files(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> dict[str, Any]:
    """Return files with those written since; `None` deletes a file."""
    both = {**(old or {}), **new}
    return {path: file for path, file in both.items() if file is not None}


class StateFiles:
    """Files under the key `files` of a state, which is not changed: `update` has the writes."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        """Use the state of a node or a tool."""
        self.files: dict[str, Any] = dict(state.get(KEY) or {})
        self.written: dict[str, Any] = {}

    @property
    def update(self) -> dict[str, Any]:
        """What a node or a tool returns to store its writes."""
        return {KEY: self.written} if self.written else {}

    async def read(self, path: str) -> bytes | None:
        """Return the content of a file, own writes included."""
        return _unpack_file(self.files.get(path), path)

    async def write(self, path: str, data: bytes, expected: bytes | None) -> bool:
        """Write a file unless it has changed.

        Two nodes that write one file in the same step of a graph do not see each other: the state's
        reducer keeps the last write.
        """
        old = self.files.get(path)
        if _unpack_file(old, path) != expected:
            return False
        self.files[path] = self.written[path] = _pack_file(data, old)
        return True


ROOT = "agents_files"
"""The first label of the namespace."""


class StoreFiles:
    """Files in a store.

    A store has no conditional write. Writers of one home wait for each other, and each write is
    read back, so none is lost. Of two machines that share nothing but the store and write at the
    same instant, the last one wins: give such machines one home, or one writer.
    """

    def __init__(self, store: BaseStore, assistant: str, owner: str) -> None:
        """Use the files of an owner and an assistant in a store."""
        self.store = store
        self.namespace = (ROOT, *map(_label, (assistant, *split_owner(owner))))

    async def read(self, path: str) -> bytes | None:
        """Return the content of a file; `None` if there is none."""
        kept = await self.store.aget(self.namespace, path)
        return _unpack_file(kept.value, path) if kept else None

    async def write(self, path: str, data: bytes, expected: bytes | None) -> bool:
        """Write a file unless it has changed."""
        async with file_lock("\n".join((*self.namespace, path))):
            kept = await self.store.aget(self.namespace, path)
            old = kept.value if kept else None
            if _unpack_file(old, path) != expected:
                return False
            await self.store.aput(self.namespace, path, _pack_file(data, old), index=False)
            return await self.read(path) == data


def _label(name: str) -> str:
    """Return a name as a label of a namespace: never empty, and without full stops."""
    return "=" + quote(name, safe="@ ").replace(".", "%2E")


FILE_NOT_FOUND = "file_not_found"
"""The error of deepagents for a file that does not exist."""


class DeepAgentsFiles:
    """Files of any backend with `download_files`, `upload_files` and `edit`, or `aedit` and so on.

    The protocol has no conditional write. An `edit` comes close, since it fails when the old text
    is gone, so a file is written by an edit of its whole text. How safe that is beside other
    writers depends on the backend.
    """

    def __init__(self, backend: Any) -> None:
        """Use a backend, such as `deepagents.backends.StateBackend()`."""
        self.backend = backend

    async def read(self, path: str) -> bytes | None:
        """Return the content of a file; `None` if there is none."""
        (got,) = await self._call("download_files", [path])
        if got.error == FILE_NOT_FOUND:
            return None
        if got.error or got.content is None:
            what = f"it cannot be read: {got.error or 'nothing came back'}"
            raise Problem(ErrorCode.MEMORY_FILE_UNREADABLE, what, where=path)
        return bytes(got.content)

    async def write(self, path: str, data: bytes, expected: bytes | None) -> bool:
        """Write a file unless it has changed."""
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
        if awaited := getattr(self.backend, f"a{name}", None):
            return await awaited(*values)
        return await asyncio.to_thread(getattr(self.backend, name), *values)
