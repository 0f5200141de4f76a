"""Find where a report tells a sequence of dated events: in a list, a table or a paragraph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Literal, NamedTuple

from report.checks.sections import list_section_kinds
from report.markdown.markdown_blocks import MarkdownBlock, parse_blocks, split_statements
from report.pictures.cited_text import CitedText, read_cited_text
from report.pictures.leading_dates import LeadingDate, read_leading_date
from report.pictures.quantity_cells import parse_cell
from report.pictures.report_tables import ReportTable
from text.dates import PartialDate
from text.pattern_files import PatternFile
from text.sentences import split_sentences

MIN_EVENTS = 4
"""The fewest events of a sequence, and the fewest different dates."""

MAX_EVENTS = 24
"""A longer sequence is read as text with less effort than as a picture."""

_MIN_DISTINCT_SHARE = 0.6  # of the dates of a sequence
_MIN_DATED_SHARE = 0.6  # of the sentences of a text that is one
_PATTERNS = PatternFile("report.pictures", "dated_events.toml")


class DatedEvent(NamedTuple):
    """What happened on a date."""

    date: LeadingDate
    text: CitedText


class EventSequence(NamedTuple):
    """Dated events that a report tells in one place."""

    kind: Literal["list", "table", "text"]
    end: int
    """The place behind them, among the blocks of the body."""
    section: str
    """The heading that they stand below; may be empty."""
    events: list[DatedEvent]
    """In the order in which they happened; those of one day in the order of the text."""


class _Passage(NamedTuple):
    """Consecutive blocks of one kind."""

    kind: str
    end: int
    section: str
    blocks: list[MarkdownBlock]


def list_event_sequences(body: str, tables: Sequence[ReportTable]) -> list[EventSequence]:
    """Return the sequences of events of a numbered body with its tables, in order, no event twice.

    A place is one if in substance it is a sequence: every entry of a list or a table, or most
    sentences of a text, begin with the date of what they tell, and the dates differ. Dates of
    publications are none of events, nor are those of measured values.
    """
    blocks = parse_blocks(body)
    found = [
        *map(_read_table, tables),
        *map(_read_passage, _iter_passages(blocks)),
    ]
    sequences = sorted(filter(None, found), key=lambda one: one.end)
    told: set[PartialDate] = set()
    kept = []
    for one in sequences:
        dates = {event.date.first for event in one.events}
        kept += [] if dates <= told else [one]
        told |= dates
    return kept


def _iter_passages(blocks: Sequence[MarkdownBlock]) -> Iterator[_Passage]:
    """Yield the lists and the runs of paragraphs outside of judgements and open questions."""
    kinds = list_section_kinds(blocks)
    filled = [at for at, block in enumerate(blocks) if block.kind != "blank"]
    section = ""
    for kind, run in groupby(filled, key=lambda at: (blocks[at].kind, kinds[at])):
        own = [*run]
        if kind[0] == "heading":
            section = read_cited_text(blocks[own[-1]].text).words
        elif kind in (("item", ""), ("text", "")):
            yield _Passage(kind[0], own[-1] + 1, section, [blocks[at] for at in own])


def _read_passage(passage: _Passage) -> EventSequence | None:
    if passage.kind == "text":
        return _read_text(passage)
    depths = [len(one.lead.expandtabs(4)) - len(one.lead.lstrip()) for one in passage.blocks]
    outer = [one for one, depth in zip(passage.blocks, depths, strict=True) if depth == min(depths)]
    events = [_read_event(one.text) for one in outer]
    return _check("list", passage.end, passage.section, [one for one in events if one], len(outer))


def _read_text(passage: _Passage) -> EventSequence | None:
    """Return the events of paragraphs, whose dated sentences have to follow each other in time."""
    sentences = [one for block in passage.blocks for one in split_statements(block.text)]
    found = [event for one in sentences if (event := _read_event(one))]
    dates = [one.date.first for one in found]
    is_ordered = all(before <= after for before, after in pairwise(dates))
    if not is_ordered or len(found) < _MIN_DATED_SHARE * len(sentences):
        return None
    return _check("text", passage.end, passage.section, found, len(found))


def _read_table(table: ReportTable) -> EventSequence | None:
    """Return the events of a table whose first column has dates, beside one with words."""
    if not table.rows or len(table.head) < 2 or not _is_date_head(table.head[0]):
        return None
    named = [at for at, head in enumerate(table.head) if _PATTERNS.event_heads.search(head)]
    column = next((at for at in named if at), 0) or _find_longest(table)
    if not column:
        return None
    events = []
    for row in table.rows:
        date = read_leading_date(row[0].words)
        if date and not date.rest:
            uses = dict.fromkeys(use for cell in row for use in cell.uses)
            is_doubted, is_inferred = (
                any(cell.is_doubted for cell in row),
                any(cell.is_inferred for cell in row),
            )
            text = CitedText(row[column].words, tuple(uses), is_doubted, is_inferred)
            events.append(DatedEvent(date, text))
    return _check("table", table.end, table.section, events, len(table.rows))


def _is_date_head(head: str) -> bool:
    return bool(_PATTERNS.date_heads.fullmatch(head)) and not _is_publication_head(head)


def _is_publication_head(head: str) -> bool:
    return bool(_PATTERNS.publication_heads.search(head))


def _find_longest(table: ReportTable) -> int:
    """Return the column with the most words behind the first one, or 0."""
    sizes = [
        0 if at == 0 or any(parse_cell(one.words) for one in table.get_column(at)) else size
        for at, size in enumerate(
            sum(len(one.words) for one in table.get_column(at)) for at in range(len(table.head))
        )
    ]
    return sizes.index(max(sizes)) if max(sizes) else 0


def _read_event(numbered: str) -> DatedEvent | None:
    """Return the event of a piece of numbered text that begins with a date."""
    text = read_cited_text(numbered)
    date = read_leading_date(text.words)
    if not date or not date.rest:
        return None
    sentences = split_sentences(date.rest)
    first = date.rest[: sentences[1].start] if len(sentences) > 1 else date.rest
    return DatedEvent(date, text._replace(words=first.strip()))


def _check(
    kind: Literal["list", "table", "text"],
    end: int,
    section: str,
    events: Sequence[DatedEvent],
    entries: int,
) -> EventSequence | None:
    """Return a sequence of events, or None where a picture of them would mislead."""
    dates = {one.date.first for one in events}
    told = [one for one in events if _tells(one)]
    is_whole = len(events) == len(told) == entries
    is_long_enough = MIN_EVENTS <= len(events) <= MAX_EVENTS
    is_spread = len(dates) >= max(MIN_EVENTS, _MIN_DISTINCT_SHARE * len(events))
    if _PATTERNS.source_sections.search(section):
        return None
    if not (is_whole and is_long_enough and is_spread):
        return None
    return EventSequence(kind, end, section, _sort(events))


def _tells(event: DatedEvent) -> bool:
    """Tell whether an event is told in words, not by a number, and is no mere publication."""
    words = event.text.words
    has_words = sum(map(str.isalpha, words)) >= 2
    return has_words and not parse_cell(words) and not _PATTERNS.publication.search(words)


def _sort(events: Sequence[DatedEvent]) -> list[DatedEvent]:
    """Return events by date; "1969" and "May 1969" stay in the order of the text."""
    falls = [one.date.first for one in events]
    if all(before >= after for before, after in pairwise(falls)):
        return [*reversed(events)]
    is_ordered = all(_may_follow(before, after) for before, after in pairwise(falls))
    return [*events] if is_ordered else sorted(events, key=lambda one: one.date.first)


def _may_follow(before: PartialDate, after: PartialDate) -> bool:
    """Tell whether a date may be later than another one; a missing part may be anything."""
    for one, other in zip(before, after, strict=True):
        if not one or not other or one == other:
            continue
        return one < other
    return True
