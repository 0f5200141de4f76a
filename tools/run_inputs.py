"""The files and tables of a run that code may compute with, as copies under stable names."""

from __future__ import annotations

import asyncio
import csv
import hashlib
import io
import re
from collections.abc import Mapping, Sequence
from itertools import count, groupby
from pathlib import Path
from typing import NamedTuple

from config.errors import Problem
from graph.context import Context
from graph.records import Source
from library.knowledge_records import KNOWLEDGE_KIND, RESULT_KIND
from library.store import read_page_origins, read_page_texts
from library.uploaded_files import with_uploads
from report.markdown.markdown_blocks import split_cells
from runs.call_site import CallSite
from storage.file_store import find_local_file
from text.regex import regex
from tools.files.file_reader import load_file
from tools.files.formats import GRID_READERS, FileLimits, FileRefused
from tools.files.parsed_document import make_grid
from tools.run_files import RunFile, list_base_files, list_folder_files
from tools.tables.table_answers import read_tables
from tools.tables.typed_table import TypedTable, make_tables

MAX_INPUTS = 40
"""So many files, and so many tables of pages, are offered to one step at the most."""

MAX_BYTES = 40_000_000
"""So many bytes of them together."""

MAX_DESCRIBED = 12
"""So many tables are described with their columns; of the others the names are told."""

_UNSAFE = regex(r"[^\w.-]+")
_RULE = regex(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?")


class RunInput(NamedTuple):
    """A file or table, and where it is from: kind and origin of what is computed from it."""

    name: str
    """The name of its copy."""
    sha256: str
    kind: str
    origin: str
    location: str
    path: str = ""
    """Where the file lies; empty for a table that stands in a page."""
    text: str = ""
    """The content of a table that stands in a page, as CSV."""
    tables: Sequence[TypedTable] = ()
    base: str = ""
    """The name of the knowledge base that it is from, if it is from one."""
    size: int = 0
    """The bytes of the file."""


async def list_run_inputs(
    here: CallSite,
    context: Context,
    sources: Mapping[str, Source],
    *,
    bases: Sequence[str] = (),
    described: bool = False,
) -> list[RunInput]:
    """Return what a step may compute with: tables first, then the other files of the run.

    Args:
        here: The point of the run.
        context: The choices of the run, which name its folders.
        sources: The sources that the step may cite; tables in their pages are inputs, too.
        bases: The names of the knowledge bases that the plan names; their files are inputs, too.
        described: Whether to read the cells of the first tables, so that they can be described.
    """
    roots = await with_uploads(here.owner, here.thread, context.files)
    stored = await list_folder_files(here.owner, roots)
    stored += await list_base_files(here.owner, bases)
    stored.sort(key=lambda one: one.suffix not in GRID_READERS)
    chosen: list[RunFile] = []
    size = 0
    for file in stored[:MAX_INPUTS]:
        size += file.size
        if size <= MAX_BYTES:
            chosen.append(file)
    names = _distinct_names([one.name for one in chosen])
    found = [
        _from_file(file, name, await _tables(file) if described and at < MAX_DESCRIBED else [])
        for at, (file, name) in enumerate(zip(chosen, names, strict=True))
    ]
    tables = await _list_page_tables(here.owner, sources)
    return [*found, *tables[:MAX_INPUTS]]


async def _tables(file: RunFile) -> list[TypedTable]:
    return await read_tables(file) if file.suffix in GRID_READERS else []


def _from_file(file: RunFile, name: str, tables: Sequence[TypedTable]) -> RunInput:
    kind, origin = file.origin
    where = (file.location, file.path)
    return RunInput(name, file.sha256, kind, origin, *where, "", tables, file.base, file.size)


def _distinct_names(names: Sequence[str]) -> list[str]:
    """Return file names without what code could trip over, each only once."""
    taken: set[str] = set()
    safe: list[str] = []
    for name in names:
        plain = _UNSAFE.sub("_", name).lstrip(".-") or "file"
        stem, dot, suffix = plain.rpartition(".")
        numbered = (f"{stem}-{at}{dot}{suffix}" if dot else f"{plain}-{at}" for at in count(2))
        while plain in taken:
            plain = next(numbered)
        taken.add(plain)
        safe.append(plain)
    return safe


async def _list_page_tables(owner: str, sources: Mapping[str, Source]) -> list[RunInput]:
    """Return the tables that stand in the pages of sources, such as `S3-table-1.csv`."""
    cited = [one for one in sources.values() if one["kind"] != "computed"]
    cited = [
        one
        for one in cited
        if Path(one["location"].partition("#")[0]).suffix.lower() not in GRID_READERS
    ]
    ids = [one["page"] for one in cited]
    texts, origins = await read_page_texts(owner, ids), await read_page_origins(owner, ids)
    found: list[RunInput] = []
    for source in cited:
        rows = await asyncio.to_thread(find_page_tables, texts.get(source["page"], ""))
        for number, table in enumerate(rows, start=1):
            found.append(_from_page(source, origins[source["page"]], number, table))
    return found


def _from_page(
    source: Source, origin: tuple[str, str], number: int, rows: Sequence[Sequence[str]]
) -> RunInput:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    text, name = stream.getvalue(), f"{source['id']}-table-{number}.csv"
    based = source["kind"] == KNOWLEDGE_KIND
    kind, of = origin
    return RunInput(
        name,
        hashlib.sha256(text.encode()).hexdigest(),
        RESULT_KIND if based else kind,
        of,
        source["location"],
        text=text,
        tables=make_tables(name, [make_grid("", map(list, rows))]),
        base=source.get("site", "") if based else "",
    )


def find_page_tables(text: str) -> list[list[list[str]]]:
    """Return the tables of a text in Markdown: of each its rows, the heading first."""
    found: list[list[list[str]]] = []
    lines = text.splitlines()
    for is_row, run in groupby(lines, lambda line: line.strip().startswith("|")):
        rows = list(run) if is_row else []
        if len(rows) > 2 and _RULE.fullmatch(rows[1].strip()):
            found.append(
                [[cell.strip() for cell in split_cells(one)] for one in (rows[0], *rows[2:])]
            )
    return found


async def read_run_inputs(inputs: Sequence[RunInput]) -> dict[str, bytes]:
    """Return the content of inputs by name; what has changed since it was read is left out."""
    contents = await asyncio.gather(*(asyncio.to_thread(_content, one) for one in inputs))
    return {one.name: data for one, data in zip(inputs, contents, strict=True) if data is not None}


def _content(one: RunInput) -> bytes | None:
    if not one.path:
        return one.text.encode()
    try:
        data = load_file(find_local_file(one.path), FileLimits()).data
    except (FileRefused, FileNotFoundError, Problem):
        return None
    return data if hashlib.sha256(data).hexdigest() == one.sha256 else None


def select_named_inputs(code: str, inputs: Sequence[RunInput]) -> list[RunInput]:
    """Return the inputs whose names a program has; all of them if it may list its folder."""
    named = [one for one in inputs if one.name in code]
    lists = re.search(r"\b(?:glob|listdir|iterdir|scandir|walk)\b", code)
    return [*inputs] if lists else named
