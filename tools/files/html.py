"""Read HTML as headings, paragraphs, list items and rows."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from lxml import etree, html

from text.regex import regex
from text.text_blocks import is_note_label
from tools.files.html_elements import (
    BLOCK_ELEMENTS,
    HEADING_LEVELS,
    IGNORED_ELEMENTS,
    is_hidden,
    is_inline_element,
    is_margin,
    is_note_box,
    is_struck_out,
)
from tools.files.parsed_document import TextBlock, render_row, unwrap_line

_NOTE = regex(r"\W*[\[(]?(?:note |nb )?\d{1,3}[\])]?\W*|[a-z]", re.IGNORECASE)
_ORDINAL = regex(r"st|[nr]d|th|er?|re|ème|[ao]", re.IGNORECASE)
_SINGLE = regex(r"-?\w+(?:\.\w+)?")
_ELEMENT = regex(r"(?:[A-Z][a-z]?|\))\d*$")
_TEX = regex(r"\{\\displaystyle (.*)\}|\$(.*)\$", re.DOTALL)


def _render_inline(node: Any, before: str) -> str:
    r"""Return an element as plain text that continues `before`.

    `2<sup>32</sup>` is 2^32, `x<sub>i</sub>` is x_i, a formula its TeX; `H<sub>2</sub>O` is H2O,
    `1<sup>st</sup>` is 1st, and the number of a footnote is in brackets.
    """
    if node.tag == "math":
        notes = (child for child in node.iter() if str(child.tag).endswith("annotation"))
        tex = next((note.text or "" for note in notes), "") or node.get("alttext", "")
        return _bare_tex(" ".join((tex or node.text_content()).split()))
    if node.tag == "img":
        # A picture may show a formula; others have no text.
        alt = " ".join(node.get("alt", "").split())
        return _bare_tex(alt) if _TEX.fullmatch(alt) else ""
    text = " ".join(node.text_content().split())
    if not text or not before.strip() or before[-1].isspace():
        return text
    return _superscript(node, text, before) if node.tag == "sup" else _subscript(text, before)


def _superscript(node: Any, text: str, before: str) -> str:
    if node.find(".//a") is not None and _NOTE.fullmatch(text):
        return f"[{text.strip('[]() ')}]"
    if (_ORDINAL.fullmatch(text) and before[-1].isdigit()) or text[0] in "[(":
        return text
    return _attach("^", text)


def _subscript(text: str, before: str) -> str:
    return text if text.isdigit() and _ELEMENT.search(before) else _attach("_", text)


def _attach(mark: str, text: str) -> str:
    """Return a text behind a mark, in parentheses if it is more than a number or a name."""
    if not any(map(str.isalnum, text)):
        return text
    text = text.replace("\u2212", "-")
    return f"{mark}{text}" if _SINGLE.fullmatch(text) else f"{mark}({text})"


def _bare_tex(tex: str) -> str:
    found = _TEX.fullmatch(tex)
    return (found[1] or found[2] or "").strip() if found else tex


_LABEL_ENDS = " .:：!！。"
_PERMALINK_SIGNS = ("¶", "🔗")
_CELLS = frozenset(["td", "th"])
_LIKE_HEADING = regex(r"^#{1,6}\s", re.MULTILINE)
"""A line of code that would read like a heading: a comment, or a command behind root's prompt."""

_LAYOUT_TAGS = ["table", "pre", *HEADING_LEVELS]


def parse_html(text: str) -> Any:
    """Return the root element of an HTML text; nothing is fetched, no entity is expanded."""
    # lxml refuses a text that both is decoded and names its encoding in an XML declaration.
    data = text.encode("utf-8", errors="replace")
    parser = html.HTMLParser(
        encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True
    )
    return html.document_fromstring(data, parser=parser, ensure_head_body=True)


def find_html_title(root: Any) -> str:
    """Return the text of the `title` element."""
    titles = (one for one in root.iter("title") if next(one.iterancestors("svg"), None) is None)
    return unwrap_line(next((one.text or "" for one in titles), ""))


def strip_permalink(heading: str) -> str:
    """Return a heading without the sign of the link to itself at its end."""
    bare = heading.rstrip()
    return bare[:-1].rstrip() if bare.endswith(_PERMALINK_SIGNS) else heading


