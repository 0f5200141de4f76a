"""Receive what a person uploads, part by part, and read whole files into pages."""

from __future__ import annotations

import asyncio
import logging
import secrets
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path, PurePath

from config.errors import ErrorCode, Problem
from config.resources import LoopResource
from config.settings import settings
from library.documents import list_stored_files
from library.uploaded_files import forget_files
from library.uploads import (
    MAX_PARTS,
    READING,
    READY,
    RECEIVING,
    UNREAD,
    UploadedFile,
    advance_upload,
    delete_upload_record,
    find_chosen_uploads,
    find_upload,
    list_abandoned_uploads,
    set_upload_status,
)
from storage.file_store import FileStore, file_store
from tools.files.content_type import HEAD_BYTES, check_content_type, find_archive_suffix
from tools.files.formats import FileLimits, FileRefused
from tools.folder_ingestion import FileCopy, ingest_copy

BUFFER_BYTES = 1_000_000
"""So many bytes of a part are written at once."""

READ_AGAIN_SECONDS = 300.0
"""A file that was not read after this time is read again: the process that did so may be gone."""

WAIT_SECONDS = 60.0
"""How long a question waits for the reading of files that it is about."""

_log = logging.getLogger(__name__)

_reading = LoopResource(dict[str, asyncio.Task[None]])
"""The uploads that this process reads, by id."""


async def receive_part(upload: UploadedFile, chunks: AsyncIterator[bytes]) -> UploadedFile:
    """Store what comes in next of an upload; read the file when all of it is there.

    What came in before a client went away is kept.

    Args:
        upload: The upload as it stands.
        chunks: The bytes that follow those that were received.

    Raises:
        Problem: `upload_conflict` if another part has come in meanwhile, `upload_too_large` for
            more bytes than it has, `upload_type`, `file_type_mismatch` or `file_encrypted` for a
            file that is not read, which is removed.
    """
    if upload.status != RECEIVING or len(upload.part_names) >= MAX_PARTS:
        what, hint = "nothing more of it is received", "begin a new upload, in larger parts"
        raise Problem(ErrorCode.UPLOAD_CONFLICT, what, where=upload.id, hint=hint)
    store = await asyncio.to_thread(file_store)
    part = f"{upload.received:015d}-{secrets.token_hex(4)}"
    async with _lend_file(store) as file:
        try:
            count = await _write(upload, chunks, file)
        except FileRefused as refused:
            await delete_upload(upload)
            raise _refusal(upload, refused) from refused
        if not count:
            return upload
        await asyncio.to_thread(store.add, file, f"{upload.place}/{part}")
    try:
        after = await advance_upload(upload, part, count)
    except Problem:
        await asyncio.to_thread(store.remove, f"{upload.place}/{part}")
        raise
    return await _complete(after) if after.received == after.size else after


@asynccontextmanager
async def _lend_file(store: FileStore) -> AsyncIterator[Path]:
    """Lend an empty file, as `FileStore.new_file` does, without waiting in the event loop."""
    stack = ExitStack()
    try:
        yield await asyncio.to_thread(stack.enter_context, store.new_file())
    finally:
        await asyncio.to_thread(stack.close)


async def _write(upload: UploadedFile, chunks: AsyncIterator[bytes], file: Path) -> int:
    """Write the bytes of a part to a file; return how many there are.

    Raises:
        Problem: `upload_too_large`.
        FileRefused: If the beginning is of no type that is read.
    """
    count, buffer = 0, bytearray()
    is_checked = upload.received > 0

    async for chunk in chunks:
        count += len(chunk)
        if upload.received + count > upload.size:
            what = f"it has more than the {upload.size:,} bytes that were announced"
            raise Problem(ErrorCode.UPLOAD_TOO_LARGE, what, where=upload.name)
        buffer += chunk
        if not is_checked and len(buffer) >= HEAD_BYTES:
            check_content_type(bytes(buffer[:HEAD_BYTES]), upload.name)
            is_checked = True
        if len(buffer) >= BUFFER_BYTES:
            await asyncio.to_thread(_append, file, bytes(buffer))
            buffer.clear()
    await asyncio.to_thread(_append, file, bytes(buffer))
    return count


def _append(file: Path, data: bytes) -> None:
    with file.open("ab") as opened:
        opened.write(data)


async def _complete(upload: UploadedFile) -> UploadedFile:
    """Make one file of all parts, and begin to read it.

    Raises:
        Problem: As `receive_part`.
    """
    store = await asyncio.to_thread(file_store)
    try:
        name = await asyncio.to_thread(_join_parts, store, upload)
    except FileRefused as refused:
        await delete_upload(upload)
        raise _refusal(upload, refused) from refused
    whole = await set_upload_status(upload, READING, name=name)
    for part in upload.part_names:
        await asyncio.to_thread(store.remove, part)
    start_reading(whole)
    return whole


