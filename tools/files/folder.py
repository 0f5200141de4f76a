"""Find the documents in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from config.errors import Problem
from tools.files.kinds import SUFFIXES

_NOT_DOCUMENTS = frozenset(["__pycache__", "node_modules"])


def find_files(folder_or_file: Path) -> list[Path]:
    """Return the files under a folder that can be read, sorted; a file is returned as it is.

    Raises:
        Problem: `file_not_found`.
    """
    if folder_or_file.is_file():
        return [folder_or_file.resolve()]
    return [path for path in _all(folder_or_file) if _readable(path)]


def others(folder: Path) -> list[Path]:
    """Return the files under a folder that `find_files` passes over, sorted."""
    return [path for path in _all(folder) if not _readable(path)] if folder.is_dir() else []


def _all(folder: Path) -> list[Path]:
    """Return all files under a folder but the hidden ones and links that lead out of it."""
    if not folder.is_dir():
        what = "there is no such folder"
        raise Problem("file_not_found", what, where=str(folder), hint="check the path")
    root = folder.resolve()
    return sorted(path for path in _walk(root) if _real(path).is_relative_to(root))


def _walk(root: Path) -> Iterator[Path]:
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if _shown(name)]
        yield from (Path(folder, name) for name in files if _shown(name))


def _real(path: Path) -> Path:
    # Path.resolve() raises on a link that leads to itself.
    return Path(os.path.realpath(path))


def _shown(name: str) -> bool:
    # Word and Excel keep a lock file named `~$…` beside a document that is open.
    return not name.startswith((".", "~$")) and name not in _NOT_DOCUMENTS


def _readable(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and path.is_file()
