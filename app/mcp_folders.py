"""The folders that a server of MCP was given: read before anything is looked up in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from config.resources import SharedTasks
from tools.folder_ingestion import ingest_folder

TellProgress = Callable[[str], None]
"""Tells whoever asked, in words, how far some work is; may be called from any thread."""


class ServedFolders:
    """Folders and files as the person named them, and whether this process has read them."""

    def __init__(self, paths: Sequence[str] = ()) -> None:
        self.paths = tuple(paths)
        self._was_read = False
        self._reading = SharedTasks[str, list[str]]()

    async def read(self, owner: str, tell: TellProgress) -> list[str]:
        """Read what is new or has changed in them; return the folders as pages name them.

        Whoever asks meanwhile waits for the same reading.

        Args:
            owner: Whose pages they become.
            tell: Tells which folder is read.

        Raises:
            Problem: `docs_not_found`, `docs_unreadable` or `docs_empty`.
        """
        for path in self.paths:
            tell(f"Reading {path}")
        return await self._reading.run(owner, lambda: self._ingest(owner))

    async def read_first(self, owner: str, tell: TellProgress) -> None:
        """Read them unless this process has done so before.

        Raises:
            Problem: As `read`.
        """
        if not self._was_read:
            await self.read(owner, tell)

    async def _ingest(self, owner: str) -> list[str]:
        roots = [
            (await ingest_folder(owner, Path(path), lambda _: None)).root for path in self.paths
        ]
        self._was_read = True
        return list(dict.fromkeys(roots))
