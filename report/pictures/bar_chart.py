"""Draw values of a table as bars from zero, each with its label and its value in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from report.labels import get_picture_label
from report.pictures.chart_words import caption_chart, describe_chart, name_chart
from report.pictures.charted_values import ChartedValues
from report.pictures.picture import Picture
from report.pictures.quantity_cells import CellValue
from report.pictures.svg import (
    BOLD,
    WIDTH,
    measure_text,
    shorten_text,
    wrap_text,
    write_group,
    write_lines,
    write_shape,
    write_svg,
    write_text,
)
from report.rendering.numbering import NumberedText

_LINE = 17
_BAR = 13
_ROW = 19  # from one bar to the next of the same label
_GAP = 9  # between the bars of two labels
_TOP = 4
_MAX_LABEL = 116  # of a label that stands before its bar
_MAX_VALUE = 104
_MAX_NAME = 92  # of the name of a column before its bar


class _Frame(NamedTuple):
    """Where bars begin, and how long they are."""

    left: float
    room: float
    lowest: float
    highest: float
    names: list[str]
    """What stands before the bars of a label, one for each column."""
    is_beside: bool
    """Whether the label stands before its only bar, or above its bars."""

    def place(self, number: float) -> float:
        """Return where a number is from the left."""
        return self.left + self.room * (number - self.lowest) / (self.highest - self.lowest)


def draw_bars(values: ChartedValues, shown: NumberedText, language: str) -> Picture:
    """Return the picture of values as horizontal bars."""
    frame = _measure(values, language)
    rows, top = list[str](), float(_TOP)
    for at in range(len(values.labels)):
        row, top = _draw_row(values, at, frame, top, language)
        rows.append(row)
    title = name_chart("bars", values, language)
    return Picture(
        kind="bars",
        end=values.end,
        title=title,
        svg=write_svg("".join(rows), top, title, describe_chart(values, language)),
        caption=caption_chart("bars", values, language),
        sources=tuple(dict.fromkeys(shown.uses[use].number for use in values.uses)),
    )


def _measure(values: ChartedValues, language: str) -> _Frame:
    numbers = [one.number for one in values.list_values()]
    words = [_write_value(one, language) for column in values.series for one in column.values]
    value_room = max(map(measure_text, words)) + 8
    labels = [_label(values, at) for at in range(len(values.labels))]
    widest = max(map(measure_text, labels))
    is_beside = len(values.series) == 1 and widest <= _MAX_LABEL
    several = len(values.series) > 1
    names = [shorten_text(one.name, _MAX_NAME, 12) if several else "" for one in values.series]
    before = max(measure_text(one, 12) for one in names) + 8 if several else 0.0
    left = widest + 8 if is_beside else before
    room = WIDTH - left - value_room
    return _Frame(left, room, min(0.0, *numbers), max(0.0, *numbers), names, is_beside)


def _draw_row(
    values: ChartedValues, at: int, frame: _Frame, top: float, language: str
) -> tuple[str, float]:
    """Return the label and the bars of a row, and where the next one begins."""
    label = _label(values, at)
    if frame.is_beside:
        drawn = write_text(frame.left - 8, top + 11, label, anchor="end")
    else:
        lines = wrap_text(label, WIDTH / BOLD, 2)
        drawn = write_lines(0, top + 11, lines, _LINE, font_weight=600)
        top += _LINE * len(lines) + 1
    for number, column in enumerate(values.series):
        drawn += _draw_bar(column.values[at], number, frame, top, language)
        top += _ROW
    return write_group(drawn, _tell(values, at, language)), top - _ROW + _BAR + _GAP


def _draw_bar(
    value: CellValue | None, number: int, frame: _Frame, top: float, language: str
) -> str:
    """Return a bar with its value, and the name of its column where there are several."""
    name = frame.names[number]
    drawn = write_text(frame.left - 8, top + 11, name, anchor="end", font_size=12) if name else ""
    zero = frame.place(0)
    right = zero
    if value:
        ends = sorted((zero, frame.place(value.number)))
        right = ends[1]
        drawn += write_shape(
            "rect",
            kind=f"mark mark-{number + 1}",
            x=ends[0],
            y=top,
            width=max(ends[1] - ends[0], 0.5),
            height=_BAR,
            fill="currentColor",
            fill_opacity=(0.75, 0.5, 0.35, 0.25)[number],
        )
    edge = _GAP / 2 if frame.is_beside else (_ROW - _BAR) / 2
    drawn += write_shape(
        "line",
        x1=zero,
        x2=zero,
        y1=top - edge,
        y2=top + _BAR + edge,
        stroke="currentColor",
        stroke_opacity=0.6,
    )
    style: dict[str, str | float] = {} if value else {"font_style": "italic", "fill_opacity": 0.75}
    return drawn + write_text(right + 6, top + 11, _write_value(value, language), **style)


def _label(values: ChartedValues, at: int) -> str:
    one = values.labels[at]
    return f"⚠ {one.words}" if one.is_doubted else one.words


def _write_value(value: CellValue | None, language: str) -> str:
    missing = get_picture_label("no_value", language)
    return shorten_text(value.written, _MAX_VALUE) if value else missing


def _tell(values: ChartedValues, at: int, language: str) -> str:
    """Return the label and the values of a row in full."""
    return f"{_label(values, at)} · " + " · ".join(_iter_told(values, at, language))


def _iter_told(values: ChartedValues, at: int, language: str) -> Iterator[str]:
    missing = get_picture_label("no_value", language)
    for column in values.series:
        value = column.values[at]
        yield f"{column.name}: {value.written if value else missing}"
