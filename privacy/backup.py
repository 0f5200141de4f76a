"""Back up everything that is stored, as it was at one moment, into one file."""

from __future__ import annotations

import asyncio
import errno
import io
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import IO, NamedTuple

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from config.errors import ErrorCode, Problem
from config.settings import settings
from config.user_files import check_new_file
from privacy.backup_files import (
    list_home_files,
    list_place_addresses,
    list_stored_names,
    read_home_file,
)
from runs.trace import flush_traces
from storage.backup_archive import ArchiveWriter, BackupManifest
from storage.engine import flush_writes, get_engine, to_database_problem
from storage.file_store import file_store
from storage.snapshot import Snapshot, list_checkpoint_tables, open_snapshot
from storage.table_rows import find_last_number, list_columns, read_table, untyped_table
from storage.tables import leases, metadata, schema
from storage.upgrades import SCHEMA_VERSION

NOT_KEPT = {leases.name, schema.name}
"""The tables that a backup leaves out: leases, and the schema version, which the manifest has."""


class WrittenBackup(NamedTuple):
    """A backup that was written."""

    manifest: BackupManifest
    size: int
    """The size of the file in bytes."""
    left_out: list[str]
    """The keys of `mcp.json` that were left out, such as `server: Authorization`."""


async def write_backup(file: Path, *, force: bool = False) -> WrittenBackup:
    """Write the rows, checkpoints and files of this home into one file, while others may write.

    Args:
        file: The file to write; if anything fails, it is not created.
        force: Whether to replace an existing file.

    Raises:
        Problem: `output_exists`, `output_not_writable`, `storage_full`, or what the database and
            the file store raise.
    """
    await flush_traces()
    await flush_writes()
    check_new_file(file, force=force)
    engine = await get_engine()
    try:
        return await asyncio.to_thread(_write, engine, file)
    except SQLAlchemyError as error:
        raise to_database_problem(error) from error


def _write(engine: Engine, file: Path) -> WrittenBackup:
    manifest = BackupManifest(
        dossier=version("dossier"),
        schema_version=SCHEMA_VERSION,
        created=time.time(),
        database=engine.dialect.name,
        addresses=list_place_addresses(),
    )
    with _new_file(file) as stream, ArchiveWriter(stream, manifest) as archive:
        with open_snapshot(engine) as snapshot:
            _add_tables(archive, snapshot)
        # Files are stored before the rows that name them, so no row of the snapshot lacks its file.
        _add_stored_files(archive)
        left_out = _add_home_files(archive)
    return WrittenBackup(manifest, file.stat().st_size, left_out)


def _add_tables(archive: ArchiveWriter, snapshot: Snapshot) -> None:
    connection = snapshot.tables
    for table in metadata.sorted_tables:
        if table.name not in NOT_KEPT:
            columns = list_columns(connection, table.name)
            rows = read_table(connection, table, columns)
            last = find_last_number(connection, table)
            archive.add_table("tables", table.name, columns, rows, last)
    if (saved := snapshot.checkpoints) is not None:
        for name in list_checkpoint_tables(saved):
            columns = list_columns(saved, name)
            rows = read_table(saved, untyped_table(name, columns), columns)
            archive.add_table("checkpoints", name, columns, rows)


def _add_stored_files(archive: ArchiveWriter) -> None:
    store = file_store()
    for name in list_stored_names(store):
        # A file deleted since the snapshot is no longer wanted.
        with suppress(FileNotFoundError), store.open(name) as stream:
            archive.add_file("store", name, stream)


def _add_home_files(archive: ArchiveWriter) -> list[str]:
    left_out: list[str] = []
    for name in list_home_files(settings().home):
        with suppress(FileNotFoundError):
            content, keys = read_home_file(settings().home, name)
            archive.add_file("home", name, io.BytesIO(content))
            left_out += keys
    return left_out


@contextmanager
def _new_file(file: Path) -> Iterator[IO[bytes]]:
    """Yield a new private file, which replaces the named one once it is complete.

    Raises:
        Problem: `output_not_writable` or `storage_full`.
    """
    part = file.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with open(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as opened:
            yield opened
            opened.flush()
            os.fsync(opened.fileno())
        part.replace(file)
    except OSError as error:
        where = str(file)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            hint = "name a file on a disk with more room"
            raise Problem(
                ErrorCode.STORAGE_FULL, "the disk is full", where=where, hint=hint
            ) from error
        what = f"it cannot be written: {error.strerror}"
        hint = "name a file in a folder you may write to"
        raise Problem(ErrorCode.OUTPUT_NOT_WRITABLE, what, where=where, hint=hint) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
