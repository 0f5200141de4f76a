"""Read plain text, source code and Rich Text; a place is a range of lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby

from striprtf.striprtf import rtf_to_text

from text.regex import regex
from text.script import CJK
from text.sentences import continues_prose, is_line_full, may_join_lines, measure_page_width
from text.words import search_words, word_weight
from tools.files.encoding import decode_bytes
from tools.files.formats import FileContent
from tools.files.parsed_document import (
    MAX_SECTION,
    DocumentPiece,
    DocumentSection,
    ParsedDocument,
    arrange_sections,
    join_pieces,
)
from tools.files.plain_headings import (
    PlainHeading,
    find_contents_lines,
    find_plain_headings,
    mark_headings,
)

_HYPHENATED = regex(r"(?<![^\W\d_])[^\W\d_]++(?:-[^\W\d_]++)+")
_WORD = regex(r"[^\W\d_]+")
_CUT = regex("[^\\W\\d_][-\u2010\u00ad]$")
_SOFT = "\u2010\u00ad"
_CJK_LAST = regex(f"[{CJK}，。、；：）」]")
_CJK_FIRST = regex(f"[{CJK}（「]")
_OPENING = frozenset("（「《【")
_LINES_AT_ONCE = 1_000


class HyphenSpelling:
    """How a text spells its words, to decide about hyphens at the ends of lines."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = [line.replace("\u2010", "-") for line in lines]

    @cached_property
    def compounds(self) -> set[str]:
        """The words with a hyphen inside a line, in lower case."""
        lines = (line for line in self._lines if "-" in line)
        return {word.lower() for line in lines for word in _HYPHENATED.findall(line)}

    @cached_property
    def _words(self) -> set[str]:
        """The words that no line end cuts, and the parts of compounds."""
        found: set[str] = set()
        whole: list[str] = []
        is_cut = False
        for line in self._lines:
            ends_cut = line.rstrip().endswith("-")
            if is_cut or ends_cut:
                words = _WORD.findall(line.lower())
                found.update(words[is_cut : len(words) - ends_cut])
            else:
                whole.append(line)
            is_cut = ends_cut
        for at in range(0, len(whole), _LINES_AT_ONCE):
            found.update(_WORD.findall("\n".join(whole[at : at + _LINES_AT_ONCE]).lower()))
        return found

    def keeps_hyphen(self, first: str, rest: str, hyphen: str) -> bool:
        """Tell whether a word that is cut into `first` and `rest` is spelt with a hyphen.

        A soft hyphen, and the one that roff sets, only occurs at the end of a line.
        """
        first, rest = first.lower(), rest.lower()
        if f"{first}-{rest}" in self.compounds:
            return True
        if hyphen in _SOFT or self._knows(first + rest):
            return False
        return all(map(self._knows, (first, *rest.split("-"))))

    def _knows(self, word: str) -> bool:
        return word in self._words or any(word_weight(stem) < 1 for stem in search_words(word))


def is_hyphenated(text: str, line: str) -> bool:
    """Tell whether a text ends inside a word that continues in the line below it."""
    cut = _CUT.match(text[-2:])
    return bool(cut) and (line[0].islower() or (text[-1] in _SOFT and line[0].isalpha()))


def join_wrapped_line(text: str, line: str, spelling: HyphenSpelling) -> str:
    """Return a text with its next line; a word that was cut is spelt as elsewhere in the text."""
    if is_hyphenated(text, line):
        bare, hyphen = text[:-1], text[-1]
        first = re.split(r"[^\w-]", bare)[-1].lstrip("-")
        rest = re.split(r"[^\w-]", line)[0].rstrip("-")
        return f"{bare}{'-' if spelling.keeps_hyphen(first, rest, hyphen) else ''}{line}"
    is_opened = text[-1:] in _OPENING
    if is_opened or (_CJK_LAST.match(text[-1:]) and _CJK_FIRST.match(line)):
        return text + line
    return f"{text} {line}"


