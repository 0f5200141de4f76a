"""Render what differs between two reports as one self-contained page of HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from html import escape
from itertools import groupby
from string import Template

from graph.records import Source
from report.labels import (
    describe_doubted_sentence,
    format_count,
    format_diff_count,
    get_diff_label,
    get_label,
    is_chinese_tag,
)
from report.rendering.html_page import hash_element
from report.rendering.html_parts import escape_line, render_paragraph
from report.report_diff import CHANGES, DiffLine, ReportDiff, ReportEnd, SectionDiff, WordRun
from text.pattern_files import read_packaged_text

_SHOWN_SAME = 3
"""How many lines may be the same in a section that is shown whole without a change."""


def render_diff_page(found: ReportDiff) -> str:
    """Return a page with the later report, in which the changes are marked as `ins` and `del`.

    It has the look of the report, no scripts, and fetches nothing.
    """
    document = found.after.document
    language = "zh" if is_chinese_tag(document["language"]) else "en"
    titles = [found.before.document["title"], document["title"]]
    other = _render_del(titles[0], language) if titles[0] != titles[1] else ""
    lists = _render_lists(found, language)
    return _template().substitute(
        language="zh-CN" if language == "zh" else "en",
        style=_read_style(),
        style_hash=hash_element(_read_style()),
        name=escape_line(f"{get_diff_label('title', language)}: {titles[1]}"),
        about=escape_line(get_diff_label("title", language)),
        title=escape_line(titles[1]),
        other=f'<p class="question">{other}</p>' if other else "",
        ends=_render_end(found.before, "earlier", language)
        + _render_end(found.after, "later", language),
        summary=_render_summary(found, language),
        body="\n".join(_render_section(one, language) for one in found.sections),
        lists=f'<aside class="lists">\n{lists}\n</aside>' if lists else "",
    )


@cache
def _template() -> Template:
    return Template(read_packaged_text("report.rendering", "diff.html"))


@cache
def _read_style() -> str:
    """Return the style of the page of a report, without what points to its cards, and its own."""
    report, own = (
        read_packaged_text("report.rendering", f"{name}.css") for name in ("page", "diff")
    )
    return Template(report).safe_substitute(pointed=".card.none", running='""') + own


def _render_end(end: ReportEnd, name: str, language: str) -> str:
    document = end.document
    status = escape_line(document["status"])
    badge = f'<span class="badge {status}">{escape_line(get_label(status, language))}</span>'
    told = f"<dt>{get_diff_label(name, language)}</dt>"
    created = f"<time>{escape_line(document['created'])}</time>"
    return f"<div>{told}<dd>{created} {badge} <code>{escape_line(end.run)}</code></dd></div>\n"


def _render_summary(found: ReportDiff, language: str) -> str:
    if found.is_empty:
        return render_paragraph(get_diff_label("same", language), "notice")
    if not found.comparable:
        return render_paragraph(get_diff_label("languages", language), "notice")
    counts = [(one, found.count(one)) for one in CHANGES]
    items = [
        f'<li class="line-{name}">{escape_line(format_diff_count(name, count, language))}</li>'
        for name, count in counts
        if count
    ]
    return f'<ul class="counts">{"".join(items)}</ul>' if items else ""


def _render_section(section: SectionDiff, language: str) -> str:
    heading, content = "", "\n".join(_render_blocks(section.lines, language))
    if section.heading:
        heading = f"<h2>{_render_words(section.heading, language)}</h2>"
    if section.change == "same" and len(section.lines) > _SHOWN_SAME:
        name = section.heading.after if section.heading else get_diff_label("beginning", language)
        count = format_count("sentences", len(section.lines), language)
        label = get_diff_label("unchanged", language).format(f"{name} ({count})")
        return f'<details class="same"><summary>{escape_line(label)}</summary>\n{content}</details>'
    change = section.heading.change if section.heading else "same"
    note = render_paragraph(get_diff_label(f"section_{change}", language), "tag")
    return f'<section class="section-{change}">{heading}{note}\n{content}</section>'


def _render_blocks(lines: Iterable[DiffLine], language: str) -> Iterator[str]:
    """Yield the paragraphs, lists and lines of code of some lines."""
    for kind, blocks in groupby(_list_blocks(lines), key=lambda block: block[0].kind):
        shown = [_render_block(block, language) for block in blocks]
        if kind == "item":
            items = "\n".join(f"<li>{one}</li>" for one in shown)
            yield f"<ul>\n{items}\n</ul>"
        elif kind == "code":
            yield f"<pre>{chr(10).join(shown)}</pre>"
        else:
            yield from (f"<p>{one}</p>" for one in shown)


def _list_blocks(lines: Iterable[DiffLine]) -> list[list[DiffLine]]:
    """Return lines by paragraphs."""
    blocks: list[list[DiffLine]] = []
    for line in lines:
        if not blocks or line.starts or line.kind != blocks[-1][0].kind:
            blocks.append([])
        blocks[-1].append(line)
    return blocks


def _render_block(block: Iterable[DiffLine], language: str) -> str:
    space = "" if is_chinese_tag(language) else " "
    return space.join(_render_line(line, language) for line in block)


def _render_line(line: DiffLine, language: str) -> str:
    told = ""
    if line.change in ("moved", "recited"):
        told = f' <span class="tag">({get_diff_label(line.change, language)})</span>'
    return f'<span class="line-{line.change}">{_render_words(line, language)}{told}</span>'


def _render_words(line: DiffLine, language: str) -> str:
    return "".join(_render_run(run, language) for run in line.words)


def _render_run(run: WordRun, language: str) -> str:
    if run.change == "same":
        return escape(run.text)
    draw = _render_ins if run.change == "added" else _render_del
    return draw(run.text, language)


def _render_ins(text: str, language: str) -> str:
    return _render_change("ins", text, "inserted_words", language)


def _render_del(text: str, language: str) -> str:
    return _render_change("del", text, "deleted_words", language)


def _render_change(tag: str, text: str, name: str, language: str) -> str:
    """Return words that are new or gone; most screen readers tell nothing of the element alone."""
    told = f'<span class="spoken">{escape(get_diff_label(name, language))}</span>'
    return f"<{tag}>{told}{escape(text)}</{tag}>"


def _render_lists(found: ReportDiff, language: str) -> str:
    """Return what differs beside the text: status, sources and doubts."""
    parts = []
    statuses = [get_label(one.document["status"], language) for one in (found.before, found.after)]
    if statuses[0] != statuses[1]:
        parts.append(render_paragraph(get_diff_label("status", language).format(*statuses)))
    for name, tag, sources in (
        ("sources_gained", "ins", found.sources_gained),
        ("sources_lost", "del", found.sources_lost),
    ):
        parts.append(_render_list(name, [_render_source(one, tag) for one in sources], language))
    for name, doubts in (
        ("doubts_gained", found.doubts_gained),
        ("doubts_lost", found.doubts_lost),
    ):
        told = [escape_line(describe_doubted_sentence(one, language)) for one in doubts]
        parts.append(_render_list(name, told, language))
    return "\n".join(filter(None, parts))


def _render_list(name: str, items: list[str], language: str) -> str:
    if not items:
        return ""
    lines = "".join(f"<li>{one}</li>" for one in items)
    return f"<h2>{get_diff_label(name, language)}</h2>\n<ul>{lines}</ul>"


def _render_source(source: Source, tag: str) -> str:
    title, place = escape_line(source["title"]), escape_line(source["location"])
    return f'<{tag}>{title or place}</{tag}> <span class="place">{place}</span>'
