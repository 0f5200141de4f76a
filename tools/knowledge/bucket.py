"""A bucket, an archive or a listing of the web, read with fsspec into an index of its own."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import Field

from config.errors import ErrorCode, Problem
from library.documents import list_stored_files, unlist_document
from library.knowledge_records import KnowledgeBase
from storage.object_stores import OBJECT_STORES, register_object_store
from text.background_threads import run_abandonable
from tools.files.formats import READABLE_SUFFIXES, FileLimits, explain_unread_type
from tools.folder_ingestion import (
    FileCopy,
    SkippedFile,
    find_changed_copies,
    ingest_copy,
)
from tools.knowledge.folder import describe_index, erase_unlisted, search_index
from tools.knowledge.knowledge_source import (
    BaseOptions,
    BasePassage,
    Progress,
    RefreshResult,
    unavailable,
)
from tools.knowledge.table_copies import delete_copies, keep_copy

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

Result = TypeVar("Result")

WEB = ("http", "https")

KEY_VARIABLES = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "gcs": "GOOGLE_APPLICATION_CREDENTIALS",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
    "abfs": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}
"""The variables that usually hold the keys of a provider, by the beginning of its addresses."""

_NO_KEYS = ("169.254.169.254", "credential", "metadata.google.internal", "account must be")
"""What an error says where no key was found: the addresses that machines of a cloud are asked."""

_NO_WAY = ("error sending request", "connect", "dns", "timed out", "timeout")
"""What an error says where nothing could be reached."""

LIST_SECONDS = 120.0
"""How long a list of files may take."""

READ_SECONDS = 300.0
"""How long one file may take."""

PIECE = 1_000_000
"""How many bytes are read at once."""

VERSION_FIELDS = (
    *("e_tag", "ETag", "etag", "last_modified", "LastModified", "mtime", "created"),
    *("version", "generation", "CRC", "date_time"),
)
"""What tells in the list of a file system that a file has changed."""


class BucketOptions(BaseOptions):
    """How a bucket is reached, and how much of it is read."""

    endpoint: str = ""
    """The address of a server that is not the usual one, such as MinIO's."""
    region: str = ""
    anonymous: bool = False
    """Whether requests are not signed; else the usual variables of the environment have the key."""
    max_files: Annotated[int, Field(ge=1, le=100_000)] = 5_000
    max_megabytes: Annotated[float, Field(gt=0, le=1_000)] = 30
    """The largest file that is read."""


class BucketBase:
    """Files at an address such as `s3://bucket/folder`, `zip:///archive.zip` or `https://…/`."""

    is_remote = False

    def __init__(self, base: KnowledgeBase, options: BucketOptions) -> None:
        self.base, self.options = base, options

    async def search(self, query: str, limit: int) -> list[BasePassage]:
        """Return the best pages of its own index."""
        await describe_index(self.base)
        return await search_index(self.base, query, limit)

    async def check(self) -> str:
        """Tell how many documents were read, if the bucket still has files."""
        await self._list()
        return await describe_index(self.base)

    async def refresh(self, progress: Progress) -> RefreshResult:
        """Read files that are new or have changed, and leave out those that are gone."""
        system, files, skipped = await self._list()
        owner, root = self.base.index_owner, self.base.location
        due, gone = await find_changed_copies(owner, root, list(files.values()))
        changed = {one.path for one in due}
        names = {one.path: name for name, one in files.items()}
        for one in files.values():
            if one.path in changed:
                skipped += await self._read(system, names[one.path], one)
            progress(one.path)
        for path in gone:
            await unlist_document(owner, root, path)
        await erase_unlisted(self.base)
        stored = await list_stored_files(owner)
        await asyncio.to_thread(delete_copies, self.base, {one.sha256 for one in stored})
        unread = {one.path for one in skipped}
        return RefreshResult(
            len(files) + sum(one.path not in names for one in skipped),
            len(changed - unread),
            tuple(skipped),
        )

    async def _list(self) -> tuple[AbstractFileSystem, dict[str, FileCopy], list[SkippedFile]]:
        """Return the file system, its readable files by their names there, and the others.

        Raises:
            Problem: `knowledge_unavailable` if it cannot be listed or has no file to read.
        """
        found = await _in_time(
            LIST_SECONDS, self.base.location, _list_files, self.base, self.options
        )
        if not found[1]:
            raise unavailable("there is no file in it that can be read", self.base.location)
        return found

    async def _read(
        self, system: AbstractFileSystem, name: str, file: FileCopy
    ) -> list[SkippedFile]:
        """Read a file; return it with the reason if it cannot be read."""
        limits = FileLimits(size=int(self.options.max_megabytes * 1e6))
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, PurePosixPath(name).name)
            try:
                await _in_time(READ_SECONDS, name, _copy_file, system, name, copy, limits.size)
                file = file._replace(copy=copy)
            except Problem as failed:
                # What could not be reached is tried again with the next refresh.
                passing = failed.code == ErrorCode.KNOWLEDGE_UNAVAILABLE
                version = 0 if passing else file.version
                file = file._replace(failure=(failed.code, failed.what), version=version)
            owner, root = self.base.index_owner, self.base.location
            unread = await ingest_copy(owner, root, file, limits)
            if file.copy and not unread:
                await asyncio.to_thread(keep_copy, self.base, file.copy)
        return [unread] if unread else []


