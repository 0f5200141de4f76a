"""Read plain text and source code; a place is a range of lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.files.decode import decode
from tools.files.sections import MOST, Piece, arrange
from tools.files.shapes import Document, File, Section

_BLOCK = re.compile(r"(?:.*\S.*\n)+\s*|\s+")


def read(file: File) -> Document:
    """Read a text; it has no title."""
    return Document(title="", sections=by_lines(decode(file.data)))


def by_lines(text: str) -> list[Section]:
    """Return the sections of a text, cut between its paragraphs."""
    return arrange(_pieces(text.replace("\r\n", "\n").rstrip() + "\n"), _place, MOST // 2)


def _pieces(text: str) -> Iterator[Piece]:
    """Yield the paragraphs, and the single lines of one that is very long."""
    number = 1
    for block in _BLOCK.findall(text):
        for lines in [block] if len(block) < MOST else block.splitlines(keepends=True):
            last = number + lines.rstrip().count("\n")
            yield Piece("", str(number), str(last), lines)
            number += lines.count("\n")


def _place(first: str, last: str) -> str:
    return f"L{first}" + (f"-L{last}" if last != first else "")
