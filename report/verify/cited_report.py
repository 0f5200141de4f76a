"""A report of any system as the checks see it: its text with ids, its references, its citations."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Literal, NamedTuple

from report.labels import get_label, get_later_label, list_remark_texts
from report.markdown.markdown_blocks import (
    MarkdownBlock,
    list_prose_blocks,
    list_statements,
    parse_blocks,
)
from report.markdown.markers import list_cited_ids
from report.verify.citation_markers import CitationSpeller, WrittenCitation
from report.verify.plain_markdown import write_plainly
from report.verify.reference_list import FENCE_LINE, HEADING_LINE, find_fenced, read_reference_lists
from text.normalization import normalize_text

CitationStyle = Literal["numbers", "footnotes", "links", "authors", "list", "none"]
"""`list` is a report that only lists its sources at its end; `none` names none at all."""

_SERVICE_SECTIONS = (
    *("doubts", "disagree", "changes", "method", "programs", "figures", "not_known"),
    "footnotes",
)
DOUBT_SIGN = "⚠"
"""Marks a sentence that the report itself calls doubtful."""


class Reference(NamedTuple):
    """A source that a report names."""

    id: str
    label: str
    title: str
    address: str
    text: str
    line: int
    listed: bool
    """Whether it is in a list or a footnote; else it is only a link in the text."""


class VerifiedStatement(NamedTuple):
    """A sentence or a row of a table, with the ids that it cites."""

    text: str
    cited: tuple[str, ...]
    near: tuple[str, ...]
    """The ids that its paragraph cites."""
    line: int
    row: bool
    block: int
    """The place of its block among the blocks of the report."""


class CitedReport(NamedTuple):
    """A report, parsed."""

    text: str
    """As it was written."""
    lines: list[str]
    """With citations as `[S1]`, and without its lists of references."""
    blocks: list[MarkdownBlock]
    statements: list[VerifiedStatement]
    references: list[Reference]
    uses: list[WrittenCitation]
    style: CitationStyle
    own: bool
    """Whether Dossier has written it."""


def parse_report(text: str, canonicalise: Callable[[str], str]) -> CitedReport:
    """Parse a report in Markdown.

    Args:
        text: The report.
        canonicalise: Returns the one form of a web address.
    """
    text = write_plainly(normalize_text(text))
    lists = read_reference_lists(text.split("\n"))
    own = _is_own(text)
    left = _drop_service_sections(lists.lines)
    if own:
        left = [_drop_remarks(line) for line in left]
    speller = CitationSpeller(lists.references, lists.notes, canonicalise)
    speller.choose_styles(left)
    lines = [*_spell_lines(left, speller)]
    listed = [
        Reference(
            speller.get_id(one.key),
            one.label,
            one.title,
            one.address,
            one.text,
            one.line,
            True,
        )
        for one in lists.references
    ]
    references = [*listed, *_list_linked(speller, {one.id for one in listed})]
    blocks = parse_blocks("\n".join(lines))
    statements = [*_list_statements(blocks, lines)]
    style = _find_style(speller.uses, references)
    return CitedReport(text, lines, blocks, statements, references, speller.uses, style, own)


def _is_own(text: str) -> bool:
    headings = {f"## {get_label('method', language)}" for language in ("en", "zh")}
    return any(line.strip() in headings for line in text.split("\n"))


def _drop_service_sections(lines: Sequence[str]) -> list[str]:
    """Return lines without the sections and the notice in which Dossier tells of a report."""
    names = {get_label(name, one) for name in _SERVICE_SECTIONS for one in ("en", "zh")}
    since = tuple(get_later_label("since", one).partition("{}")[0] for one in ("en", "zh"))
    dropping, kept, fenced = False, list[str](), find_fenced(lines)
    for at, line in enumerate(lines):
        heading = None if at in fenced else HEADING_LINE.match(line)
        if heading and len(heading["rank"]) <= 2:
            dropping = line.strip("# \t") in names
        kept.append("" if dropping or line.lstrip("> ").startswith(since) else line)
    return kept


def _drop_remarks(line: str) -> str:
    """Return a line without the remarks at its sentences, which are no words of the report."""
    return _make_remark_pattern().sub("", line) if "(" in line or "（" in line else line


@cache
def _make_remark_pattern() -> re.Pattern[str]:
    english, chinese = ("|".join(map(re.escape, list_remark_texts(one))) for one in ("en", "zh"))
    return re.compile(
        rf" ?\*?\((?:{english})(?:, (?:{english}))*\)\*?|（(?:{chinese})(?:、(?:{chinese}))*）"
    )


def _spell_lines(lines: Sequence[str], speller: CitationSpeller) -> Iterator[str]:
    """Yield the lines with their citations as `[S1]`; code is as it was."""
    mark = ""
    for number, line in enumerate(lines, start=1):
        fence = FENCE_LINE.match(line)
        if fence and not mark:
            mark = fence[1]
        elif fence and fence[1].startswith(mark):
            mark = ""
        yield line if mark or fence else speller.spell_line(line, number)


def _list_linked(speller: CitationSpeller, known: set[str]) -> Iterator[Reference]:
    """Yield the references that are only links in the text, each once."""
    for use in speller.uses:
        if use.id not in known and use.address:
            known.add(use.id)
            label = "" if use.linked else use.label
            yield Reference(use.id, label, "", use.address, use.address, use.line, False)


def _list_statements(
    blocks: Sequence[MarkdownBlock], lines: Sequence[str]
) -> Iterator[VerifiedStatement]:
    text = "\n".join(lines)
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    at = 0
    for place, block in list_prose_blocks(blocks):
        near = tuple(dict.fromkeys(list_cited_ids(block.text)))
        for statement in list_statements(block):
            first = statement.strip().split("\n")[0].strip()
            found = text.find(first, at) if first else -1
            at = found if found >= 0 else at
            if first:
                cited = tuple(dict.fromkeys(list_cited_ids(statement)))
                line, row = bisect_right(starts, at), block.kind == "row"
                yield VerifiedStatement(statement.strip(), cited, near, line, row, place)
                at += len(first)


def _find_style(uses: Sequence[WrittenCitation], references: Sequence[Reference]) -> CitationStyle:
    plain = [one for one in uses if not one.linked]
    if any(one.label.isdigit() for one in plain):
        return "numbers"
    if plain:
        authors = any(not one.label for one in references if one.listed)
        return "authors" if authors else "footnotes"
    if uses:
        return "links"
    return "list" if references else "none"
