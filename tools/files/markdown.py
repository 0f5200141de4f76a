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
    arrange_sections,
    make_document,
    make_place_namer,
    render_text_block,
)

_FRONT = regex(r"\A(---|\+\+\+)[ \t]*\n(.*?\n)?(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = regex(r"^title[ \t]*[:=][ \t]*(?:[>|][+-]?[ \t]*\n[ \t]+)?(.*)$", re.MULTILINE | re.I)


def read_markdown(file: FileContent) -> ParsedDocument:
    """Read Markdown; its title is in its front matter (YAML or TOML) or its first heading."""
    text = decode_bytes(file.data).replace("\r\n", "\n")
    front = _FRONT.match(text)
    title = _TITLE.search(front[0]) if front else None
    body = text[front.end() :] if front else text
    return make_document(iterate_markdown_blocks(body), title[1].strip(" \t\"'") if title else "")


def iterate_markdown_blocks(text: str) -> Iterator[TextBlock]:
    """Yield the blocks of a text in Markdown."""
    page = MarkdownIt("commonmark").enable("table").render(text)
    return iterate_html_blocks(parse_html(f"<body>{page}</body>"))


_LONGEST_OUTPUT = 4_000


def read_notebook(file: FileContent) -> ParsedDocument:
    """Read the text, the code and the printed results of all cells; pictures are left out."""
    book = json.loads(decode_bytes(file.data))
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list):
        raise FileRefused(ErrorCode.FILE_TYPE_MISMATCH, "it is no notebook of the present format")
    about = book.get("metadata", {}).get("title", "")
    pieces = [_piece(number, cell) for number, cell in enumerate(cells, start=1)]
    title = about or next((piece.title for piece in pieces if piece.title), "")
    return ParsedDocument(
        title=str(title), sections=arrange_sections(pieces, make_place_namer("cell"))
    )


def _piece(number: int, cell: dict[str, Any]) -> DocumentPiece:
    source = _joined(cell.get("source", ""))
    if cell.get("cell_type") == "markdown":
        found = list(iterate_markdown_blocks(source))
    else:
        texts = [source, *_outputs(cell)]
        found = [TextBlock(text.strip("\n")) for text in texts if text.strip()]
    heading = next((block.text for block in found if block.level), "")
    return DocumentPiece(heading, str(number), str(number), "".join(map(render_text_block, found)))


def _outputs(cell: dict[str, Any]) -> Iterator[str]:
    for output in cell.get("outputs", []):
        shown = output.get("text") or output.get("data", {}).get("text/plain", "")
        yield _joined(shown)[:_LONGEST_OUTPUT]


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)
