"""Copies of the tables of a bucket, so that they are computed over without asking it again."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from config.settings import settings
from library.knowledge_records import INDEX_PREFIX, KnowledgeBase
from storage.permissions import FILE, FOLDER
from tools.files.formats import GRID_READERS

COPIES = "knowledge"
"""The folder in the home that has one folder for each base."""

MOST_BYTES = 500_000_000
"""So many bytes of the tables of one base are copied; of further ones only the text is searched."""


def copies_folder(base: KnowledgeBase) -> Path:
    """Return the folder of the copies of a base, which may be missing."""
    return settings().home / COPIES / base.index_owner.removeprefix(INDEX_PREFIX)


def find_copy(base: KnowledgeBase, sha256: str, suffix: str) -> Path | None:
    """Return the copy of a table by the hash of its content; `None` if there is none."""
    copy = copies_folder(base) / f"{sha256}{suffix}"
    return copy if suffix in GRID_READERS and copy.is_file() else None


def keep_copy(base: KnowledgeBase, file: Path) -> None:
    """Copy a table of a base, unless it has too many of them; other files are no tables."""
    suffix = file.suffix.lower()
    if suffix not in GRID_READERS:
        return
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    if find_copy(base, sha256, suffix):
        return
    folder = copies_folder(base)
    folder.mkdir(mode=FOLDER, parents=True, exist_ok=True)
    size = sum(one.stat().st_size for one in folder.iterdir())
    if size + file.stat().st_size > MOST_BYTES:
        return
    # What is half written has a name that nothing looks for.
    part = folder / f"{sha256}.part"
    shutil.copyfile(file, part)
    part.chmod(FILE)
    os.replace(part, folder / f"{sha256}{suffix}")


def delete_copies(base: KnowledgeBase, keep: Collection[str] = ()) -> None:
    """Delete the copies of a base, but for those of some contents, by their hashes."""
    folder = copies_folder(base)
    with suppress(FileNotFoundError):
        for copy in folder.iterdir():
            if copy.stem not in keep:
                copy.unlink(missing_ok=True)
        if not keep:
            folder.rmdir()
