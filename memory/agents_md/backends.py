"""Where memory files lie: the protocol, and files in the state of a graph or in a store."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import quote

from config.errors import ErrorCode, Problem
from memory.agents_md.disk import file_lock
from runs.call_site import split_owner

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore


TRIES = 100
"""How often a change is made again because the file has been changed meanwhile."""


class FileBackend(Protocol):
    """A place for files; all its methods may be called from several tasks at once."""

    async def read(self, path: str) -> bytes | None:
        """Return what is in a file; `None` where there is none.

        Raises:
            Problem: `memory_file_unreadable` or `memory_file_too_large`, with the path.
        """
        ...

    async def write(self, path: str, data: bytes, expected: bytes | None) -> bool:
        """Write a file, unless somebody else has written it since it was read.

        Args:
            path: Which file.
            data: What it shall hold.
            expected: What it held when it was read; `None` for a file that is to be made.

        Returns:
            Whether it was written; if not, it is as it was.

        Raises:
            Problem: `memory_file_unwritable`, with the path.
        """
        ...


class FileChange(NamedTuple):
    """What a file held before a change, and what it holds after it."""

    before: bytes | None
    after: bytes


async def change_file(
    files: FileBackend, path: str, how: Callable[[bytes | None], Awaitable[bytes] | bytes]
) -> FileChange:
    """Change a file, and again if it is changed by others meanwhile, until it holds.

    Args:
        files: Where it lies.
        path: Which file.
        how: Is told what the file holds, and returns what it shall hold.

    Raises:
        Problem: `memory_file_busy` when others never leave it alone, or what `files` raises.
    """
    for _ in range(TRIES):
        before = await files.read(path)
        wanted = how(before)
        after = wanted if isinstance(wanted, bytes) else await wanted
        if after == (before or b"") or await files.write(path, after, before):
            return FileChange(before, after)
    what = "it is changed all the time"
    raise Problem(ErrorCode.MEMORY_FILE_BUSY, what, where=path, hint="try again")


FileData = Mapping[str, Any]
"""`content` as text, `encoding` as `utf-8` or `base64`, and where known when it was written."""


def _unpack_file(kept: FileData | str | None, where: str) -> bytes | None:
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
        raise Problem(ErrorCode.MEMORY_FILE_UNREADABLE, "it has no text", where=where)
    if isinstance(kept, str) or kept.get("encoding", "utf-8") != "base64":
        return content.encode()
    try:
        return base64.b64decode(content, validate=True)
    except binascii.Error as error:
        raise Problem(
            ErrorCode.MEMORY_FILE_UNREADABLE, f"not base64: {error}", where=where
        ) from error


def _pack_file(data: bytes, old: object = None) -> dict[str, Any]:
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


KEY = "files"
"""The key of the state, as in deepagents."""


def merge_files(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> dict[str, Any]:
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
        return _unpack_file(self.files.get(path), path)

    async def write(self, path: str, data: bytes, expected: bytes | None) -> bool:
        """Write a file, unless it is not what was expected.

        Two nodes that write one file in the same step of a graph do not see each other: the state's
        reducer keeps what the last of them wrote.
        """
        old = self.files.get(path)
        if _unpack_file(old, path) != expected:
            return False
        self.files[path] = self.written[path] = _pack_file(data, old)
        return True


ROOT = "agents_files"
"""The first word of the namespace of all of them."""


class StoreFiles:
    """Files in a store.

    A store has no write that depends on what is there. Writers of one home wait for each other, and
    what was written is read back, so none of them loses anything. Two machines that share nothing
    but the store may write at the same instant, and then the last one wins: let such machines have
    one home, or one writer.
    """

    def __init__(self, store: BaseStore, assistant: str, owner: str) -> None:
        """Say which store, for which assistant, and whose files."""
        self.store = store
        self.namespace = (ROOT, *map(_label, (assistant, *split_owner(owner))))

    async def read(self, path: str) -> bytes | None:
        """Return what is in a file; `None` where there is none."""
        kept = await self.store.aget(self.namespace, path)
        return _unpack_file(kept.value, path) if kept else None

    async def write(self, path: str, data: bytes, expected: bytes | None) -> bool:
        """Write a file, unless it is not what was expected any more."""
        async with file_lock("\n".join((*self.namespace, path))):
            kept = await self.store.aget(self.namespace, path)
            old = kept.value if kept else None
            if _unpack_file(old, path) != expected:
                return False
            await self.store.aput(self.namespace, path, _pack_file(data, old), index=False)
            return await self.read(path) == data


def _label(name: str) -> str:
    """Return a name as one label of a namespace, which is never empty and has no full stop."""
    return "=" + quote(name, safe="@ ").replace(".", "%2E")
