"""Read plain text and source code; a place is a range of lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from retrieval.regex import regex
from retrieval.wrapping import continues, full, may_join, page_width
from tools.files.decode import decode
from tools.files.paragraphs import Spelling, glued, is_cut
from tools.files.ruled import unruled
from tools.files.sections import MOST, Piece, arrange
from tools.files.shapes import Document, File, Section

_BLOCK = regex(r"(?:.*\S.*\n)+\s*|\s+")
_WIDE = regex(r"(?<=\S) {2,}(?=\S)")
_CUT_BY = ("\u2010", "\u00ad")
_PROSE = frozenset([".txt", ".text", ".rst"])


def read(file: File) -> Document:
    """Read a text; it has no title. In prose, lines that were wrapped are joined again."""
    text = decode(file.data)
    return Document(title="", sections=by_lines(text, prose=file.suffix in _PROSE))


def by_lines(text: str, *, prose: bool = False) -> list[Section]:
    """Return the sections of a text, cut between its paragraphs; places count lines as they are."""
    text = text.replace("\r\n", "\n").rstrip() + "\n"
    return arrange(_pieces(text, _unwrapper(text) if prose else str), _place, MOST // 2)


def _pieces(text: str, shown: Callable[[str], str]) -> Iterator[Piece]:
    """Yield the paragraphs, and the single lines of one that is very long."""
    number = 1
    for block in _BLOCK.findall(text):
        for lines in [block] if len(block) < MOST else block.splitlines(keepends=True):
            last = number + lines.rstrip().count("\n")
            yield Piece("", str(number), str(last), shown(lines))
            number += lines.count("\n")


def _unwrapper(text: str) -> Callable[[str], str]:
    """Return how to join the wrapped lines of a block of this text."""
    lines = text.split("\n")
    width, spelling = page_width(lines), Spelling(lines)

    def unwrapped(block: str) -> str:
        bare = block.rstrip()
        lines = unruled(bare.split("\n"))
        return "\n".join(_joined(lines, width, spelling)) + block[len(bare) :]

    return unwrapped


def _joined(lines: list[str], width: int, spelling: Spelling) -> list[str]:
    found: list[str] = []
    previous, is_even = "", False
    for line in lines:
        if found and _same_paragraph(previous, line, width):
            above = found[-1] if is_even else _evened(found[-1])
            found[-1], is_even = glued(above, _evened(line).strip(), spelling), True
        else:
            found.append(line.rstrip())
            is_even = False
        previous = line
    return found


def _same_paragraph(line: str, following: str, width: int) -> bool:
    """Tell whether a line goes on in the next, also where a sentence ends; an indent parts them."""
    below = following.strip()
    if below and line.rstrip().endswith(_CUT_BY) and is_cut(line.rstrip(), below):
        return True
    if not width or not may_join(line, following):
        return False
    if continues(line, following, width):
        return True
    return full(line, following, width) and _indent(following) <= _indent(line)


def _evened(line: str) -> str:
    """Return a line of prose without the spaces that made it as wide as the page."""
    return _WIDE.sub(" ", line) if "  " in line else line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _place(first: str, last: str) -> str:
    return f"L{first}" + (f"-L{last}" if last != first else "")
