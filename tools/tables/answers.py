"""Answer a question over the tables of a person's files, where it can be read in one way."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from config.errors import Problem
from graph.context import Context
from memory.pages.documents import Held, held
from runs.budget import beside
from runs.place import Here
from tools.files.reading import cells
from tools.files.shapes import Grid, Limits
from tools.tables import wording
from tools.tables.computing import Result, compute
from tools.tables.making import Reading, Unclear
from tools.tables.mentions import normal
from tools.tables.parts import parts
from tools.tables.phrase import Phrase
from tools.tables.query import TableQueries, Unfit, to_reading
from tools.tables.reading import reading
from tools.tables.table import Table, tables
from tools.tables.vocabulary import OPERATIONS

ROLE = "rewriter"
"""Who reads a question for tables: whoever else puts questions into a form for searching."""

SUFFIXES = (".csv", ".tsv", ".xlsx")
"""The files that hold tables."""

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

Pair = tuple[Held, Table]
"""A table, and the file it is in."""


NEAR = 4
"""So many tables at the most are shown to a model that reads a question."""

BYTES, ROWS = 60_000_000, 500_000
"""So much of the files that a question may be about is read at the most."""


class Looked(NamedTuple):
    """The tables that a question may be about."""

    pairs: list[Pair]
    left: list[str]
    """The names of the files that were too many, or too large, to be looked at."""


class Computed(NamedTuple):
    """What the tables say to a part of a question, in words, and where it is from."""

    file: Held
    title: str
    place: str
    text: str


class Uncomputed(NamedTuple):
    """A part of a question that asks for a number of a table, and why it was not computed."""

    asked: str
    why: str


class Answers(NamedTuple):
    """What the tables say to a question."""

    computed: list[Computed]
    uncomputed: list[Uncomputed]
    whole: bool
    """Whether what was computed is all that was asked."""


_kept: OrderedDict[tuple[str, str], list[Grid]] = OrderedDict()


async def tables_of(owner: str, roots: Sequence[str], question: str) -> Looked:
    """Return the tables that a question may be about, and which files were not looked at.

    Args:
        owner: Whose files.
        roots: The folders that were read; all of the owner's where none is named.
        question: As the person puts it.
    """
    files = [one for one in await held(owner, roots) if _may_answer(one, question)]
    files = [one for one in files if _names(question, one)] or files
    pairs: list[Pair] = []
    left: list[str] = []
    size = rows = 0
    for at, one in enumerate(files):
        size += one.size
        if at >= MOST or size > BYTES or rows > ROWS:
            left.append(Path(one.path).name)
            continue
        found = await _tables(one)
        rows += sum(table.size for table in found)
        pairs += [(one, table) for table in found]
    return Looked(pairs, left)


async def answered(
    here: Here, context: Context, looked: Looked, question: str, language: str
) -> Answers | None:
    """Return what is computed for a question, and what is not; nothing where no table is asked."""
    found = await beside(here, context, ROLE, answers, looked.pairs, question, language)
    if found is None or not looked.left:
        return found
    told = Uncomputed(question, wording.left_out(looked.left, language))
    return found._replace(uncomputed=[*found.uncomputed, told])


async def queried(
    here: Here, context: Context, pairs: Sequence[Pair], read: TableQueries, language: str
) -> Answers:
    """Return what the queries give that a model wrote; one that does not fit is not computed."""
    return await beside(here, context, ROLE, _queried, pairs, read, language)


def _queried(pairs: Sequence[Pair], read: TableQueries, language: str) -> Answers:
    computed: list[Computed] = []
    uncomputed: list[Uncomputed] = []
    every = [table for _, table in pairs]
    for query in read.queries:
        try:
            result = compute(to_reading(query, every, chinese=language == "zh"))
        except Unfit as unfit:
            uncomputed.append(Uncomputed(query.asked, wording.unfit(str(unfit), language)))
            continue
        file = next(file for file, table in pairs if table is result.reading.table)
        computed.append(_computed(file, result, language))
    return Answers(computed, uncomputed, not uncomputed and not read.rest.strip())


def near(pairs: Sequence[Pair], question: str) -> list[Pair]:
    """Return the tables that a question names something of, if it asks for a computation.

    What names a column or a value word for word comes first.
    """
    if not any(one.search(question) for one in OPERATIONS.values()):
        return []
    touched = [(Phrase(normal(question), table), (file, table)) for file, table in pairs]
    held = [
        (phrase.named, pair)
        for phrase, pair in touched
        if phrase.exact or _names(question, pair[0])
    ]
    return [pair for _, pair in sorted(held, key=lambda one: -one[0])[:NEAR]]


def answers(pairs: Sequence[Pair], question: str, language: str) -> Answers | None:
    """Return what tables say to a question, part by part where it asks for several things."""
    pieces = parts(question)
    found = [_part(pairs, one, language) for one in pieces]
    if len(pieces) > 1 and not all(isinstance(one, list) for one in found):
        whole = _part(pairs, question, language)
        if isinstance(whole, list) or not any(found):
            pieces, found = [question], [whole]
    computed = [answer for one in found if isinstance(one, list) for answer in one]
    uncomputed = [one for one in found if isinstance(one, Uncomputed)]
    if not (computed or uncomputed):
        return None
    return Answers(computed, uncomputed, all(isinstance(one, list) for one in found))


def _may_answer(file: Held, question: str) -> bool:
    asked = _names(question, file) or any(one.search(question) for one in OPERATIONS.values())
    return file.path.lower().endswith(SUFFIXES) and not file.code and (asked or file.size <= SMALL)


def _names(question: str, file: Held) -> bool:
    return Path(file.path).name.casefold() in question.casefold()


async def _tables(file: Held) -> list[Table]:
    """Return the tables of a file as it was read; none if it has changed or cannot be read now."""
    name = (file.path, file.sha256)
    if name not in _kept:
        try:
            _kept[name] = await cells(Path(file.path), file.sha256, Limits())
        except Problem:
            return []
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return tables(Path(file.path).name, _kept[name])


def _part(
    pairs: Sequence[Pair], question: str, language: str
) -> list[Computed] | Uncomputed | None:
    sure = any(_names(question, file) for file, _ in pairs)
    read = [(file, reading(question, table, sure=sure)) for file, table in pairs]
    found = [(file, one) for file, one in read if isinstance(one, Reading)]
    best = max((_worth(one) for _, one in found), default=(0, 0.0))
    results = [(file, compute(one)) for file, one in found if _worth(one) == best]
    if results and (len(results) <= BOTH or len({_gist(one) for _, one in results}) == 1):
        return _told(results, language)
    if results:
        return Uncomputed(question, wording.several([one.reading for _, one in results], language))
    doubts = [one for _, one in read if isinstance(one, Unclear)]
    doubts.sort(key=lambda one: not one.options)
    return Uncomputed(question, wording.doubt(doubts[0], language)) if doubts else None


def _told(results: Sequence[tuple[Held, Result]], language: str) -> list[Computed]:
    """Return what some tables say; of many that say the same, the others are named."""
    told = [_computed(file, one, language) for file, one in results[:BOTH]]
    others = [one.reading.table.name for _, one in results[BOTH:]]
    if others:
        last = told.pop()
        told.append(last._replace(text=f"{last.text}\n{wording.same(others, language)}"))
    return told


def _worth(read: Reading) -> tuple[int, float]:
    return read.named, read.fit


def _computed(file: Held, result: Result, language: str) -> Computed:
    table = result.reading.table
    place = f"rows={table.numbers[0]}-{table.numbers[-1]}"
    title = wording.title(result.reading, language)
    return Computed(file, title, place, wording.answer(result, language))


def _gist(result: Result) -> str:
    """Return what two results have in common that say the same."""
    items = sorted(one.name.casefold() for one in result.items)
    lists = result.reading.operation in ("list", "lookup", "min", "max")
    return f"{result.value} {items}" if lists or result.reading.group else f"{result.value}"