async def _in_time(seconds: float, where: str, work: Callable[..., Result], *values: Any) -> Result:
    """Return the result of work that waits for a network, for which no program waits at its end.

    Raises:
        Problem: `knowledge_unavailable` if it takes longer than it may.
    """
    try:
        return await run_abandonable(work, *values, seconds=seconds)
    except Problem as problem:
        if problem.error != ErrorCode.TEXT_TIMEOUT:
            raise
        raise unavailable("it is too slow", where) from None


def _list_files(
    base: KnowledgeBase, options: BucketOptions
) -> tuple[AbstractFileSystem, dict[str, FileCopy], list[SkippedFile]]:
    """List the files of a bucket; it takes the time of the network."""
    try:
        system, root = open_file_system(base.location, options)
        listed: Mapping[str, Any] = system.find(root, detail=True)
        if not listed and base.location.startswith(WEB):
            # A search below an address leaves out what cannot be reached, even all of it.
            system.ls(root, detail=False)
        names = [one for one in sorted(listed) if _is_below(one, root)]
        readable = [one for one in names if _suffix(one) in READABLE_SUFFIXES]
        most = options.max_files
        files = {
            name: _describe(base, name, _details(base, system, listed[name]))
            for name in readable[:most]
        }
    except _errors() as error:
        raise explain_unread(error, base.location) from error
    others = [name for name in names if name not in files]
    return system, files, [_skip(base, name, most) for name in others]


def open_file_system(location: str, options: BucketOptions) -> tuple[AbstractFileSystem, str]:
    """Return the file system of an address, and the path in it."""
    import fsspec  # noqa: PLC0415

    scheme = _scheme(location)
    if scheme == "zip" and "::" not in location:
        location = f"zip://::file://{location.removeprefix('zip://')}"
    chain = {_scheme(part) for part in location.split("::")}
    settings: dict[str, Any] = {}
    for name in chain & {*OBJECT_STORES}:
        register_object_store(name)
        settings[name] = _store_settings(name, options)
    for name in chain & {*WEB}:
        # An address that leads elsewhere could lead into the network of this machine.
        settings[name] = {"allow_redirects": False}
    if scheme in settings:
        settings |= settings.pop(scheme)
    system, root = fsspec.core.url_to_fs(location, **settings)
    return system, root


def _store_settings(scheme: str, options: BucketOptions) -> dict[str, Any]:
    """Return what obstore is told of a store; keys are in the environment."""
    config: dict[str, Any] = {}
    if options.anonymous:
        config["skip_signature"] = True
    if options.region and scheme.startswith("s3"):
        config["region"] = options.region
    if options.endpoint:
        config["endpoint"] = options.endpoint
    plain = options.endpoint.startswith("http://")
    retry = {"max_retries": 2, "retry_timeout": timedelta(seconds=20)}
    return {
        "config": config,
        "client_options": {"timeout": "30s", "connect_timeout": "10s", "allow_http": plain},
        "retry_config": retry,
    }


