"""Choose and draw the pictures of a report, and mark their places in its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from report.markdown.markdown_blocks import MarkdownBlock, join_blocks, parse_blocks
from report.pictures.bar_chart import draw_bars
from report.pictures.charted_values import ChartedValues, list_charted_values
from report.pictures.dated_events import list_event_sequences
from report.pictures.line_chart import can_draw_lines, draw_lines
from report.pictures.picture import FindTarget, Picture
from report.pictures.report_tables import ReportTable
from report.pictures.timeline import draw_timeline
from report.rendering.numbering import NumberedText
from text.regex import regex

MAX_CHARTS = 6
MAX_CHARTS_OF_TABLE = 2
MAX_TIMELINES = 3
"""The most pictures of a kind: where everything is drawn, nobody looks."""

FIRST_PLACE_MARK = 0x10C000
"""The private-use characters from here on stand for what follows a table, a list or a text."""

PLACE_MARK = regex("[\U0010c000-\U0010fffd]")

_MAX_PLACES = 0x3FFE
_NO_BLOCK = MarkdownBlock("blank", "", "")


def draw_pictures(
    shown: NumberedText,
    tables: Sequence[ReportTable],
    language: str,
    find_target: FindTarget | None = None,
) -> list[Picture]:
    """Return the pictures of a report, in the order of its text.

    Args:
        shown: The numbered text.
        tables: Its tables.
        language: The language of the report.
        find_target: Returns where a citation leads, for those in pictures; without it, none is
            shown there.
    """
    charted = [values for table in tables for values in _list_charts(table)]
    charts = [_draw_chart(one, shown, language) for one in charted[:MAX_CHARTS]]
    with_charts = {one.end for one in charted}
    told = list_event_sequences(shown.body, tables)
    sequences = [one for one in told if one.end not in with_charts]
    timelines = [
        draw_timeline(one, shown, language, find_target) for one in sequences[:MAX_TIMELINES]
    ]
    return sorted([*charts, *timelines], key=lambda one: one.end)


def _list_charts(table: ReportTable) -> list[ChartedValues]:
    """Return the charts of a table, those of most columns; none where only few are charted."""
    charts = sorted(list_charted_values(table), key=lambda one: -len(one.series))
    return charts[:MAX_CHARTS_OF_TABLE]


def _draw_chart(values: ChartedValues, shown: NumberedText, language: str) -> Picture:
    draw = draw_lines if can_draw_lines(values) else draw_bars
    return draw(values, shown, language)


def mark_places(body: str, ends: Sequence[int]) -> str:
    """Return a numbered body with a mark in a paragraph of its own at some places, in order.

    Args:
        body: The body.
        ends: After how many blocks of it, ascending; a place that is named twice has one mark.
    """
    marks = {end: chr(FIRST_PLACE_MARK + at) for at, end in enumerate(ends[:_MAX_PLACES])}
    return join_blocks([*_iter_marked(parse_blocks(PLACE_MARK.sub("", body)), marks)])


def _iter_marked(blocks: Sequence[MarkdownBlock], marks: dict[int, str]) -> Iterator[MarkdownBlock]:
    for at, block in enumerate(blocks):
        yield block
        if mark := marks.get(at + 1):
            yield from (_NO_BLOCK, MarkdownBlock("text", "", mark), _NO_BLOCK)
