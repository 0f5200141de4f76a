"""Keep the data folder readable by its owner alone, and detect one that is read-only."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path

from config.errors import ErrorCode, Problem
from config.resources import Resource
from config.settings import settings

FOLDER, FILE, OTHERS = 0o700, 0o600, 0o077

WRITABLE_HINT = "make it writable, or set DOSSIER_HOME to a folder that you may write to"
"""What a person can do about a read-only data folder."""

MAKEABLE_HINT = "set DOSSIER_HOME to a folder that you may write to"
"""What a person can do about a data folder that cannot be made."""

SERVER_FOLDER = "server"
"""The folder in the data folder for the files of LangGraph's development server."""

PARTS_FOLDER = ".parts"
"""The folder for files that are not whole yet."""

PROGRAM_FILES = {
    ".env",
    PARTS_FOLDER,
    "AGENTS.md",
    "knowledge",
    "locks",
    "mcp-pins.json",
    "mcp.json",
    "reports",
    SERVER_FOLDER,
    "traces",
    "uploads",
    "users",
    "vectors",
}
"""The program's own entries of the data folder; others belong to the person."""

LIBRARY_FOLDERS = {"vectors"}
"""The folders that libraries create there, with other permissions."""

BEGINNINGS = ("checkpoints.db", "dossier.db", "server-token")
"""The beginnings of other file names: SQLite puts its logs next to a database."""

_secured = Resource(set[Path])
"""The data folders that this process has secured."""


