"""Where the figures of a report stand: behind what is said of them."""

from __future__ import annotations

from collections.abc import Sequence

from report.body_sections import list_report_sections
from report.document import ReportDocument
from report.markdown.markdown_blocks import MarkdownBlock, join_blocks, parse_blocks
from report.markdown.markers import MARKER, list_cited_ids
from text.regex import regex

_FIRST_MARK = 0x108000
"""The private-use characters from here on stand for figures; no report has them."""

_MARK = regex("[\U00108000-\U0010bfff]")
_SHOWS = regex(r"(?i)\b(?:figure|(?:chart|plot|diagram|graph)s?)\b|图")
_MAY_SHOW = regex(r"(?i)\bfigures\b")
"""A word for several figures, which are numbers as often."""

_NO_BLOCK = MarkdownBlock("blank", "", "")


def mark_figure_places(document: ReportDocument) -> ReportDocument:
    """Return a document whose body has a mark in a line of its own for each figure.

    It stands behind the first paragraph that cites the program and speaks of a figure, or else at
    the end of the section that cites it most. A figure of which no section is about has none.
    """
    computations = document.get("computations", [])
    if not any(one["figures"] for one in computations):
        return document
    body, number = _MARK.sub("", document["body"]), 0
    for one in computations:
        count = len(one["figures"])
        marks = [chr(_FIRST_MARK + at) for at in range(number, number + count)]
        body = _insert(body, one["source"]["id"], marks) if marks else body
        number += count
    return {**document, "body": body}


def fill_figure_places(text: str, figures: Sequence[str], around: str = "{}") -> str:
    """Return a rendered text with its figures in their places.

    Args:
        text: The text; what was left at the places is replaced.
        figures: The rendered figures, in the order of their marks.
        around: What a line with a mark was rendered as, with `{}` for the mark.
    """
    for at, figure in enumerate(figures):
        text = text.replace(around.format(chr(_FIRST_MARK + at)), figure)
    return _MARK.sub("", text)


def list_unplaced_figures(body: str, figures: Sequence[str]) -> list[str]:
    """Return the rendered figures that have no place in a body."""
    return [one for at, one in enumerate(figures) if chr(_FIRST_MARK + at) not in body]


def _insert(body: str, source: str, marks: Sequence[str]) -> str:
    blocks = parse_blocks(body)
    at = _find_paragraph(blocks, source) or _find_section_end(body, blocks, source)
    if not at:
        return body
    lines = [block for mark in marks for block in (_NO_BLOCK, MarkdownBlock("text", "", mark))]
    return join_blocks([*blocks[:at], *lines, _NO_BLOCK, *blocks[at:]])


def _find_paragraph(blocks: Sequence[MarkdownBlock], source: str) -> int:
    """Return where the first paragraph ends that cites a source and speaks of a figure, or 0."""
    told = [
        (at, MARKER.sub("", block.text))
        for at, block in enumerate(blocks)
        if block.kind in ("text", "item") and source in list_cited_ids(block.text)
    ]
    named = (at for shows in (_SHOWS, _MAY_SHOW) for at, text in told if shows.search(text))
    first = next(named, None)
    return 0 if first is None else _end_of_run(blocks, first)


def _end_of_run(blocks: Sequence[MarkdownBlock], at: int) -> int:
    """Return where the paragraph or the list ends that a block belongs to."""
    return next((n for n in range(at, len(blocks)) if blocks[n].kind == "blank"), len(blocks))


def _find_section_end(body: str, blocks: Sequence[MarkdownBlock], source: str) -> int:
    """Return where the section ends that cites a source most, or 0."""
    ends, end = {}, 0
    for section in list_report_sections(body):
        own = parse_blocks("\n\n".join(filter(None, (section.heading, section.text))))
        end = _find_end(blocks, own, end)
        if section.kind not in ("assessment", "unknown"):
            ends[end] = list_cited_ids(section.text).count(source)
    most = max(ends, key=lambda one: ends[one], default=0)
    return most if ends.get(most) else 0


def _find_end(blocks: Sequence[MarkdownBlock], own: Sequence[MarkdownBlock], start: int) -> int:
    """Return where in some blocks the last one of a section ends."""
    wanted = sum(block.kind != "blank" for block in own)
    for at in range(start, len(blocks)):
        wanted -= blocks[at].kind != "blank"
        if not wanted:
            return at + 1
    return len(blocks)
