"""Name a document by what it says of itself, and by its file only as the last resort."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import shorten

from retrieval.boilerplate import boilerplate
from retrieval.regex import regex
from tools.files.kinds import TEXTS
from tools.files.shapes import Document

_HEADER = 12
_LONGEST = 80
_DECORATION = " \t#*=-_~.。"
_TITLED = regex(r"title\s*:\s*(\S.*)", re.IGNORECASE)
# What a manual page is called, and what it is about.
_MANUAL = regex(
    r"\A\s*(?:\S+\([\w.]+\)[^\n]*\n\s*)?NAME\n+[ \t]+(\S[^\n]* [-–—‐] [^\n]*(?:\n[ \t]+\S[^\n]*)?)"
)
# The header of a copy: where it is from, when it was made.
_ADDRESSED = regex(r"https?://|^(?:date|retrieved|saved|fetched|crawled)\b.*:", re.IGNORECASE)


def title_of(document: Document, path: Path) -> str:
    """Return the title of a document, else its first line, else the name of its file."""
    return document["title"] or _first_line(document, path) or path.stem


def _first_line(document: Document, path: Path) -> str:
    """Return the words that a text begins with; code, settings and tables begin with none."""
    if path.suffix.lower() not in TEXTS:
        return ""
    text = document["sections"][0]["text"]
    if manual := _MANUAL.match(text):
        line = re.sub(" [–—‐] ", " - ", manual[1], count=1)
        return shorten(line, _LONGEST, placeholder="…")
    lines = text.splitlines()[:_HEADER]
    told = next(filter(None, map(_TITLED.match, lines)), None)
    if told:
        return told[1].strip()
    telling = (line for line in lines if not (_ADDRESSED.search(line) or boilerplate(line)))
    bare = (line.strip(_DECORATION) for line in telling)
    line = next((line for line in bare if any(map(str.isalpha, line))), "")
    return shorten(line, _LONGEST, placeholder="…") if " " in line else line[:_LONGEST]
