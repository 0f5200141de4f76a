"""Draw a sequence of dated events from top to bottom: to scale, or else in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from html import escape
from itertools import pairwise
from typing import NamedTuple

from report.labels import get_label, get_picture_label, is_chinese_tag
from report.pictures.dated_events import DatedEvent, EventSequence
from report.pictures.picture import FindTarget, Picture
from report.pictures.svg import (
    BOLD,
    FONT_SIZE,
    WIDTH,
    measure_text,
    wrap_text,
    write_group,
    write_lines,
    write_shape,
    write_svg,
    write_text,
)
from report.rendering.numbering import NumberedText
from text.dates import PartialDate

_AXIS = 112  # where the axis stands from the left
_WORDS = _AXIS + 14
_LINE = 17
_DATE_SIZE = 12
_GAP = 12  # between the words of two events
_MOST_LINES = 3
_TOP = 8
_MAX_STRETCH = 2.4
"""How much longer than its words a drawing to scale may be; else the events stand in order."""


class _Entry(NamedTuple):
    """An event as it is drawn."""

    date_lines: list[str]
    lines: list[str]
    full: str
    numbers: list[tuple[str, str]]
    """The number of each source, and the address it leads to."""

    @property
    def height(self) -> float:
        """The room that it needs."""
        return max(len(self.date_lines), len(self.lines)) * _LINE + _GAP


def draw_timeline(
    sequence: EventSequence,
    shown: NumberedText,
    language: str,
    find_target: FindTarget | None = None,
) -> Picture:
    """Return the picture of a sequence of events.

    Args:
        sequence: The events.
        shown: The numbered text that tells them.
        language: The language of the report.
        find_target: Returns where a citation leads; without it, none is shown.
    """
    entries = [_lay_out(one, shown, language, find_target) for one in sequence.events]
    scaled = _place_to_scale(sequence.events, entries)
    places = scaled or _place_in_order(entries)
    height = places[-1] + entries[-1].height
    content = _draw_axis(sequence.events, places, is_scaled=bool(scaled)) + "".join(
        map(_draw_entry, entries, places)
    )
    told = get_picture_label("timeline", language)
    title = f"{told}{get_label('colon', language)}{sequence.section}" if sequence.section else told
    count = len(sequence.events)
    first, last = sequence.events[0].date.written, sequence.events[-1].date.written
    scale = get_picture_label("to_scale" if scaled else "in_order", language)
    caption = get_picture_label("timeline_caption", language).format(title, count, first, last)
    uses = [use for event in sequence.events for use in event.text.uses]
    return Picture(
        kind="timeline",
        end=sequence.end,
        title=title,
        svg=write_svg(
            content,
            height,
            title,
            get_picture_label("timeline_description", language).format(count, first, last),
            has_links=any(one.numbers for one in entries),
        ),
        caption=f"{caption}{scale}" if is_chinese_tag(language) else f"{caption} {scale}",
        sources=tuple(dict.fromkeys(shown.uses[use].number for use in uses)),
    )


def _lay_out(
    event: DatedEvent, shown: NumberedText, language: str, find_target: FindTarget | None
) -> _Entry:
    """Return an event in lines; a doubt or an inference of the text stays marked."""
    mark = get_label("inference", language) + " " if event.text.is_inferred else ""
    sign = "⚠ " if event.text.is_doubted else ""
    words = f"{sign}{mark}{event.text.words}"
    uses = {shown.uses[use].number: use for use in reversed(event.text.uses)}
    numbers = [(f"[{number}]", find_target(uses[number])) for number in sorted(uses) if find_target]
    room = WIDTH - _WORDS
    lines = wrap_text(words, room, _MOST_LINES)
    tail = measure_text(" ".join(number for number, _ in numbers)) + 4
    if numbers and measure_text(lines[-1]) + tail > room:
        lines = wrap_text(words, room - tail if len(lines) == _MOST_LINES else room, _MOST_LINES)
        if len(lines) < _MOST_LINES and measure_text(lines[-1]) + tail > room:
            lines.append("")
    dates = wrap_text(event.date.written, (_AXIS - 14) / BOLD, _MOST_LINES, _DATE_SIZE)
    return _Entry(dates, lines, f"{event.date.written}: {words}", numbers)


def _place_to_scale(events: Sequence[DatedEvent], entries: Sequence[_Entry]) -> list[float] | None:
    """Return where each event stands if the distances of their dates can be shown, or None."""
    days = [_to_day(one.date.first) for one in events]
    gaps = [after - before for before, after in pairwise(days)]
    if min(gaps) <= 0 or _is_mixed(events):
        return None
    per_day = max(one.height / gap for one, gap in zip(entries, gaps, strict=False))
    if per_day * sum(gaps) > _MAX_STRETCH * sum(one.height for one in entries[:-1]):
        return None
    return [_TOP + per_day * (day - days[0]) for day in days]


def _is_mixed(events: Sequence[DatedEvent]) -> bool:
    """Tell whether two events of one year are dated so differently that no one is the earlier."""
    pairs = pairwise(one.date.first for one in events)
    return any(one.year == other.year and not (one.month and other.month) for one, other in pairs)


def _to_day(when: PartialDate) -> int:
    """Return the day of a date, as a number; of a year or month the one in its middle."""
    month = when.month or 7
    return date(when.year, month, min(when.day or (15 if when.month else 1), 28)).toordinal()


def _place_in_order(entries: Sequence[_Entry]) -> list[float]:
    """Return where each event stands if they follow each other without a scale."""
    places = [float(_TOP)]
    for one in entries[:-1]:
        places.append(places[-1] + one.height)
    return places


def _draw_axis(events: Sequence[DatedEvent], places: Sequence[float], *, is_scaled: bool) -> str:
    """Return the line with a dot for each event, dotted without a scale; a range is a bar."""
    dashes: dict[str, str | float] = {} if is_scaled else {"stroke_dasharray": "1 5"}
    axis = write_shape(
        "line",
        x1=_AXIS,
        x2=_AXIS,
        y1=places[0] + 6,
        y2=places[-1] + 6,
        stroke="currentColor",
        stroke_width=1.5,
        stroke_opacity=0.5,
        **dashes,
    )
    ranges = "".join(_draw_ranges(events, places)) if is_scaled else ""
    dots = (
        write_shape("circle", kind="mark", cx=_AXIS, cy=at + 6, r=4.5, fill="currentColor")
        for at in places
    )
    return axis + ranges + "".join(dots)


def _draw_ranges(events: Sequence[DatedEvent], places: Sequence[float]) -> Iterator[str]:
    """Yield a bar for each event that goes on for some time, as far as the drawing goes."""
    days = [_to_day(one.date.first) for one in events]
    per_day = (places[-1] - places[0]) / (days[-1] - days[0])
    for event, top in zip(events, places, strict=True):
        if event.date.last != event.date.first:
            length = (_to_day(event.date.last) - _to_day(event.date.first)) * per_day
            height = min(length, places[-1] - top)
            yield write_shape(
                "rect",
                kind="mark",
                x=_AXIS - 2.5,
                y=top + 6,
                width=5,
                height=max(height, 0.0),
                fill="currentColor",
            )


def _draw_entry(entry: _Entry, top: float) -> str:
    """Return date, words and numbers of an event; the numbers stand in its last line."""
    base = top + 10.5
    written = write_lines(
        _AXIS - 13,
        base,
        entry.date_lines,
        _LINE,
        anchor="end",
        font_weight=600,
        font_size=_DATE_SIZE,
    )
    written += write_lines(_WORDS, base, entry.lines[:-1], _LINE)
    links = "".join(f" {_link(number, address)}" for number, address in entry.numbers)
    last = base + _LINE * (len(entry.lines) - 1)
    words = write_text(_WORDS, last, entry.lines[-1]).removesuffix("</text>")
    return write_group(f"{written}{words}{links}</text>", entry.full)


def _link(number: str, address: str) -> str:
    size = FONT_SIZE - 1
    return f'<a class="number" href="{escape(address)}" font-size="{size}">{escape(number)}</a>'
