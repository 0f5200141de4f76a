"""Where the files of a report are: a folder of this machine, or a folder of the file store."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from pathlib import Path

from report.export import (
    NO_FILES,
    is_report_in_folder,
    list_report_files,
    write_report_files,
)
from runs.lifecycle import REPORT_FILES
from storage.file_store import FileStore, FolderStore, file_store

REPORTS = "reports"
"""The folder of the file store with the reports of runs for which none was named."""


def stored_report_folder(run: str) -> str:
    """Return the address of the folder of a run in the file store."""
    return file_store().address(f"{REPORTS}/{run}")


async def put_report(
    contents: Mapping[str, bytes],
    folder: str,
    *,
    force: bool = False,
    own: Collection[str] = NO_FILES,
) -> str:
    """Write the files of a report; return the absolute path or the address of their folder.

    In a folder of this machine the conditions are those of `write_report_files`. In a bucket files
    are replaced: the folder there is named after the run.

    Args:
        contents: What `render_report_files` returns.
        folder: A path, or the address of a folder of the file store.
        force: Whether an existing report is replaced.
        own: The digests of files that this run has written before; they may be replaced.

    Raises:
        Problem: `output_exists`, `output_not_writable` or `storage_unavailable`.
    """
    bucket = _find_bucket(folder)
    if bucket is None:
        files = await write_report_files(contents, Path(folder), force=force, own=own)
        return str(files["md"].parent)
    await asyncio.to_thread(_store, *bucket, contents)
    return folder


def list_report_addresses(folder: str) -> list[str]:
    """Return the paths or addresses of the files of the report in a folder."""
    bucket = _find_bucket(folder)
    if bucket is None:
        return [str(file) for file in list_report_files(Path(folder))]
    store, name = bucket
    return [store.address(one) for one in store.list(name)]


def has_report_files(folder: str) -> bool:
    """Tell whether a folder has a report."""
    bucket = _find_bucket(folder)
    if bucket is None:
        return any(Path(folder, name).exists() for name in REPORT_FILES.values())
    store, name = bucket
    return any(store.exists(f"{name}/{file}") for file in REPORT_FILES.values())


def is_report_there(contents: Mapping[str, bytes], folder: str) -> bool:
    """Tell whether the files of a report in a folder have exactly these contents."""
    bucket = _find_bucket(folder)
    if bucket is None:
        return is_report_in_folder(contents, Path(folder))
    store, name = bucket
    there = {one.removeprefix(f"{name}/"): store.read(one) for one in store.list(name)}
    return there == _named(contents)


def read_report_file(folder: str, kind: str) -> bytes:
    """Return the content of a file of a report, `md` or `html`.

    Raises:
        FileNotFoundError: When it is gone.
    """
    bucket = _find_bucket(folder)
    if bucket is None:
        return Path(folder, REPORT_FILES[kind]).read_bytes()
    store, name = bucket
    return store.read(f"{name}/{REPORT_FILES[kind]}")


def remove_stored_report(run: str) -> None:
    """Remove the files of a run from the file store."""
    file_store().remove(f"{REPORTS}/{run}")


def _find_bucket(folder: str) -> tuple[FileStore, str] | None:
    """Return the store and the name of a folder that no path of this machine leads to."""
    store = file_store()
    name = None if isinstance(store, FolderStore) else store.find_name(folder)
    return None if name is None else (store, name)


def _named(contents: Mapping[str, bytes]) -> dict[str, bytes]:
    return {REPORT_FILES.get(kind, kind): content for kind, content in contents.items()}


def _store(store: FileStore, folder: str, contents: Mapping[str, bytes]) -> None:
    files = _named(contents)
    for name, content in files.items():
        store.write(f"{folder}/{name}", content)
    for left_over in store.list(folder):
        if left_over.removeprefix(f"{folder}/") not in files:
            store.remove(left_over)
