"""Memory files in the store of a LangGraph server: each assistant has its own, for each owner."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from memory.files.data import packed, unpacked
from memory.files.locks import alone
from runs.place import parted

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

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
        self.namespace = (ROOT, *map(_label, (assistant, *parted(owner))))

    async def read(self, path: str) -> bytes | None:
        """Return what is in a file; `None` where there is none."""
        kept = await self.store.aget(self.namespace, path)
        return unpacked(kept.value, path) if kept else None

    async def write(self, path: str, data: bytes, expected: bytes | None) -> bool:
        """Write a file, unless it is not what was expected any more."""
        async with alone("\n".join((*self.namespace, path))):
            kept = await self.store.aget(self.namespace, path)
            old = kept.value if kept else None
            if unpacked(old, path) != expected:
                return False
            await self.store.aput(self.namespace, path, packed(data, old), index=False)
            return await self.read(path) == data


def _label(name: str) -> str:
    """Return a name as one label of a namespace, which is never empty and has no full stop."""
    return "=" + quote(name, safe="@ ").replace(".", "%2E")
