"""Write a report to files: all of it or nothing, and never over another one unasked."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import anyio.to_thread

from config.errors import Problem
from report.render import Document, to_html, to_markdown
from runs.lifecycle import NAMES


async def write(document: Document, folder: Path, *, force: bool = False) -> dict[str, Path]:
    """Write `report.md` and `report.html` and return their absolute paths by kind.

    The folder is made where it is missing. A file with the same bytes is no other report.

    Args:
        document: The report.
        folder: Where the files go.
        force: Whether a report that is there is replaced.

    Raises:
        Problem: `output_exists` or `output_not_writable`.
    """
    return await anyio.to_thread.run_sync(_write_all, _contents(document), folder, force)


def same(document: Document, folder: Path) -> bool:
    """Say whether the files in a folder are those of a document, to the byte."""
    contents = _contents(document)
    return all(_same(folder / name, contents[kind]) for kind, name in NAMES.items())


def check_folder(folder: Path, *, force: bool) -> None:
    """Make sure, before a run is paid for, that its report can be written to a folder.

    Raises:
        Problem: `output_exists` or `output_not_writable`.
    """
    folder = folder.absolute()
    _check_is_folder(folder)
    for name in NAMES.values():
        if not force and os.path.lexists(folder / name):
            raise _exists(folder / name)
    above = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise _not_writable(folder, f"{above} is not a folder that can be written to")


def _contents(document: Document) -> dict[str, bytes]:
    return {"md": to_markdown(document).encode(), "html": to_html(document).encode()}


def _write_all(contents: dict[str, bytes], folder: Path, force: bool) -> dict[str, Path]:
    folder = folder.absolute()
    _check_is_folder(folder)
    files = {kind: folder / name for kind, name in NAMES.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for kind, file in files.items():
            if not force and os.path.lexists(file) and not _same(file, contents[kind]):
                raise _exists(file)
        for kind, file in files.items():
            _replace(file, contents[kind])
    except OSError as error:
        raise _not_writable(folder, error.strerror or str(error)) from error
    return files


def _replace(file: Path, content: bytes) -> None:
    """Put a file in place at once, so that a crash leaves the old one or the new one."""
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def _same(file: Path, content: bytes) -> bool:
    return file.is_file() and file.read_bytes() == content


def _check_is_folder(folder: Path) -> None:
    if os.path.lexists(folder) and not folder.is_dir():
        hint = "name a folder; report.md and report.html are written into it"
        raise Problem("output_exists", "there is a file of this name", where=str(folder), hint=hint)


def _exists(file: Path) -> Problem:
    hint = "name another folder, or add --force to replace it"
    return Problem("output_exists", "there is a report already", where=str(file), hint=hint)


def _not_writable(folder: Path, why: str) -> Problem:
    hint = "name a folder you may write to"
    return Problem(
        "output_not_writable", f"the report cannot be written: {why}", where=str(folder), hint=hint
    )
