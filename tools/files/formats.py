"""Which files can be read and by which module, and whether bytes match the suffix of a file."""

from __future__ import annotations

import mimetypes
import os
from dataclasses import dataclass
from pathlib import Path

from config.errors import ErrorCode, Problem

_CODE = ".py .js .ts .java .c .h .cpp .go .rs .r .sql .sh .tex"
_WEB = ".html .htm .xhtml"
_SETTINGS = ".toml .yaml .yml .ini .cfg .conf .properties .log"

_READERS = {
    "pdf:read_pdf": ".pdf",
    "word:read_word": ".docx",
    "slides:read_slides": ".pptx",
    "sheets:read_workbook": ".xlsx",
    "archive:read_epub": ".epub",
    "archive:read_odt": ".odt",
    "mail:read_mail": ".eml .msg",
    "markdown:read_notebook": ".ipynb",
    "markdown:read_markdown": ".md .markdown",
    "web_page:read_html": _WEB,
    "data_files:read_csv": ".csv .tsv",
    "data_files:read_json": ".json .jsonl",
    "text_files:read_rtf": ".rtf",
    "text_files:read_text_file": f".txt .text .rst {_CODE} {_SETTINGS}",
}

FILE_READERS = {
    suffix: f"tools.files.{reader}"
    for reader, suffixes in _READERS.items()
    for suffix in suffixes.split()
}
"""The module and the function that read each type (`FileContent` → `ParsedDocument`)."""

GRID_READERS: dict[str, str] = {
    ".csv": "tools.files.data_files:read_csv_grids",
    ".tsv": "tools.files.data_files:read_csv_grids",
    ".xlsx": "tools.files.sheets:read_workbook_grids",
}
"""The module and the function that read the cells of each type of table."""

READABLE_SUFFIXES = frozenset(FILE_READERS)
"""The types that can be read, in lower case with the dot."""

MEDIA_TYPES = {"image": "an image", "audio": "a sound recording", "video": "a video"}
"""Names for files that are no documents, by the first part of their MIME type."""

HEAVY_SUFFIXES = frozenset(f".pdf .docx .pptx .xlsx .epub .odt .rtf .eml .msg {_WEB}".split())
"""The types whose parsers run in a process of their own."""

LIGHT_FILE_BYTES = 200_000
"""A file of another type with no more bytes is read in this process."""

TEXT_SUFFIXES = frozenset(
    f".txt .text .rst .md .markdown .pdf .docx .odt .rtf .eml .msg {_WEB}".split()
)
"""The types that take their title from their first line if nothing else names them."""

ARCHIVE_MEMBERS = {
    ".docx": "word/",
    ".pptx": "ppt/",
    ".xlsx": "xl/",
    ".epub": "META-INF/container.xml",
    ".odt": "content.xml",
}
"""The types that are zip archives, and how the name of a member of each begins."""

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAGIC = {
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a zip archive",
    _OLE: "an old Office file",
    b"\x89PNG\r\n": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"\x1f\x8b\x08": "a gzip archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"\x7fELF": "a program",
    b"MZ\x90\x00": "a program",
    b"SQLite format 3\x00": "a database",
    b"{\\rtf": "an RTF document",
}

_REQUIRED_MAGIC = {".rtf": b"{\\rtf", ".msg": _OLE}


def is_heavy(suffix: str, size: int) -> bool:
    """Tell whether a file is read in a worker process, not in a thread of this one."""
    return suffix.lower() in HEAVY_SUFFIXES or size > LIGHT_FILE_BYTES


def explain_unread_type(name: str, kind: str = "") -> str:
    """Return why a file of an unsupported type is left out.

    Args:
        name: Its name.
        kind: Its MIME type, or an empty string.
    """
    guessed = kind or mimetypes.guess_type(name)[0] or ""
    return MEDIA_TYPES.get(guessed.partition("/")[0], "not a type that is read")


