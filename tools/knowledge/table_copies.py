"""Copies of the tables of a bucket, so that they are computed over without asking it again."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from library.knowledge_records import INDEX_PREFIX, KnowledgeBase
from storage.file_store import file_store
from tools.files.formats import GRID_READERS

COPIES = "knowledge"
"""The folder of the file store that has one folder for each base."""

MOST_BYTES = 500_000_000
"""So many bytes of the tables of one base are copied; of further ones only the text is searched."""


def copies_folder(base: KnowledgeBase) -> str:
    """Return the name of the folder of the copies of a base, which may be missing."""
    return f"{COPIES}/{base.index_owner.removeprefix(INDEX_PREFIX)}"


def find_copy(base: KnowledgeBase, sha256: str, suffix: str) -> str:
    """Return the address of the copy of a table by the hash of its content; empty for none."""
    name = f"{copies_folder(base)}/{sha256}{suffix.lower()}"
    there = suffix.lower() in GRID_READERS and file_store().exists(name)
    return file_store().address(name) if there else ""


def keep_copy(base: KnowledgeBase, file: Path) -> None:
    """Copy a table of a base, unless it has too many of them; other files are no tables."""
    suffix = file.suffix.lower()
    if suffix not in GRID_READERS:
        return
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    if find_copy(base, sha256, suffix):
        return
    folder, store = copies_folder(base), file_store()
    size = sum(map(store.size, store.list(folder)))
    if size + file.stat().st_size > MOST_BYTES:
        return
    with store.new_file() as part:
        shutil.copyfile(file, part)
        store.add(part, f"{folder}/{sha256}{suffix}")


def delete_copies(base: KnowledgeBase, keep: Collection[str] = ()) -> None:
    """Delete the copies of a base, but for those of some contents, by their hashes."""
    store = file_store()
    for copy in store.list(copies_folder(base)):
        if PurePosixPath(copy).stem not in keep:
            store.remove(copy)
