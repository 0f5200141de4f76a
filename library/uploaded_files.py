"""Know what was uploaded into a thread: where it lies, and how it was read."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from sqlalchemy import Connection, select

from config.settings import settings
from config.user_files import check_file_name
from library.documents import StoredFile, unlist_document
from library.page_erasure import forget_pages
from library.tables import documents, pages
from storage.engine import read_rows

UPLOADS = "uploads"
"""The folder, in the data folder, in which each thread has one of its own."""


def upload_folder(thread: str) -> Path:
    """Return the folder for what is uploaded into a thread."""
    return _folder() / check_file_name(thread)


def find_uploads_with_content(
    connection: Connection, owner: str, origins: Iterable[str]
) -> list[str]:
    """Return the paths of the uploads of an owner that hold one of some contents, by their hash."""
    mine = documents.c.owner == owner, documents.c.sha256.in_(list(origins))
    below = documents.c.root.startswith(f"{_folder()}/", autoescape=True)
    found = connection.execute(select(documents.c.path).where(*mine, below)).scalars()
    return [path for path in found if os.path.exists(path)]


def _folder() -> Path:
    return Path(os.path.realpath(settings().home)) / UPLOADS


async def list_uploaded_files(owner: str, thread: str) -> list[StoredFile]:
    """Return the files that an owner has uploaded into a thread, those too that nobody can read."""
    below = documents.c.root.startswith(f"{upload_folder(thread)}/", autoescape=True)
    mine = select(*(documents.c[name] for name in StoredFile._fields)).where(
        documents.c.owner == owner, below
    )
    return [StoredFile._make(row) for row in await read_rows(mine.order_by(documents.c.path))]


async def with_uploads(owner: str, thread: str, files: list[str]) -> list[str]:
    """Return what a run in a thread searches: what was uploaded there, then the chosen files."""
    return [*(one.root for one in await list_uploaded_files(owner, thread) if not one.code), *files]


async def discard_uploads(owner: str, thread: str) -> None:
    """Take away the files of a thread, and their pages where no other file holds the same."""
    files = await list_uploaded_files(owner, thread)
    for one in files:
        await unlist_document(owner, one.root, one.path)
    held = select(documents.c.path).where(
        documents.c.owner == owner, documents.c.sha256 == pages.c.origin
    )
    its = pages.c.origin.in_([one.sha256 for one in files])
    wanted = select(pages.c.id).where(pages.c.owner == owner, its, ~held.exists())
    await forget_pages(owner, list((await read_rows(wanted)).scalars()))
    await asyncio.to_thread(shutil.rmtree, upload_folder(thread), ignore_errors=True)
