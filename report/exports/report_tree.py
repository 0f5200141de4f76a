"""A report as a tree of plain elements with footnotes, from which books and documents are made."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from html import escape, unescape
from typing import Any, NamedTuple

import nh3
from lxml import etree
from lxml import html as lxml_html

from report.exports.author_labels import end_label
from report.exports.cited_uses import (
    CITED_GROUP,
    CITED_USE,
    CitedUses,
    Footnote,
    join_author_citations,
)
from report.exports.export_formats import AUTHOR_YEAR, NUMERIC, ExportedReport
from report.labels import get_label, is_chinese_tag
from report.markdown.markdown_reader import ALIGNMENT_CLASSES, make_markdown_reader
from report.markdown.sanitizer import to_safe_url
from report.rendering.markdown_report import render_cited_markdown
from report.rendering.numbering import FIRST_USE_MARK, PRIVATE_MARK
from text.regex import regex

_TAGS = {
    *("p", "br", "hr", "blockquote", "ul", "ol", "li", "em", "strong", "s", "pre", "code", "img"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"ol": {"start"}, "img": {"src", "alt"}}
_CLASSES = {"th": ALIGNMENT_CLASSES, "td": ALIGNMENT_CLASSES}
_SOURCE_NUMBER = regex(r"\[(\d+)\] ")
_HEADINGS = ("h2", "h3", "h4", "h5", "h6")


class ReportTree(NamedTuple):
    """A report as elements of HTML, and its footnotes."""

    root: Any
    """An element `article` of `h1` to `h6`, `p`, `ul`, `ol`, `blockquote`, `pre`, `table`, `hr`
    and `img` with data. Each heading from `h2` on and each source (`s3`) has an id. A footnote is
    an `a` of the class `note` to `n7` with the id `r7`; a citation in words is one of the class
    `cite` to its source; other links lead to web addresses."""
    footnotes: list[Footnote]
    language: str
    """A tag of BCP 47."""

    def list_headings(self) -> Iterator[tuple[int, str, str]]:
        """Yield level, id and text of each heading below the title."""
        for heading in self.root.iter(*_HEADINGS):
            text = "".join(heading.xpath('.//text()[not(ancestor::a[@class="note"])]'))
            yield int(heading.tag[1]), heading.get("id"), text.strip()


def build_report_tree(report: ExportedReport) -> ReportTree:
    """Return the elements of a report, in the order of the report in Markdown."""
    document, uses = report.document, CitedUses(report)
    reader = make_markdown_reader(images=True)
    clean = nh3.clean(
        reader.render(render_cited_markdown(document, pictures=True)),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        url_schemes={"data"},
    )
    linked = CITED_GROUP.sub(lambda found: _write_citations(found, uses, report.style), clean)
    root = lxml_html.fragment_fromstring(PRIVATE_MARK.sub("", linked), create_parent="article")
    for at, heading in enumerate(root.iter(*_HEADINGS), start=1):
        heading.set("id", f"h{at}")
    sources = _link_sources(root, uses)
    if report.style == AUTHOR_YEAR:
        _label_sources(sources, uses)
    language = "zh-CN" if is_chinese_tag(document["language"]) else document["language"] or "en"
    notes = [] if report.style in (NUMERIC, AUTHOR_YEAR) else uses.notes
    return ReportTree(root, notes, language)


def _write_citations(found: re.Match[str], uses: CitedUses, style: str) -> str:
    """Return the citations that stand side by side as links."""
    cited = [
        uses.add(ord(one[2]) - FIRST_USE_MARK, unescape(one[1]))
        for one in CITED_USE.finditer(found[0])
    ]
    if style == AUTHOR_YEAR:
        return join_author_citations(uses, cited, _link_source)
    if style == NUMERIC:
        comma = "，" if is_chinese_tag(uses.language) else ", "
        shown = ((one, comma.join(filter(None, (str(one.source), one.place)))) for one in cited)
        return "\u00a0" + "".join(_link_source(one, f"[{words}]") for one, words in shown)
    return "".join(
        f'<a class="note" id="r{one.number}" href="#n{one.number}">{one.number}</a>'
        for one in cited
    )


def _link_source(cited: Footnote, words: str) -> str:
    return f'<a class="cite" href="#s{cited.source}">{escape(words)}</a>'


def _link_sources(root: Any, uses: CitedUses) -> list[Any]:
    """Return the entries of the list of sources, each with an id and a link of its web address."""
    label = get_label("sources", uses.language)
    entries: list[Any] = []
    for heading in root.iter("h2"):
        if heading.text_content() != label:
            continue
        for entry in heading.itersiblings():
            number = _SOURCE_NUMBER.match(entry.text or "") if entry.tag == "p" else None
            if number is None or not 0 < int(number[1]) <= uses.count_sources():
                break
            entry.set("id", f"s{number[1]}")
            _link_address(entry, to_safe_url(uses.get_address(int(number[1]))))
            entries.append(entry)
    return entries


def _label_sources(entries: list[Any], uses: CitedUses) -> None:
    """Give sources labels for their numbers, and put them in the order of these."""
    labels = {f"s{at}": label for at, label in enumerate(uses.labels, start=1)}
    places = [(one.getparent(), one.getparent().index(one)) for one in entries[:1]]
    for entry in entries:
        label = etree.Element("strong")
        label.text, label.tail = end_label(labels[entry.get("id")]), " "
        label.tail += _SOURCE_NUMBER.sub("", entry.text, count=1)
        entry.text = None
        entry.insert(0, label)
    for parent, first in places:
        ordered = sorted(entries, key=lambda one: labels[one.get("id")].casefold())
        parent[first : first + len(entries)] = ordered


def _link_address(entry: Any, address: str) -> None:
    """Make a link of the address at the end of an entry, if it has one."""
    before, found, after = (entry.text or "").rpartition(address) if address else ("", "", "")
    if not found or len(entry):
        return
    link = etree.Element("a", href=address)
    entry.text, link.text, link.tail = before, address, after
    entry.append(link)


def to_data(uri: str) -> tuple[str, bytes]:
    """Return the media type and the bytes of an address of the form `data:…;base64,…`."""
    head, _, data = uri.partition(",")
    return head.removeprefix("data:").partition(";")[0], base64.b64decode(data)
