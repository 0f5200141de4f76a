"""Draw values of a table over time as lines with a mark for each value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from report.labels import get_picture_label
from report.pictures.axis_numbers import choose_ticks, format_tick
from report.pictures.chart_words import caption_chart, describe_chart, name_chart
from report.pictures.charted_values import ChartedValues, Series
from report.pictures.mark_words import Point, write_at_marks
from report.pictures.picture import Picture
from report.pictures.quantity_cells import CellValue
from report.pictures.svg import (
    BOLD,
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

_PLOT = 190  # the height of the plot
_LINE = 17
_ABOVE = 22  # the room between the names and the plot, for the words of the highest value
_BELOW = 26  # the room for the dates
_RIGHT = 14
_ZERO_SHARE = 0.5  # of the largest value: where the smallest is below, the axis begins at zero
_DASHES = ("", "7 4", "2 4", "9 3 2 3")
_NUMBER_SIZE = 12


class _Frame(NamedTuple):
    """Where values and dates stand."""

    left: float
    top: float
    ticks: list[float]
    days: list[float]
    """The time of each label, in years."""
    uses_amounts: bool
    """Whether all values are written in one scale and unit, and so are the ticks."""

    def read(self, value: CellValue) -> float:
        """Return the number of a value as the axis has it."""
        return value.amount if self.uses_amounts else value.scaled

    def place(self, at: int, value: CellValue) -> tuple[float, float]:
        """Return where a value stands."""
        return self.place_time(at), self.place_number(self.read(value))

    def place_time(self, at: int) -> float:
        """Return where a date is from the left."""
        share = (self.days[at] - self.days[0]) / (self.days[-1] - self.days[0])
        return self.left + 8 + share * (WIDTH - self.left - 8 - _RIGHT)

    def place_number(self, number: float) -> float:
        """Return where a number is from the top."""
        share = (number - self.ticks[0]) / (self.ticks[-1] - self.ticks[0])
        return self.top + _PLOT * (1 - share)


def can_draw_lines(values: ChartedValues) -> bool:
    """Tell whether values are over time and have one axis: a unit that is not converted."""
    factors = {f"{one.number / one.scaled:.6g}" for one in values.list_values() if one.scaled}
    return bool(values.times) and len(factors) <= 1


def draw_lines(values: ChartedValues, shown: NumberedText, language: str) -> Picture:
    """Return the picture of values over time."""
    names = [_name(one, values) for one in values.series]
    wrapped = [wrap_text(one, (WIDTH - 40) / BOLD, 2) for one in names]
    frame = _measure(values, sum(map(len, wrapped)) * _LINE + _ABOVE, language)
    legend, top = "", 12.0
    for number, lines in enumerate(wrapped):
        sample = _draw_sample(number, top - 4) if len(names) > 1 else ""
        legend += sample + write_lines(40 if sample else 0, top, lines, _LINE, font_weight=600)
        top += _LINE * len(lines)
    drawn = [_draw_series(one, at, values, frame) for at, one in enumerate(values.series)]
    content = legend + _draw_axes(values, frame, language) + "".join(drawn)
    title = name_chart("lines", values, language)
    start = frame.ticks[0]
    begins = get_picture_label("axis_begins", language) if start > 0 else ""
    return Picture(
        kind="lines",
        end=values.end,
        title=title,
        svg=write_svg(content, frame.top + _PLOT + _BELOW, title, describe_chart(values, language)),
        caption=caption_chart(
            "lines", values, language, begins.format(format_tick(start, language))
        ),
        sources=tuple(dict.fromkeys(shown.uses[use].number for use in values.uses)),
    )


def _name(series: Series, values: ChartedValues) -> str:
    """Return the name of a column with the unit of its values, if its head has none."""
    measures = {one.measure for one in values.list_values()}
    (measure,) = measures if len(measures) == 1 else ("",)
    return f"{series.name} ({measure})" if measure and measure not in series.name else series.name


def _measure(values: ChartedValues, top: float, language: str) -> _Frame:
    known = values.list_values()
    uses_amounts = len({one.measure for one in known}) == 1
    numbers = [one.amount if uses_amounts else one.scaled for one in known]
    low, high = min(numbers), max(numbers)
    if 0 <= low <= _ZERO_SHARE * high:
        low = 0
    elif low > 0:
        low -= (high - low) / 8
    high = max(high, 0)
    ticks = choose_ticks(low, high)
    left = max(measure_text(format_tick(one, language), _NUMBER_SIZE) for one in ticks) + 8
    return _Frame(left, top, ticks, [_to_years(one.first) for one in values.times], uses_amounts)


def _to_years(when: PartialDate) -> float:
    """Return a date in years; a month is at its beginning, like a year."""
    return when.year + (max(when.month, 1) - 1) / 12 + (max(when.day, 1) - 1) / 366


def _draw_axes(values: ChartedValues, frame: _Frame, language: str) -> str:
    """Return the ticks with their lines, and as many dates as have room."""
    ticks = "".join(_draw_tick(one, frame, language) for one in frame.ticks)
    dates, end = [], -math.inf
    last = len(values.labels) - 1
    room = frame.place_time(last) - measure_text(values.labels[last].words, _NUMBER_SIZE) / 2
    for at, label in enumerate(values.labels):
        width = measure_text(label.words, _NUMBER_SIZE)
        x = min(frame.place_time(at), WIDTH - width / 2)
        is_free = x - width / 2 > end + 6 and (at == last or x + width / 2 < room - 6)
        if is_free or at == last:
            base = frame.top + _PLOT + 18
            dates.append(write_text(x, base, label.words, anchor="middle", font_size=_NUMBER_SIZE))
            end = x + width / 2
    return ticks + "".join(dates)


def _draw_tick(tick: float, frame: _Frame, language: str) -> str:
    y = frame.place_number(tick)
    line = write_shape(
        "line",
        x1=frame.left,
        x2=WIDTH - 2,
        y1=y,
        y2=y,
        stroke="currentColor",
        stroke_opacity=0.6 if tick == frame.ticks[0] or not tick else 0.18,
    )
    number = format_tick(tick, language)
    return line + write_text(frame.left - 6, y + 4, number, anchor="end", font_size=_NUMBER_SIZE)


def _draw_series(series: Series, number: int, values: ChartedValues, frame: _Frame) -> str:
    """Return a line, broken where a value is missing, with its marks and their words."""
    points = [frame.place(at, value) if value else None for at, value in enumerate(series.values)]
    drawn = "".join(
        write_shape(
            "line",
            x1=one[0],
            y1=one[1],
            x2=other[0],
            y2=other[1],
            **_stroke(number),
        )
        for one, other in pairwise(points)
        if one and other
    )
    words = _write_values(series, points, frame) if len(values.series) == 1 else {}
    for at, point in enumerate(points):
        value = series.values[at]
        if point and value:
            mark = _draw_mark(number, *point) + words.get(at, "")
            drawn += write_group(mark, _tell(values, at, series, value))
    return drawn


def _tell(values: ChartedValues, at: int, series: Series, value: CellValue) -> str:
    doubt = "⚠ " if values.labels[at].is_doubted else ""
    return f"{doubt}{values.labels[at].words} · {series.name}: {value.written}"


def _stroke(number: int) -> dict[str, str | float]:
    dashes: dict[str, str | float] = {"stroke_dasharray": _DASHES[number]} if number else {}
    return {"kind": "line", "stroke": "currentColor", "stroke_width": 2, **dashes}


def _write_values(series: Series, points: Sequence[Point | None], frame: _Frame) -> dict[int, str]:
    """Return the words of the values at their marks, by their places."""
    marks = {at: point for at, point in enumerate(points) if point}
    texts = [value.written for value in series.values if value]
    bottom = frame.top + _PLOT
    return dict(
        zip(marks, write_at_marks(list(marks.values()), texts, frame.left, bottom), strict=True)
    )


def _draw_sample(number: int, y: float) -> str:
    """Return a piece of a line with its mark, for the list of the columns."""
    line = write_shape("line", x1=2, x2=32, y1=y, y2=y, **_stroke(number))
    return line + _draw_mark(number, 17, y)


def _draw_mark(number: int, x: float, y: float) -> str:
    """Return the mark of a value: a disc, a square, a triangle or a ring."""
    return "".join(_iter_mark(number, x, y))


def _iter_mark(number: int, x: float, y: float) -> Iterator[str]:
    fill: dict[str, str | float] = {"kind": "mark", "fill": "currentColor"}
    if number == 0:
        yield write_shape("circle", cx=x, cy=y, r=3.8, **fill)
    elif number == 1:
        yield write_shape("rect", x=x - 3.8, y=y - 3.8, width=7.6, height=7.6, **fill)
    elif number == 2:
        corners = f"{x:.1f},{y - 5:.1f} {x + 4.8:.1f},{y + 4:.1f} {x - 4.8:.1f},{y + 4:.1f}"
        yield write_shape("polygon", points=corners, **fill)
    else:
        yield write_shape(
            "circle",
            kind="ring",
            cx=x,
            cy=y,
            r=3.8,
            stroke="currentColor",
            stroke_width=2,
            fill="none",
        )
