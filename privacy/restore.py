"""Restore a backup into an empty home: all of it, verified, or nothing."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from config.errors import ErrorCode, Problem
from config.settings import settings
from library.indexing import fill_keyword_index, rename_namespaces
from library.tables import vector_sets
from privacy.backup import NOT_KEPT
from privacy.backup_files import (
    is_home_file,
    is_stored_file,
    list_home_files,
    list_stored_names,
)
from privacy.checkpoint_transfer import WRITES, adapt_writes, transfer_checkpoints
from privacy.moved_files import list_moves, move_addresses
from runs.checkpointer import open_checkpointer
from storage.backup_archive import (
    ArchiveReader,
    BackupManifest,
    FileEntry,
    Place,
    RowDigest,
    TableEntry,
    check_readable,
    hash_stream,
    open_backup,
)
from storage.connect import begin_transaction
from storage.engine import advisory_lock, get_engine, to_database_problem
from storage.file_store import FileStore, file_store
from storage.permissions import FOLDER, MIN_FREE_BYTES, open_private, secure_home
from storage.snapshot import list_checkpoint_tables, open_checkpoint_file
from storage.table_rows import (
    digest_table,
    is_filled,
    set_last_number,
    untyped_table,
    write_table,
)
from storage.tables import load_tables, metadata
from storage.upgrades import SCHEMA_VERSION

_ROOM_FACTOR = 3
"""The free space a restore needs, in multiples of its content: SQLite's log has it as well."""


async def check_backup(file: Path) -> BackupManifest:
    """Read a whole backup and compare it with its manifest.

    Raises:
        Problem: `file_not_found`, `file_unreadable`, `backup_invalid`, `backup_damaged` or
            `backup_newer`.
    """
    return await asyncio.to_thread(_check, file)


async def restore_backup(file: Path) -> BackupManifest:
    """Restore a backup into this home, which must be empty; nothing is visible until the end.

    Raises:
        Problem: What `check_backup` raises, `home_not_empty`, `storage_full`, or what the database
            and the file store raise.
    """
    manifest = await check_backup(file)
    engine = await get_engine()
    # Opening it creates its tables.
    async with open_checkpointer():
        pass
    try:
        await asyncio.to_thread(_restore, engine, file)
    except SQLAlchemyError as error:
        raise to_database_problem(error) from error
    return manifest


def _check(file: Path) -> BackupManifest:
    with open_backup(file) as archive:
        _check_known(archive.manifest, str(file))
        archive.check()
        return archive.manifest


def _check_known(manifest: BackupManifest, where: str) -> None:
    check_readable(manifest.schema_version, SCHEMA_VERSION, where)
    load_tables()
    known = metadata.tables.keys() - NOT_KEPT
    if unknown := [one.name for one in manifest.tables if one.name not in known]:
        what = f"it has the table {unknown[0][:80]}, which this program does not know"
        hint = "use the version of dossier that wrote it, or a newer one"
        raise Problem(ErrorCode.BACKUP_NEWER, what, where=where, hint=hint)
    allowed = {"store": is_stored_file, "home": is_home_file}
    if odd := [one.name for one in manifest.files if not allowed[one.place](one.name)]:
        what = f"it has a file that no backup has: {odd[0][:80]!r}"
        raise Problem(ErrorCode.BACKUP_INVALID, what, where=where, hint="it may be forged")


def _restore(engine: Engine, file: Path) -> None:
    with open_backup(file) as archive, ExitStack() as stack:
        _check_room(archive.manifest, file)
        tables, checkpoints = stack.enter_context(_open_transactions(engine))
        _check_empty(tables, checkpoints, archive.manifest)
        _fill_tables(tables, archive)
        with _restored_checkpoints(checkpoints, archive), _restored_files(archive):
            # The files are in place before the rows become visible.
            for one in dict.fromkeys((checkpoints, tables)):
                one.exec_driver_sql("COMMIT")


def _check_room(manifest: BackupManifest, file: Path) -> None:
    secure_home()
    needed = _ROOM_FACTOR * (manifest.content_size + file.stat().st_size) + MIN_FREE_BYTES
    free = shutil.disk_usage(settings().home).free
    if free < needed:
        what = f"the disk has {free / 1e6:,.0f} MB left, and {needed / 1e6:,.0f} MB are needed"
        hint = "make room on the disk of the home"
        raise Problem(ErrorCode.STORAGE_FULL, what, where=str(settings().home), hint=hint)


@contextmanager
def _open_transactions(engine: Engine) -> Iterator[tuple[Connection, Connection]]:
    """Begin transactions on the database and the checkpoints; on PostgreSQL they are the same."""
    with ExitStack() as stack:
        tables = stack.enter_context(engine.connect())
        checkpoints = tables
        if engine.dialect.name == "sqlite":
            saved = open_checkpoint_file(settings().checkpoints)
            stack.callback(saved.dispose)
            checkpoints = stack.enter_context(saved.connect())
            begin_transaction(checkpoints, writes=True)
        begin_transaction(tables, writes=True)
        advisory_lock(tables, "schema")
        yield tables, checkpoints


