"""Read Jupyter notebooks; a place is a cell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tools.files.decode import decode
from tools.files.markdown import as_blocks
from tools.files.outline import Block, written
from tools.files.sections import Piece, arrange, numbered
from tools.files.shapes import Document, File, Refused

_LONGEST_OUTPUT = 4_000


def read(file: File) -> Document:
    """Read the text, the code and the printed results of all cells; pictures are left out."""
    book = json.loads(decode(file.data))
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list):
        raise Refused("file_type_mismatch", "it is no notebook of the present format")
    about = book.get("metadata", {}).get("title", "")
    pieces = [_piece(number, cell) for number, cell in enumerate(cells, start=1)]
    title = about or next((piece.title for piece in pieces if piece.title), "")
    return Document(title=str(title), sections=arrange(pieces, numbered("cell")))


def _piece(number: int, cell: dict[str, Any]) -> Piece:
    source = _joined(cell.get("source", ""))
    if cell.get("cell_type") == "markdown":
        found = list(as_blocks(source))
    else:
        texts = [source, *_outputs(cell)]
        found = [Block(text.strip("\n")) for text in texts if text.strip()]
    heading = next((block.text for block in found if block.level), "")
    return Piece(heading, str(number), str(number), "".join(map(written, found)))


def _outputs(cell: dict[str, Any]) -> Iterator[str]:
    for output in cell.get("outputs", []):
        shown = output.get("text") or output.get("data", {}).get("text/plain", "")
        yield _joined(shown)[:_LONGEST_OUTPUT]


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)
