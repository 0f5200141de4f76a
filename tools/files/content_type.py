"""Which type a file has by its content, whatever its name says."""

from __future__ import annotations

import zipfile
from pathlib import Path, PurePath

from config.errors import ErrorCode
from tools.files.formats import (
    ARCHIVE_MEMBERS,
    READABLE_SUFFIXES,
    FileContent,
    FileLimits,
    FileRefused,
    check_file_type,
    explain_unread_type,
)

HEAD_BYTES = 65_536
"""So many bytes of its beginning tell the type of a file, but for archives."""

_BINARY_SUFFIXES = frozenset({".pdf", ".msg", *ARCHIVE_MEMBERS})
_WIDE = (b"\xff\xfe", b"\xfe\xff")
"""How a text in UTF-16 or UTF-32 begins."""


def check_content_type(head: bytes, name: str) -> str:
    """Return the suffix that fits the beginning of a file; empty for an archive of unknown type.

    Args:
        head: Its beginning, up to `HEAD_BYTES`.
        name: Its name, whose suffix is believed where the content fits it.

    Raises:
        FileRefused: `file_type_mismatch`, `file_encrypted`, or `upload_type` for what is not read.
    """
    suffix = PurePath(name).suffix.lower()
    if suffix in READABLE_SUFFIXES:
        check_file_type(FileContent(head, suffix, FileLimits()))
        if suffix not in _BINARY_SUFFIXES and not _is_text(head):
            what = f"its name ends in {suffix}, but it is no text"
            raise FileRefused(ErrorCode.FILE_TYPE_MISMATCH, what)
        return suffix
    if head.startswith(b"PK\x03\x04"):
        return ""
    for begins, found in ((b"%PDF-", ".pdf"), (b"{\\rtf", ".rtf"), (b"<!doctype html", ".html")):
        if head.lower().startswith(begins.lower()):
            return found
    try:
        check_file_type(FileContent(head, ".txt", FileLimits()))
    except FileRefused as refused:
        raise FileRefused(ErrorCode.UPLOAD_TYPE, explain_unread_type(name)) from refused
    if not _is_text(head):
        raise FileRefused(ErrorCode.UPLOAD_TYPE, explain_unread_type(name))
    return ".txt"


def find_archive_suffix(file: Path, name: str) -> str:
    """Return the suffix of a document that is an archive, by what is in it.

    Raises:
        FileRefused: `upload_type` if it is none that is read.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        members = []
    for suffix, begins in ARCHIVE_MEMBERS.items():
        if any(member.startswith(begins) for member in members):
            return suffix
    raise FileRefused(ErrorCode.UPLOAD_TYPE, explain_unread_type(name))


def _is_text(head: bytes) -> bool:
    return head.startswith(_WIDE) or b"\x00" not in head
