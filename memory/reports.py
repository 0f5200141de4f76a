"""The earlier reports that are about what is asked now."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from config.settings import settings
from library.page_index import PageIndex
from library.page_retrieval import run_search
from library.tables import pages
from memory.facts.tables import facts
from memory.protocol import Note, Query
from prompts.loader import render_prompt
from runs.call_site import thread_of_run
from runs.tables import runs
from storage.tables import events
from text.normalization import to_one_line
from text.script import detect_language
from text.topics import Topic, extract_cross_language_topic, extract_topic, topic_coverage
from text.words import query_terms, search_words

REPORT_PAGE_KIND = "report"
"""The kind of the pages that runs write: their reports, and what only a finding of theirs says."""

MAX_REPORTS = 3
"""How many reports are told of."""

CANDIDATES = 12
"""How many pages are looked at."""

RELATED = 0.45
"""The least share of a question that a report must be about, half by its title and abstract.

With 50 texts of HotpotQA, 2Wiki, CMRC 2018 or DRCD in the place of reports, 80 to 99 of 100
questions are told of the one that answers them, and 2 to 7 of one that has nothing to do with them.
"""

ACROSS = 0.9
"""The same of its names and technical terms, for a report in another language than the question."""

UNANSWERED = ("failed", "insufficient_evidence", "cancelled")
"""The statuses of runs that found nothing out."""

LONGEST = 200
"""The most characters of the name of a report, which is the question it answers."""

QUESTIONS = 256
"""Of so many questions the reports are remembered in a process."""

_CacheKey = tuple[str, str, int, str, str]
"""A database, an owner, the owner's newest event, a run, and its question."""


class _RankedReport(NamedTuple):
    """A page of a report, and how far it is about a question: by its abstract, by its text."""

    number: int
    run: str
    note: Note

    @property
    def score(self) -> float:
        """Return the share of the question that it is about."""
        return sum(self.note.score.values())


class ReportMemory:
    """Tells what earlier runs of the same owner have found out about a question.

    Every call of a run is about its question, so a run searches once; a report that is kept, undone
    or forgotten is an event, and with it the next call searches again.
    """

    name = "reports"
    share = 0.12

    def __init__(self) -> None:
        self.cache: OrderedDict[_CacheKey, list[Note]] = OrderedDict()

    async def recall(self, query: Query, budget: int) -> list[Note]:
        """Return the question and the abstract of related reports; not of the run's own thread."""
        del budget
        question = query.question or query.text
        key = (settings().database, query.owner, query.revision, query.run, question)
        if key not in self.cache:
            self.cache[key] = await find_related_reports(query.owner, question, query.run)
        self.cache.move_to_end(key)
        while len(self.cache) > QUESTIONS:
            self.cache.popitem(last=False)
        return self.cache[key]


async def find_related_reports(
    owner: str, question: str, run: str = "", *, titled: bool = False
) -> list[Note]:
    """Return the earlier reports that are about a question, the closest first, one of each run.

    Args:
        owner: Whose reports.
        question: What is asked.
        run: A run for which those of its own thread are left out: it is told them as its history.
        titled: Whether they are named by their titles, as a person is shown them. A title is the
            words of a model, so calls are told what the person asked instead.
    """
    if not query_terms(question):
        return []
    search = partial(_search, question=question, run=run, titled=titled)
    found = await run_search(owner, search, [REPORT_PAGE_KIND])
    best: dict[str, _RankedReport] = {}
    for report in sorted(found, key=lambda one: -one.score):
        best.setdefault(report.run, report)
    return [report.note for report in best.values()][:MAX_REPORTS]


def _search(index: PageIndex, question: str, run: str, *, titled: bool) -> list[_RankedReport]:
    numbers = index.matching(query_terms(question), CANDIDATES)
    columns = (pages.c[name] for name in ("number", "id", "title", "abstract", "text", "run"))
    wanted = select(*columns, pages.c.created, pages.c.owner).where(pages.c.number.in_(numbers))
    about = {tongue: _topic(question, tongue) for tongue in ("en", "zh")}
    rows = [
        row
        for row in index.connection.execute(wanted)
        if not run or thread_of_run(row.run) != thread_of_run(run)
    ]
    rows = _ended_well(index.connection, rows)
    kept = _report_events(index.connection, rows)
    wrong = _corrected(index.connection, rows)
    asked = _questions_of_runs(index.connection, rows)
    names = [row.title if titled else asked.get((row.owner, row.run), "") for row in rows]
    notes = [
        (row, _note(row, name, about[detect_language(row.text)], kept.get(row.run, 0)))
        for row, name in zip(rows, names, strict=True)
    ]
    tongue = detect_language(question)
    found = [
        _RankedReport(row.number, row.run, _with(note, wrong.get(row.run, {}), tongue))
        for row, note in notes
    ]
    own = {row.number for row in rows if detect_language(row.text) == tongue}
    return [one for one in found if one.score >= (RELATED if one.number in own else ACROSS)]


