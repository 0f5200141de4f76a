"""The page of a report with citations in another style than numbers in brackets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lxml import html as lxml_html

from report.exports.author_labels import end_label
from report.exports.cited_uses import CitedUses, Footnote, join_author_citations
from report.exports.export_formats import (
    AUTHOR_YEAR,
    FOOTNOTES,
    ExportedReport,
    replace_unfit_characters,
)
from report.labels import get_label
from report.rendering.html_page import hash_element
from report.rendering.html_parts import escape_line
from report.rendering.html_report import render_html
from text.pattern_files import read_packaged_text

_WORD_JOINER = "\u2060"


def render_styled_page(report: ExportedReport, *, floating: bool = False) -> str:
    """Return the page of a report in its style.

    Args:
        report: The report.
        floating: Whether footnotes stand in the text, to be moved to the foot of its page on
            paper; else they stand at the end, and lead back.
    """
    report = replace_unfit_characters(report)
    page = render_html(report.document)
    if report.style not in (AUTHOR_YEAR, FOOTNOTES):
        return page
    uses, root = CitedUses(report), lxml_html.document_fromstring(page)
    groups = [[(link, _read(uses, link)) for link in group] for group in _list_groups(root)]
    for group in groups:
        if report.style == AUTHOR_YEAR:
            _write_authors(uses, group)
        else:
            _write_marks(uses, group, floating=floating)
    if report.style == AUTHOR_YEAR:
        _label_sources(root, uses)
    elif not floating:
        ids = [link.get("id") for group in groups for link, _ in group]
        root.find(".//main").append(_list_notes(uses, ids))
    _add_style(root)
    return str(lxml_html.tostring(root, encoding="unicode", doctype="<!doctype html>"))


def _add_style(root: Any) -> None:
    """Add the style of citations to a page, and its hash to the policy of the page."""
    style = lxml_html.fragment_fromstring("<style></style>")
    style.text = read_packaged_text("report.exports", "styled_page.css")
    root.find("head").append(style)
    (policy,) = root.xpath('//meta[@http-equiv="Content-Security-Policy"]')
    allowed = f"style-src '{hash_element(style.text)}' "
    policy.set("content", policy.get("content").replace("style-src ", allowed))


def _list_groups(root: Any) -> Iterator[list[Any]]:
    """Yield the citations that stand side by side."""
    group: list[Any] = []
    for link in root.find_class("ref"):
        before = link.getprevious()
        if group and (before is not group[-1] or (before.tail or "").strip()):
            yield group
            group = []
        group.append(link)
    if group:
        yield group


def _read(uses: CitedUses, link: Any) -> Footnote:
    """Return what a citation refers to, by its id and its words, `[2, p. 4]`."""
    shown = link.text_content().replace(_WORD_JOINER, "").strip("[]")
    return uses.add(int(link.get("id").removeprefix("c")) - 1, shown)


def _write_authors(uses: CitedUses, group: list[tuple[Any, Footnote]]) -> None:
    """Write citations side by side as one pair of brackets, each part a link."""
    links = {note.number: link for link, note in group}
    first = group[0][0]
    _set_space_before(first, "")
    marks = [note for _, note in group]
    written = join_author_citations(uses, marks, lambda note, words: f"\0{note.number}\1{words}\0")
    pieces = written.split("\0")
    _add_before(first, pieces[0])
    for at in range(1, len(pieces), 2):
        number, _, words = pieces[at].partition("\1")
        link, after = links[int(number)], pieces[at + 1]
        is_last = at + 2 >= len(pieces)
        link.text, link.tail = words, after + ((link.tail or "") if is_last else "")
        link.set("class", "ref author")
        link.attrib.pop("role", None)


def _write_marks(uses: CitedUses, group: list[tuple[Any, Footnote]], *, floating: bool) -> None:
    """Write citations side by side as marks of footnotes, or as the footnotes themselves."""
    _set_space_before(group[0][0], "")
    for link, note in group:
        link.set("class", "ref mark" if link is group[0][0] else "ref mark next")
        link.set("href", f"#n{note.number}")
        link.set("role", "doc-noteref")
        link.text = str(note.number)
        if floating:
            entry = f"[{note.source}] {note.describe(uses.language)}"
            link.tag, link.text = "span", entry
            link.attrib.clear()
            link.set("class", "floated")
    for link, _ in group[:-1]:
        link.tail = ""
        if floating:
            link.addnext(lxml_html.fragment_fromstring('<span class="apart">, </span>'))


def _list_notes(uses: CitedUses, ids: list[str]) -> Any:
    """Return the section of the footnotes, each with links to its source and back.

    Args:
        uses: The citations, each with a footnote.
        ids: The id of each citation in the page.
    """
    back = escape_line(get_label("back", uses.language))
    items = "\n".join(
        f'<li id="n{note.number}" value="{note.number}"><a href="#s{note.source}">[{note.source}]'
        f"</a> {escape_line(note.describe(uses.language))} "
        f'<a class="back" href="#{place}" role="doc-backlink" title="{back}">↑</a></li>'
        for note, place in zip(uses.notes, ids, strict=True)
    )
    heading = escape_line(get_label("footnotes", uses.language))
    return lxml_html.fragment_fromstring(
        f'<section class="footnotes" role="doc-endnotes"><h2>{heading}</h2>\n<ol>{items}</ol>'
        "</section>"
    )


def _label_sources(root: Any, uses: CitedUses) -> None:
    """Give the sources labels for their numbers, and put them in the order of these."""
    listed = [root.get_element_by_id(f"s{at}") for at in range(1, uses.count_sources() + 1)]
    for label, entry in zip(uses.labels, listed, strict=True):
        number = next(iter(entry.find_class("number")))
        number.text = end_label(label)
    if listed:
        parent = listed[0].getparent()
        ordered = sorted(zip(uses.labels, listed, strict=True), key=lambda one: one[0].casefold())
        for _, entry in ordered:
            parent.append(entry)
        parent.tag = "ul"
    for number, label in enumerate(uses.labels, start=1):
        for link in root.xpath(f'//a[@class="name" and @href="#s{number}"]'):
            link.text = label
    told = get_label("same_place", uses.language)
    for one in root.find_class("removed"):
        if one.text_content() == told:
            one.drop_tree()


def _set_space_before(element: Any, space: str) -> None:
    """Replace the spaces before an element."""
    before, parent = element.getprevious(), element.getparent()
    if before is not None:
        before.tail = (before.tail or "").rstrip(" \u00a0") + space
    else:
        parent.text = (parent.text or "").rstrip(" \u00a0") + space


def _add_before(element: Any, text: str) -> None:
    """Add text before an element."""
    before, parent = element.getprevious(), element.getparent()
    if before is not None:
        before.tail = (before.tail or "") + text
    else:
        parent.text = (parent.text or "") + text if (parent.text or "").strip() else text.lstrip()
