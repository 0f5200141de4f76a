"""Say in words what a chart compares, what it leaves out, and what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from report.labels import get_label, get_picture_label, is_chinese_tag
from report.pictures.charted_values import ChartedValues
from report.pictures.picture import PictureKind

_MAX_NAMED = 6  # labels of one remark


def name_chart(kind: PictureKind, values: ChartedValues, language: str) -> str:
    """Return the title of a chart: its kind, what it compares, and by what."""
    names = get_label("comma", language).join(one.name for one in values.series)
    if values.by and values.by.casefold() != names.casefold():
        names = get_picture_label("by", language).format(names, values.by)
    return get_picture_label(kind, language).format(names)


def caption_chart(kind: PictureKind, values: ChartedValues, language: str, *more: str) -> str:
    """Return what stands below a chart: its title, its table, and what is not in it.

    Args:
        kind: The kind of the chart.
        values: What it compares.
        language: The language of the report.
        more: Further sentences.
    """
    section = values.section
    table = get_picture_label("of_section" if section else "of_table", language).format(section)
    stop = "。" if is_chinese_tag(language) else "."
    parts = [name_chart(kind, values, language) + stop, table]
    if values.left_out:
        parts.append(_remark("left_out", values.left_out, language))
    if missing := list(_list_missing(values)):
        parts.append(_remark("no_value_for", missing, language))
    space = "" if is_chinese_tag(language) else " "
    return space.join([*parts, *filter(None, more)])


def describe_chart(values: ChartedValues, language: str) -> str:
    """Return what a chart shows: how many values, the smallest and the largest."""
    pairs = chain.from_iterable(
        zip(column.values, values.labels, strict=True) for column in values.series
    )
    known = sorted(
        ((value, label.words) for value, label in pairs if value), key=lambda one: one[0].number
    )
    (low, lowest), (high, highest) = known[0], known[-1]
    told = get_picture_label("values_from_to", language)
    return told.format(len(known), low.written, lowest, high.written, highest)


def _list_missing(values: ChartedValues) -> list[str]:
    """Return where a value is missing: the label, with the column where there are several."""
    several = len(values.series) > 1
    return [
        f"{label.words} ({column.name})" if several else label.words
        for column in values.series
        for label, value in zip(values.labels, column.values, strict=True)
        if not value
    ]


def _remark(name: str, labels: Sequence[str], language: str) -> str:
    named = [*labels[:_MAX_NAMED], *(["…"] if len(labels) > _MAX_NAMED else [])]
    return get_picture_label(name, language).format(get_label("comma", language).join(named))
