"""Read JSON and JSON Lines; a place is a range of lines."""

from __future__ import annotations

import json
from typing import Any

from tools.files.decode import decode
from tools.files.lines import by_lines
from tools.files.outline import row
from tools.files.shapes import Document, File

_WIDEST = 2_000


def read(file: File) -> Document:
    """Read JSON as text, one record of JSON Lines as a row; what does not parse is kept as it is.

    A file without line ends is laid out anew, and its places count the lines of that layout.
    """
    text = decode(file.data)
    if file.suffix == ".jsonl":
        text = "\n".join(_record(line) for line in text.splitlines())
    elif max(map(len, text.splitlines()), default=0) > _WIDEST:
        text = _laid_out(text)
    return Document(title="", sections=by_lines(text))


def _record(line: str) -> str:
    value = _parsed(line)
    if not isinstance(value, dict):
        return line
    cells = [item if isinstance(item, str) else _dumped(item) for item in value.values()]
    return row([str(name) for name in value], [" ".join(cell.split()) for cell in cells])


def _laid_out(text: str) -> str:
    value = _parsed(text)
    return text if value is None else json.dumps(value, ensure_ascii=False, indent=1)


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
