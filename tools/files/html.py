"""Walk through HTML and return its headings, paragraphs, list items and rows."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any

from lxml import etree, html

from text.regex import regex
from tools.files.parsed_document import TextBlock, render_row, unwrap_line

_DRAWN_TAGS = frozenset(["img", "math", "sub", "sup"])
"""The elements whose words are not simply their text."""

_NOTE = regex(r"\W*[\[(]?(?:note |nb )?\d{1,3}[\])]?\W*|[a-z]", re.IGNORECASE)
_ORDINAL = regex(r"st|[nr]d|th|er?|re|ème|[ao]", re.IGNORECASE)
_ONE = regex(r"-?\w+(?:\.\w+)?")
_ELEMENT = regex(r"(?:[A-Z][a-z]?|\))\d*$")
_TEX = regex(r"\{\\displaystyle (.*)\}|\$(.*)\$", re.DOTALL)


def _render_inline(node: Any, before: str) -> str:
    r"""Return what stands for an element in a line of text.

    `2<sup>32</sup>` is 2^32, `x<sub>i</sub>` is x_i, a formula its TeX; `H<sub>2</sub>O` is H2O,
    `1<sup>st</sup>` is 1st, and the number of a footnote stands in brackets.

    Args:
        node: The element.
        before: What stands before it in the line.
    """
    if node.tag == "math":
        return _formula(node)
    if node.tag == "img":
        return _picture(node)
    text = " ".join(node.text_content().split())
    if not text or not before.strip() or before[-1].isspace():
        return text
    return _raised(node, text, before) if node.tag == "sup" else _lowered(text, before)


def _raised(node: Any, text: str, before: str) -> str:
    if node.find(".//a") is not None and _NOTE.fullmatch(text):
        return f"[{text.strip('[]() ')}]"
    if _ORDINAL.fullmatch(text) and before[-1].isdigit():
        return text
    return f"^{_grouped(text)}" if any(map(str.isalnum, text)) and text[0] not in "[(" else text


def _lowered(text: str, before: str) -> str:
    if text.isdigit() and _ELEMENT.search(before):
        return text
    return f"_{_grouped(text)}" if any(map(str.isalnum, text)) else text


def _grouped(text: str) -> str:
    text = text.replace("\u2212", "-")
    return text if _ONE.fullmatch(text) else f"({text})"


def _formula(node: Any) -> str:
    """Return the TeX that a formula carries with it, or else its signs."""
    notes = (one for one in node.iter() if str(one.tag).endswith("annotation"))
    tex = next((one.text or "" for one in notes), "") or node.get("alttext", "")
    return _bare(" ".join((tex or node.text_content()).split()))


def _picture(node: Any) -> str:
    """Return the formula that a picture shows; other pictures say nothing."""
    alt = " ".join(node.get("alt", "").split())
    return _bare(alt) if _TEX.fullmatch(alt) else ""


def _bare(tex: str) -> str:
    found = _TEX.fullmatch(tex)
    return (found[1] or found[2] or "").strip() if found else tex


_LEVELS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_BLOCK_TAGS = (
    "address article aside blockquote body caption center dd details div dl dt fieldset figcaption"
    " figure footer form head header hr html legend li main nav ol p pre section summary table"
    " tbody td tfoot th thead title tr ul"
)
_UNREAD_TAGS = "script style noscript template head title svg iframe object button select"
_BLOCKS = frozenset([*_BLOCK_TAGS.split(), *_LEVELS])
_UNREAD = frozenset(_UNREAD_TAGS.split())
_AROUND = frozenset(["nav", "footer"])
_AROUND_ROLES = frozenset(["navigation", "search", "banner", "contentinfo", "complementary"])
_AROUND_NAMES = (
    r"nav(?:bar|box|header|footer|igation|links?)?|menu|(?:sphinx)?sidebar|breadcrumbs?"
    r"|(?:site|page)?footer|cookies?|share|social|sharing|advert\w*|promo|newsletter|comments?"
    r"|related|skip|toc|catlinks|printfooter|metadata|paginat\w+"
)
_AROUND_CLASS = regex(rf"(?:^|[\s_-])(?:{_AROUND_NAMES})(?=$|[\s_-])", re.IGNORECASE)
# The name of a section is often made of the words of its heading.
_AROUND_ID = regex(rf"(?:{_AROUND_NAMES})", re.IGNORECASE)
_STRUCK = frozenset(["s", "del", "strike"])
_STRUCK_STYLE = regex(r"text-decoration(?:-line)?\s*:[^;]*line-through", re.IGNORECASE)
_HIDDEN_STYLE = regex(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_PERMALINKS = frozenset(["¶", "#", "§", "🔗"])
_SIGNS = ("¶", "🔗")
_CELLS = frozenset(["td", "th"])
_HEADED = regex(r"^#{1,6}\s", re.MULTILINE)
"""A line of code that would read like a heading: a comment, or a command behind root's prompt."""