_RULE = regex(r"\s*[┌├└╔╠╚╟┏┣┗╒╞╘][─═━┬┼┴╦╬╩╤╪╧╥╫╨┳╋┻╭╮╰╯┐┤┘╗╣╝╢┓┫┛╕╡╛]*\s*$")
_ROW = regex(r"\s*[│║┃].*[│║┃]\s*$")
_CELL = regex(r"[│║┃]")
_INNER = regex(r"\s*[├╠╟┣╞]")


def flatten_ruled_tables(lines: list[str]) -> list[str]:
    """Return the lines of a text with each row of its ruled tables as one line, `| a | b |`.

    If a table has rules below its head, a row is all between two rules; otherwise a line whose
    first cell is empty continues the row above it.
    """
    if not any(_ROW.match(line) for line in lines):
        return lines
    is_ruled = sum(bool(_INNER.match(line)) for line in lines) > 1
    return list(_flatten_rows(lines, is_ruled))


def _flatten_rows(lines: list[str], is_ruled: bool) -> Iterator[str]:
    row: list[str] = []
    for line in lines:
        parts = _CELL.split(line.strip())[1:-1] if _ROW.match(line) else []
        cells = [part.strip() for part in parts]
        if row and len(cells) == len(row) and (is_ruled or not cells[0]):
            row = [f"{above} {cell}".strip() for above, cell in zip(row, cells, strict=True)]
            continue
        if row:
            yield f"| {' | '.join(row)} |"
        row = cells
        if not cells and not _RULE.match(line):
            yield line
    if row:
        yield f"| {' | '.join(row)} |"


_BLOCK = regex(r"(?:.*\S.*\n)+\s*|\s+")
_WIDE = regex(r"(?<=\S) {2,}(?=\S)")
_PROSE = frozenset([".txt", ".text", ".rst"])


def read_text_file(file: FileContent) -> ParsedDocument:
    """Read a text; it has no title. In prose, wrapped lines are joined."""
    text = decode_bytes(file.data)
    return ParsedDocument(title="", sections=make_line_sections(text, prose=file.suffix in _PROSE))


def make_line_sections(text: str, *, prose: bool = False) -> list[DocumentSection]:
    """Return the sections of a text, cut between its paragraphs; places are lines of the file.

    In prose, wrapped lines are joined, and headings are marked as in Markdown. Its sections begin
    at headings; a table of contents is a section of its own.
    """
    text = text.replace("\r\n", "\n").rstrip() + "\n"
    if not prose:
        return arrange_sections(_pieces(text, str), _name_lines, PARAGRAPHS)
    lines = text.split("\n")
    unwrapper = _Unwrapper(lines)
    headings = find_plain_headings(lines, unwrapper.join)
    if not headings:
        return arrange_sections(_pieces(text, unwrapper.render), _name_lines, PARAGRAPHS)
    contents = find_contents_lines(lines, headings)
    marked = "\n".join(mark_headings(lines, headings))
    pieces = _pieces(marked, unwrapper.render)
    return arrange_sections(_by_sections(pieces, lines, headings, contents), _name_lines)


PARAGRAPHS = MAX_SECTION // 2
"""Of how many characters a part of a text without headings, or of a long section, is at least."""


def _by_sections(
    pieces: Iterable[DocumentPiece],
    lines: Sequence[str],
    headings: Sequence[PlainHeading],
    contents: tuple[int, int] | None,
) -> Iterator[DocumentPiece]:
    """Yield the paragraphs of each section joined, or parts of those of a long section."""
    titles = {one.start + 1: one.title for one in headings}
    if contents:
        titles |= {contents[0] + 1: lines[contents[0]].strip()}
        titles.setdefault(contents[1] + 1, "")
    starts = sorted(titles)

    def section(piece: DocumentPiece) -> int:
        """Return the number of the section in which a piece begins; 0 before the first."""
        return bisect_right(starts, int(piece.first))

    for number, group in groupby(pieces, section):
        start = starts[number - 1] if number else 0
        is_apart = contents is not None and start == contents[0] + 1
        named = (one._replace(title=titles.get(start, "")) for one in group)
        least = MAX_SECTION if is_apart else PARAGRAPHS
        for piece in _within_section(named, least):
            yield piece._replace(is_apart=is_apart)


