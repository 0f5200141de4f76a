"""Tell what a body is: by what the server calls it, and by how it begins."""

from __future__ import annotations

import re

from config.errors import Problem
from retrieval.regex import regex

PDF = "application/pdf"
HTML = "text/html"

_HTML_NAMES = frozenset({HTML, "application/xhtml+xml"})
_PDF_NAMES = frozenset({PDF, "application/x-pdf"})
_NO_NAMES = frozenset({"", "application/octet-stream", "binary/octet-stream"})
_TEXT_NAMES = regex(r"text/|application/(?:json|ld\+json|yaml|toml)$")
_BEGINS_AS_HTML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html|head|body)\b", re.I)


def expected(content_type: str) -> str:
    """Return the name of a kind that is read, or an empty string where the server gives none.

    Raises:
        Problem: `page_not_text` for images, archives and whatever else is no text.
    """
    name = content_type.split(";")[0].strip().lower()
    if name in _NO_NAMES:
        return ""
    if name in _HTML_NAMES:
        return HTML
    if name in _PDF_NAMES:
        return PDF
    if _TEXT_NAMES.match(name):
        return name
    raise Problem("page_not_text", f"it is {name[:60]}, which is not read")


def kind(name: str, data: bytes) -> str:
    """Return what a body is: `PDF`, `HTML`, or the name of a kind of plain text."""
    if b"%PDF-" in data[:1024]:
        return PDF
    if name == HTML or _BEGINS_AS_HTML.match(data):
        return HTML
    return "text/plain" if name in {"", PDF} else name
