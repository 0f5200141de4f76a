"""Keep the data folder to the person whose it is: 0700 for folders, 0600 for files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from config.settings import settings

FOLDER, FILE = 0o700, 0o600

KEPT = (
    "dossier.db*",
    "checkpoints.db*",
    "AGENTS.md",
    "locks",
    "server-token*",
    "traces",
    "uploads",
    "users",
    "vectors",
)
"""What lies in the data folder; a person may have other things there, which are theirs."""

_secured: set[Path] = set()


def secure(home: Path | None = None, *, again: bool = False) -> None:
    """Make the data folder, and close it and all that Dossier keeps there to other people.

    A home of an older program is closed too. What cannot be closed stays as it is; `open_to_others`
    names it.

    Args:
        home: The folder; that of the settings if none is given.
        again: Whether to look once more where this process has looked already: a library may have
            made files since.

    Raises:
        OSError: If the folder cannot be made.
    """
    home = home or settings().home
    if home in _secured and not again:
        return
    home.mkdir(mode=FOLDER, parents=True, exist_ok=True)
    _secured.add(home)
    for path, mode in _too_open(home):
        try:
            path.chmod(mode)
        except OSError:
            # It is another user's, or its file system has no permissions; `dossier doctor` says so.
            continue


def open_to_others() -> list[Path]:
    """Return what other people may read of the data folder."""
    home = settings().home
    return [path for path, _ in _too_open(home)] if home.exists() else []


def made(path: str, flags: int) -> int:
    """Open a file for `open(..., opener=made)`; a new one below the data folder is closed."""
    mine = Path(path).absolute().is_relative_to(settings().home.absolute())
    return os.open(path, flags, FILE if mine else 0o666)


def make_file(file: Path) -> None:
    """Make a file that only its owner can read, if there is none; SQLite makes its logs like it."""
    file.touch(mode=FILE, exist_ok=True)


def _too_open(home: Path) -> Iterator[tuple[Path, int]]:
    """Yield what others may use, each with the permissions that it should have."""
    if os.name != "posix":
        return
    folders = [] if home.resolve() in (Path.home().resolve(), Path("/")) else [home]
    for path in (*folders, *_kept(home)):
        try:
            mode = stat.S_IMODE(path.lstat().st_mode)
        except FileNotFoundError:
            continue
        if mode & 0o077 and not path.is_symlink():
            yield path, mode & FOLDER


def _kept(home: Path) -> Iterator[Path]:
    for name in KEPT:
        for path in home.glob(name):
            yield path
            if path.is_dir() and not path.is_symlink():
                yield from path.rglob("*")
