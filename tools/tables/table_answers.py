"""Answer a question over the tables of a person's files, where it can be read in one way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import anyio.to_thread

from calls.run_budget import run_within_budget
from config.errors import Problem
from config.resources import RecentCache, Resource
from graph.context import Context
from runs.call_site import CallSite
from storage.file_store import find_local_file
from tools.computed_pages import DerivedText
from tools.files.extractor import extract_cells
from tools.files.formats import GRID_READERS, FileLimits
from tools.run_files import RunFile
from tools.tables import answer_text
from tools.tables.mentions import OPERATIONS, VOCABULARY, normalise_question
from tools.tables.query import (
    ParsedQuery,
    QueryResult,
    QueryUnfit,
    TableQueries,
    compute_query,
    parse_model_query,
)
from tools.tables.query_builder import QuestionPhrase
from tools.tables.question_parser import UnclearQuestion, parse_question, split_table_question
from tools.tables.typed_table import TypedTable, make_tables

TABLE_ROLE = "rewriter"
"""Who reads a question for tables: whoever else puts questions into a form for searching."""

MOST = 20
"""So many files are looked at for one question, or all that it names."""

SMALL = 1_000_000
"""A question that asks for no operation is looked up in files up to this size only, in bytes."""

KEPT = 8
"""The tables of so many files are kept in memory."""


BOTH = 3
"""Where a question fits so many tables at the most, it is answered for each of them.

