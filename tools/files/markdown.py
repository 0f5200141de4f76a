"""Read Markdown and Jupyter notebooks; a place is the anchor of a heading or a cell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from markdown_it import MarkdownIt

from config.errors import ErrorCode
from text.regex import regex
from tools.files.encoding import decode_bytes
from tools.files.formats import FileContent, FileRefused
from tools.files.html import iterate_html_blocks, parse_html
from tools.files.parsed_document import (
    DocumentPiece,
    ParsedDocument,
    TextBlock,
    declare_metadata,
    make_document,
    make_numbered_document,
    number_piece,
    render_text_blocks,
)

_FRONT = regex(r"\A(---|\+\+\+)[ \t]*\n(.*?\n)?(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = regex(r"^title[ \t]*[:=][ \t]*(?:[>|][+-]?[ \t]*\n[ \t]+)?(.*)$", re.MULTILINE | re.I)
_FIELD = regex(r"^(date|authors?|lang(?:uage)?)[ \t]*[:=][ \t]*(.+)$", re.MULTILINE | re.I)


def read_markdown(file: FileContent) -> ParsedDocument:
    """Read Markdown; the title is in the front matter (YAML or TOML) or the first heading."""
    text = decode_bytes(file.data).replace("\r\n", "\n")
    front = _FRONT.match(text)
    title = _TITLE.search(front[0]) if front else None
    body = text[front.end() :] if front else text
    made = make_document(iterate_markdown_blocks(body), title[1].strip(" \t\"'") if title else "")
    if not front:
        return made
    fields = {name.lower(): value.strip(" \t\"'[]") for name, value in _FIELD.findall(front[0])}
    author = fields.get("author") or fields.get("authors") or ""
    language = fields.get("lang") or fields.get("language") or ""
    return declare_metadata(
        made, author=author, published=fields.get("date", ""), language=language
    )


def iterate_markdown_blocks(text: str) -> Iterator[TextBlock]:
    """Yield the blocks of a Markdown text."""
    page = MarkdownIt("commonmark").enable("table").render(text)
    return iterate_html_blocks(parse_html(f"<body>{page}</body>"))


_MAX_OUTPUT = 4_000


def read_notebook(file: FileContent) -> ParsedDocument:
    """Read the text, the code and the printed results of all cells, without pictures."""
    book = json.loads(decode_bytes(file.data))
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list):
        raise FileRefused(ErrorCode.FILE_TYPE_MISMATCH, "it is no notebook of the present format")
    pieces = [_read_cell(number, cell) for number, cell in enumerate(cells, start=1)]
    title = book.get("metadata", {}).get("title", "")
    headings = (piece.title for piece in pieces if piece.title)
    return make_numbered_document(str(title or next(headings, "")), pieces, "cell")


def _read_cell(number: int, cell: dict[str, Any]) -> DocumentPiece:
    source = _join(cell.get("source", ""))
    if cell.get("cell_type") == "markdown":
        blocks = list(iterate_markdown_blocks(source))
    else:
        outputs = (
            output.get("text") or output.get("data", {}).get("text/plain", "")
            for output in cell.get("outputs", [])
        )
        texts = [source, *(_join(output)[:_MAX_OUTPUT] for output in outputs)]
        blocks = [TextBlock(text.strip("\n")) for text in texts if text.strip()]
    heading = next((block.text for block in blocks if block.level), "")
    return number_piece(number, render_text_blocks(blocks), heading)


def _join(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)
