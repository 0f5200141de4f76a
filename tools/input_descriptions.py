"""What a model is told of the files that its programs find: as tables, and as they are written."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath

from prompts.loader import render_prompt
from prompts.prompt_injection import cut_injections
from text.normalization import to_one_line
from text.regex import regex
from tools.files.data_files import detect_separator
from tools.files.encoding import decode_bytes, find_encoding
from tools.files.formats import FILE_READERS, FileRefused
from tools.run_inputs import MAX_DESCRIBED, RunInput, read_run_inputs
from tools.tables.cell_values import is_empty_cell
from tools.tables.query import describe_table
from tools.tables.typed_table import TypedTable

FIRST_ROWS = 3
"""So many rows of each table are shown."""

MAX_CELL = 60
"""The most characters of a cell that are shown."""

MAX_TEXT_CHARS = 4_000
"""A longer text file is only named."""

MAX_TEXTS_CHARS = 12_000
"""So much of text files is shown altogether."""

MAX_TABLE_BYTES = 5_000_000
"""Of a larger table only the cells are described, and not how it is written."""

_TEXT_READERS = ("text_files:read_text_file", "markdown:read_markdown")
_SEPARATORS = {"\t": "tab"}
_THOUSANDS = regex(r"[-+−]?\d{1,3}(?:[,'’ \u00a0\u2009\u202f]\d{3})+(?:\.\d+)?")


async def describe_run_inputs(inputs: Sequence[RunInput], language: str = "en") -> str:
    """Return the names of inputs; of the first tables columns and rows, of short texts the text.

    A program opens the files as they are, so it is said how they are written where that is not
    what the table shows: the separator, lines above the header, rows that sum up others.

    Args:
        inputs: The inputs.
        language: The language of the run.
    """
    tables = [one for one in inputs if one.tables][:MAX_DESCRIBED]
    texts = [one for one in inputs if _is_short_text(one)]
    contents = await read_run_inputs([*_separated(tables), *texts])
    return await asyncio.to_thread(_describe_all, inputs, tables, contents, language)


def _describe_all(
    inputs: Sequence[RunInput],
    tables: Sequence[RunInput],
    contents: Mapping[str, bytes],
    language: str,
) -> str:
    parts: list[str] = []
    room = MAX_TEXTS_CHARS
    for one in inputs:
        data = contents.get(one.name, b"")
        if one in tables:
            parts += [_describe_table(one, table, data, language) for table in one.tables]
            continue
        text = _decode(data).strip()
        shown = f":\n{text}" if 0 < len(text) <= min(MAX_TEXT_CHARS, room) else ""
        room -= len(shown)
        parts.append(f"{one.name}{_from_where(one)}{shown}")
    return cut_injections("\n\n".join(parts))


def _is_short_text(one: RunInput) -> bool:
    suffix = PurePosixPath(one.name).suffix.lower()
    is_text = FILE_READERS.get(suffix, "").endswith(_TEXT_READERS)
    return bool(one.path) and is_text and one.size <= 4 * MAX_TEXT_CHARS


def _separated(tables: Sequence[RunInput]) -> list[RunInput]:
    """Return the tables that are text; what stands in a page was written by this program."""
    files = [one for one in tables if one.path and one.size <= MAX_TABLE_BYTES]
    return [one for one in files if one.name.lower().endswith((".csv", ".tsv"))]


def _decode(data: bytes) -> str:
    try:
        return decode_bytes(data)
    except FileRefused:
        return ""


def _from_where(one: RunInput) -> str:
    table = ""
    if not one.path:
        table = f"a table of {to_one_line(one.location, 200)}" if one.location else "a table"
    base = f"knowledge base {one.base}" if one.base else ""
    told = ", ".join(filter(None, (table, base)))
    return f" ({told})" if told else ""


def _describe_table(one: RunInput, table: TypedTable, data: bytes, language: str) -> str:
    sheet = f", sheet {table.sheet!r}" if table.sheet else ""
    rows = [
        " | ".join(column.cells[at][:MAX_CELL] for column in table.columns)
        for at in range(min(FIRST_ROWS, table.size))
    ]
    first = "\n".join(f"  {row}" for row in rows)
    head = f"{one.name}{sheet}{_from_where(one)}: {describe_table(table)}"
    facts = [f"- {fact}" for fact in _list_file_facts(one.name, table, data, language)]
    return "\n".join([head, *facts, f"- first rows:\n{first}"])


def _list_file_facts(name: str, table: TypedTable, data: bytes, language: str) -> Iterator[str]:
    """Yield how a table is written in its file, as far as a program might not expect it."""
    tell = partial(render_prompt, language=language)
    text = _decode(data)
    separator = detect_separator(text) if text and not name.endswith(".tsv") else ","
    if separator != ",":
        yield tell("input_separator", separator=_SEPARATORS.get(separator, separator)).strip()
    if (encoding := find_encoding(data, text)) not in ("", "utf-8"):
        yield tell("input_encoding", encoding=encoding).strip()
    if table.header_row > 1:
        above = table.header_row - 1
        yield tell("input_header", row=table.header_row, above=above).strip()
    if table.totals:
        numbers = ", ".join(map(str, table.totals[:5]))
        yield tell("input_totals", rows=numbers).strip()
    grouped = [
        column.name for column in table.columns if any(map(_THOUSANDS.fullmatch, column.cells))
    ]
    if grouped:
        yield tell("input_thousands", columns=", ".join(grouped)).strip()
    cells = (cell.strip() for column in table.columns for cell in column.cells)
    empty = dict.fromkeys(cell for cell in cells if cell and is_empty_cell(cell))
    if empty:
        yield tell("input_empty", cells=", ".join(list(empty)[:5])).strip()