def _check_empty(tables: Connection, checkpoints: Connection, manifest: BackupManifest) -> None:
    """Make sure that there is nothing except files that a killed restore of this backup left.

    Raises:
        Problem: `home_not_empty`.
    """
    named = [one for one in metadata.tables if one not in NOT_KEPT]
    filled = [f"table {one}" for one in named if is_filled(tables, one)]
    saved = list_checkpoint_tables(checkpoints)
    filled += [f"table {one}" for one in saved if is_filled(checkpoints, one)]
    filled += _list_other_files(manifest)
    if filled:
        more = f" and {len(filled) - 1} more" if len(filled) > 1 else ""
        what = f"it is not empty: {filled[0]}{more}"
        hint = "restore into a new home (DOSSIER_HOME) and an empty database"
        where = str(settings().home)
        raise Problem(ErrorCode.HOME_NOT_EMPTY, what, where=where, hint=hint)


def _list_other_files(manifest: BackupManifest) -> list[str]:
    store, home = file_store(), settings().home
    known = {(one.place, one.name): one for one in manifest.files}
    there: list[tuple[Place, str]] = [("store", name) for name in list_stored_names(store)]
    there += [("home", name) for name in list_home_files(home)]
    return [name for place, name in there if not _is_equal(store, home, known.get((place, name)))]


def _is_equal(store: FileStore, home: Path, entry: FileEntry | None) -> bool:
    if entry is None:
        return False
    opened = store.open(entry.name) if entry.place == "store" else (home / entry.name).open("rb")
    with opened as stream:
        return hash_stream(stream) == entry.sha256


def _fill_tables(connection: Connection, archive: ArchiveReader) -> None:
    moves = list_moves(archive.manifest)
    for entry in archive.manifest.tables:
        table = metadata.tables[entry.name]
        given = RowDigest()
        rows = move_addresses(archive.read_rows("tables", entry), moves)
        write_table(connection, table, entry.columns, given.add_each(rows))
        set_last_number(connection, table, entry.last)
        _check_written(digest_table(connection, table, entry.columns), given.digest, entry)
    if moves:
        # A folder is the group of a set of pages.
        rename_namespaces(connection)
    fill_keyword_index(connection)
    # Collections of vectors are copies outside of the database, which are made again when missed.
    outside = {"collection": "", "covered": 0, "held": 0, "apart": 0, "building": ""}
    connection.execute(vector_sets.update().values(outside))


def _fill_checkpoints(connection: Connection, archive: ArchiveReader) -> None:
    for entry in archive.manifest.checkpoints:
        table = untyped_table(entry.name, entry.columns)
        write_table(connection, table, entry.columns, archive.read_rows("checkpoints", entry))
        _check_written(digest_table(connection, table, entry.columns), entry.digest, entry)


@contextmanager
def _restored_checkpoints(connection: Connection, archive: ArchiveReader) -> Iterator[None]:
    """Restore the checkpoints; those of another kind of database go through its saver one by one.

    Savers commit on their own, so these checkpoints are deleted again if a later step fails.
    """
    kind = connection.dialect.name
    if archive.manifest.database == kind:
        _fill_checkpoints(connection, archive)
        yield
        return
    if kind == "sqlite":
        # Let the saver write.
        connection.exec_driver_sql("ROLLBACK")
    threads = asyncio.run(_transfer(archive))
    try:
        if kind == "sqlite":
            begin_transaction(connection, writes=True)
        for entry in archive.manifest.checkpoints:
            if entry.name in WRITES.values():
                name, columns = adapt_writes(entry, kind)
                rows = archive.read_rows("checkpoints", entry)
                write_table(connection, untyped_table(name, columns), columns, rows)
        yield
    except BaseException:
        connection.exec_driver_sql("ROLLBACK")
        asyncio.run(_delete_threads(threads))
        raise


async def _transfer(archive: ArchiveReader) -> list[str]:
    async with open_checkpointer() as saver:
        return await transfer_checkpoints(archive, saver)


async def _delete_threads(threads: Sequence[str]) -> None:
    async with open_checkpointer() as saver:
        for thread in threads:
            await saver.adelete_thread(thread)


def _check_written(found: RowDigest, digest: str, entry: TableEntry) -> None:
    if (found.rows, found.digest) != (entry.rows, digest):
        what = f"{found.rows:,} rows of {entry.name} were written, but differ from the backup"
        hint = "nothing was restored; check the disk for errors"
        raise Problem(ErrorCode.STORAGE_CORRUPT, what, hint=hint)


@contextmanager
def _restored_files(archive: ArchiveReader) -> Iterator[None]:
    """Restore all files; remove them again if a later step fails."""
    store, home = file_store(), settings().home
    restored: list[FileEntry] = []
    try:
        for number, entry in enumerate(archive.manifest.files):
            restored.append(entry)
            with store.new_file() as part:
                archive.copy_file(number, part)
                _put_file(store, home, part, entry)
            if not _is_equal(store, home, entry):
                what = f"{entry.name} was written, but differs from what was saved"
                raise Problem(ErrorCode.STORAGE_CORRUPT, what, hint="check the disk for errors")
        yield
    except BaseException:
        for entry in restored:
            if entry.place == "store":
                store.remove(entry.name)
            else:
                (home / entry.name).unlink(missing_ok=True)
        raise


def _put_file(store: FileStore, home: Path, part: Path, entry: FileEntry) -> None:
    if entry.place == "store":
        store.add(part, entry.name)
        return
    target = home / entry.name
    target.parent.mkdir(mode=FOLDER, parents=True, exist_ok=True)
    with part.open("rb") as source, open(target, "wb", opener=open_private) as opened:
        shutil.copyfileobj(source, opened)
