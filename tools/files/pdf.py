"""Read PDF files; a place is a page."""

from __future__ import annotations

import io
import re

from pypdf import PdfReader
from pypdf.errors import DependencyError, LimitReachedError, PyPdfError

from tools.files.paragraphs import (
    hyphenated,
    paragraphs,
    printed_lines,
    without_running_heads,
)
from tools.files.sections import Piece, arrange, numbered
from tools.files.shapes import Document, File, Limits, Refused

BROKEN = (PyPdfError,)
"""What pypdf raises on files that are not quite PDF."""

_TINY = 300
# What programs put into the title of a PDF when its author did not write one.
_NO_TITLE = re.compile(r"untitled|microsoft word|powerpoint|\.(?:docx?|pptx?|tex|dvi|indd)$", re.I)
_LAST_SENTENCE = re.compile(r"[.!?。！？:：][\"'”’」』）)\]]*$")
_FIRST_SENTENCE = re.compile(r"[^.!?。！？]{0,600}?(?:[.!?](?=\s|$)|[。！？])[\"'”’」』）)]*\s*")


def read(file: File) -> Document:
    """Read the text of all pages; a page that is a picture has none."""
    try:
        reader = _open(file)
        pages = [printed_lines(page.extract_text()) for page in reader.pages]
        title = (reader.metadata.title if reader.metadata else "") or ""
    except LimitReachedError as error:
        raise Refused("file_bomb", "it unpacks to far more than its size") from error
    return Document(
        title="" if _NO_TITLE.search(title) else title.strip(),
        sections=arrange(_pieces(pages), numbered("page"), _TINY),
    )


def _open(file: File) -> PdfReader:
    """Open the file with the empty password, which is how most protected files are locked."""
    try:
        reader = PdfReader(io.BytesIO(file.data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Refused("file_encrypted", "it is locked with a password")
    except DependencyError as error:
        raise Refused("file_encrypted", "it is encrypted in a way that needs more tools") from error
    _count(len(reader.pages), file.limits)
    return reader


def _count(pages: int, limits: Limits) -> None:
    if pages > limits.pages:
        raise Refused("file_too_large", f"it has {pages} pages; {limits.pages} are read at most")


def _pieces(pages: list[list[str]]) -> list[Piece]:
    """Return the pages as paragraphs; a sentence that runs on belongs to the page it begins on."""
    bodies = without_running_heads(pages)
    compounds = hyphenated(bodies)
    texts = ["\n\n".join(paragraphs(body, compounds)) for body in bodies]
    for at in range(len(texts) - 1):
        texts[at], texts[at + 1] = _whole(texts[at], texts[at + 1])
    return [
        Piece("", str(number), str(number), f"{text}\n\n") for number, text in enumerate(texts, 1)
    ]


def _whole(page: str, following: str) -> tuple[str, str]:
    """Move the end of a page's last sentence back to it from the next page."""
    rest = _FIRST_SENTENCE.match(following)
    if not page or not rest or _LAST_SENTENCE.search(page) or not following[0].islower():
        return page, following
    glue = "" if page.endswith("-") else " "
    return f"{page.removesuffix('-')}{glue}{rest[0].rstrip()}", following[rest.end() :]
