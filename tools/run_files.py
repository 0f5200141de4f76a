"""The files that a run can compute over: of its folders, and of the bases that its plan names."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from library.documents import FILE_KIND, StoredFile, list_stored_files
from library.knowledge_records import RESULT_KIND, KnowledgeBase
from tools.knowledge.catalog import list_bases
from tools.knowledge.kinds import UPLOADS_KIND
from tools.knowledge.table_copies import find_copy


class RunFile(NamedTuple):
    """A file with the hash of its content and its size in bytes, and where it is from."""

    path: str
    """Its path, or its address in the file store (`find_local_file`)."""
    sha256: str
    size: int
    location: str
    """Its path, or its address in a bucket, as a report names it."""
    base: str = ""
    """The name of the knowledge base that it is from; empty for a file of the run's folders."""

    @property
    def name(self) -> str:
        """What it is called."""
        return PurePosixPath(self.location).name

    @property
    def suffix(self) -> str:
        """The end of its name in lower case, with the dot."""
        return PurePosixPath(self.location).suffix.lower()

    @property
    def origin(self) -> tuple[str, str]:
        """The kind and the origin of what is computed from it, by which it is forgotten."""
        return (RESULT_KIND, self.location) if self.base else (FILE_KIND, self.sha256)


async def list_folder_files(owner: str, roots: Sequence[str]) -> list[RunFile]:
    """Return the files of folders that were read; all of the owner's where none is named."""
    stored = await list_stored_files(owner, roots)
    return [RunFile(one.path, one.sha256, one.size, one.path) for one in stored if not one.code]


async def list_base_files(owner: str, names: Sequence[str]) -> list[RunFile]:
    """Return the files of knowledge bases that are folders or buckets; services have none.

    Of a bucket those are left out of which there is no copy here.

    Args:
        owner: Who asks; bases of others are left out, and those that are gone.
        names: The names of the bases.
    """
    if not names:
        return []
    known = {base.name: base for base in await list_bases(owner)}
    found: list[RunFile] = []
    for base in (known[name] for name in dict.fromkeys(names) if name in known):
        stored = await list_stored_files(base.index_owner)
        found += await asyncio.to_thread(_from_base, base, stored)
    return found


def _from_base(base: KnowledgeBase, stored: Sequence[StoredFile]) -> list[RunFile]:
    read = [one for one in stored if not one.code]
    if base.kind in ("folder", UPLOADS_KIND):
        return [RunFile(one.path, one.sha256, one.size, one.path, base.name) for one in read]
    copies = ((one, find_copy(base, one.sha256, PurePosixPath(one.path).suffix)) for one in read)
    return [
        RunFile(copy, one.sha256, one.size, one.path, base.name) for one, copy in copies if copy
    ]
