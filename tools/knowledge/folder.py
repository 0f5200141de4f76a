"""A folder of files, read into an index of its own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from sqlalchemy import select

from config.errors import Problem
from library.documents import list_stored_files
from library.knowledge_records import KnowledgeBase
from library.page_erasure import forget_pages
from library.page_metadata import NO_METADATA, PageMetadata
from library.page_retrieval import FoundPage, document_location, find_pages
from library.tables import documents, pages
from storage.engine import read_rows
from text.pluralization import pluralize
from tools.folder_ingestion import ingest_folder
from tools.knowledge.knowledge_source import (
    BaseOptions,
    BasePassage,
    Progress,
    RefreshResult,
    unavailable,
)


class FolderOptions(BaseOptions):
    """A folder has no options of its own."""


class FolderBase:
    """A folder or file of this machine."""

    is_remote = False

    def __init__(self, base: KnowledgeBase, options: BaseOptions) -> None:
        self.base, self.options = base, options

    async def search(self, query: str, limit: int) -> list[BasePassage]:
        """Return the best pages of its own index."""
        await _require_index(self.base)
        return await search_index(self.base, query, limit)

    async def refresh(self, progress: Progress) -> RefreshResult:
        """Read files that are new or have changed, and leave out those that are gone."""
        read = await ingest_folder(self.base.index_owner, Path(self.base.location), progress)
        await erase_unlisted(self.base)
        return RefreshResult(read.files, read.read, tuple(read.skipped))

    async def check(self) -> str:
        """Tell how many files were read, if the folder is still there."""
        if not await asyncio.to_thread(os.path.exists, self.base.location):
            raise unavailable("there is no such folder any more", self.base.location)
        return await describe_index(self.base)


async def search_index(base: KnowledgeBase, query: str, limit: int) -> list[BasePassage]:
    """Return the best pages of the index of a base, and of no other pages."""
    found = await find_pages(base.index_owner, query, limit)
    known = await _read_metadata(base.index_owner, [page.id for page in found])
    return [_passage(page, known.get(page.id, NO_METADATA)) for page in found]


async def erase_unlisted(base: KnowledgeBase) -> None:
    """Erase the pages of documents that are gone or have changed: nothing cites an index."""
    owner = base.index_owner
    listed = select(documents.c.sha256).where(documents.c.owner == owner)
    gone = select(pages.c.id).where(pages.c.owner == owner, pages.c.origin.not_in(listed))
    await forget_pages(owner, list((await read_rows(gone)).scalars()))


async def describe_index(base: KnowledgeBase) -> str:
    """Return how many documents the index of a base has.

    Raises:
        Problem: `knowledge_unavailable` if nothing was read in.
    """
    await _require_index(base)
    stored = await list_stored_files(base.index_owner)
    unread = sum(bool(one.code) for one in stored)
    left = f", {unread} left out" if unread else ""
    return f"{pluralize(len(stored) - unread, 'document')}{left}"


async def _require_index(base: KnowledgeBase) -> None:
    if not any(not one.code for one in await list_stored_files(base.index_owner)):
        raise _not_read(base)


def _not_read(base: KnowledgeBase) -> Problem:
    hint = f"run `dossier kb refresh {base.name}`"
    return unavailable("nothing of it was read in yet", base.location, hint)


def _passage(page: FoundPage, known: PageMetadata) -> BasePassage:
    location = document_location(page.location)
    place = page.location.removeprefix(location).removeprefix("#")
    return BasePassage(page.title, page.text, location, place, known)


async def _read_metadata(owner: str, ids: Sequence[str]) -> Mapping[str, PageMetadata]:
    columns = [pages.c[name] for name in PageMetadata._fields]
    mine = select(pages.c.id, *columns).where(pages.c.owner == owner, pages.c.id.in_(ids))
    return {row.id: PageMetadata._make(row[1:]) for row in await read_rows(mine)}