def _topic(question: str, tongue: str) -> Topic:
    """Return what texts in a language must have of a question to be about it.

    Where it is not the question's own, only names and technical terms are there in both.
    """
    return (
        extract_topic(question)
        if detect_language(question) == tongue
        else extract_cross_language_topic(question)
    )


def _ended_well(connection: Connection, found: Sequence[Any]) -> list[Any]:
    """Leave out what runs wrote that failed; of a run that is not known nothing is held."""
    wanted = select(runs.c.id).where(
        runs.c.id.in_({row.run for row in found}), runs.c.status.in_(UNANSWERED)
    )
    failed = set(connection.execute(wanted).scalars())
    return [row for row in found if row.run not in failed]


def _questions_of_runs(connection: Connection, found: Sequence[Any]) -> dict[tuple[str, str], str]:
    """Return what the person asked, by owner and run; of a run that is not known, nothing."""
    wanted = select(runs.c.owner, runs.c.id, runs.c.question).where(
        runs.c.id.in_({row.run for row in found})
    )
    return {(row.owner, row.id): row.question for row in connection.execute(wanted)}


def _report_events(connection: Connection, found: Sequence[Any]) -> dict[str, int]:
    """Return the numbers of the events by which runs kept their reports."""
    wanted = select(events.c.run, events.c.id).where(
        events.c.owner.in_({row.owner for row in found}),
        events.c.run.in_({row.run for row in found}),
        events.c.name == "pages.keep",
    )
    rows = connection.execute(wanted.order_by(events.c.id)).all()
    return {row.run: row.id for row in rows}


def _corrected(connection: Connection, found: Sequence[Any]) -> dict[str, dict[str, int]]:
    """Return what the person said was wrong with runs, each with the number of its event.

    What is not held to be so any more, or was taken back, is left out.
    """
    wanted = select(events.c.item, events.c.id, events.c.after).where(
        events.c.owner.in_({row.owner for row in found}),
        events.c.item.in_({row.run for row in found}),
        events.c.name == "feedback.text",
    )
    said = [
        (row.item, row.id, json.loads(row.after))
        for row in connection.execute(wanted.order_by(events.c.id))
        if row.after
    ]
    named = [after.get("fact", "") for _, _, after in said]
    live = select(facts.c.id).where(facts.c.id.in_(named), facts.c.live == 1)
    known = set(connection.execute(live).scalars()) if named else set()
    told: dict[str, dict[str, int]] = {}
    for run, number, after in said:
        if after.get("fact", "") in known:
            told.setdefault(run, {})[after["text"]] = number
    return told


def _with(note: Note, wrong: dict[str, int], tongue: str) -> Note:
    """Return the note of a report with what was said against it since."""
    if not wrong:
        return note
    words = render_prompt("corrected", language=tongue, words=" ".join(wrong)).strip()
    revision = max(note.revision, *wrong.values())
    return note._replace(text=f"{note.text} {words}", revision=revision)


def _note(row: Any, name: str, about: Topic, revision: int) -> Note:
    brief = f"{row.title}\n{row.abstract}"
    score = {
        "abstract": topic_coverage(about, _words(brief)) / 2,
        "text": topic_coverage(about, _words(f"{row.title}\n{row.text}")) / 2,
    }
    day = time.strftime("%Y-%m-%d", time.gmtime(row.created))
    title = f"{to_one_line(name, LONGEST)} ({row.run or row.id}, {day})".lstrip()
    return Note(title, " ".join(row.abstract.split()), row.id, revision, score)


@lru_cache(maxsize=512)
def _words(text: str) -> tuple[str, ...]:
    """Return the words of a text; the same few reports are candidates again and again."""
    return tuple(search_words(text))
