"""Which memory files a call is told: the person's first, then those of the project."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from config import settings as _config
from config.errors import Problem
from config.settings import settings
from memory.base import Query
from memory.files.backend import Backend
from memory.files.disk import DISK
from memory.files.in_state import StateFiles
from memory.files.in_store import StoreFiles
from memory.files.projects import trusted
from runs.place import parted

NAME = "AGENTS.md"
"""What a memory file is called (https://agents.md)."""

CHECKOUT = str(Path(_config.__file__).resolve().parents[1])
"""The folder of this application; its own rules are for those who work on it."""


class Source(NamedTuple):
    """A memory file, and where it lies."""

    path: str
    files: Backend = DISK


class Outside:
    """Where a link leads that leaves the project: nothing there is read or written."""

    async def read(self, path: str) -> bytes | None:
        """Refuse.

        Raises:
            Problem: `memory_file_unreadable`.
        """
        raise Problem("memory_file_unreadable", LEADS_OUT, where=path, hint=IN_PROJECT)

    async def write(self, path: str, data: bytes, expected: bytes | None) -> bool:
        """Refuse.

        Raises:
            Problem: `memory_file_unwritable`.
        """
        del data, expected
        raise Problem("memory_file_unwritable", LEADS_OUT, where=path, hint=IN_PROJECT)


LEADS_OUT = "it is a link that leads out of the project"

IN_PROJECT = "put the file itself into the project"

OUTSIDE = Outside()

Sources = Callable[[Query], Awaitable[Sequence[Source]]]
"""Says which memory files a call is told, in their order; the first is the person's."""


async def on_disk(query: Query) -> list[Source]:
    """Return the person's own file, and those of the project's folder if that is trusted."""
    folder = await trusted(query.owner)
    return await asyncio.to_thread(_found, parted(query.owner)[0], folder, query.files)


def in_state(*paths: str) -> Sources:
    """Return the sources that are in the state of the agent, under its key `files`."""

    async def sources(query: Query) -> list[Source]:
        files = StateFiles(query.state)
        return [Source(path, files) for path in paths]

    return sources


def in_store(assistant: str, *paths: str) -> Sources:
    """Return the sources that are in the store, for one assistant and each owner."""

    async def sources(query: Query) -> list[Source]:
        if query.store is None:
            return []
        files = StoreFiles(query.store, assistant, query.owner)
        return [Source(path, files) for path in paths]

    return sources


def within(files: Backend, *paths: str) -> Sources:
    """Return sources that lie in one place for everybody, such as a backend of deepagents."""

    async def sources(query: Query) -> list[Source]:
        del query
        return [Source(path, files) for path in paths]

    return sources


def of_person(user: str) -> str:
    """Return the path of a person's own file: nobody but they are told what it says."""
    home = settings().home
    if user == settings().user:
        return str(home / NAME)
    readable, key = quote(user, safe="@ ")[:40], hashlib.sha256(user.encode()).hexdigest()[:16]
    return str(home / "users" / f"{readable}-{key}" / NAME)


def of_project(folder: str) -> list[str]:
    """Return the paths of a project's files, the more private one first."""
    return [os.path.join(folder, ".dossier", NAME), os.path.join(folder, NAME)]


def _found(user: str, folder: str, researched: Sequence[str]) -> list[Source]:
    mine = of_person(user)
    found = {os.path.realpath(mine): Source(mine)}
    # What was trusted is this folder, not what a link of its name may lead to by now.
    if folder and folder == os.path.realpath(folder) != CHECKOUT:
        for path in of_project(folder):
            real = os.path.realpath(path)
            if real not in found and not any(_below(real, one) for one in researched):
                found[real] = Source(path, DISK if _below(real, folder) else OUTSIDE)
    return list(found.values())


def _below(path: str, folder: str) -> bool:
    return Path(path).is_relative_to(os.path.realpath(folder))
