"""Read OpenDocument texts; a place is the anchor of a heading."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lxml import etree

from tools.files.archive import unpack
from tools.files.outline import Block, one_line, outline, row
from tools.files.shapes import Document, File, Refused

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_SPACES = frozenset([f"{_TEXT}s", f"{_TEXT}tab", f"{_TEXT}line-break"])
# What was deleted with tracked changes, remarks, and numbers that the program puts in itself.
_UNREAD = frozenset(
    [f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_TEXT}note", f"{_TEXT}table-of-content"]
)
_REPEATED = f"{_TABLE}number-columns-repeated"
_MOST_REPEATED = 50


def read(file: File) -> Document:
    """Read paragraphs, lists and tables; notes, remarks and contents are left out."""
    with unpack(file) as archive:
        names = archive.namelist()
        body = _xml(archive.read("content.xml"))
        if body.find(f".//{_OFFICE}text") is None:
            raise Refused("file_type_mismatch", "it is no text document")
        about = _xml(archive.read("meta.xml")) if "meta.xml" in names else None
    title = one_line(about.findtext(f".//{_TITLE}") or "") if about is not None else ""
    return outline(_blocks(body), title)


def _xml(data: bytes) -> Any:
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    return etree.fromstring(data, parser)


def _blocks(body: Any) -> Iterator[Block]:
    walk = etree.iterwalk(body, events=("start",))
    for _, node in walk:
        if node.tag in _UNREAD:
            walk.skip_subtree()
        elif node.tag == f"{_TABLE}table":
            yield from _rows(node)
            walk.skip_subtree()
        elif node.tag in {f"{_TEXT}h", f"{_TEXT}p"}:
            yield from _paragraph(node)
            walk.skip_subtree()


def _paragraph(node: Any) -> Iterator[Block]:
    text = one_line(_words(node))
    if not text:
        return
    if node.tag == f"{_TEXT}h":
        level = node.get(f"{_TEXT}outline-level", "1")
        yield Block(text, min(int(level), 9) if level.isdecimal() else 1)
    elif node.getparent().tag == f"{_TEXT}list-item":
        yield Block(f"- {text}")
    else:
        is_title = node.get(f"{_TEXT}style-name") == "Title"
        yield Block(text, int(is_title))


def _rows(table: Any) -> Iterator[Block]:
    rows = [_cells(line) for line in table.iter(f"{_TABLE}table-row")]
    if len(rows) == 1:
        yield Block(row([], rows[0]))
    yield from (Block(row(rows[0], cells)) for cells in rows[1:] if any(cells))


def _cells(line: Any) -> list[str]:
    cells: list[str] = []
    for cell in line.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
        times = cell.get(_REPEATED, "1")
        text = one_line(" ".join(_words(part) for part in cell))
        cells += [text] * min(int(times) if times.isdecimal() else 1, _MOST_REPEATED)
    return cells


def _words(node: Any) -> str:
    """Return the words of a paragraph; tabs, line ends and runs of spaces are elements in it."""
    parts: list[str] = []
    walk = etree.iterwalk(node, events=("start", "end"))
    for event, one in walk:
        if event == "end":
            parts.append(one.tail or "" if one is not node else "")
        elif one.tag in _UNREAD:
            walk.skip_subtree()
        else:
            parts.append(" " if one.tag in _SPACES else one.text or "")
    return "".join(parts)