def _within_section(pieces: Iterable[DocumentPiece], least: int) -> list[DocumentPiece]:
    """Return a section as one piece, or as several if it is too long for one."""
    parts = list(pieces)
    size = sum(len(one.text) for one in parts)
    return join_pieces(parts, MAX_SECTION if size <= MAX_SECTION else least)


def _name_lines(first: str, last: str) -> str:
    return f"L{first}" + (f"-L{last}" if last != first else "")


def _pieces(text: str, render: Callable[[str], str]) -> Iterator[DocumentPiece]:
    """Yield the paragraphs, and the single lines of one that is very long."""
    number = 1
    for block in _BLOCK.findall(text):
        for lines in [block] if len(block) < MAX_SECTION else block.splitlines(keepends=True):
            last = number + lines.rstrip().count("\n")
            yield DocumentPiece("", str(number), str(last), render(lines))
            number += lines.count("\n")


class _Unwrapper:
    """Joins the wrapped lines of the paragraphs of one text."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.width, self.spelling = measure_page_width(lines), HyphenSpelling(lines)

    def join(self, lines: list[str]) -> list[str]:
        """Return the lines of a block with its wrapped lines joined."""
        return _join_lines(lines, self.width, self.spelling)

    def render(self, block: str) -> str:
        """Return a block unwrapped, with ruled tables flattened, and its empty lines kept."""
        bare = block.rstrip()
        lines = flatten_ruled_tables(bare.split("\n"))
        return "\n".join(self.join(lines)) + block[len(bare) :]


def _join_lines(lines: list[str], width: int, spelling: HyphenSpelling) -> list[str]:
    found: list[str] = []
    previous, is_even = "", False
    for line in lines:
        if found and _same_paragraph(previous, line, width):
            above = found[-1] if is_even else _without_wide_spaces(found[-1])
            found[-1] = join_wrapped_line(above, _without_wide_spaces(line).strip(), spelling)
            is_even = True
        else:
            found.append(line.rstrip())
            is_even = False
        previous = line
    return found


def _same_paragraph(line: str, following: str, width: int) -> bool:
    """Tell whether a paragraph continues in the next line; a larger indent begins a new one."""
    below = following.strip()
    if below and line.rstrip().endswith(tuple(_SOFT)) and is_hyphenated(line.rstrip(), below):
        return True
    if not width or not may_join_lines(line, following):
        return False
    if continues_prose(line, following, width):
        return True
    indents = [len(one) - len(one.lstrip()) for one in (line, following)]
    return is_line_full(line, following, width) and indents[1] <= indents[0]


def _without_wide_spaces(line: str) -> str:
    """Return a line of prose without the spaces that justify it."""
    return _WIDE.sub(" ", line) if "  " in line else line


_TITLE = regex(r"\{\\info\b.*?\{\\title\s+((?:[^{}\\]|\\.)*)\}", re.DOTALL)


def read_rtf(file: FileContent) -> ParsedDocument:
    """Read the text of a document; its title is in its `info` group."""
    # All other characters are written as ASCII.
    source = file.data.decode("cp1252", errors="replace")
    title = _TITLE.search(source[:20_000])
    lines = (line.strip() for line in rtf_to_text(source, errors="replace").splitlines())
    text = "\n\n".join(line.replace("|", "; ") if line.endswith("|") else line for line in lines)
    return ParsedDocument(
        title=rtf_to_text(f"{{\\rtf1 {title[1]}}}").strip() if title else "",
        sections=make_line_sections(re.sub("\n{3,}", "\n\n", text)),
    )
