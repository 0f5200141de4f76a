"""Compute again, over given files, the results that a report cites as computed from tables."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from report.markdown.sanitizer import unescape_markdown
from report.verify.cited_report import CitedReport
from report.verify.computed_references import ComputedReference, parse_computed_reference
from report.verify.given_documents import GivenDocument
from tools.run_files import RunFile
from tools.tables.answer_text import MAX_ITEMS, render_table_answer
from tools.tables.query import ParsedQuery, compute_query
from tools.tables.table_answers import FileTable, compute_answers, read_tables
from tools.tables.titled_queries import parse_query_title

_LANGUAGES = ("en", "zh")
_HEAD_BLOCKS = 12


async def compute_cited_results(
    report: CitedReport, given: Sequence[GivenDocument]
) -> list[GivenDocument]:
    """Return the results that a report cites, computed again over the files that were given.

    A result is computed from the question of the report where that gives a result of the same
    title, else from the title. One whose query neither tells is left out, and so is one whose
    file was not given.

    Args:
        report: The report.
        given: The documents that were given; the first address of each is the path of its file.
    """
    found: list[GivenDocument] = []
    questions = [*_list_stated_questions(report)]
    for reference in report.references:
        cited = parse_computed_reference(reference)
        path = _find_table(cited.path, given) if cited and cited.titles else None
        if not cited or not path:
            continue
        pairs = await _read_pairs(path)
        made = await asyncio.to_thread(_compute, cited, pairs, questions)
        if made:
            title, text = made
            found.append(GivenDocument(reference.address, title, text, (reference.address,)))
    return found


def _list_stated_questions(report: CitedReport) -> Iterator[str]:
    """Yield the title of a report, and the question that it has in italics."""
    for block in report.blocks[:_HEAD_BLOCKS]:
        text = block.text.strip()
        italic = block.kind == "text" and text.startswith("*") and text.endswith("*")
        if italic or (block.kind == "heading" and block.lead.strip() == "#"):
            yield unescape_markdown(text.strip("* "))


def _find_table(wanted: str, given: Sequence[GivenDocument]) -> Path | None:
    """Return the given file of a path, else the only one with its name."""
    paths = {Path(one.addresses[0]) for one in given if one.addresses}
    if Path(wanted) in paths:
        return Path(wanted)
    named = [one for one in paths if one.name == PurePath(wanted).name]
    return named[0] if len(named) == 1 else None


async def _read_pairs(path: Path) -> list[FileTable]:
    try:
        data = await asyncio.to_thread(path.read_bytes)
    except OSError:
        return []
    digest = hashlib.sha256(data).hexdigest()
    file = RunFile(str(path), digest, len(data), str(path))
    return [(file, table) for table in await read_tables(file)]


def _compute(
    cited: ComputedReference, pairs: Sequence[FileTable], questions: Sequence[str]
) -> tuple[str, str] | None:
    """Return the title and the text of a cited result, or None where its query is not told."""
    for question in questions:
        for language in _LANGUAGES:
            answers = compute_answers(pairs, question, language)
            for one in answers.computed if answers else ():
                if one.title in cited.titles:
                    return one.title, one.text
    for title in cited.titles:
        for _, table in pairs:
            titled = parse_query_title(title, table)
            if titled:
                results = map(compute_query, _list_readings(titled.query))
                texts = (render_table_answer(one, titled.language) for one in results)
                return title, "\n\n".join(dict.fromkeys(texts))
    return None


def _list_readings(query: ParsedQuery) -> Iterator[ParsedQuery]:
    """Yield what a query may be whose title leaves out how many and which groups are asked for."""
    yield query
    if query.group:
        yield replace(query, extreme="max")
        yield replace(query, extreme="min")
    elif query.operation in ("min", "max"):
        yield replace(query, top=MAX_ITEMS)