def _copy_file(system: AbstractFileSystem, name: str, copy: Path, most: int) -> None:
    """Copy a file of at most so many bytes.

    Raises:
        Problem: `file_too_large`, or `knowledge_unavailable` if it cannot be read.
    """
    streamed = {"block_size": 0} if name.startswith(WEB) else {}
    try:
        with system.open(name, "rb", **streamed) as opened, copy.open("wb") as written:
            size = 0
            while piece := opened.read(PIECE):
                size += len(piece)
                if size > most:
                    what = f"it has more than {most / 1e6:g} MB"
                    hint = "raise max_megabytes of the base"
                    raise Problem(ErrorCode.FILE_TOO_LARGE, what, where=name, hint=hint)
                written.write(piece)
    except _errors() as error:
        raise explain_unread(error, name) from error


def _details(base: KnowledgeBase, system: AbstractFileSystem, listed: Any) -> Mapping[str, Any]:
    """Return what is known of a file; a listing of the web tells nothing but its name."""
    details: Mapping[str, Any] = listed
    if base.location.startswith(WEB):
        with suppress(OSError):
            details = {**details, **system.info(details["name"])}
    return details


def _describe(base: KnowledgeBase, name: str, details: Mapping[str, Any]) -> FileCopy:
    marks = [f"{one}={details[one]}" for one in VERSION_FIELDS if details.get(one)]
    digest = hashlib.sha256("\n".join([name, *marks]).encode()).digest()
    # Without a mark, it is read each time.
    version = int.from_bytes(digest[:7]) if marks else -1
    return FileCopy(_address(base, name), int(details.get("size") or 0), version)


def _address(base: KnowledgeBase, name: str) -> str:
    """Return the address of a file as a report shows it."""
    if name.startswith(WEB):
        return name
    scheme = _scheme(base.location)
    if scheme == "zip":
        return f"{base.location.rpartition('::')[2]}/{name}"
    return f"{scheme}://{name}"


def _skip(base: KnowledgeBase, name: str, most: int) -> SkippedFile:
    readable = _suffix(name) in READABLE_SUFFIXES
    why = f"only {most:,} files are read" if readable else explain_unread_type(name)
    return SkippedFile(_address(base, name), "file_type", why)


def _scheme(address: str) -> str:
    return address.partition("://")[0].lower() if "://" in address else ""


def _suffix(name: str) -> str:
    return PurePosixPath(name.partition("?")[0]).suffix.lower()


def _is_below(name: str, root: str) -> bool:
    """Tell whether a name is one of a file below a root; a listing may name anything."""
    parts = name.split("/")
    inside = name == root or name.startswith(root.rstrip("/") + "/") or not root
    return inside and ".." not in parts and not any(part.startswith(".") for part in parts[-1:])


def _errors() -> tuple[type[BaseException], ...]:
    """Return what fsspec and its file systems raise where something cannot be read."""
    found: Sequence[type[BaseException]] = (OSError, ValueError, NotImplementedError, ImportError)
    with suppress(ImportError):
        from obstore.exceptions import BaseError  # noqa: PLC0415

        found = (*found, BaseError)
    with suppress(ImportError):
        from aiohttp import ClientError  # noqa: PLC0415

        found = (*found, ClientError)
    import zipfile  # noqa: PLC0415

    return (*found, zipfile.BadZipFile)


def explain_unread(error: BaseException, where: str) -> Problem:
    """Return why something cannot be read, and what to do; no words of a server are repeated."""
    what, hint = f"it cannot be read ({type(error).__name__})", ""
    name, said = type(error).__name__, str(error).casefold()
    if isinstance(error, FileNotFoundError):
        what, hint = "there is no such file or bucket", "check its address"
    elif isinstance(error, ImportError):
        what = "no package that is installed reads such addresses"
        hint = "see docs/knowledge-bases.md for what does"
    elif any(one in said for one in _NO_KEYS) or "Unauthenticated" in name:
        what, hint = "there are no keys for it in the environment", _keys_hint(where)
    elif isinstance(error, PermissionError) or "Permission" in name:
        what, hint = "it may not be read with the keys of the environment", _keys_hint(where)
    elif isinstance(error, OSError | TimeoutError) or any(one in said for one in _NO_WAY):
        what = f"it cannot be reached ({name})"
        hint = "check its address, its region or endpoint, and the network"
    if where.startswith(WEB):
        hint = "check its address and the network; a service needs --kind, such as --kind dify"
    return unavailable(what, where, hint)


def _keys_hint(where: str) -> str:
    names = KEY_VARIABLES.get(_scheme(where), KEY_VARIABLES["s3"])
    return f"set {names}, or say --option anonymous=true if everybody may read it"
