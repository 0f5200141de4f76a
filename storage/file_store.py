"""The file store: files by name, in a folder or in an object store that machines share.

A name is a relative path with slashes, such as `reports/RUN/report.md`. Methods block on a disk or
a network, so in an event loop they are called in a thread.
"""

from __future__ import annotations

import atexit
import errno
import os
import secrets
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import unquote, urlsplit

from config.errors import ErrorCode, Problem
from config.resources import process_cached
from config.settings import settings
from storage.object_stores import OBJECT_STORES, register_object_store
from storage.permissions import FOLDER, PARTS_FOLDER, secure_home

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_SETTING = "DOSSIER_FILES_URL"


class FileStore(ABC):
    """Files by name. Files are replaced atomically: a reader finds the old or the new content.

    All methods raise `FileNotFoundError` for a missing file, another `OSError` if a folder fails,
    `Problem` (`storage_unavailable`) if an object store fails, and `Problem` (`bad_file_name`) for
    an invalid name.
    """

    @abstractmethod
    def address(self, name: str) -> str:
        """Return the address by which records refer to a file: a path, or a URL in a bucket."""

    @abstractmethod
    def find_name(self, address: str) -> str | None:
        """Return the name of a file by its address; `None` if it is not in this store."""

    @abstractmethod
    def exists(self, name: str) -> bool:
        """Say whether there is such a file."""

    @abstractmethod
    def size(self, name: str) -> int:
        """Return the size of a file in bytes."""

    @abstractmethod
    def open(self, name: str) -> BinaryIO:
        """Open a file for reading."""

    @abstractmethod
    def add(self, file: Path, name: str) -> None:
        """Move a local file into the store, replacing any file of that name."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove a file, or a folder with all its content; do nothing if it is missing."""

    @abstractmethod
    def list(self, folder: str) -> list[str]:
        """Return the names of all files below a folder, sorted."""

    @abstractmethod
    def local_copy(self, name: str) -> Path:
        """Return the path of a local file with the content, which the caller must not change.

        A file of a bucket is downloaded once per process, so use this only for files whose content
        never changes.
        """

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        with self.open(name) as opened:
            return opened.read()

    def write(self, name: str, content: bytes) -> None:
        """Write a file, replacing any file of that name."""
        with self.new_file() as part:
            part.write_bytes(content)
            self.add(part, name)

    def move(self, old: str, new: str) -> None:
        """Rename a file."""
        with self.new_file() as part:
            with self.open(old) as source, part.open("wb") as target:
                shutil.copyfileobj(source, target)
            self.add(part, new)
        self.remove(old)

    @contextmanager
    def new_file(self) -> Iterator[Path]:
        """Yield an empty private local file, to be filled and added; it is removed afterwards."""
        number, part = tempfile.mkstemp(prefix=".part-", dir=self._staging())
        os.close(number)
        try:
            yield Path(part)
        finally:
            Path(part).unlink(missing_ok=True)

    def _staging(self) -> Path | None:
        """Return the folder for incomplete files; `None` for the system's temporary folder."""
        return None


