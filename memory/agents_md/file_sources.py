"""Which memory files a call is given: the person's first, then those of the project."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from config import settings as _config
from config.errors import ErrorCode, Problem
from config.resources import RecentCache, Resource
from config.settings import settings
from memory.agents_md.backends import FileBackend, StateFiles, StoreFiles
from memory.agents_md.disk import DISK
from memory.agents_md.project_trust import trusted_folder
from memory.protocol import Query
from runs.call_site import split_owner

AGENTS_MD = "AGENTS.md"
"""The name of a memory file (https://agents.md)."""

APP_FOLDER = str(Path(_config.__file__).resolve().parents[1])
"""The folder of this application; its own AGENTS.md is for those who work on it."""


class FileSource(NamedTuple):
    """A memory file and its backend."""

    path: str
    files: FileBackend = DISK


class _OutsideProject:
    """The target of a link out of the project: nothing there is read or written."""

    async def read(self, path: str) -> bytes | None:
        """Refuse.

        Raises:
            Problem: `memory_file_unreadable`.
        """
        return _refuse(path)

    async def write(self, path: str, data: bytes, expected: bytes | None) -> bool:
        """Refuse.

        Raises:
            Problem: `memory_file_unwritable`.
        """
        del data, expected
        raise Problem(ErrorCode.MEMORY_FILE_UNWRITABLE, LEADS_OUT, where=path, hint=IN_PROJECT)


LEADS_OUT = "it is a link that leads out of the project"

IN_PROJECT = "put the file itself into the project"

OUTSIDE = _OutsideProject()

CACHED_OWNERS = 256
"""How many owners' trusted folders are cached."""

_folders = Resource(lambda: RecentCache[tuple[str, str], tuple[int, str]](CACHED_OWNERS))

FileSources = Callable[[Query], Awaitable[Sequence[FileSource]]]
"""Returns the memory files of a call in their order; the first is the person's."""


async def disk_sources(query: Query) -> list[FileSource]:
    """Return the person's own file, and those of the project's folder if that is trusted."""
    folder = await _trusted(query.owner, query.revision)
    return await asyncio.to_thread(_found, query, folder)


async def read_on_disk(query: Query) -> list[tuple[str, bytes | None]]:
    """Return the paths and contents of the same files, read in one go.

    Raises:
        Problem: `memory_file_unreadable` or `memory_file_too_large`, with the path.
    """
    folder = await _trusted(query.owner, query.revision)

    def read() -> list[tuple[str, bytes | None]]:
        """Read the files that are there; one that leads out of the project is refused."""
        return [
            (one.path, DISK.look(one.path) if one.files is DISK else _refuse(one.path))
            for one in _found(query, folder)
        ]

    return await asyncio.to_thread(read)


async def _trusted(owner: str, revision: int) -> str:
    """Return the trusted folder of an owner's project, cached for a revision."""
    key = (settings().database, owner)
    known, folder = _folders.get().get(key, (0, ""))
    if not revision or known != revision:
        folder = await trusted_folder(owner)
        _folders.get()[key] = (revision, folder)
    return folder


def _refuse(path: str) -> bytes | None:
    raise Problem(ErrorCode.MEMORY_FILE_UNREADABLE, LEADS_OUT, where=path, hint=IN_PROJECT)


def state_sources(*paths: str) -> FileSources:
    """Return sources in the state of the agent, under its key `files`."""

    async def sources(query: Query) -> list[FileSource]:
        files = StateFiles(query.state)
        return [FileSource(path, files) for path in paths]

    return sources


def store_sources(assistant: str, *paths: str) -> FileSources:
    """Return sources in the store, for one assistant and each owner."""

    async def sources(query: Query) -> list[FileSource]:
        """Return the files of the owner; none for an agent without a store."""
        if query.store is None:
            return []
        files = StoreFiles(query.store, assistant, query.owner)
        return [FileSource(path, files) for path in paths]

    return sources


def backend_sources(files: FileBackend, *paths: str) -> FileSources:
    """Return sources in one backend for everybody, such as one of deepagents."""

    async def sources(query: Query) -> list[FileSource]:
        del query
        return [FileSource(path, files) for path in paths]

    return sources


def person_file(user: str) -> str:
    """Return the path of a person's own file, which only their calls are given."""
    home = settings().home
    if user == settings().user:
        return str(home / AGENTS_MD)
    readable, key = quote(user, safe="@ ")[:40], hashlib.sha256(user.encode()).hexdigest()[:16]
    return str(home / "users" / f"{readable}-{key}" / AGENTS_MD)


def project_files(folder: str) -> list[str]:
    """Return the paths of a project's files, the more private one first."""
    return [os.path.join(folder, ".dossier", AGENTS_MD), os.path.join(folder, AGENTS_MD)]


PERSON_FILE = "person"
"""The name of the person's own file in an export."""


async def list_exportable_files(owner: str) -> dict[str, FileSource]:
    """Return an owner's memory files by the names that they have in any home."""
    own = person_file(split_owner(owner)[0])
    return {_exported_name(one.path, own): one for one in await disk_sources(Query(owner, "", ""))}


def _exported_name(path: str, own: str) -> str:
    if path == own:
        return PERSON_FILE
    folder, name = os.path.split(path)
    return f".dossier/{name}" if os.path.basename(folder) == ".dossier" else name


def _found(query: Query, folder: str) -> list[FileSource]:
    mine = person_file(split_owner(query.owner)[0])
    found = {os.path.realpath(mine): FileSource(mine)}
    # This folder was trusted, not the one that a link of its name may lead to by now.
    if folder and folder == os.path.realpath(folder) != APP_FOLDER:
        for path in project_files(folder):
            real = os.path.realpath(path)
            if real not in found and not any(_below(real, one) for one in query.files):
                found[real] = FileSource(path, DISK if _below(real, folder) else OUTSIDE)
    return list(found.values())


def _below(path: str, folder: str) -> bool:
    return Path(path).is_relative_to(os.path.realpath(folder))
