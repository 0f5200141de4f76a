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


Sources = Callable[[Query], Awaitable[Sequence[Source]]]
"""Says which memory files a call is told, in their order; the first is the person's."""


async def on_disk(query: Query) -> list[Source]:
    """Return the person's own file, and those of the project's folder if that is trusted.

    Raises:
        Problem: `memory_file_unreadable` for a link that leads out of the project.
    """
    folder = await trusted(query.owner)
    paths = await asyncio.to_thread(_paths, parted(query.owner)[0], folder, query.files)
    return [Source(path) for path in paths]


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


def _paths(user: str, folder: str, researched: Sequence[str]) -> list[str]:
    mine = of_person(user)
    paths = {os.path.realpath(mine): mine}
    # What was trusted is this folder, not what a link of its name may lead to by now.
    if folder and folder == os.path.realpath(folder) != CHECKOUT:
        for path in of_project(folder):
            real = os.path.realpath(path)
            if real not in paths and not any(_below(real, one) for one in researched):
                paths[real] = _inside(path, real, folder)
    return list(paths.values())


def _inside(path: str, real: str, folder: str) -> str:
    if not _below(real, folder):
        what = "it is a link that leads out of the project"
        raise Problem("memory_file_unreadable", what, where=path)
    return path


def _below(path: str, folder: str) -> bool:
    return Path(path).is_relative_to(os.path.realpath(folder))