def secure_home(home: Path | None = None, *, again: bool = False) -> None:
    """Create the data folder, and make it and its contents inaccessible to other users.

    This includes a home created by an older version. Where permissions cannot be changed they stay;
    `find_exposed_files` lists those paths.

    Args:
        home: The folder; by default that of the settings.
        again: Whether to check again if this process has already done so.

    Raises:
        Problem: `storage_unavailable` if the folder cannot be made.
    """
    home = home or settings().home
    if home in _secured.get() and not again:
        return
    try:
        home.mkdir(mode=FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        what = f"cannot make {home}: {error.strerror}"
        raise Problem(ErrorCode.STORAGE_UNAVAILABLE, what, hint=MAKEABLE_HINT) from error
    _secured.get().add(home)
    _restrict(_too_open(home))


def secure_new_files() -> None:
    """Restrict the files that libraries have created in the data folder since the last check."""
    _restrict(_too_open(settings().home, LIBRARY_FOLDERS))


def _restrict(exposed: Iterable[tuple[Path, int]]) -> None:
    for path, mode in exposed:
        # It may be another user's, or its file system has no permissions; `dossier doctor` says so.
        with suppress(OSError):
            path.chmod(mode)


def is_read_only(file: Path) -> bool:
    """Say whether a file exists and it, or its folder, is read-only."""
    # Another run may make it meanwhile: what is there is asked for first.
    return os.path.exists(file) and not all(
        os.access(path, os.W_OK) for path in (file, file.parent)
    )


def read_only_problem(place: Path | str) -> Problem:
    """Return the problem of writing to a read-only data folder."""
    what = "this command has to write, but the data folder is read-only"
    return Problem(ErrorCode.HOME_READ_ONLY, what, where=str(place), hint=WRITABLE_HINT)


@contextmanager
def skip_if_read_only() -> Iterator[None]:
    """Skip what would write to a read-only data folder."""
    try:
        yield
    except Problem as problem:
        if problem.code != ErrorCode.HOME_READ_ONLY:
            raise


def check_writable() -> None:
    """Make sure that the data folder, if it exists, is writable.

    Raises:
        Problem: `home_read_only`.
    """
    home = settings().home
    if os.path.exists(home) and not os.access(home, os.W_OK):
        raise read_only_problem(home)


MIN_FREE_BYTES = 100_000_000
"""With less room on its disk, the data folder counts as full."""


def check_room() -> None:
    """Make sure that the data folder can be written, and that its disk has room.

    Raises:
        Problem: `home_read_only`, `storage_unavailable` or `storage_full`.
    """
    secure_home()
    check_writable()
    free = shutil.disk_usage(settings().home).free
    if free < MIN_FREE_BYTES:
        what = f"the disk has {free / 1e6:.0f} MB left"
        raise Problem(ErrorCode.STORAGE_FULL, what, hint="make room on the disk of the home")


def find_exposed_files() -> list[Path]:
    """Return the files of the data folder that other users may read, and links to such files."""
    home = settings().home
    if not os.path.exists(home):
        return []
    ours = (path for path, _ in _too_open(home) if os.lstat(path).st_mode & OTHERS)
    entries = _entries(home.resolve(), PROGRAM_FILES)
    links = (Path(entry.path) for entry in entries if entry.is_symlink())
    return [*ours, *filter(_leads_out, links)]


def owner_only_mode(mode: int) -> int:
    """Return the permissions of the owner in the mode of a file or a folder."""
    return mode & (FOLDER if stat.S_ISDIR(mode) else FILE)


def open_private(path: str, flags: int) -> int:
    """Open a file, as the `opener` of `open`; a new one in the data folder is private."""
    mine = Path(path).absolute().is_relative_to(settings().home.absolute())
    return os.open(path, flags, FILE if mine else 0o666)


def make_folder(folder: Path) -> None:
    """Make a folder and its parents; below the data folder they are their owner's alone.

    Raises:
        OSError: If one of them cannot be made.
    """
    home = settings().home.absolute()
    missing = [path for path in (folder, *folder.parents) if not os.path.lexists(path)]
    for path in reversed(missing):
        private = path.absolute().is_relative_to(home)
        path.mkdir(mode=FOLDER if private else 0o777, exist_ok=True)
    if not missing:
        folder.mkdir(exist_ok=True)


def create_private_file(file: Path) -> None:
    """Create a missing file that only its owner can read; SQLite gives its logs the same mode."""
    file.touch(mode=FILE, exist_ok=True)


def _too_open(home: Path, folders: Container[str] = PROGRAM_FILES) -> Iterator[tuple[Path, int]]:
    """Yield the paths with too many permissions, each with the mode that it should have."""
    if os.name != "posix":
        return
    real = home.resolve()
    root = [] if real in (Path.home().resolve(), Path("/")) else [real]
    own = (entry.path for entry in _entries(real, folders) if not entry.is_symlink())
    for path in chain[str | Path](root, own, _linked(real)):
        with suppress(FileNotFoundError):
            mode = os.lstat(path).st_mode
            if stat.S_IMODE(mode) != owner_only_mode(mode):
                yield Path(path), owner_only_mode(mode)


def _linked(home: Path) -> Iterator[Path]:
    """Yield the person's own targets of links, such as a database in another folder."""
    for one in _within(home):
        if one.name.startswith(BEGINNINGS) and one.is_symlink() and one.is_file():
            yield from [Path(one).resolve()] if one.stat().st_uid == os.getuid() else []


def _leads_out(link: Path) -> bool:
    """Say whether other users may access the target of a link, and all folders above it."""
    target = link.resolve()
    try:
        open_ = stat.S_IMODE(target.stat().st_mode) & OTHERS
        return bool(open_) and all(one.stat().st_mode & 0o011 for one in target.parents)
    except OSError:
        return False


def _entries(home: Path, kept: Container[str]) -> Iterator[os.DirEntry[str]]:
    """Yield the files that Dossier stores; `Path.walk` takes three times longer."""
    for one in _within(home):
        if one.name in kept or one.name.startswith(BEGINNINGS):
            yield one
            folders = [one] if one.is_dir(follow_symlinks=False) else []
            while folders:
                for below in _within(folders.pop().path):
                    yield below
                    if below.is_dir(follow_symlinks=False):
                        folders.append(below)


def _within(folder: str | Path) -> Iterator[os.DirEntry[str]]:
    """Yield the entries of a folder; none if it cannot be listed."""
    try:
        with os.scandir(folder) as every:
            yield from every
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
