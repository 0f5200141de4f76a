"""Know what was uploaded into a thread: where it lies, and how it was read."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from sqlalchemy import Connection, select

from config.names import check_name
from config.settings import settings
from memory.pages.documents import Held, forget_document
from memory.pages.forgetting import forget
from storage.engine import read_rows
from storage.tables import documents, pages

UPLOADS = "uploads"
"""The folder, in the data folder, in which each thread has one of its own."""


def folder_of(thread: str) -> Path:
    """Return the folder for what is uploaded into a thread."""
    return _folder() / check_name(thread)


def holding(connection: Connection, owner: str, origins: Iterable[str]) -> list[str]:
    """Return the paths of the uploads of an owner that hold one of some contents, by their hash."""
    mine = documents.c.owner == owner, documents.c.sha256.in_(list(origins))
    below = documents.c.root.startswith(f"{_folder()}/", autoescape=True)
    found = connection.execute(select(documents.c.path).where(*mine, below)).scalars()
    return [path for path in found if os.path.exists(path)]


def _folder() -> Path:
    return Path(os.path.realpath(settings().home)) / UPLOADS


async def uploaded(owner: str, thread: str) -> list[Held]:
    """Return the files that an owner has uploaded into a thread, those too that nobody can read."""
    below = documents.c.root.startswith(f"{folder_of(thread)}/", autoescape=True)
    mine = select(*(documents.c[name] for name in Held._fields)).where(
        documents.c.owner == owner, below
    )
    return [Held._make(row) for row in await read_rows(mine.order_by(documents.c.path))]


async def with_uploads(owner: str, thread: str, files: list[str]) -> list[str]:
    """Return what a run in a thread searches: what was uploaded there, then the chosen files."""
    return [*(one.root for one in await uploaded(owner, thread) if not one.code), *files]


async def discard_uploads(owner: str, thread: str) -> None:
    """Take away the files of a thread, and their pages where no other file holds the same."""
    files = await uploaded(owner, thread)
    for one in files:
        await forget_document(owner, one.root, one.path)
    held = select(documents.c.path).where(
        documents.c.owner == owner, documents.c.sha256 == pages.c.origin
    )
    its = pages.c.origin.in_([one.sha256 for one in files])
    wanted = select(pages.c.id).where(pages.c.owner == owner, its, ~held.exists())
    await forget(owner, list((await read_rows(wanted)).scalars()))
    await asyncio.to_thread(shutil.rmtree, folder_of(thread), ignore_errors=True)
