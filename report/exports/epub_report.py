"""A report as a book in EPUB 3."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Iterator
from functools import cache
from string import Template
from typing import Any

from lxml import etree

from report.exports.cited_uses import Footnote
from report.exports.export_formats import ExportedReport, replace_unfit_characters
from report.exports.report_tree import ReportTree, build_report_tree, to_data
from report.exports.zip_file import write_zip
from report.labels import get_label
from report.rendering.html_parts import escape_line
from text.pattern_files import read_packaged_text

_XHTML = "http://www.w3.org/1999/xhtml"
_OPS = "http://www.idpf.org/2007/ops"
_SUFFIXES = {"image/png": "png", "image/svg+xml": "svg", "image/jpeg": "jpg", "image/gif": "gif"}
_CONTAINER = """<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles>
<rootfile full-path="book/package.opf" media-type="application/oebps-package+xml"/>
</rootfiles>
</container>
"""


def export_epub(report: ExportedReport) -> bytes:
    """Return a report as a book with contents and footnotes; the archive has no times."""
    report = replace_unfit_characters(report)
    tree = build_report_tree(report)
    headings = list(tree.list_headings())
    root, images = _take_images(tree)
    texts = {
        "title": escape_line(report.document["title"]),
        "language": escape_line(tree.language),
        "contents": escape_line(get_label("contents", tree.language)),
    }
    book = _fill("package.opf", **texts, **_describe(report), images=_list_images(images))
    page = _fill("page.xhtml", **texts, body=_to_xml(root), footnotes=_write_notes(tree))
    entries = "\n".join(_list_entries(headings))
    files = {
        "mimetype": b"application/epub+zip",
        "META-INF/container.xml": _CONTAINER.encode(),
        "book/package.opf": book,
        "book/contents.xhtml": _fill("contents.xhtml", **texts, entries=entries),
        "book/report.xhtml": page,
        "book/style.css": _read("style.css").encode(),
        **{f"book/{name}": data for name, (_, data) in images.items()},
    }
    return write_zip(files, stored="mimetype")


@cache
def _read(name: str) -> str:
    return read_packaged_text("report.exports", f"epub_files/{name}")


def _fill(name: str, **texts: str) -> bytes:
    return Template(_read(name)).substitute(texts).encode()


def _describe(report: ExportedReport) -> dict[str, str]:
    """Return the identifier of the book, which is that of its run, and its day."""
    day = report.document["created"] or "1980-01-01"
    name = uuid.uuid5(uuid.NAMESPACE_URL, f"dossier:{report.run}:{day}")
    return {"identifier": f"urn:uuid:{name}", "day": escape_line(day)}


def _take_images(tree: ReportTree) -> tuple[Any, dict[str, tuple[str, bytes]]]:
    """Return the elements with images as files, and the files: media type and content by name."""
    root, images = copy.deepcopy(tree.root), {}
    for number, image in enumerate(root.iter("img"), start=1):
        media, data = to_data(image.get("src") or "")
        name = f"figure-{number}.{_SUFFIXES.get(media, 'bin')}"
        images[name] = (media, data)
        image.set("src", name)
    return root, images


def _list_images(images: dict[str, tuple[str, bytes]]) -> str:
    return "\n".join(
        f'<item id="image{at}" href="{name}" media-type="{media}"/>'
        for at, (name, (media, _)) in enumerate(images.items(), start=1)
    )


def _to_xml(root: Any) -> str:
    """Return the elements of a report as XHTML, in names without prefixes.

    Readers that take a book for HTML know no prefixes.
    """
    for link in root.iter("a"):
        if link.get("class") == "note":
            link.set(f"{{{_OPS}}}type", "noteref")
            link.set("role", "doc-noteref")
    named = etree.Element(f"{{{_XHTML}}}{root.tag}", nsmap={None: _XHTML, "epub": _OPS})
    named.extend(list(root))
    for element in named.iterdescendants():
        element.tag = f"{{{_XHTML}}}{element.tag}"
    return str(etree.tostring(named, encoding="unicode"))


def _write_notes(tree: ReportTree) -> str:
    """Return the section of the footnotes; nothing without any."""
    if not tree.footnotes:
        return ""
    label = escape_line(get_label("footnotes", tree.language))
    notes = "\n".join(_write_note(one, tree.language) for one in tree.footnotes)
    return (
        f'<section class="notes" epub:type="footnotes" aria-label="{label}">\n{notes}\n</section>'
    )


def _write_note(note: Footnote, language: str) -> str:
    """Return a footnote that leads to its source and back to its sentence."""
    back = escape_line(get_label("back", language))
    return (
        f'<aside epub:type="footnote" role="doc-footnote" id="n{note.number}"><p>'
        f'<a href="#r{note.number}" role="doc-backlink" title="{back}">{note.number}</a> '
        f'<a href="#s{note.source}">[{note.source}]</a> {escape_line(note.describe(language))}'
        "</p></aside>"
    )


def _list_entries(headings: list[tuple[int, str, str]]) -> Iterator[str]:
    """Yield the lines of the contents: sections, and a list of those below each."""
    sections: list[tuple[str, list[str]]] = []
    for level, name, text in headings:
        link = f'<a href="report.xhtml#{name}">{escape_line(text) or "…"}</a>'
        if level == 2 or not sections:
            sections.append((link, []))
        elif level == 3:
            sections[-1][1].append(f"<li>{link}</li>")
    for link, below in sections:
        inner = f"<ol>{''.join(below)}</ol>" if below else ""
        yield f"<li>{link}{inner}</li>"
