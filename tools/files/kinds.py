"""Which file is read by which module, and whether its bytes are what its name says."""

from __future__ import annotations

import mimetypes

from tools.files.shapes import File, Refused

_CODE = ".py .js .ts .java .c .h .cpp .go .rs .r .sql .sh .tex"
_WEB = ".html .htm .xhtml"
_SETTINGS = ".toml .yaml .yml .ini .cfg .conf .properties .log"

READERS: dict[str, str] = {
    ".pdf": "tools.files.pdf",
    ".docx": "tools.files.word",
    ".pptx": "tools.files.slides",
    ".xlsx": "tools.files.sheets",
    ".epub": "tools.files.epub",
    ".odt": "tools.files.odt",
    ".rtf": "tools.files.rtf",
    ".eml": "tools.files.mail",
    ".msg": "tools.files.mail",
    ".ipynb": "tools.files.notebook",
    ".html": "tools.files.web",
    ".htm": "tools.files.web",
    ".xhtml": "tools.files.web",
    ".md": "tools.files.markdown",
    ".markdown": "tools.files.markdown",
    ".csv": "tools.files.table",
    ".tsv": "tools.files.table",
    ".json": "tools.files.records",
    ".jsonl": "tools.files.records",
    **dict.fromkeys(
        [".txt", ".text", ".rst", *_CODE.split(), *_SETTINGS.split()], "tools.files.lines"
    ),
}
"""The module that reads each type: its `read(file: File) -> Document`."""

SUFFIXES = frozenset(READERS)
"""The types that can be read, in lower case with the dot."""

MEDIA = {"image": "an image", "audio": "a sound recording", "video": "a video"}
"""What is no document by the first part of its MIME type, and what it is called."""

HEAVY = frozenset(f".pdf .docx .pptx .xlsx .epub .odt .rtf .eml .msg {_WEB}".split())
"""The types whose parsers are kept in a process of their own."""

LIGHT = 200_000
"""A file of another type with no more bytes is read where it is asked for."""

TEXTS = frozenset(f".txt .text .rst .md .markdown .pdf .docx .odt .rtf .eml .msg {_WEB}".split())
"""The types that are called by their first line where nothing else names them."""

ARCHIVES = {
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

_OWN = {".rtf": b"{\\rtf", ".msg": _OLE}


def is_heavy(suffix: str, size: int) -> bool:
    """Tell whether a file is read in a worker process, not in a thread of this one."""
    return suffix.lower() in HEAVY or size > LIGHT


def unread_type(name: str, kind: str = "") -> str:
    """Return why a file of a type that cannot be read is left out.

    Args:
        name: Its name.
        kind: Its MIME type, where one was told.
    """
    guessed = kind or mimetypes.guess_type(name)[0] or ""
    return MEDIA.get(guessed.partition("/")[0], "not a type that is read")


def check(file: File) -> None:
    """Refuse a file whose first bytes belong to another type than its name says."""
    found = next((name for magic, name in _MAGIC.items() if file.data.startswith(magic)), "")
    if file.suffix == ".pdf":
        # Readers accept a PDF header anywhere in the first kilobyte (ISO 32000, annex H).
        fits = b"%PDF-" in file.data[:1024]
    elif file.suffix in ARCHIVES:
        _refuse_locked(file)
        fits = file.data.startswith(b"PK")
    elif file.suffix in _OWN:
        fits = file.data.startswith(_OWN[file.suffix])
    else:
        fits = not found
    if not fits:
        what = f"its name ends in {file.suffix}, but it is {found or 'something else'}"
        raise Refused("file_type_mismatch", what)


def _refuse_locked(file: File) -> None:
    """Refuse an Office file with a password: such a file is an OLE container, not a zip."""
    if file.data.startswith(_OLE) and "EncryptedPackage".encode("utf-16-le") in file.data:
        raise Refused("file_encrypted", "it is locked with a password")