def iterate_html_blocks(root: Any) -> Iterator[TextBlock]:
    """Yield the blocks of an element, those in menus and margins marked as such."""
    reader = _Reader()
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, node in walk:
        if event == "end":
            yield from reader.close(node)
        elif node.tag in IGNORED_ELEMENTS or is_hidden(node) or is_struck_out(node):
            walk.skip_subtree()
        elif is_inline_element(node):
            reader.add(_render_inline(node, "".join(reader.words[-3:])))
            walk.skip_subtree()
        elif node.tag == "pre" or (node.tag == "tr" and reader.has_row(node)):
            yield from reader.whole(node)
            walk.skip_subtree()
        else:
            yield from reader.open(node)


class _Reader:
    """The text of the current block, and the lists, links, notes and tables around it."""

    def __init__(self) -> None:
        self.notes: list[Any] = []
        self.label = ""
        self.words: list[str] = []
        self.linked = 0
        self.mark = ""
        self.broken = False
        self.lists: list[int] = []
        self.links: list[Any] = []
        self.margins: list[Any] = []
        self.tables: list[_Table] = []

    def open(self, node: Any) -> Iterator[TextBlock]:
        """Begin an element; a block ends what stands before it."""
        if node.tag in BLOCK_ELEMENTS:
            yield from self.flush()
        self.margins += [node] if is_margin(node) else []
        self.notes += [node] if is_note_box(node) else []
        if node.tag in {"ol", "ul"}:
            self.lists.append(int(node.tag == "ol"))
        elif node.tag == "li":
            self.mark = self.next_mark()
        elif node.tag == "table":
            self.tables.append(_Table())
        elif node.tag == "a" and node.get("href"):
            self.links.append(node)
        elif node.tag == "br":
            yield from self.break_line()
        self.add(node.text or "")

    def close(self, node: Any) -> Iterator[TextBlock]:
        """End an element, and take the text behind it."""
        if node.tag in BLOCK_ELEMENTS:
            yield from self.flush(HEADING_LEVELS.get(node.tag, 0))
            yield from self.end_note(node)
        if node.tag == "table" and self.tables:
            yield from self.rows(self.tables.pop().end())
        if node.tag in {"ol", "ul"} and self.lists:
            self.lists.pop()
        for opened in (self.links, self.margins, self.notes):
            if opened and opened[-1] is node:
                opened.pop()
        self.add(node.tail or "")

    def add(self, text: str) -> None:
        """Add text to the current block; inside a link it counts as linked."""
        self.words.append(text)
        if text.strip():
            self.broken = False
            self.linked += len(text) if self.links else 0

    def break_line(self) -> Iterator[TextBlock]:
        """End the line, or the paragraph if the previous line is empty."""
        if self.broken:
            yield from self.flush()
        self.add("\n")
        self.broken = True

    def flush(self, level: int = 0) -> Iterator[TextBlock]:
        """Yield the current block if it has text; `level` is that of a heading, else 0."""
        if not self.words:
            return
        text, linked = unwrap_line("".join(self.words)), self.linked
        text = strip_permalink(text) if level else text
        self.words.clear()
        self.linked = 0
        if not text:
            return
        if level or self.mark or is_note_label(text):
            yield from self.end_label()
        if self.notes and not self.mark and is_note_label(text):
            # It stands above the text of its note, and is no heading of what follows that.
            name = text.rstrip(_LABEL_ENDS)
            self.label = f"{name}: " if name.isascii() else f"{name}："
            return
        share = linked / len(self.label + text)
        yield TextBlock(self.label + self.mark + text, level, share, bool(self.margins))
        self.mark = self.label = ""

    def end_label(self) -> Iterator[TextBlock]:
        """Yield the label of a note as a paragraph where its text cannot begin with it."""
        if self.label:
            yield TextBlock(self.label.rstrip(), in_margin=bool(self.margins))
            self.label = ""

    def end_note(self, node: Any) -> Iterator[TextBlock]:
        """Yield the label of a note without text."""
        if self.notes and self.notes[-1] is node:
            yield from self.end_label()

    def whole(self, node: Any) -> Iterator[TextBlock]:
        """Yield the block of preformatted text or of a table row."""
        yield from self.flush()
        yield from self.end_label()
        if node.tag != "pre":
            yield from self.rows(self.table.row(node))
        elif (text := _preformatted(node)).strip():
            yield TextBlock(self.mark + text, in_margin=bool(self.margins))
            self.mark = ""

    @property
    def table(self) -> _Table:
        """The innermost table; a row may also stand in none."""
        if not self.tables:
            self.tables.append(_Table())
        return self.tables[-1]

    def rows(self, rows: Iterable[TextBlock]) -> Iterator[TextBlock]:
        """Yield rows, in the margin if their table is in it."""
        for block in rows:
            yield block._replace(in_margin=bool(self.margins) or block.in_margin)

    def has_row(self, row: Any) -> bool:
        """Tell whether a row is data, and not only the layout of a page or a note."""
        table = next(row.iterancestors("table"), None)
        in_layout = bool(self.notes) and table is next(iter(self.notes[-1]), row)
        return not in_layout and self.table.has(row)

    def next_mark(self) -> str:
        """Return the bullet or number of a list item, and count it."""
        if not self.lists or not self.lists[-1]:
            return "- "
        self.lists[-1] += 1
        return f"{self.lists[-1] - 1}. "