def _join_parts(store: FileStore, upload: UploadedFile) -> str:
    """Store the whole file under a name whose suffix fits its content; return that name.

    Raises:
        FileRefused: If it is of no type that is read.
    """
    with store.new_file() as file:
        with file.open("wb") as whole:
            for part in upload.part_names:
                with store.open(part) as opened:
                    shutil.copyfileobj(opened, whole, BUFFER_BYTES)
        with file.open("rb") as opened:
            head = opened.read(HEAD_BYTES)
        suffix = check_content_type(head, upload.name) or find_archive_suffix(file, upload.name)
        known = PurePath(upload.name).suffix.lower() == suffix
        name = upload.name if known else f"{upload.name}{suffix}"
        store.add(file, upload._replace(name=name).stored_name)
    return name


def start_reading(upload: UploadedFile) -> asyncio.Task[None]:
    """Read an upload in the background, unless this process does so already."""
    tasks = _reading.get()
    task = tasks.get(upload.id)
    if task is None:
        task = tasks[upload.id] = asyncio.create_task(_read(upload))
        task.add_done_callback(lambda _: tasks.pop(upload.id, None))
    return task


async def refresh_upload(upload: UploadedFile) -> UploadedFile:
    """Return an upload; one whose reading was broken off is read again."""
    if upload.status == READING and upload.updated < time.time() - READ_AGAIN_SECONDS:
        start_reading(upload)
    return upload


async def _read(upload: UploadedFile) -> None:
    """Read a whole file into pages of its owner, and record how that went."""
    store = await asyncio.to_thread(file_store)
    try:
        copy = await asyncio.to_thread(store.local_copy, upload.stored_name)
        address = store.address(upload.stored_name)
        limits = FileLimits(size=settings().upload_bytes)
        file = FileCopy(address, upload.size, 0, copy)
        skipped = await ingest_copy(upload.owner, address, file, limits)
        code, reason = (skipped.code, skipped.reason) if skipped else ("", "")
        await set_upload_status(upload, UNREAD if code else READY, code=code, reason=reason)
    except (Problem, OSError):
        # It is read again when somebody asks for it later.
        _log.exception("an upload could not be read")


async def wait_for_reading(upload: UploadedFile, seconds: float) -> UploadedFile:
    """Return an upload as it stands when it was read, or after some seconds."""
    until = time.monotonic() + seconds
    while upload.status == READING and time.monotonic() < until:
        task = _reading.get().get(upload.id)
        if task is not None:
            await asyncio.wait([task], timeout=max(0.0, until - time.monotonic()))
        else:
            await asyncio.sleep(0.2)
        upload = await find_upload(upload.owner, upload.id)
        await refresh_upload(upload)
    return upload


async def find_upload_roots(owner: str, ids: list[str]) -> list[str]:
    """Return what a run searches for the uploads and folders of them that a person chose.

    Raises:
        Problem: `upload_not_found`, `upload_folder_not_found`, or `upload_unready` while bytes
            are missing or a file is read.
    """
    store = await asyncio.to_thread(file_store)
    roots = []
    for one in await find_chosen_uploads(owner, ids):
        upload = await wait_for_reading(one, WAIT_SECONDS)
        if upload.status in (RECEIVING, READING):
            what = f"{upload.name} is not read yet: it is {upload.status}"
            raise Problem(ErrorCode.UPLOAD_UNREADY, what, where=upload.id, hint="ask again later")
        roots.append(store.address(upload.stored_name))
    return roots


async def delete_upload(upload: UploadedFile) -> None:
    """Delete an upload with its pages, unless another file has the same content."""
    if task := _reading.get().get(upload.id):
        task.cancel()
        await asyncio.wait([task])
    store = await asyncio.to_thread(file_store)
    files = await list_stored_files(upload.owner, [store.address(upload.stored_name)])
    await forget_files(upload.owner, files)
    await asyncio.to_thread(store.remove, upload.place)
    await delete_upload_record(upload)


async def sweep_uploads(owner: str | None) -> int:
    """Delete the uploads of an owner, or of everybody, of which nothing has come in for long.

    Returns:
        How many they were.
    """
    abandoned = await list_abandoned_uploads(owner)
    for upload in abandoned:
        await delete_upload(upload)
    return len(abandoned)


def _refusal(upload: UploadedFile, refused: FileRefused) -> Problem:
    code = ErrorCode.UPLOAD_TYPE
    return Problem(code, refused.what, where=upload.name, hint="upload a document or a table")