_PARTS = ["table", "pre", *_LEVELS]
_LONGEST_DRAWN = 200
_LONGEST_STRUCK = 5_000


def parse_html(text: str) -> Any:
    """Return the root element of an HTML text; nothing is fetched, no entity is expanded."""
    # lxml refuses a text that both is decoded and names its encoding in an XML declaration.
    data = text.encode("utf-8", errors="replace")
    parser = html.HTMLParser(
        encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True
    )
    return html.document_fromstring(data, parser=parser, ensure_head_body=True)


def find_html_title(root: Any) -> str:
    """Return what stands in the `find_html_title` element."""
    return unwrap_line(root.findtext(".//title") or "")


def strip_permalink(heading: str) -> str:
    """Return a heading or a title without the sign of the link to itself at its end."""
    bare = heading.rstrip()
    return bare[:-1].rstrip() if bare.endswith(_SIGNS) else heading


def iterate_html_blocks(root: Any) -> Iterator[TextBlock]:
    """Yield the blocks of an element, and say of each whether it stands around the text."""
    reader = _Reader()
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, node in walk:
        if event == "end":
            yield from reader.close(node)
        elif node.tag in _UNREAD or _unseen(node) or _struck(node):
            walk.skip_subtree()
        elif _is_drawn(node):
            reader.add(_render_inline(node, "".join(reader.words[-3:])))
            walk.skip_subtree()
        elif node.tag == "pre" or (node.tag == "tr" and reader.table.has(node)):
            yield from reader.whole(node)
            walk.skip_subtree()
        else:
            yield from reader.open(node)


def _unseen(node: Any) -> bool:
    """Tell whether a reader of the page does not see an element, or sees a sign to click at."""
    if node.tag == "a":
        return not len(node) and (node.text or "").strip() in _PERMALINKS
    return (
        node.get("hidden") is not None
        or node.get("aria-hidden") == "true"
        or "mw-editsection" in node.get("class", "")
        or bool(_HIDDEN_STYLE.search(node.get("style", "")))
    )


def _struck(node: Any) -> bool:
    """Tell whether words are struck out, so that nobody takes them to hold.

    An element that was never closed holds the rest of the page, and is no sign of that.
    """
    if node.tag not in _STRUCK and not _STRUCK_STYLE.search(node.get("style", "")):
        return False
    closed = node.find(".//h1") is None and node.find(".//h2") is None
    return closed and len(node.text_content()) <= _LONGEST_STRUCK


def _is_drawn(node: Any) -> bool:
    """Tell whether an element is written by `_render_inline`; one that was never closed is not."""
    if node.tag not in _DRAWN_TAGS:
        return False
    return node.tag == "math" or len(node.text_content()) <= _LONGEST_DRAWN


def _is_around(node: Any) -> bool:
    if node.tag in _AROUND or node.get("role") in _AROUND_ROLES:
        return True
    if node.tag == "aside":
        # Inside an article it is a note.
        return next(node.iterancestors("article", "main"), None) is None
    if node.tag == "form":
        return not node.xpath("boolean(.//h1 | .//h2 | .//p)")
    if node.tag not in _BLOCKS or node.tag == "body":
        return False
    by_class = _AROUND_CLASS.search(node.get("class", ""))
    return bool(by_class or _AROUND_ID.fullmatch(node.get("id", "")))


