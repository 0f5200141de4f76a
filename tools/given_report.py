"""Read the file of a report that is verified: Markdown, a page in HTML, or a bundle."""

from __future__ import annotations

import json
from pathlib import Path

from config.errors import ErrorCode, Problem
from report.verify.all_checks import VerifiedFile
from report.verify.html_conversion import convert_html_report, is_html
from tools.files.encoding import decode_bytes
from tools.files.formats import FileRefused, name_binary_type

REPORT_SUFFIXES = (".md", ".markdown", ".html", ".htm", ".xhtml", ".txt", ".json")

_PAGE_SUFFIXES = (".html", ".htm", ".xhtml")
_MAX_BYTES = 20_000_000
_MAX_BUNDLE_BYTES = 200_000_000
_HINT = "give a report in Markdown or HTML, a bundle, or the name of a run"


def read_given_report(path: Path) -> VerifiedFile | bytes:
    """Return the report of a file, or the content of a bundle, which is not looked at yet.

    What is JSON is a bundle or nothing, whatever its name.

    Raises:
        Problem: `file_unreadable` if it cannot be opened, has no text or is none, or
            `file_too_large`.
    """
    data = _read_bytes(path)
    if path.suffix.lower() == ".json" or _is_json(data):
        return data
    kind = name_binary_type(data)
    if kind:
        raise _refuse(path, f"it is {kind}, and no report in Markdown or HTML")
    is_page = path.suffix.lower() in _PAGE_SUFFIXES
    try:
        text = decode_bytes(data, markup=is_page)
    except FileRefused as refused:
        raise _refuse(path, refused.what) from refused
    if is_page or is_html(text):
        text, page = convert_html_report(text), text
        if not text.strip():
            raise _refuse(path, "it is a page without text")
        return VerifiedFile(text, page)
    return VerifiedFile(text)


def _read_bytes(path: Path) -> bytes:
    most = _MAX_BUNDLE_BYTES if path.suffix.lower() == ".json" else _MAX_BYTES
    try:
        with path.open("rb") as stream:
            data = stream.read(most + 1)
    except OSError as error:
        hint = "check its permissions"
        raise _refuse(path, f"it cannot be opened: {error.strerror}", hint) from error
    if len(data) > most:
        what = f"a report has at most {most:,} bytes"
        hint = "verify the parts of a longer one apart"
        raise Problem(ErrorCode.FILE_TOO_LARGE, what, where=str(path), hint=hint)
    if not data.strip():
        raise _refuse(path, "it is empty")
    return data


def _is_json(data: bytes) -> bool:
    """Tell whether a file is one object or list of JSON, and so no text."""
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        return False
    try:
        return isinstance(json.loads(data), dict | list)
    except ValueError:
        return False
    except RecursionError:
        return True


def _refuse(path: Path, what: str, hint: str = _HINT) -> Problem:
    return Problem(ErrorCode.FILE_UNREADABLE, what, where=str(path), hint=hint)