class FolderStore(FileStore):
    """Files below a folder, local or on a network file system."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))

    def path(self, name: str) -> Path:
        """Return the path of a file."""
        return self.root / check_stored_name(name)

    def address(self, name: str) -> str:
        """Return its path."""
        return str(self.path(name))

    def find_name(self, address: str) -> str | None:
        """Return the name of the file of a path."""
        inside = address.startswith(f"{self.root}{os.sep}")
        return address[len(str(self.root)) + 1 :] if inside else None

    def exists(self, name: str) -> bool:
        """Say whether there is such a file."""
        return self.path(name).is_file()

    def size(self, name: str) -> int:
        """Return the size of a file in bytes."""
        return self.path(name).stat().st_size

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading."""
        return self.path(name).open("rb")

    def add(self, file: Path, name: str) -> None:
        """Move a local file into the folder."""
        path = self.path(name)
        self._make_folders(path.parent)
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
        try:
            file.replace(path)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            self._copy_in(file, path)

    def remove(self, name: str) -> None:
        """Remove a file or a folder, and then its empty parent folders."""
        path = self.path(name)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
        for folder in path.parents:
            if folder == self.root or not _remove_if_empty(folder):
                return

    def list(self, folder: str) -> list[str]:
        """Return the names of all files below a folder, sorted, without incomplete ones."""
        found = [one for one in self.path(folder).rglob("*") if one.is_file()]
        return sorted(
            one.relative_to(self.root).as_posix() for one in found if not one.name.startswith(".")
        )

    def local_copy(self, name: str) -> Path:
        """Return the file itself."""
        return self.path(name)

    def move(self, old: str, new: str) -> None:
        """Rename a file."""
        self._make_folders(self.path(new).parent)
        self.path(old).replace(self.path(new))

    def _copy_in(self, file: Path, path: Path) -> None:
        """Move a file from another file system."""
        with self.new_file() as part:
            shutil.copyfile(file, part)
            self.add(part, path.relative_to(self.root).as_posix())
        file.unlink(missing_ok=True)

    def _make_folders(self, folder: Path) -> None:
        if self.root == Path(os.path.realpath(settings().home)):
            secure_home()
        for one in reversed((folder, *folder.parents)):
            if one == self.root or self.root in one.parents:
                one.mkdir(mode=FOLDER, parents=one == self.root, exist_ok=True)

    def _staging(self) -> Path | None:
        folder = self.root / PARTS_FOLDER
        self._make_folders(folder)
        return folder


