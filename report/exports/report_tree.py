"""A report as a tree of plain elements with footnotes, from which books and documents are made."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from html import unescape
from typing import Any, NamedTuple

import nh3
from lxml import etree
from lxml import html as lxml_html
from markdown_it import MarkdownIt

from report.document import ReportDocument
from report.evidence_paragraphs import list_use_paragraphs
from report.labels import get_label, is_chinese_tag
from report.markdown.sanitizer import to_safe_url, to_single_line
from report.rendering.markdown_report import render_cited_markdown
from report.rendering.numbering import FIRST_USE_MARK, PRIVATE_MARK, NumberedText, number_document
from text.regex import regex

_MAX_WORDS_CHARS = 400  # of the cited words in a footnote
_TAGS = {
    *("p", "br", "hr", "blockquote", "ul", "ol", "li", "em", "strong", "s", "pre", "code", "img"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"th": {"style"}, "td": {"style"}, "ol": {"start"}, "img": {"src", "alt"}}
_DISABLED_RULES = ["autolink", "code", "html_block", "html_inline", "link"]
_CITATION = regex("[ \u00a0]?\ue000([^\ue001]+)\ue001([\U000f0000-\U000ffffd])")
_SOURCE_NUMBER = regex(r"\[(\d+)\] ")
_HEADINGS = ("h2", "h3", "h4", "h5", "h6")


class Footnote(NamedTuple):
    """What a citation of the text refers to."""

    number: int
    """The number of the footnote, from 1."""
    source: int
    """The number of the source in the list of sources."""
    title: str
    place: str
    """The place in the source, in words; may be empty."""
    words: str
    """The words of the source that the sentence rests on; empty where they are not certain."""

    def describe(self, language: str) -> str:
        """Return the text of the footnote behind the number of its source."""
        comma = "，" if is_chinese_tag(language) else ", "
        colon = get_label("colon", language)
        about = comma.join(filter(None, (self.title, self.place)))
        return f"{about}{colon}“{self.words}”" if self.words else about


class ReportTree(NamedTuple):
    """A report as elements of HTML, and its footnotes."""

    root: Any
    """An element `article` of `h1` to `h6`, `p`, `ul`, `ol`, `blockquote`, `pre`, `table`, `hr`
    and `img` with data. Each heading from `h2` on and each source (`s3`) has an id. A footnote is
    an `a` of the class `note` to `n7` with the id `r7`; other links lead to web addresses."""
    footnotes: list[Footnote]
    language: str
    """A tag of BCP 47."""

    def list_headings(self) -> Iterator[tuple[int, str, str]]:
        """Yield level, id and text of each heading below the title."""
        for heading in self.root.iter(*_HEADINGS):
            text = "".join(heading.xpath('.//text()[not(ancestor::a[@class="note"])]'))
            yield int(heading.tag[1]), heading.get("id"), text.strip()


def build_report_tree(document: ReportDocument) -> ReportTree:
    """Return the elements of a document, in the order of the report in Markdown."""
    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    reader.disable(_DISABLED_RULES)
    # The parser itself would take no figure in SVG.
    reader.validateLink = lambda url: url.startswith("data:image/")  # type: ignore[method-assign]
    clean = nh3.clean(
        reader.render(render_cited_markdown(document)),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        filter_style_properties={"text-align"},
        url_schemes={"data"},
    )
    shown, _ = number_document(document)
    notes = _FootnoteWriter(document, shown)
    content = PRIVATE_MARK.sub("", _CITATION.sub(notes.replace, clean))
    root = lxml_html.fragment_fromstring(content, create_parent="article")
    for at, heading in enumerate(root.iter(*_HEADINGS), start=1):
        heading.set("id", f"h{at}")
    _link_sources(root, shown, document["language"])
    language = "zh-CN" if is_chinese_tag(document["language"]) else document["language"] or "en"
    return ReportTree(root, notes.written, language)


class _FootnoteWriter:
    """Numbers the citations of a text, and keeps what each refers to."""

    def __init__(self, document: ReportDocument, shown: NumberedText) -> None:
        self.written: list[Footnote] = []
        self._texts, self._shown = document["texts"], shown
        self._places: dict[int, str] = {}  # where a place is left out, it is the last one again
        self._passages = list_use_paragraphs(
            document["sources"], document["texts"], shown.uses, document["language"]
        )

    def replace(self, found: re.Match[str]) -> str:
        """Return a link to the footnote of a citation."""
        at = ord(found[2]) - FIRST_USE_MARK
        source, number = self._shown.uses[at].number, len(self.written) + 1
        cited = self._shown.documents[source - 1]
        title = to_single_line(cited["title"] or cited["location"])
        place = unescape(found[1]).partition(", ")[2] or self._places.get(source, "")
        self._places[source] = place
        self.written.append(Footnote(number, source, title, place, self._find_words(at)))
        return f'<a class="note" id="r{number}" href="#n{number}">{number}</a>'

    def _find_words(self, use: int) -> str:
        """Return the words on which a use certainly rests, cut if they are long; or ""."""
        words = " … ".join(
            self._texts[passage.source][part.start : part.end]
            for passage in self._passages.get(use, [])
            for part in passage.parts
            if part.certain
        )
        line = to_single_line(words)
        return line if len(line) <= _MAX_WORDS_CHARS else f"{line[:_MAX_WORDS_CHARS].rstrip()}…"


def _link_sources(root: Any, shown: NumberedText, language: str) -> None:
    """Give each entry of the list of sources an id, and make a link of its web address."""
    label = get_label("sources", language)
    for heading in root.iter("h2"):
        if heading.text_content() != label:
            continue
        for entry in heading.itersiblings():
            number = _SOURCE_NUMBER.match(entry.text or "") if entry.tag == "p" else None
            if number is None or not 0 < int(number[1]) <= len(shown.documents):
                break
            entry.set("id", f"s{number[1]}")
            _link_address(entry, to_safe_url(shown.documents[int(number[1]) - 1]["location"]))


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
