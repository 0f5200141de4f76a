"""The files that a person has uploaded to search: what has come in of each, and their folders."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, func, insert, literal, select, tuple_, update

from config.errors import ErrorCode, Problem
from config.settings import settings
from library.page_rows import short_hash
from library.tables import upload_folders, uploads
from library.uploaded_files import UPLOADS
from storage.engine import read_rows, run_read, run_write
from storage.events import lock_owner
from text.regex import regex

RECEIVING, READING, READY, UNREAD = "receiving", "reading", "ready", "unread"
"""How an upload stands: bytes are missing; it is being read; it can be searched; it cannot."""

UPLOAD_PREFIX, FOLDER_PREFIX = "upload-", "folder-"
"""What the ids of uploads and of folders of them begin with; nobody guesses the rest."""

UNFINISHED_SECONDS = 86_400.0
"""So long an upload may rest before all of it is there; then it is removed."""

MAX_PARTS = 2_000
"""In how many parts an upload may come in."""

MAX_FOLDERS = 1_000
"""The most folders of an owner."""

_ID = regex(r"^(?:upload|folder)-[0-9a-f]{24}$")


class UploadedFile(NamedTuple):
    """A file that is or was uploaded."""

    id: str
    owner: str
    folder: str
    """The id of its folder; empty for none."""
    name: str
    size: int
    """The bytes that it has, or will have."""
    received: int
    parts: str
    status: str
    code: str
    """Why it cannot be read; empty if it can."""
    reason: str
    created: float
    updated: float

    @property
    def place(self) -> str:
        """The name of its folder in the file store."""
        # No thread has a full stop in its name.
        return f"{UPLOADS}/own.{short_hash(self.owner)}/{self.id}"

    @property
    def stored_name(self) -> str:
        """The name of the whole file in the file store."""
        return f"{self.place}/{self.name}"

    @property
    def part_names(self) -> list[str]:
        """The names of its parts in the file store, in order."""
        return [f"{self.place}/{part}" for part in self.parts.split()]


class UploadFolder(NamedTuple):
    """A folder of uploads."""

    id: str
    name: str
    created: float
    files: int
    size: int
    """The bytes of its files."""


def is_upload_id(text: str) -> bool:
    """Tell whether a text has the form of an id of an upload or of a folder of them."""
    return bool(_ID.match(text))


def is_upload_root(owner: str, path: str) -> bool:
    """Tell whether a path, as a run has it among its files, is an upload of an owner."""
    place = f"/{UPLOADS}/own.{short_hash(owner)}/{UPLOAD_PREFIX}"
    return place in f"/{path}".replace("\\", "/")


async def create_upload(owner: str, name: str, size: int, folder: str = "") -> UploadedFile:
    """Begin an upload.

    Args:
        owner: Whose.
        name: A safe name for the file.
        size: How many bytes it will have.
        folder: The id of its folder; empty for none.

    Raises:
        Problem: `upload_too_large`, `upload_quota` or `upload_folder_not_found`.
    """
    most = settings().upload_bytes
    if size > most:
        what, hint = f"it has {size:,} bytes", f"the most is {most:,}"
        raise Problem(ErrorCode.UPLOAD_TOO_LARGE, what, where=name, hint=hint)
    now = time.time()
    id = UPLOAD_PREFIX + secrets.token_hex(12)
    new = UploadedFile(id, owner, folder, name, size, 0, "", RECEIVING, "", "", now, now)
    await run_write(partial(_create, new=new))
    return new


def _create(connection: Connection, new: UploadedFile) -> None:
    # All projects of a user share the quota.
    lock_owner(connection, f"{new.owner.partition('/')[0]}/")
    lock_owner(connection, new.owner)
    if new.folder:
        _check_folder(connection, new.owner, new.folder)
    left = settings().upload_quota - _measure(connection, new.owner)
    if new.size > left:
        what = f"your files may have {max(left, 0):,} bytes more together"
        raise Problem(ErrorCode.UPLOAD_QUOTA, what, where=new.name, hint="delete some of them")
    connection.execute(insert(uploads), new._asdict())


async def measure_uploads(owner: str) -> int:
    """Return how many bytes the uploads of a user have together, in all their projects."""
    return await run_read(partial(_measure, owner=owner))


def _measure(connection: Connection, owner: str) -> int:
    user = owner.partition("/")[0]
    mine = uploads.c.owner.startswith(f"{user}/", autoescape=True)
    return int(connection.execute(select(func.sum(uploads.c.size)).where(mine)).scalar() or 0)


def _check_folder(connection: Connection, owner: str, folder: str) -> None:
    mine = select(upload_folders.c.id).filter_by(owner=owner, id=folder)
    if connection.execute(mine).first() is None:
        raise _no_folder(folder)


async def advance_upload(upload: UploadedFile, part: str, count: int) -> UploadedFile:
    """Record that a part of an upload has come in.

    Args:
        upload: The upload as it stood when the part began.
        part: The name of the part within the place of the upload.
        count: How many bytes it has.

    Raises:
        Problem: `upload_conflict` if another part has come in meanwhile.
    """
    parts = f"{upload.parts}\n{part}".strip()
    after = upload._replace(received=upload.received + count, parts=parts, updated=time.time())
    values = {name: getattr(after, name) for name in ("received", "parts", "updated")}
    same = (uploads.c.id == upload.id, uploads.c.received == upload.received)
    changed = update(uploads).where(*same, uploads.c.status == RECEIVING).values(values)
    if not await run_write(lambda connection: connection.execute(changed).rowcount):
        what, hint = "another part has come in meanwhile", "ask where the upload stands"
        raise Problem(ErrorCode.UPLOAD_CONFLICT, what, where=upload.id, hint=hint)
    return after


async def set_upload_status(
    upload: UploadedFile, status: str, *, name: str = "", code: str = "", reason: str = ""
) -> UploadedFile:
    """Record how an upload stands, and by which name if that is another one."""
    after = upload._replace(
        status=status,
        name=name or upload.name,
        parts="" if status != RECEIVING else upload.parts,
        code=code,
        reason=reason,
        updated=time.time(),
    )
    values = {key: getattr(after, key) for key in ("status", "name", "parts", "code", "reason")}
    changed = update(uploads).where(uploads.c.id == upload.id)
    changed = changed.values(**values, updated=after.updated)
    await run_write(lambda connection: connection.execute(changed))
    return after


async def find_upload(owner: str, id: str) -> UploadedFile:
    """Return an upload of an owner.

    Raises:
        Problem: `upload_not_found`; another owner's is not found either.
    """
    row = (await read_rows(select(uploads).filter_by(owner=owner, id=id))).first()
    if row is None:
        what = f"there is no upload {id[:60]!r}"
        raise Problem(ErrorCode.UPLOAD_NOT_FOUND, what)
    return UploadedFile(**row._mapping)


async def list_uploads(
    owner: str,
    limit: int | None = 50,
    *,
    folder: str = "",
    before: tuple[float, str] | None = None,
) -> list[UploadedFile]:
    """Return the newest uploads of an owner, the newest first.

    Args:
        owner: Whose.
        limit: How many at most; all if it is `None`.
        folder: Only those in this folder, by its id.
        before: Only those behind this one in the list, by its time and id.
    """
    newest = (uploads.c.created.desc(), uploads.c.id.desc())
    mine = select(uploads).where(uploads.c.owner == owner).order_by(*newest).limit(limit)
    if folder:
        mine = mine.where(uploads.c.folder == folder)
    if before:
        mine = mine.where(tuple_(uploads.c.created, uploads.c.id) < tuple_(*map(literal, before)))
    return [UploadedFile(**row._mapping) for row in await read_rows(mine)]


async def list_abandoned_uploads(owner: str | None) -> list[UploadedFile]:
    """Return the uploads of an owner, or of everybody, of which nothing has come in for long."""
    old = uploads.c.updated < time.time() - UNFINISHED_SECONDS
    mine = select(uploads).filter_by(status=RECEIVING).where(old)
    if owner is not None:
        mine = mine.where(uploads.c.owner == owner)
    return [UploadedFile(**row._mapping) for row in await read_rows(mine)]


async def delete_upload_record(upload: UploadedFile) -> None:
    """Delete the record of an upload; its file and pages are deleted apart from it."""
    gone = delete(uploads).where(uploads.c.id == upload.id)
    await run_write(lambda connection: connection.execute(gone))


async def create_upload_folder(owner: str, name: str) -> UploadFolder:
    """Make a folder of uploads.

    Raises:
        Problem: `upload_folder_exists`, or `usage` for too many.
    """
    folder = UploadFolder(FOLDER_PREFIX + secrets.token_hex(12), name, time.time(), 0, 0)

    def write(connection: Connection) -> None:
        """Add the folder unless there is one of its name."""
        lock_owner(connection, owner)
        mine = select(upload_folders.c.name).where(upload_folders.c.owner == owner)
        names = list(connection.execute(mine).scalars())
        if name in names:
            what = f"there is a folder {name!r}"
            raise Problem(ErrorCode.UPLOAD_FOLDER_EXISTS, what, hint="choose another name")
        if len(names) >= MAX_FOLDERS:
            raise Problem(ErrorCode.USAGE, f"there are {len(names)} folders", hint="delete some")
        row = {"id": folder.id, "owner": owner, "name": name, "created": folder.created}
        connection.execute(insert(upload_folders), row)

    await run_write(write)
    return folder


async def list_upload_folders(owner: str, id: str = "") -> list[UploadFolder]:
    """Return the folders of an owner by name, or only one of them.

    Raises:
        Problem: `upload_folder_not_found` if the one that is named is not there.
    """
    inside = (uploads.c.owner == upload_folders.c.owner) & (uploads.c.folder == upload_folders.c.id)
    joined = upload_folders.outerjoin(uploads, inside)
    key = (upload_folders.c.id, upload_folders.c.name, upload_folders.c.created)
    counts = (func.count(uploads.c.id), func.coalesce(func.sum(uploads.c.size), 0))
    mine = select(*key, *counts).select_from(joined).where(upload_folders.c.owner == owner)
    if id:
        mine = mine.where(upload_folders.c.id == id)
    rows = (await read_rows(mine.group_by(*key).order_by(upload_folders.c.name))).all()
    if id and not rows:
        raise _no_folder(id)
    return [UploadFolder._make(row) for row in rows]


async def delete_folder_record(owner: str, id: str) -> None:
    """Delete the record of a folder, whose files are deleted before."""
    gone = delete(upload_folders).where(upload_folders.c.owner == owner, upload_folders.c.id == id)
    await run_write(lambda connection: connection.execute(gone))


async def move_upload(upload: UploadedFile, folder: str) -> UploadedFile:
    """Put an upload into a folder, or with an empty id into none.

    Raises:
        Problem: `upload_folder_not_found`.
    """

    def write(connection: Connection) -> None:
        if folder:
            _check_folder(connection, upload.owner, folder)
        connection.execute(update(uploads).where(uploads.c.id == upload.id).values(folder=folder))

    await run_write(write)
    return upload._replace(folder=folder)


async def find_chosen_uploads(owner: str, ids: Sequence[str]) -> list[UploadedFile]:
    """Return the uploads that some ids of uploads and of folders stand for, each once.

    Raises:
        Problem: `upload_not_found` or `upload_folder_not_found`.
    """
    found: dict[str, UploadedFile] = {}
    for id in ids:
        if id.startswith(FOLDER_PREFIX):
            await list_upload_folders(owner, id)
            named: list[Any] = await list_uploads(owner, None, folder=id)
        else:
            named = [await find_upload(owner, id)]
        found |= {one.id: one for one in named}
    return list(found.values())


def _no_folder(id: str) -> Problem:
    what, hint = f"there is no folder {id[:60]!r}", "list your folders"
    return Problem(ErrorCode.UPLOAD_FOLDER_NOT_FOUND, what, where="folder", hint=hint)
