"""The format of a backup: a ZIP archive of tables as JSON lines, files, and a manifest."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, Self

from pydantic import BaseModel, ValidationError

from config.errors import ErrorCode, Problem

MANIFEST = "manifest.json"
"""The last entry of an archive, which describes the others."""

ARCHIVE_FORMAT = "dossier-backup"
ARCHIVE_VERSION = 1
"""The version of the archive format; older ones are read, too."""

_BYTES = "base64"
"""The key under which JSON holds a value that is bytes."""

_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, ValidationError)
"""What reading a damaged archive may raise."""

_BLOCK = 1 << 20

_MODULUS = 2**256

_DAMAGED = "take another backup; this one cannot be trusted"

Place = Literal["store", "home"]
"""Where a file belongs: in the file store or in the home."""

RowValues = Sequence[Any]
"""The values of a row in the order of its columns: text, numbers, bytes, or `None`."""


class ColumnEntry(BaseModel):
    """A column of a table: its name and its SQL type."""

    name: str
    type: str


class TableEntry(BaseModel):
    """A table in an archive."""

    name: str
    columns: list[ColumnEntry]
    rows: int
    digest: str
    """The sum of the SHA-256 of all rows, which does not depend on their order."""
    last: int | None = None
    """The last value of an autoincrement key, so that no value is used twice; else `None`."""


class FileEntry(BaseModel):
    """A file in an archive."""

    place: Place
    name: str
    size: int
    sha256: str


class BackupManifest(BaseModel):
    """The content of an archive, and the program that wrote it."""

    format: Literal["dossier-backup"] = "dossier-backup"
    version: int = ARCHIVE_VERSION
    dossier: str
    """The version of the program that wrote it."""
    schema_version: int
    created: float
    """In seconds since 1970."""
    database: str
    """The kind of its database: `sqlite` or `postgresql`."""
    addresses: dict[str, str] = {}
    """Where its folders of files were, by their names; rows may say so."""
    tables: list[TableEntry] = []
    checkpoints: list[TableEntry] = []
    files: list[FileEntry] = []

    @property
    def content_size(self) -> int:
        """The size of all files in bytes."""
        return sum(one.size for one in self.files)


class RowDigest:
    """A counter of rows that adds up their hashes."""

    def __init__(self) -> None:
        self.rows, self._sum = 0, 0

    def add(self, line: bytes) -> None:
        """Add a row in its encoded form."""
        self.rows += 1
        self._sum += int.from_bytes(hashlib.sha256(line).digest(), "big")

    def add_each(self, rows: Iterable[RowValues]) -> Iterator[RowValues]:
        """Yield rows, and add each that goes by."""
        for row in rows:
            self.add(encode_row(row))
            yield row

    @property
    def digest(self) -> str:
        """The sum so far, as 64 hexadecimal digits."""
        return f"{self._sum % _MODULUS:064x}"


def encode_row(row: RowValues) -> bytes:
    """Return a row as a line of JSON."""
    values = [_encoded(one) for one in row]
    return json.dumps(values, separators=(",", ":")).encode() + b"\n"


def decode_row(line: bytes) -> list[Any]:
    """Return the values of a line that `encode_row` returned."""
    return [
        base64.b64decode(one[_BYTES]) if isinstance(one, dict) else one for one in json.loads(line)
    ]


def _encoded(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {_BYTES: base64.b64encode(value).decode()}
    return value


def hash_stream(stream: IO[bytes]) -> str:
    """Return the SHA-256 of the rest of a stream, as hexadecimal digits."""
    digest = hashlib.sha256()
    while block := stream.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()


class ArchiveWriter:
    """Writes an archive, as a context manager; the manifest is added on a successful exit."""

    def __init__(self, stream: IO[bytes], manifest: BackupManifest) -> None:
        # Text shrinks to a fifth at every level; the lowest takes a third of the time.
        self._zip = zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self.manifest = manifest

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._zip.writestr(MANIFEST, self.manifest.model_dump_json(indent=1).encode())
        finally:
            self._zip.close()

    def add_table(
        self,
        folder: Literal["tables", "checkpoints"],
        name: str,
        columns: Sequence[ColumnEntry],
        rows: Iterable[RowValues],
        last: int | None = None,
    ) -> None:
        """Add all rows of a table."""
        digest = RowDigest()
        with self._zip.open(_table_path(folder, name), "w", force_zip64=True) as entry:
            for row in rows:
                line = encode_row(row)
                digest.add(line)
                entry.write(line)
        added = TableEntry(
            name=name, columns=list(columns), rows=digest.rows, digest=digest.digest, last=last
        )
        getattr(self.manifest, folder).append(added)

    def add_file(self, place: Place, name: str, stream: BinaryIO) -> None:
        """Add a file under its number, since its own name may not be valid in an archive."""
        digest, size = hashlib.sha256(), 0
        path = _file_path(len(self.manifest.files))
        with self._zip.open(path, "w", force_zip64=True) as entry:
            while block := stream.read(_BLOCK):
                digest.update(block)
                size += len(block)
                entry.write(block)
        added = FileEntry(place=place, name=name, size=size, sha256=digest.hexdigest())
        self.manifest.files.append(added)


class ArchiveReader:
    """Reads an archive."""

    def __init__(self, archive: zipfile.ZipFile, where: str) -> None:
        self._zip, self._where = archive, where
        self.manifest = self._read_manifest()

    def _read_manifest(self) -> BackupManifest:
        with self._translate_errors():
            if MANIFEST not in self._zip.namelist():
                raise _no_backup(self._where)
            written = json.loads(self._zip.read(MANIFEST))
            if not isinstance(written, dict) or written.get("format") != ARCHIVE_FORMAT:
                raise _no_backup(self._where)
            check_readable(written.get("version"), ARCHIVE_VERSION, self._where)
            return BackupManifest.model_validate(written)

    def read_rows(
        self, folder: Literal["tables", "checkpoints"], table: TableEntry
    ) -> Iterator[list[Any]]:
        """Yield the rows of a table.

        Raises:
            Problem: `backup_damaged`; after the last row if rows are missing or changed.
        """
        digest = RowDigest()
        with self._translate_errors(), self._zip.open(_table_path(folder, table.name)) as entry:
            for line in entry:
                digest.add(line)
                yield decode_row(line)
        if (digest.rows, digest.digest) != (table.rows, table.digest):
            what = f"the rows of {table.name} are not those that were saved"
            raise self._damaged(what)

    @contextmanager
    def open_file(self, number: int) -> Iterator[IO[bytes]]:
        """Open a file by its index in the manifest.

        Raises:
            Problem: `backup_damaged`.
        """
        with self._translate_errors(), self._zip.open(_file_path(number)) as entry:
            yield entry

    def check(self) -> None:
        """Read the whole archive and compare it with the manifest.

        Raises:
            Problem: `backup_damaged`.
        """
        for folder in ("tables", "checkpoints"):
            for table in getattr(self.manifest, folder):
                for _ in self.read_rows(folder, table):
                    pass
        for number, file in enumerate(self.manifest.files):
            with self.open_file(number) as entry:
                changed = hash_stream(entry) != file.sha256
            if changed:
                what = f"{file.name} is not what was saved"
                raise self._damaged(what)

    def copy_file(self, number: int, target: Path) -> None:
        """Write the content of a file to a local file."""
        with self.open_file(number) as entry, target.open("wb") as opened:
            shutil.copyfileobj(entry, opened)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except _DAMAGE as error:
            what = f"it cannot be read: {error}"
            raise self._damaged(what) from error

    def _damaged(self, what: str) -> Problem:
        return Problem(ErrorCode.BACKUP_DAMAGED, what, where=self._where, hint=_DAMAGED)


@contextmanager
def open_backup(file: Path) -> Iterator[ArchiveReader]:
    """Open the file of a backup.

    Raises:
        Problem: `file_not_found`, `file_unreadable`, `backup_invalid` if it is not a backup,
            `backup_damaged`, or `backup_newer`.
    """
    where = str(file)
    try:
        begins = _read_beginning(file)
    except FileNotFoundError as error:
        what, hint = "there is no such file", "check the path"
        raise Problem(ErrorCode.FILE_NOT_FOUND, what, where=where, hint=hint) from error
    except OSError as error:
        what, hint = f"it cannot be read: {error.strerror}", "name a file that you may read"
        raise Problem(ErrorCode.FILE_UNREADABLE, what, where=where, hint=hint) from error
    if not begins.startswith(b"PK"):
        raise _no_backup(where)
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile as error:
        what = "its end is missing, or it is damaged"
        raise Problem(ErrorCode.BACKUP_DAMAGED, what, where=where, hint=_DAMAGED) from error
    with archive:
        yield ArchiveReader(archive, where)


def check_readable(written: object, known: int, where: str) -> None:
    """Make sure that this program knows a version.

    Raises:
        Problem: `backup_newer`.
    """
    if not isinstance(written, int) or written > known:
        what = f"it has version {written}, and this program knows {known}"
        hint = "use the version of dossier that wrote it, or a newer one"
        raise Problem(ErrorCode.BACKUP_NEWER, what, where=where, hint=hint)


def _read_beginning(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(4)


def _no_backup(where: str) -> Problem:
    hint = "name a file that dossier backup wrote"
    return Problem(ErrorCode.BACKUP_INVALID, "this is not a backup", where=where, hint=hint)


def _table_path(folder: str, name: str) -> str:
    return f"{folder}/{name}.jsonl"


def _file_path(number: int) -> str:
    return f"files/{number}"
