"""Put pictures, and tables as files, behind what they show in HTML and Markdown."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape

from report.labels import get_picture_label
from report.markdown.sanitizer import escape_markdown
from report.pictures.picture import FindTarget, Picture
from report.pictures.report_pictures import (
    FIRST_PLACE_MARK,
    PLACE_MARK,
    draw_pictures,
    mark_places,
)
from report.pictures.report_tables import ReportTable, name_csv, write_csv
from report.pictures.source_map import SourceMap, SourceRow
from report.rendering.html_parts import escape_line, render_disclosure
from report.rendering.numbering import NumberedText


def render_additions(
    shown: NumberedText, tables: Sequence[ReportTable], language: str, find_target: FindTarget
) -> dict[int, str]:
    """Return what follows tables, lists and texts, by their ends among the blocks of the body.

    That is a link to save a table as CSV, and the pictures.

    Args:
        shown: The numbered text.
        tables: Its tables.
        language: The language of the page.
        find_target: Returns where a citation leads.
    """
    added: dict[int, list[str]] = {}
    for number, table in enumerate(tables, start=1):
        added.setdefault(table.end, []).append(_render_csv(table, number, language))
    for picture in draw_pictures(shown, tables, language, find_target):
        added.setdefault(picture.end, []).append(_render_picture(picture, language))
    return {end: "\n".join(added[end]) for end in sorted(added)}


def render_images_markdown(
    shown: NumberedText, tables: Sequence[ReportTable], language: str
) -> dict[int, str]:
    """Return the pictures of a report as images with their data, by their ends in the body."""
    added: dict[int, list[str]] = {}
    for picture in draw_pictures(shown, tables, language):
        data = base64.b64encode(picture.to_image().encode()).decode()
        image = f"![{escape_markdown(picture.caption)}](data:image/svg+xml;base64,{data})"
        added.setdefault(picture.end, []).append(image)
    return {end: "\n\n".join(images) for end, images in added.items()}


def mark_additions(shown: NumberedText, added: Mapping[int, str]) -> NumberedText:
    """Return a text with a mark in a paragraph of its own at each place where something follows."""
    return shown._replace(body=mark_places(shown.body, list(added)))


def fill_additions(text: str, added: Mapping[int, str], around: str = "{}") -> str:
    """Return a rendered text with what follows in place of the marks.

    Args:
        text: The text; what was left at the places is replaced.
        added: What follows.
        around: What a line with a mark was rendered as, with `{}` for the mark.
    """
    for at, content in enumerate(added.values()):
        text = text.replace(around.format(chr(FIRST_PLACE_MARK + at)), content)
    return PLACE_MARK.sub("", text)


def _render_csv(table: ReportTable, number: int, language: str) -> str:
    """Return a link whose target is the table itself, which needs no script and no network.

    The script of the page adds a button to copy the table, with the words that stand with it here.
    """
    data = base64.b64encode(write_csv(table).encode()).decode()
    labels = ("csv", "csv_title", "csv_copy", "csv_copied", "csv_not_copied")
    label, title, *words = (escape_line(get_picture_label(one, language)) for one in labels)
    told = 'data-copy="{}" data-copied="{}" data-failed="{}"'.format(*words)
    name = escape(name_csv(table, number))
    address = f"data:text/csv;charset=utf-8;base64,{data}"
    link = f'<a download="{name}" href="{address}" title="{title}">{label}</a>'
    return f'<p class="csv" {told}>{link}</p>'


def _render_picture(picture: Picture, language: str) -> str:
    links = " ".join(f'<a href="#s{number}">[{number}]</a>' for number in picture.sources)
    told = f"{get_picture_label('picture_sources', language)} {links}" if links else ""
    space = "" if language == "zh" else " "
    caption = space.join(filter(None, (escape_line(picture.caption), told)))
    return (
        f'<figure class="picture {picture.kind}">{picture.svg}'
        f"<figcaption>{caption}</figcaption></figure>"
    )


def render_source_map(sources: SourceMap | None, language: str) -> str:
    """Return a map as a table that a reader opens: documents in rows, steps in columns."""
    if not sources:
        return ""
    steps = "".join(f"<li>{escape_line(title)}</li>" for title in sources.steps)
    heads = "".join(
        f'<th scope="col"><abbr title="{_name_step(at, title, language)}">{at}</abbr></th>'
        for at, title in enumerate(sources.steps, start=1)
    )
    rows = "".join(_render_row(row, len(sources.steps), language) for row in sources.rows)
    more = get_picture_label("source_map_more", language)
    rest = f"<li>{more.format(sources.more_steps)}</li>" if sources.more_steps else ""
    foot = f"<p>{more.format(sources.more_documents)}</p>" if sources.more_documents else ""
    title = get_picture_label("source_map", language)
    corner = f'<th scope="col">{get_picture_label("source_column", language)}</th>'
    table = f"<table><thead><tr>{corner}{heads}</tr></thead><tbody>{rows}</tbody></table>"
    content = f"<p>{title}</p><ol>{steps}{rest}</ol>{table}{foot}"
    return render_disclosure(title, content, "map")


def _name_step(at: int, title: str, language: str) -> str:
    return escape_line(get_picture_label("step_column", language).format(at, title))


def _render_row(row: SourceRow, steps: int, language: str) -> str:
    """Return a row: who cannot see the dots hears a word."""
    said = get_picture_label("rests_on", language)
    dot = f'<span role="img" aria-label="{said}">●</span>'
    cells = "".join(f"<td>{dot if at in row.steps else ''}</td>" for at in range(1, steps + 1))
    numbers = " ".join(f'<a href="#s{number}">[{number}]</a>' for number in row.numbers)
    return f'<tr><th scope="row">{numbers} {escape_line(row.label)}</th>{cells}</tr>'