Of more it is answered where all of them say the same.
"""

FileTable = tuple[RunFile, TypedTable]
"""A table, and the file it is in."""


NEAR = 4
"""So many tables at the most are shown to a model that reads a question."""

BYTES, ROWS = 60_000_000, 500_000
"""So much of the files that a question may be about is read at the most."""


class CandidateTables(NamedTuple):
    """The tables that a question may be about."""

    pairs: list[FileTable]
    unread: list[str]
    """The names of the files that were too many, or too large, to be looked at."""


class UncomputedPart(NamedTuple):
    """A part of a question that asks for a number of a table, and why it was not computed."""

    asked: str
    why: str


class TableAnswers(NamedTuple):
    """What the tables say to a question."""

    computed: list[DerivedText]
    """What was computed for parts of the question, in words, and where it is from."""
    uncomputed: list[UncomputedPart]
    whole: bool
    """Whether what was computed is all that was asked."""


_tables = Resource(lambda: RecentCache[tuple[str, str, str], list[TypedTable]](KEPT))
"""The tables of files by path, name and digest."""


async def find_candidate_tables(files: Sequence[RunFile], question: str) -> CandidateTables:
    """Return the tables that a question may be about, and which files were not looked at.

    Args:
        files: The files of the run, and of its knowledge bases.
        question: As the person puts it.
    """
    files = [one for one in files if _may_answer(one, question)]
    files = [one for one in files if _names(question, one)] or files
    pairs: list[FileTable] = []
    left: list[str] = []
    size = rows = 0
    for at, one in enumerate(files):
        size += one.size
        if at >= MOST or size > BYTES or rows > ROWS:
            left.append(one.name)
            continue
        found = await read_tables(one)
        rows += sum(table.size for table in found)
        pairs += [(one, table) for table in found]
    return CandidateTables(pairs, left)


async def answer_table_question(
    here: CallSite, context: Context, looked: CandidateTables, question: str, language: str
) -> TableAnswers | None:
    """Return what is computed for a question, and what is not; nothing where no table is asked."""
    found = await run_within_budget(
        here, context, TABLE_ROLE, compute_answers, looked.pairs, question, language
    )
    if found is None or not looked.unread:
        return found
    told = UncomputedPart(question, answer_text.explain_unread_tables(looked.unread, language))
    return found._replace(uncomputed=[*found.uncomputed, told])


async def answer_model_queries(
    here: CallSite, context: Context, pairs: Sequence[FileTable], read: TableQueries, language: str
) -> TableAnswers:
    """Return what the queries give that a model wrote; one that does not fit is not computed."""
    return await run_within_budget(here, context, TABLE_ROLE, _queried, pairs, read, language)


def _queried(pairs: Sequence[FileTable], read: TableQueries, language: str) -> TableAnswers:
    computed: list[DerivedText] = []
    uncomputed: list[UncomputedPart] = []
    every = [table for _, table in pairs]
    for query in read.queries:
        try:
            result = compute_query(parse_model_query(query, every, chinese=language == "zh"))
        except QueryUnfit as unfit:
            why = answer_text.explain_unfit_query(str(unfit), language)
            uncomputed.append(UncomputedPart(query.asked, why))
        else:
            file = next(file for file, table in pairs if table is result.query.table)
            computed.append(_computed(file, result, language))
    return TableAnswers(computed, uncomputed, not uncomputed and not read.rest.strip())


def list_named_tables(pairs: Sequence[FileTable], question: str) -> list[FileTable]:
    """Return the tables that a question names something of, if it asks for a computation.

    What names a column or a value word for word comes first.
    """
    if not VOCABULARY.any_found(question, *OPERATIONS):
        return []
    asked = normalise_question(question)
    phrases = [(QuestionPhrase(asked, pair[1]), pair) for pair in pairs]
    named = [one for one in phrases if one[0].exact or _names(question, one[1][0])]
    named.sort(key=lambda one: -one[0].named)
    return [pair for _, pair in named[:NEAR]]


def compute_answers(
    pairs: Sequence[FileTable], question: str, language: str
) -> TableAnswers | None:
    """Return what tables say to a question, part by part where it asks for several things."""
    pieces = split_table_question(question)
    found = [_part(pairs, one, language) for one in pieces]
    if len(pieces) > 1 and not all(isinstance(one, list) for one in found):
        whole = _part(pairs, question, language)
        if isinstance(whole, list) or not any(found):
            found = [whole]
    computed = [answer for one in found if isinstance(one, list) for answer in one]
    uncomputed = [one for one in found if isinstance(one, UncomputedPart)]
    if not (computed or uncomputed):
        return None
    return TableAnswers(computed, uncomputed, all(isinstance(one, list) for one in found))


def _may_answer(file: RunFile, question: str) -> bool:
    asked = _names(question, file) or VOCABULARY.any_found(question, *OPERATIONS)
    return file.suffix in GRID_READERS and (asked or file.size <= SMALL)


def _names(question: str, file: RunFile) -> bool:
    return file.name.casefold() in question.casefold()


async def read_tables(file: RunFile) -> list[TypedTable]:
    """Return the tables of a file as it was read; none if it has changed or cannot be read now."""
    key = (file.path, file.name, file.sha256)
    tables = _tables.get()
    if key not in tables:
        try:
            path = await anyio.to_thread.run_sync(find_local_file, file.path)
            grids = await extract_cells(path, file.sha256, FileLimits())
        except (FileNotFoundError, Problem):
            return []
        tables[key] = await anyio.to_thread.run_sync(make_tables, file.name, grids)
    return tables[key]


def _part(
    pairs: Sequence[FileTable], question: str, language: str
) -> list[DerivedText] | UncomputedPart | None:
    sure = any(_names(question, file) for file, _ in pairs)
    read = [(file, parse_question(question, table, sure=sure)) for file, table in pairs]
    queries = [(file, one) for file, one in read if isinstance(one, ParsedQuery)]
    best = max(((one.named, one.fit) for _, one in queries), default=None)
    results = [(file, compute_query(one)) for file, one in queries if (one.named, one.fit) == best]
    if results and (len(results) <= BOTH or len({_gist(one) for _, one in results}) == 1):
        return _tell(results, language)
    if results:
        several = [one.query for _, one in results]
        return UncomputedPart(question, answer_text.explain_several_tables(several, language))
    doubts = [one for _, one in read if isinstance(one, UnclearQuestion)]
    if not doubts:
        return None
    doubt = min(doubts, key=lambda one: not one.options)
    return UncomputedPart(question, answer_text.explain_unclear_question(doubt, language))


def _tell(results: Sequence[tuple[RunFile, QueryResult]], language: str) -> list[DerivedText]:
    """Return what some tables say; of many that say the same, the others are named."""
    texts = [_computed(file, one, language) for file, one in results[:BOTH]]
    others = [one.query.table.name for _, one in results[BOTH:]]
    if others:
        same = answer_text.render_same_results(others, language)
        texts[-1] = texts[-1]._replace(text=f"{texts[-1].text}\n{same}")
    return texts


def _computed(file: RunFile, result: QueryResult, language: str) -> DerivedText:
    numbers = result.query.table.numbers
    title = answer_text.render_query_title(result.query, language)
    text = answer_text.render_table_answer(result, language)
    place = f"rows={numbers[0]}-{numbers[-1]}"
    return DerivedText(*file.origin, file.location, title, place, text, file.base)


def _gist(result: QueryResult) -> str:
    """Return what two results have in common that say the same."""
    items = sorted(one.name.casefold() for one in result.items)
    lists = result.query.operation in ("list", "lookup", "min", "max")
    return f"{result.value} {items}" if lists or result.query.group else f"{result.value}"