def name_binary_type(data: bytes) -> str:
    """Return what the first bytes of a file say that it is, such as "a PDF"; "" for a text."""
    return next((name for magic, name in _MAGIC.items() if data.startswith(magic)), "")


def check_file_type(file: FileContent) -> None:
    """Refuse a file whose first bytes belong to another type than its suffix says."""
    found = name_binary_type(file.data)
    if file.suffix == ".pdf":
        # Readers accept a PDF header anywhere in the first kilobyte (ISO 32000, annex H).
        fits = b"%PDF-" in file.data[:1024]
    elif file.suffix in ARCHIVE_MEMBERS:
        # An Office file with a password is an OLE container, not a zip.
        if file.data.startswith(_OLE) and "EncryptedPackage".encode("utf-16-le") in file.data:
            raise FileRefused(ErrorCode.FILE_ENCRYPTED, "it is locked with a password")
        fits = file.data.startswith(b"PK")
    elif file.suffix in _REQUIRED_MAGIC:
        fits = file.data.startswith(_REQUIRED_MAGIC[file.suffix])
    else:
        fits = not found
    if not fits:
        what = f"its name ends in {file.suffix}, but it is {found or 'something else'}"
        raise FileRefused(ErrorCode.FILE_TYPE_MISMATCH, what)


_IGNORED_FOLDERS = frozenset(["__pycache__", "node_modules"])


def find_files(folder_or_file: Path) -> list[Path]:
    """Return the readable files under a folder, sorted; a file is returned as it is.

    Raises:
        Problem: `file_not_found`.
    """
    if folder_or_file.is_file():
        return [folder_or_file.resolve()]
    return [path for path in _list_files(folder_or_file) if _is_readable(path)]


def find_unreadable_files(folder: Path) -> list[Path]:
    """Return the files under a folder that `find_files` passes over, sorted."""
    files = _list_files(folder) if folder.is_dir() else []
    return [path for path in files if not _is_readable(path)]


def _list_files(folder: Path) -> list[Path]:
    """Return all files under a folder but the hidden ones and links that lead out of it."""
    if not folder.is_dir():
        what = "there is no such folder"
        raise Problem(ErrorCode.FILE_NOT_FOUND, what, where=str(folder), hint="check the path")
    root = folder.resolve()
    paths: list[Path] = []
    for parent, names, files in os.walk(root):
        names[:] = filter(_is_visible, names)
        paths += [Path(parent, name) for name in filter(_is_visible, files)]
    # Path.resolve() raises on a link that leads to itself.
    return sorted(one for one in paths if Path(os.path.realpath(one)).is_relative_to(root))


def _is_visible(name: str) -> bool:
    # Word and Excel create a lock file named `~$…` beside an open document.
    return not name.startswith((".", "~$")) and name not in _IGNORED_FOLDERS


def _is_readable(path: Path) -> bool:
    return path.suffix.lower() in READABLE_SUFFIXES and path.is_file()


@dataclass(frozen=True)
class FileLimits:
    """How much one document may cost."""

    size: int = 30_000_000
    """Bytes of the file."""
    pages: int = 2_000
    """Pages of a PDF."""
    seconds: float = 30.0
    """Processor time to read a short file; a long one has more."""
    memory: int = 1_000_000_000
    """Bytes that a worker may need to read it."""
    text: int = 10_000_000
    """Characters of text in it."""


@dataclass(frozen=True)
class FileContent:
    """The bytes of one file and their limits; `suffix` is in lower case with its dot."""

    data: bytes
    suffix: str
    limits: FileLimits


class FileRefused(Exception):
    """A file that is not read, with a code and a reason; it can be pickled."""

    def __init__(self, error: ErrorCode, what: str) -> None:
        super().__init__(error, what)
        self.error, self.what = error, what

    @property
    def code(self) -> str:
        """The code as plain text, as it is stored."""
        return self.error.value
