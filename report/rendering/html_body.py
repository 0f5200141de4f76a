"""Turn the numbered Markdown of a report into HTML that nothing of its text can change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from itertools import count

import nh3
from markdown_it.token import Token

from report.citations import describe_location
from report.document import DoubtLine, ReportDocument, list_grade_labels, list_remarks
from report.labels import get_label, is_chinese_tag
from report.markdown.markdown_reader import ALIGNMENT_CLASSES, make_markdown_reader
from report.markdown.sanitizer import unescape_markdown
from report.rendering.evidence_cards import EvidenceCards
from report.rendering.html_parts import escape_line, render_language
from report.rendering.numbering import (
    DOUBT_MARK,
    FIRST_DOUBT_MARK,
    FIRST_REMARK_MARK,
    FIRST_USE_MARK,
    INFERENCE_END,
    INFERENCE_START,
    PRIVATE_MARK,
    REMARK_MARK,
    NumberedText,
)
from text.regex import regex

_TAGS = {
    *("p", "br", "hr", "blockquote", "ul", "ol", "li", "em", "strong", "s", "pre", "code"),
    *("h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
_CLASSES = {"th": ALIGNMENT_CLASSES, "td": ALIGNMENT_CLASSES}
_ATTRIBUTES = {"ol": {"start"}}
_ADDED = {"th": {"scope": "col"}}
_UNBROKEN_DASH = "\u2060–\u2060"
_RANGE = regex(r"(?<=\d)–(?=\d)")
_INFERENCE = regex(f"{INFERENCE_START}([^{INFERENCE_END}]*){INFERENCE_END}")
_TAG = regex(r"<(/?)([a-z0-9]+)[^>]*>")
_NUMBER = regex("\ue000([^\ue001]+)\ue001([\U000f0000-\U000ffffd])")
_QUOTATION = regex("\ue002([^\ue002\ue003]*)\ue003")


class BodyWriter:
    """Writes the parts of a report as HTML; tables are counted over all of them."""

    def __init__(
        self,
        document: ReportDocument,
        shown: NumberedText,
        cards: EvidenceCards,
        doubted: Sequence[DoubtLine],
    ) -> None:
        self.shown, self.cards, self.doubted = shown, cards, doubted
        self.language = "zh" if is_chinese_tag(document["language"]) else "en"
        self.grades, self.remarks = list_grade_labels(document), [*list_remarks(document).values()]
        self.tables = count(1)

    def write(self, markdown: str, above: int = 1) -> str:
        """Return numbered Markdown as HTML; numbers become links after sanitizing.

        Args:
            markdown: The Markdown with its private marks.
            above: The rank of the heading above it; no heading in it skips a rank.
        """
        reader = make_markdown_reader()
        tokens = reader.parse(markdown)
        _rank_headings(tokens, above)
        plain = reader.renderer.render(tokens, reader.options, {})
        clean = nh3.clean(
            plain,
            tags=_TAGS,
            attributes=_ATTRIBUTES,
            allowed_classes=_CLASSES,
            set_tag_attribute_values=_ADDED,
        )
        marked = DOUBT_MARK.sub(self._warn, self.link_numbers(self._frame_tables(clean)))
        return self._mark_inferences(REMARK_MARK.sub(self._remark, marked))

    def link_numbers(self, clean: str) -> str:
        """Return sanitized HTML with numbers as links and quotations in spans."""
        marked = _NUMBER.sub(self._link, clean.replace(" \ue000", "\u00a0\ue000"))
        return _QUOTATION.sub(self._quote, marked)

    def _link(self, found: re.Match[str]) -> str:
        """Return the number of a source, a link to its card, or to its entry if it has none."""
        at = ord(found[2]) - FIRST_USE_MARK
        name = _RANGE.sub(_UNBROKEN_DASH, found[1])
        target, about = self.cards.get_target(at), ""
        if not self.cards.has_card(at):
            source = self.shown.documents[self.shown.uses[at].number - 1]
            title = escape_line(f"{source['title']} — {describe_location(source)}".strip(" —"))
            about = f' title="{title}"'
        link = f'class="ref" id="c{at + 1}" href="#{target}"'
        return f'<a {link} role="doc-noteref"{about}>[{name}]</a>'

    def _quote(self, found: re.Match[str]) -> str:
        own = render_language(_TAG.sub("", found[1]), self.language)
        return f'<span class="quote"{own}>{found[1]}</span>'

    def _frame_tables(self, clean: str) -> str:
        """Return HTML whose tables can be scrolled sideways, with the keyboard too."""

        def frame(_: re.Match[str]) -> str:
            label = escape_line(get_label("table", self.language).format(next(self.tables)))
            return f'<div class="table" role="region" tabindex="0" aria-label="{label}"><table>'

        return re.sub("<table>", frame, clean).replace("</table>", "</table></div>")

    def _warn(self, found: re.Match[str]) -> str:
        """Return the sign of a doubt, a link to its entry below the report."""
        at = ord(found[0]) - FIRST_DOUBT_MARK
        place = f'id="w{at + 1}" href="#d{min(at + 1, len(self.doubted))}"'
        line, grade = min(at, len(self.doubted) - 1), min(at, len(self.grades) - 1)
        why = escape_line(self.doubted[line].text + strip_numbers(self.shown.notes[line]))
        space = " " if found.string[found.end() :][:1].isalnum() else ""
        shown = escape(self.grades[grade])
        return f'<a class="doubt" {place} title="{why}">⚠ {shown}</a>{space}'

    def _remark(self, found: re.Match[str]) -> str:
        told = escape(self.remarks[ord(found[0]) - FIRST_REMARK_MARK])
        return f' <span class="standing">({told})</span>'

    def _mark_inferences(self, text: str) -> str:
        """Return HTML with a word before each inference, which is underlined if it is one element.

        A table may end within an inference, or emphasis begin in it.
        """
        space = "" if self.language == "zh" else " "
        tag = f'<span class="tag">{get_label("inference", self.language)}</span>{space}'

        def mark(found: re.Match[str]) -> str:
            if not _is_balanced(found[1]):
                return tag + found[1]
            return f'{tag}<span class="inferred">{found[1]}</span>'

        return PRIVATE_MARK.sub("", _INFERENCE.sub(mark, text))


def strip_numbers(note: str) -> str:
    """Return a note without numbers and Markdown."""
    return PRIVATE_MARK.sub("", unescape_markdown(_NUMBER.sub("", note))).rstrip()


def _rank_headings(tokens: Sequence[Token], above: int) -> None:
    """Give headings ranks from 2 on, so that none is more than one below the one before it."""
    rank = above
    for token in tokens:
        if token.type == "heading_open":
            rank = min(max(int(token.tag[1]), 2), rank + 1)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{rank}"


def _is_balanced(text: str) -> bool:
    """Tell whether every element that begins in a piece of HTML ends in it, and none before."""
    depth = 0
    for tag in _TAG.finditer(text):
        depth += 0 if tag[2] in ("br", "hr") else -1 if tag[1] else 1
        if depth < 0:
            return False
    return not depth