class _Table:
    """The header of a table, and the cells that span its next rows."""

    def __init__(self) -> None:
        self.header: list[str] = []
        self.unused: list[str] = []
        self.has_groups = False
        self.below: dict[int, tuple[int, str]] = {}

    def has(self, row: Any) -> bool:
        """Tell whether a row is data, and not only layout."""
        is_single = len(row) < 2 and not self.below
        return not is_single and next(row.iter(*_LAYOUT_TAGS), None) is None

    def row(self, node: Any) -> Iterator[TextBlock]:
        """Yield a row as a sentence, and a header above it that is none of any row."""
        nodes = list(node)
        parts = [_cell_blocks(cell) for cell in nodes]
        texts = [unwrap_line(" ".join(block.text for block in part)) for part in parts]
        cells = self._place(nodes, texts)
        above = node.getparent()
        in_head = above is not None and above.tag == "thead"
        if in_head or all(cell.tag == "th" for cell in nodes):
            groups = self.header if self.unused and (in_head or self.has_groups) else []
            if not groups:
                yield from self.end()
            self.header, self.unused = _add_groups(groups, cells), texts
            self.has_groups = len(cells) > len(nodes) or bool(self.below)
            return
        self.unused = []
        # Rows under a header are data, even if each names a link.
        blocks = [] if self.header else [block for part in parts for block in part]
        size = sum(len(block.text) for block in blocks)
        linked = sum(block.linked * len(block.text) for block in blocks) / size if size else 0.0
        if any(texts):
            yield TextBlock(render_row(self.header, cells), linked=linked)

    def end(self) -> Iterator[TextBlock]:
        """Yield the header as a row if it has no rows."""
        if any(self.unused):
            yield TextBlock(render_row([], self.unused))
        self.unused = []

    def _place(self, nodes: list[Any], texts: list[str]) -> list[str]:
        """Return the cells of a row in their columns, with those that span it from above."""
        cells: list[str] = []
        for cell, text in zip(nodes, texts, strict=True):
            self._fill(cells)
            width, height = _span(cell, "colspan"), _span(cell, "rowspan")
            for at in range(width):
                if height > 1:
                    self.below[len(cells)] = (height - 1, text if not at else "")
                cells.append(text if not at or cell.tag == "th" else "")
        self._fill(cells)
        return cells

    def _fill(self, cells: list[str]) -> None:
        while len(cells) in self.below:
            rows, text = self.below.pop(len(cells))
            if rows > 1:
                self.below[len(cells)] = (rows - 1, text)
            cells.append(text)


def _add_groups(groups: list[str], cells: list[str]) -> list[str]:
    """Return the names of columns behind those of the groups of columns above them."""
    groups = groups + [""] * (len(cells) - len(groups))
    pairs = zip(groups, cells, strict=False)
    return [cell if cell == group else f"{group} {cell}".strip() for group, cell in pairs]


def _cell_blocks(cell: Any) -> list[TextBlock]:
    """Return the blocks of a cell; most have a few words and no element, and need no walk."""
    if len(cell) or cell.tag not in _CELLS or is_hidden(cell) or is_struck_out(cell):
        return list(iterate_html_blocks(cell))
    text = unwrap_line(cell.text or "")
    return [TextBlock(text)] if text else []


def _span(cell: Any, name: str) -> int:
    value = cell.get(name, "1").strip()
    return min(int(value), 100) if value.isdecimal() and int(value) else 1


def _preformatted(node: Any) -> str:
    """Return preformatted text with its lines, including those that a `br` ends."""
    parts: list[str] = []
    walk = etree.iterwalk(node, events=("start", "end"))
    for event, child in walk:
        if event == "end":
            parts.append(child.tail or "" if child is not node else "")
        elif is_struck_out(child):
            walk.skip_subtree()
        elif is_inline_element(child):
            parts.append(_render_inline(child, "".join(parts[-3:])))
            walk.skip_subtree()
        else:
            parts.append("\n" if child.tag == "br" else child.text or "")
    text = "".join(parts).strip("\n")
    return textwrap.indent(text, " " * 4) if _LIKE_HEADING.search(text) else text
