"""Write a report to files, all or none, without overwriting another one unasked."""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
from collections.abc import Collection, Mapping
from contextlib import suppress
from glob import glob
from pathlib import Path
from typing import NamedTuple

import anyio.to_thread

from config.errors import ErrorCode, Problem
from report.computed_results import list_figure_files
from report.document import ReportDocument
from report.rendering.html_report import render_html
from report.rendering.markdown_report import render_markdown
from runs.lifecycle import REPORT_FILES
from storage.permissions import make_folder, open_private

FIGURE_FILES = "report-figure-[0-9]*.[ps][nv]g"
"""What the files of figures are called."""

NO_FILES: frozenset[str] = frozenset()


class ReportTarget(NamedTuple):
    """Where a command puts the files of a report."""

    out: Path | None
    """The folder; `reports/RUN` in the current one if `None`."""
    force: bool
    """Whether an existing report is replaced."""


def render_report_files(document: ReportDocument) -> dict[str, bytes]:
    """Return the content of each file of a report, by kind; a figure's kind is its name."""
    text = render_markdown(document, figures_in_files=True)
    files = {"md": text.encode(), "html": render_html(document).encode()}
    return files | list_figure_files(document.get("computations", []))


def list_report_files(folder: Path) -> list[Path]:
    """Return the files of the report that lies in a folder, with its figures."""
    files = [folder / name for name in REPORT_FILES.values()]
    return [one for one in [*files, *_list_figures(folder)] if os.path.lexists(one)]


async def write_report_files(
    contents: Mapping[str, bytes],
    folder: Path,
    *,
    force: bool = False,
    own: Collection[str] = NO_FILES,
) -> dict[str, Path]:
    """Write `report.md`, `report.html` and the figures; return the paths of the first two by kind.

    A missing folder is created. A file with the same bytes is not another report. Figures of a
    report that is replaced are removed.

    Args:
        contents: What `render_report_files` returns.
        folder: Where the files go.
        force: Whether an existing report is replaced.
        own: The digests of files that this run has written before; they may be replaced.

    Raises:
        Problem: `output_exists` or `output_not_writable`.
    """
    return await anyio.to_thread.run_sync(_write_all, contents, folder, force, own)


def resolve_report_folder(out: Path | None, run: str) -> Path:
    """Return the folder of a run's report: the given one, or `reports/RUN` in this folder.

    Raises:
        Problem: `output_not_writable` if `reports` is a link to a place outside this folder.
    """
    if out:
        return out.absolute()
    folder = (Path("reports") / run).absolute()
    target = folder.resolve()
    if not target.is_relative_to(Path.cwd().resolve()):
        raise _not_writable(folder, f"it is a link to {target}", "name the folder with --out")
    return folder


def digest_report_files(contents: Mapping[str, bytes]) -> list[str]:
    """Return the digests of the files of a report."""
    return [_digest(content) for content in contents.values()]


def is_report_in_folder(contents: Mapping[str, bytes], folder: Path) -> bool:
    """Tell whether the files of a report in a folder have exactly these contents."""
    names = {REPORT_FILES.get(kind, kind): content for kind, content in contents.items()}
    same = all(_has_content(folder / name, content) for name, content in names.items())
    return same and all(one.name in names for one in _list_figures(folder))


def check_report_folder(folder: Path, *, force: bool, own: Collection[str] = NO_FILES) -> None:
    """Check, before a run costs anything, that its report can be written to a folder.

    A temporary file is written there; it and any folders created for it are removed.

    Args:
        folder: Where the report will go.
        force: Whether an existing report may be replaced.
        own: The digests of files that this run has written before; they may be replaced.

    Raises:
        Problem: `output_exists` or `output_not_writable`.
    """
    folder = folder.absolute()
    _check_is_folder(folder)
    for file in list_report_files(folder):
        if os.path.isdir(file):
            raise _not_writable(folder, f"{file.name} is a folder there")
        if not force and os.path.lexists(file) and not _is_own(file, own):
            raise _exists(file)
    missing = [path for path in (folder, *folder.parents) if not os.path.lexists(path)]
    try:
        make_folder(folder)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _not_writable(folder, error.strerror or str(error)) from error
    finally:
        for path in missing:
            with suppress(OSError):
                path.rmdir()


def _write_all(
    contents: Mapping[str, bytes], folder: Path, force: bool, own: Collection[str]
) -> dict[str, Path]:
    folder = folder.absolute()
    _check_is_folder(folder)
    files = {kind: folder / REPORT_FILES.get(kind, kind) for kind in contents}
    left_over = [one for one in _list_figures(folder) if one not in files.values()]
    try:
        make_folder(folder)
        for kind, file in files.items():
            differs = os.path.lexists(file) and not _has_content(file, contents[kind])
            if differs and not force and not _is_own(file, own):
                raise _exists(file)
        for kind, file in files.items():
            _replace(file, contents[kind])
        for file in left_over:
            file.unlink()
    except OSError as error:
        raise _not_writable(folder, error.strerror or str(error)) from error
    return {kind: files[kind] for kind in REPORT_FILES}


def _list_figures(folder: Path) -> list[Path]:
    # A folder that cannot be read has none, for this function.
    return [folder / name for name in sorted(glob(FIGURE_FILES, root_dir=folder))]


def _replace(file: Path, content: bytes) -> None:
    """Replace a file atomically, so that a crash leaves the old or the new content."""
    part = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
    try:
        with open(part, "xb", opener=open_private) as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def _has_content(file: Path, content: bytes) -> bool:
    return file.is_file() and file.read_bytes() == content


def _is_own(file: Path, own: Collection[str]) -> bool:
    return bool(own) and file.is_file() and _digest(file.read_bytes()) in own


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _check_is_folder(folder: Path) -> None:
    if os.path.lexists(folder) and not os.path.isdir(folder):
        hint = "name a folder; report.md and report.html are written into it"
        what = "there is a file of this name"
        raise Problem(ErrorCode.OUTPUT_EXISTS, what, where=str(folder), hint=hint)


def _exists(file: Path) -> Problem:
    hint = "name another folder, or add --force to replace it"
    return Problem(ErrorCode.OUTPUT_EXISTS, "there is a report already", where=str(file), hint=hint)


def _not_writable(folder: Path, why: str, hint: str = "name a folder you may write to") -> Problem:
    what = f"the report cannot be written: {why}"
    return Problem(ErrorCode.OUTPUT_NOT_WRITABLE, what, where=str(folder), hint=hint)