class _Reader:
    """The words of the block at hand, and the lists, links and tables it stands in."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.linked = 0
        self.mark = ""
        self.broken = False
        self.lists: list[int] = []
        self.links: list[Any] = []
        self.around: list[Any] = []
        self.table = _Table()

    def open(self, node: Any) -> Iterator[TextBlock]:
        if node.tag in _BLOCKS:
            yield from self.flush()
        if _is_around(node):
            self.around.append(node)
        if node.tag in {"ol", "ul"}:
            self.lists.append(int(node.tag == "ol"))
        elif node.tag == "li":
            self.mark = self.next_mark()
        elif node.tag == "table":
            self.table = _Table()
        elif node.tag == "a" and node.get("href"):
            self.links.append(node)
        elif node.tag == "br":
            yield from self.break_line()
        self.add(node.text or "")

    def close(self, node: Any) -> Iterator[TextBlock]:
        if node.tag in _BLOCKS:
            yield from self.flush(_LEVELS.get(node.tag, 0))
        if node.tag in {"ol", "ul"} and self.lists:
            self.lists.pop()
        for opened in (self.links, self.around):
            if opened and opened[-1] is node:
                opened.pop()
        self.add(node.tail or "")

    def add(self, text: str) -> None:
        self.words.append(text)
        if text.strip():
            self.broken = False
            self.linked += len(text) if self.links else 0

    def break_line(self) -> Iterator[TextBlock]:
        """End the line, or the paragraph where the line before was empty."""
        if self.broken:
            yield from self.flush()
        self.add("\n")
        self.broken = True

    def flush(self, level: int = 0) -> Iterator[TextBlock]:
        if not self.words:
            return
        text, linked = unwrap_line("".join(self.words)), self.linked
        text = strip_permalink(text) if level else text
        self.words.clear()
        self.linked = 0
        if text:
            yield TextBlock(self.mark + text, level, linked / len(text), bool(self.around))
            self.mark = ""

    def whole(self, node: Any) -> Iterator[TextBlock]:
        yield from self.flush()
        if node.tag == "pre":
            text = _lines(node)
            if text.strip():
                yield TextBlock(self.mark + text, in_margin=bool(self.around))
                self.mark = ""
            return
        found = self.table.row(node)
        if found:
            yield found._replace(in_margin=bool(self.around) or found.in_margin)

    def next_mark(self) -> str:
        """Return what stands before a list item, and count it."""
        if not self.lists or not self.lists[-1]:
            return "- "
        self.lists[-1] += 1
        return f"{self.lists[-1] - 1}. "


class _Table:
    """The header of a table, and the cells that reach into its next rows."""

    def __init__(self) -> None:
        self.header: list[str] = []
        self.below: dict[int, tuple[int, str]] = {}

    def has(self, line: Any) -> bool:
        """Tell whether a row has data, and does not only put parts of a page side by side."""
        alone = len(line) < 2 and not self.below
        return not alone and next(line.iter(*_PARTS), None) is None

    def row(self, node: Any) -> TextBlock | None:
        """Return a row as a sentence, or None for a header or an empty row."""
        found = list(node)
        parts = [_of_cell(cell) for cell in found]
        texts = [unwrap_line(" ".join(block.text for block in part)) for part in parts]
        cells = self._placed(found, texts)
        above = node.getparent()
        is_header = above is not None and above.tag == "thead"
        if is_header or all(cell.tag == "th" for cell in found):
            self.header = cells
            return None
        # Rows under a header are data, also where each names a link.
        linked = 0.0 if self.header else _linked([block for part in parts for block in part])
        return TextBlock(render_row(self.header, cells), linked=linked) if any(texts) else None

    def _placed(self, found: list[Any], texts: list[str]) -> list[str]:
        """Return the cells of a row in their columns, those from above among them."""
        cells: list[str] = []
        for cell, text in zip(found, texts, strict=True):
            self._fill(cells)
            wide, high = _span(cell, "colspan"), _span(cell, "rowspan")
            for at in range(wide):
                if high > 1:
                    self.below[len(cells)] = (high - 1, text if not at else "")
                cells.append(text if not at or cell.tag == "th" else "")
        self._fill(cells)
        return cells

    def _fill(self, cells: list[str]) -> None:
        while len(cells) in self.below:
            left, text = self.below.pop(len(cells))
            if left > 1:
                self.below[len(cells)] = (left - 1, text)
            cells.append(text)


def _of_cell(cell: Any) -> list[TextBlock]:
    """Return the blocks of a cell; most hold a few words and no element, and need no walk."""
    if len(cell) or cell.tag not in _CELLS or _unseen(cell) or _struck(cell):
        return list(iterate_html_blocks(cell))
    text = unwrap_line(cell.text or "")
    return [TextBlock(text)] if text else []


def _linked(found: list[TextBlock]) -> float:
    """Return the share of the characters of some blocks that are links."""
    size = sum(len(block.text) for block in found)
    return sum(block.linked * len(block.text) for block in found) / size if size else 0.0


def _span(cell: Any, name: str) -> int:
    value = cell.get(name)
    if value is None:
        return 1
    value = value.strip()
    return min(int(value), 100) if value.isdecimal() and int(value) else 1


def _lines(node: Any) -> str:
    """Return preformatted text with its lines, those too that a `br` ends."""
    parts: list[str] = []
    walk = etree.iterwalk(node, events=("start", "end"))
    for event, one in walk:
        if event == "end":
            parts.append(one.tail or "" if one is not node else "")
        elif _struck(one):
            walk.skip_subtree()
        elif _is_drawn(one):
            parts.append(_render_inline(one, "".join(parts[-3:])))
            walk.skip_subtree()
        else:
            parts.append("\n" if one.tag == "br" else one.text or "")
    text = "".join(parts).strip("\n")
    return textwrap.indent(text, " " * 4) if _HEADED.search(text) else text
