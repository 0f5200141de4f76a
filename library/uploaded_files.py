"""The files that were uploaded into a thread: their folder, and how they were read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, select

from config.user_files import check_file_name
from library.documents import StoredFile, list_stored_files, unlist_document
from library.page_erasure import forget_pages
from library.tables import documents, pages
from storage.engine import read_rows
from storage.file_store import file_store

UPLOADS = "uploads"
"""The folder of the file store that has one folder for each thread."""


def upload_folder(thread: str) -> str:
    """Return the name of the folder of the uploads of a thread in the file store."""
    return f"{UPLOADS}/{check_file_name(thread)}"


def upload_address(thread: str) -> str:
    """Return the address of that folder, as the records of its files have it."""
    return file_store().address(upload_folder(thread))


def find_uploads_with_content(
    connection: Connection, owner: str, origins: Iterable[str]
) -> list[str]:
    """Return the names of an owner's existing uploads whose content hashes are in `origins`."""
    store = file_store()
    uploaded = documents.c.root.startswith(f"{store.address(UPLOADS)}/", autoescape=True)
    its = (documents.c.owner == owner, documents.c.sha256.in_(list(origins)), uploaded)
    paths = connection.execute(select(documents.c.path).where(*its)).scalars()
    return [name for name in map(store.find_name, paths) if name and store.exists(name)]


async def list_uploaded_files(owner: str, thread: str) -> list[StoredFile]:
    """Return an owner's uploads into a thread, including files that could not be read."""
    return await list_stored_files(owner, below=f"{upload_address(thread)}/")


async def with_uploads(owner: str, thread: str, files: list[str]) -> list[str]:
    """Return what a run in a thread searches: the readable uploads, then the chosen files."""
    uploads = await list_uploaded_files(owner, thread)
    return [*(upload.root for upload in uploads if not upload.code), *files]


async def discard_uploads(owner: str, thread: str) -> None:
    """Delete the uploads of a thread, and their pages unless another file has the same content."""
    await forget_files(owner, await list_uploaded_files(owner, thread))
    await asyncio.to_thread(file_store().remove, upload_folder(thread))


async def forget_files(owner: str, files: Sequence[StoredFile]) -> None:
    """Erase the pages of some files of an owner, unless another file has the same content."""
    for file in files:
        await unlist_document(owner, file.root, file.path)
    listed = select(documents.c.path).where(
        documents.c.owner == owner, documents.c.sha256 == pages.c.origin
    )
    uploaded = pages.c.origin.in_([file.sha256 for file in files])
    wanted = select(pages.c.id).where(pages.c.owner == owner, uploaded, ~listed.exists())
    await forget_pages(owner, list((await read_rows(wanted)).scalars()))
