"""Keep files by name in one place: a folder, or an object store that several machines share.

A name is a relative path with slashes, such as `reports/RUN/report.md`. Every method waits for a
disk or a network, so in an event loop it is called in a thread.
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
    """Files by name. A file is replaced whole: a reader finds the old or the new content.

    Raises of all methods: `FileNotFoundError` for a file that is not there, another `OSError` of a
    folder, `Problem` (`storage_unavailable`) of an object store that fails, and `Problem`
    (`bad_file_name`) for a name that is none.
    """

    @abstractmethod
    def address(self, name: str) -> str:
        """Return what stands for a file in records: its path, or its address in a bucket."""

    @abstractmethod
    def find_name(self, address: str) -> str | None:
        """Return the name of a file by its address; `None` for one of another place."""

    @abstractmethod
    def exists(self, name: str) -> bool:
        """Tell whether there is such a file."""

    @abstractmethod
    def size(self, name: str) -> int:
        """Return the bytes that a file has."""

    @abstractmethod
    def open(self, name: str) -> BinaryIO:
        """Open a file for reading."""

    @abstractmethod
    def add(self, file: Path, name: str) -> None:
        """Move a file of this machine into the store, in the place of an older one."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove a file, or a folder with all that is in it; nothing happens if it is missing."""

    @abstractmethod
    def list(self, folder: str) -> list[str]:
        """Return the names of all files below a folder, in order."""

    @abstractmethod
    def local_copy(self, name: str) -> Path:
        """Return a file of this machine with the content, to be read and never changed.

        The copy of a file of a bucket is made once in a process: only files whose content never
        changes may be read in this way.
        """

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        with self.open(name) as opened:
            return opened.read()

    def write(self, name: str, content: bytes) -> None:
        """Write a file, in the place of an older one."""
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
        """Lend an empty private file of this machine, to be filled and added."""
        number, part = tempfile.mkstemp(prefix=".part-", dir=self._staging())
        os.close(number)
        try:
            yield Path(part)
        finally:
            Path(part).unlink(missing_ok=True)

    def _staging(self) -> Path | None:
        """Return the folder for files that are not whole yet; `None` for that of the system."""
        return None


class FolderStore(FileStore):
    """Files below a folder of this machine, or of a file system that machines share."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))

    def path(self, name: str) -> Path:
        """Return where a file lies."""
        return self.root / check_stored_name(name)

    def address(self, name: str) -> str:
        """Return its path."""
        return str(self.path(name))

    def find_name(self, address: str) -> str | None:
        """Return the name of the file of a path."""
        inside = address.startswith(f"{self.root}{os.sep}")
        return address[len(str(self.root)) + 1 :] if inside else None

    def exists(self, name: str) -> bool:
        """Tell whether there is such a file."""
        return self.path(name).is_file()

    def size(self, name: str) -> int:
        """Return the bytes that a file has."""
        return self.path(name).stat().st_size

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading."""
        return self.path(name).open("rb")

    def add(self, file: Path, name: str) -> None:
        """Move a file of this machine into the folder."""
        path = self.path(name)
        self._make_folders(path.parent)
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
        try:
            file.replace(path)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            self._bring(file, path)

    def remove(self, name: str) -> None:
        """Remove a file or a folder, and the folders that are empty without it."""
        path = self.path(name)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
        for folder in path.parents:
            if folder == self.root or not _removed(folder):
                return

    def list(self, folder: str) -> list[str]:
        """Return the names of all files below a folder; those that are not whole have none."""
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

    def _bring(self, file: Path, path: Path) -> None:
        """Move a file that lies in another file system."""
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
    """Files below an address that fsspec opens, such as `s3://bucket/dossier`."""

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
        """Tell whether there is such a file."""
        with self._told():
            return bool(self.system.isfile(self._key(name)))

    def size(self, name: str) -> int:
        """Return the bytes that a file has."""
        with self._told():
            return int(self.system.info(self._key(name))["size"])

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading."""
        with self._told():
            return cast("BinaryIO", self.system.open(self._key(name), "rb"))

    def add(self, file: Path, name: str) -> None:
        """Copy a file of this machine into the bucket, and remove it."""
        with self._told():
            self.system.put_file(str(file), self._key(name))
        file.unlink(missing_ok=True)

    def remove(self, name: str) -> None:
        """Remove a file or a folder."""
        shutil.rmtree(self._copy_path(name), ignore_errors=True)
        self._copy_path(name).unlink(missing_ok=True)
        with self._told(), suppress(FileNotFoundError):
            self.system.rm(self._key(name), recursive=True)

    def list(self, folder: str) -> list[str]:
        """Return the names of all files below a folder."""
        with self._told():
            found = self.system.find(self._key(folder))
        # Some file systems write a slash before a path.
        prefix = f"{self.root.strip('/')}/" if self.root.strip("/") else ""
        return sorted(str(one).lstrip("/").removeprefix(prefix) for one in found)

    def local_copy(self, name: str) -> Path:
        """Return a copy, which is made once in this process."""
        copy = self._copy_path(name)
        if not copy.exists():
            copy.parent.mkdir(mode=FOLDER, parents=True, exist_ok=True)
            part = copy.with_name(f".{secrets.token_hex(8)}.part")
            try:
                with self._told():
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
    def _told(self) -> Iterator[None]:
        """Tell in one way whatever fails in a file system of fsspec."""
        try:
            yield
        except FileNotFoundError:
            raise
        except Exception as error:
            # Each package raises errors of its own.
            what = f"the files cannot be reached: {type(error).__name__}"
            hint = f"is the address in {_SETTING} right, and are its keys in the environment?"
            raise Problem(ErrorCode.STORAGE_UNAVAILABLE, what, where=self.url, hint=hint) from error


@process_cached
def file_store() -> FileStore:
    """Return the store of this installation.

    Raises:
        Problem: `config_value` if its address is none, or `package_missing`.
    """
    return open_file_store(settings().files_url)


def find_local_file(address: str) -> Path:
    """Return where a file is on this machine; of one in a bucket of this store, a copy.

    Args:
        address: A path, or what `FileStore.address` returns.
    """
    store = file_store()
    name = store.find_name(address)
    return Path(address) if name is None else store.local_copy(name)


def open_file_store(url: str) -> FileStore:
    """Return the store at an address; the home where it is empty.

    Raises:
        Problem: `config_value` if the address is none, or `package_missing`.
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
    """Return a name if a file of the store may have it.

    Raises:
        Problem: `bad_file_name`.
    """
    parts = name.split("/")
    odd = any(part in ("", ".", "..") for part in parts) or "\\" in name or "\0" in name
    if odd or PurePosixPath(name).is_absolute():
        hint = "parts with slashes between them, none of which is empty, . or .."
        raise Problem(ErrorCode.BAD_FILE_NAME, f"no file may be called {name[:80]!r}", hint=hint)
    return name


def _removed(folder: Path) -> bool:
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
    if scheme in OBJECT_STORES:
        register_object_store(scheme)
    try:
        system, root = fsspec.core.url_to_fs(url, use_listings_cache=False)
    except ImportError as error:
        hint = f"pip install {error.name}" if error.name else "install the package for it"
        raise Problem(ErrorCode.PACKAGE_MISSING, str(error), where=_SETTING, hint=hint) from error
    except ValueError as error:
        hint = "use file:///folder or s3://bucket/folder"
        raise Problem(ErrorCode.CONFIG_VALUE, str(error), where=_SETTING, hint=hint) from error
    return system, root