class BucketStore(FileStore):
    """Files below a URL that fsspec opens, such as `s3://bucket/dossier`."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.system, self.root = _open_file_system(self.url)
        self.copies = Path(tempfile.mkdtemp(prefix="dossier-files-"))
        atexit.register(shutil.rmtree, self.copies, ignore_errors=True)

    def address(self, name: str) -> str:
        """Return its address."""
        return f"{self.url}/{check_stored_name(name)}"

    def find_name(self, address: str) -> str | None:
        """Return the name of the file of an address."""
        inside = address.startswith(f"{self.url}/")
        return address[len(self.url) + 1 :] if inside else None

    def exists(self, name: str) -> bool:
        """Say whether there is such a file."""
        # `isfile` of fsspec says no where it fails.
        with self._translate_errors(), suppress(FileNotFoundError):
            return bool(self.system.info(self._key(name))["type"] == "file")
        return False

    def size(self, name: str) -> int:
        """Return the size of a file in bytes."""
        with self._translate_errors():
            return int(self.system.info(self._key(name))["size"])

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading."""
        # Given the size, obstore makes no request of its own; a missing file is noticed before it.
        size = self.size(name)
        with self._translate_errors():
            return cast("BinaryIO", self.system.open(self._key(name), "rb", size=size))

    def add(self, file: Path, name: str) -> None:
        """Move a local file into the bucket."""
        with self._translate_errors():
            self.system.put_file(str(file), self._key(name))
        file.unlink(missing_ok=True)

    def remove(self, name: str) -> None:
        """Remove a file or a folder."""
        shutil.rmtree(self._copy_path(name), ignore_errors=True)
        self._copy_path(name).unlink(missing_ok=True)
        with self._translate_errors(), suppress(FileNotFoundError):
            self.system.rm(self._key(name), recursive=True)

    def list(self, folder: str) -> list[str]:
        """Return the names of all files below a folder."""
        with self._translate_errors():
            found = self.system.find(self._key(folder))
        # Some file systems write a slash before a path.
        prefix = f"{self.root.strip('/')}/" if self.root.strip("/") else ""
        return sorted(str(one).lstrip("/").removeprefix(prefix) for one in found)

    def local_copy(self, name: str) -> Path:
        """Return a copy, which is downloaded once per process."""
        copy = self._copy_path(name)
        if not copy.exists():
            copy.parent.mkdir(mode=FOLDER, parents=True, exist_ok=True)
            part = copy.with_name(f".{secrets.token_hex(8)}.part")
            try:
                with self._translate_errors():
                    self.system.get_file(self._key(name), str(part))
                part.replace(copy)
            finally:
                part.unlink(missing_ok=True)
        return copy

    def _copy_path(self, name: str) -> Path:
        return self.copies / check_stored_name(name)

    def _key(self, name: str) -> str:
        return f"{self.root.rstrip('/')}/{check_stored_name(name)}"

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Turn the errors of any fsspec file system into a `Problem` (`storage_unavailable`)."""
        try:
            yield
        except FileNotFoundError:
            raise
        except Exception as error:
            # Each fsspec package raises errors of its own.
            what = f"the files cannot be reached: {type(error).__name__}"
            hint = f"is the address in {_SETTING} right, and are its keys in the environment?"
            raise Problem(ErrorCode.STORAGE_UNAVAILABLE, what, where=self.url, hint=hint) from error


@process_cached
def file_store() -> FileStore:
    """Return the store of this installation.

    Raises:
        Problem: `config_value` if its URL is invalid, or `package_missing`.
    """
    return open_file_store(settings().files_url)


def find_local_file(address: str) -> Path:
    """Return the local path of a file; for a file in the bucket, that of a copy.

    Args:
        address: A path, or what `FileStore.address` returns.
    """
    store = file_store()
    name = store.find_name(address)
    return Path(address) if name is None else store.local_copy(name)


def open_file_store(url: str) -> FileStore:
    """Return the store at a URL; the home if it is empty.

    Raises:
        Problem: `config_value` if the URL is invalid, or `package_missing`.
    """
    if not url:
        return FolderStore(settings().home)
    parts = urlsplit(url)
    if parts.scheme == "file" and parts.path.startswith("/") and not parts.netloc:
        return FolderStore(Path(unquote(parts.path)))
    if not parts.scheme or parts.scheme == "file":
        what = "this is not the address of a folder or a bucket"
        hint = "use file:///folder or s3://bucket/folder"
        raise Problem(ErrorCode.CONFIG_VALUE, what, where=_SETTING, hint=hint)
    return BucketStore(url)


def check_stored_name(name: str) -> str:
    """Return a name if it is valid.

    Raises:
        Problem: `bad_file_name`.
    """
    parts = name.split("/")
    odd = any(part in ("", ".", "..") for part in parts) or "\\" in name or "\0" in name
    if odd or PurePosixPath(name).is_absolute():
        hint = "separate parts with slashes; none may be empty, . or .."
        raise Problem(ErrorCode.BAD_FILE_NAME, f"{name[:80]!r} is not a valid file name", hint=hint)
    return name


def _remove_if_empty(folder: Path) -> bool:
    try:
        folder.rmdir()
    except OSError:
        return False
    return True


def _open_file_system(url: str) -> tuple[AbstractFileSystem, str]:
    """Return the file system of an address, and the path in it.

    Raises:
        Problem: `config_value` or `package_missing`.
    """
    import fsspec  # noqa: PLC0415

    scheme = urlsplit(url).scheme
    # Listings must not be cached, because other processes write too; obstore caches none, and
    # rejects the option.
    options = {} if scheme in OBJECT_STORES else {"use_listings_cache": False}
    if scheme in OBJECT_STORES:
        register_object_store(scheme)
    try:
        system, root = fsspec.core.url_to_fs(url, **options)
    except ImportError as error:
        hint = f"pip install {error.name}" if error.name else "install the package for it"
        raise Problem(ErrorCode.PACKAGE_MISSING, str(error), where=_SETTING, hint=hint) from error
    except ValueError as error:
        hint = "use file:///folder or s3://bucket/folder"
        raise Problem(ErrorCode.CONFIG_VALUE, str(error), where=_SETTING, hint=hint) from error
    return system, root
