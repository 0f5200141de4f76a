"""Read a report in HTML as the Markdown that the checks parse."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from text.regex import regex

_SKIPPED = frozenset(
    [
        "script",
        "style",
        "aside",
        "details",
        "nav",
        "template",
        "head",
        "svg",
        "noscript",
        "footer",
        "button",
    ]
)
_SKIPPED_CLASSES = frozenset(
    [
        "cited",
        "card",
        "back",
        "meta",
        "back-link",
        "footnote-backref",
        "footnote-back",
        "badge-legend",
        "skip-link",
        "source-note",
        "picture",
        "csv",
        "map",
    ]
)
_BLOCKS = frozenset(
    [
        "p",
        "div",
        "section",
        "article",
        "header",
        "main",
        "ul",
        "ol",
        "table",
        "blockquote",
        "figure",
        "dl",
        "dt",
        "dd",
        "body",
    ]
)
_VOID = frozenset(
    [
        "br",
        "hr",
        "img",
        "input",
        "meta",
        "link",
        "col",
        "wbr",
        "source",
        "area",
        "base",
        "embed",
        "param",
        "track",
    ]
)
_OPENED = {
    "br": "\n",
    "hr": "\n\n---\n\n",
    "sup": "<sup>",
    "q": "“",
    "code": "`",
    "th": "| ",
    "td": "| ",
}
_CLOSED = {"sup": "</sup>", "q": "”", "code": "`", "th": " ", "td": " "}
_BOLD = {"strong": ("\ue020", "\ue021"), "b": ("\ue020", "\ue021")}
"""Private-use characters around bold text until it is known whether it is a line of its own."""

_BOLD_LINE = regex("(?m)^[ \t]*\ue020[ \t]*([^\ue020\ue021\n]{1,80}?)[ \t]*\ue021[ \t]*([:：]?)$")
_BOLD_MARK = regex("[\ue020\ue021]")
_HEADING = regex("h[1-6]")
_CONDITION = regex(r"(?i)<!\[(?!CDATA\[)[^>]*>?")
"""A condition of Office around a part of its pages, on which the parser stops."""

_ITEM_NUMBER = regex(r"\n\d+\. ")


class _MarkdownWriter(HTMLParser):
    """Writes the text of a page as Markdown."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.skipped: list[str] = []
        self.lists: list[int] = []
        """The number of the next item of each open list; 0 for bullets."""
        self.links: list[str] = []
        self.cells = 0
        self.rows = 0
        self.preformatted = self.question = False
        self.noted = self.notes = False
        """Whether the mark of a footnote is open, and whether the footnotes are."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Write what opens an element."""
        given = {name: value or "" for name, value in attrs}
        left_out = (
            tag in _SKIPPED
            or given.get("role") == "doc-backlink"
            or bool(_SKIPPED_CLASSES & set(given.get("class", "").split()))
        )
        if self.skipped or left_out:
            if tag not in _VOID:
                self.skipped.append(tag)
            return
        if self._open_marked(given):
            return
        if _HEADING.fullmatch(tag):
            self.parts.append(f"\n\n{'#' * int(tag[1])} ")
        elif tag == "a":
            address = given.get("href", "")
            self.links.append("" if address.startswith("#") else address)
            self.parts.append("[" if self.links[-1] else "")
        elif tag in ("ul", "ol"):
            start = given.get("start", "1")
            self.lists.append(int(start) if tag == "ol" and start.isdigit() else int(tag == "ol"))
            self.parts.append("\n")
        elif tag == "li":
            self._open_item()
        else:
            self._open_other(tag)

    def _open_marked(self, given: dict[str, str]) -> bool:
        """Tell whether an element is the question, part of a source, or of the footnotes."""
        role = given.get("role")
        if given.get("class") == "place":
            self.parts.append("— ")
            return True
        if given.get("class") == "number" and _ITEM_NUMBER.fullmatch(self.parts[-1]):
            self.parts[-1] = "\n"
            return True
        if given.get("class") == "question":
            self._open_question()
            return True
        if role == "doc-noteref":
            self.links.append("")
            self.parts.append("[^")
            self.noted = True
        elif role == "doc-endnotes":
            self.notes = True
        return role in ("doc-noteref", "doc-endnotes")

    def _open_item(self) -> None:
        number = self.lists[-1] if self.lists else 0
        if number:
            self.lists[-1] += 1
        if self.notes and len(self.lists) == 1:
            self.parts.append(f"\n\n[^{number}]: ")
            return
        indent = "  " * max(len(self.lists) - 1, 0)
        self.parts.append(f"\n{indent}{f'{number}.' if number else '-'} ")

    def _open_other(self, tag: str) -> None:
        if tag == "pre":
            self.preformatted = True
            self.parts.append("\n\n```\n")
        elif tag == "tr":
            self.cells = 0
            self.parts.append("\n")
        elif tag in _BOLD:
            self.parts.append(_BOLD[tag][0])
        elif tag in _OPENED and not (tag == "sup" and self.noted):
            self.cells += tag in ("th", "td")
            self.parts.append("" if tag == "code" and self.preformatted else _OPENED[tag])
        elif tag == "table":
            self.rows = 0
            self.parts.append("\n\n")
        elif tag in _BLOCKS and not (self.lists or self.cells):
            self.parts.append("\n\n")

    def _open_question(self) -> None:
        """Begin the question of a report of Dossier, which its Markdown has in italics."""
        self.parts.append("\n\n*")
        self.question = True

    def handle_endtag(self, tag: str) -> None:
        """Write what closes an element."""
        if self.skipped:
            while self.skipped and tag not in _VOID:
                if self.skipped.pop() == tag:
                    break
        elif self.question and tag == "p":
            self.question = False
            self.parts.append("*\n\n")
        elif tag == "tr":
            self._close_row()
        elif tag in _BOLD:
            self.parts.append(_BOLD[tag][1])
        elif tag in _CLOSED and not (tag == "sup" and self.noted):
            self.parts.append("" if tag == "code" and self.preformatted else _CLOSED[tag])
        else:
            self._close_block(tag)

    def _close_row(self) -> None:
        self.rows += 1
        self.parts.append("|" + (f"\n{'|---' * self.cells}|" if self.rows == 1 else ""))
        self.cells = 0

    def _close_block(self, tag: str) -> None:
        if tag == "a" and self.noted:
            self.links.pop()
            self.noted = False
            self.parts.append("]")
        elif tag == "a" and self.links:
            address = self.links.pop()
            self.parts.append(f"]({address})" if address else "")
        elif tag in ("ul", "ol") and self.lists:
            self.lists.pop()
            self.parts.append("\n" if self.lists else "\n\n")
            self.notes = self.notes and bool(self.lists)
        elif tag == "pre":
            self.preformatted = False
            self.parts.append("\n```\n\n")
        elif (tag in _BLOCKS or _HEADING.fullmatch(tag)) and not (self.lists or self.cells):
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        """Write text; white space is one space."""
        if self.noted and self.parts[-1] == "[^" and data.startswith("["):
            # The mark is written in brackets of its own.
            self.noted = False
            self.parts.pop()
        if not self.skipped:
            self.parts.append(data if self.preformatted else re.sub(r"\s+", " ", data))


def convert_html_report(page: str) -> str:
    """Return the text of a report in HTML as Markdown, without what is only shown beside it."""
    writer = _MarkdownWriter()
    writer.feed(_CONDITION.sub("", page))
    writer.close()
    text = _BOLD_MARK.sub("", _BOLD_LINE.sub(r"**\1**\2", "".join(writer.parts)))
    lines = [
        line.strip() if not line.startswith("  ") else line.rstrip() for line in text.split("\n")
    ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def is_html(text: str) -> bool:
    """Tell whether a text is a page in HTML."""
    return bool(
        re.match(
            r"\s*(?:<\?xml\b[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body)\b",
            text[:2000],
            re.IGNORECASE | re.DOTALL,
        )
    )
