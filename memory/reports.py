"""The memory of reports: what earlier runs found out about a question."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from typing import Any

from sqlalchemy import ColumnElement, Connection, select

from config.resources import RecentCache, Resource
from config.settings import settings
from library.memorizer import store_with_abstracts
from library.page_index import PageIndex
from library.page_retrieval import run_search
from library.page_rows import NewPage, Provenance
from library.tables import pages
from memory.page_memory import REPORT_PAGE_KIND, PageMemory
from memory.protocol import Export, Memory, Note, Query
from memory.tables import facts
from prompts.loader import render_prompt
from runs.call_site import thread_of_run
from runs.tables import runs
from storage.tables import events
from text.normalization import to_one_line
from text.script import detect_language
from text.topics import Topic, extract_cross_language_topic, extract_topic, topic_coverage
from text.words import query_terms, search_words

MAX_REPORTS = 3
"""The most reports that a call is given."""

MAX_CANDIDATES = 12
"""The most pages that are compared with a question."""

MIN_COVERAGE = 0.45
"""The least share of a question that a report must cover, half by its title and abstract.

With 50 texts of HotpotQA, 2Wiki, CMRC 2018 or DRCD in the place of reports, 80 to 99 of 100
questions are told of the one that answers them, and 2 to 7 of one that has nothing to do with them.
"""

MIN_CROSS_LANGUAGE_COVERAGE = 0.9
"""The same of its names and technical terms, for a report in another language than the question."""

UNANSWERED = ("failed", "insufficient_evidence", "cancelled")
"""The statuses of runs that found nothing out."""

MAX_NAME_CHARS = 200
"""The longest name of a report, which is the question it answers."""

CACHED_QUESTIONS = 256
"""How many questions' reports are cached."""

_CacheKey = tuple[str, str, int, str, str]
"""A database, an owner, the owner's newest event, a run, and its question."""


_related = Resource(lambda: RecentCache[_CacheKey, list[Note]](CACHED_QUESTIONS))


class ReportMemory(PageMemory):
    """What earlier runs of the same owner found out about a question.

    Every call of a run is about its question, so a run searches once; a report that is stored,
    undone or forgotten is an event, after which the next call searches again.
    """

    name = "reports"
    share = 0.12
    event_names = ()

    def is_mine(self) -> ColumnElement[bool]:
        """Return the condition on the pages of reports."""
        return pages.c.kind == REPORT_PAGE_KIND

    async def recall(self, query: Query, budget: int) -> list[Note]:
        """Return the question and the abstract of related reports; not of the run's own thread."""
        del budget
        question = query.question or query.text
        key = (settings().database, query.owner, query.revision, query.run, question)
        notes = _related.get().get(key)
        if notes is None:
            notes = await find_related_reports(query.owner, question, query.run)
        _related.get()[key] = notes
        return notes

    async def record(
        self,
        owner: str,
        new: Sequence[NewPage],
        *,
        run: str = "",
        why: str = "",
        provenance: Provenance = "model",
    ) -> list[str]:
        """Store the pages of a run's report; return their ids."""
        del why
        return await store_with_abstracts(
            owner, REPORT_PAGE_KIND, run, new, provenance=provenance, run=run
        )

    async def export(self, owner: str) -> Export:
        """Return nothing: the memory of pages exports reports too."""
        return await Memory.export(self, owner)


REPORTS = ReportMemory()


async def find_related_reports(
    owner: str, question: str, run: str = "", *, titled: bool = False
) -> list[Note]:
    """Return the earlier reports that are about a question, the closest first, one of each run.

    Args:
        owner: Whose reports.
        question: What is asked.
        run: A run for which those of its own thread are left out: its history has them.
        titled: Whether they are named by their titles, as a person is shown them. A title is the
            words of a model, so calls are given what the person asked instead.
    """
    if not query_terms(question):
        return []
    search = partial(_search, question=question, run=run, titled=titled)
    found = await run_search(owner, search, [REPORT_PAGE_KIND])
    best: dict[str, Note] = {}
    for run_found, note in sorted(found, key=lambda one: -_score(one[1])):
        best.setdefault(run_found, note)
    return list(best.values())[:MAX_REPORTS]


def _score(note: Note) -> float:
    """Return the share of the question that a report covers."""
    return sum(note.score.values())


def _search(index: PageIndex, question: str, run: str, *, titled: bool) -> list[tuple[str, Note]]:
    """Return the notes of the reports that are about a question, each with its run."""
    connection, language = index.connection, detect_language(question)
    rows = _candidates(index, question, run)
    revisions = _store_revisions(connection, rows)
    corrections = _corrections(connection, rows)
    questions = _questions_of_runs(connection, rows)
    topics = {"en": _topic(question, "en"), "zh": _topic(question, "zh")}
    found = []
    for row in rows:
        row_language = detect_language(row.text)
        name = row.title if titled else questions.get((row.owner, row.run), "")
        note = _note(row, name, topics[row_language])
        note = note._replace(revision=revisions.get(row.run, 0))
        note = _with_corrections(note, corrections.get(row.run, {}), language)
        least = MIN_COVERAGE if row_language == language else MIN_CROSS_LANGUAGE_COVERAGE
        if _score(note) >= least:
            found.append((row.run, note))
    return found


def _candidates(index: PageIndex, question: str, run: str) -> list[Any]:
    """Return the rows of pages that share words with a question, of runs that found answers."""
    numbers = index.matching(query_terms(question), MAX_CANDIDATES)
    columns = (pages.c[name] for name in ("number", "id", "title", "abstract", "text", "run"))
    wanted = select(*columns, pages.c.created, pages.c.owner).where(pages.c.number.in_(numbers))
    rows = index.connection.execute(wanted).all()
    of_rows = select(runs.c.id).where(runs.c.id.in_({row.run for row in rows}))
    failed = index.connection.execute(of_rows.where(runs.c.status.in_(UNANSWERED)))
    unanswered = set(failed.scalars())
    thread = thread_of_run(run) if run else None
    return [row for row in rows if row.run not in unanswered and thread_of_run(row.run) != thread]


def _topic(question: str, language: str) -> Topic:
    """Return what texts in a language must cover to be about a question.

    In another language than the question's own, these are names and technical terms alone.
    """
    if detect_language(question) == language:
        return extract_topic(question)
    return extract_cross_language_topic(question)


def _questions_of_runs(connection: Connection, rows: Iterable[Any]) -> dict[tuple[str, str], str]:
    """Return what the person asked, by owner and run."""
    asked = select(runs.c.owner, runs.c.id, runs.c.question)
    wanted = asked.where(runs.c.id.in_({row.run for row in rows}))
    return {(owner, run): question for owner, run, question in connection.execute(wanted)}


def _store_revisions(connection: Connection, rows: Iterable[Any]) -> dict[str, int]:
    """Return the numbers of the events with which runs stored their reports."""
    owners, names = {row.owner for row in rows}, {row.run for row in rows}
    stored = select(events.c.run, events.c.id).filter_by(name="pages.keep")
    wanted = stored.where(events.c.owner.in_(owners), events.c.run.in_(names))
    return {row.run: row.id for row in connection.execute(wanted.order_by(events.c.id))}


def _corrections(connection: Connection, rows: Iterable[Any]) -> dict[str, dict[str, int]]:
    """Return what the person said was wrong with runs, each with the number of its event.

    What is not a fact any more, or was taken back, is left out.
    """
    owners, names = {row.owner for row in rows}, {row.run for row in rows}
    said = select(events.c.item, events.c.id, events.c.after).filter_by(name="feedback.text")
    wanted = said.where(events.c.owner.in_(owners), events.c.item.in_(names), events.c.after != "")
    feedback = connection.execute(wanted.order_by(events.c.id)).all()
    texts = [(run, number, json.loads(after)) for run, number, after in feedback]
    ids = [after.get("fact", "") for _, _, after in texts]
    live = select(facts.c.id).filter_by(live=1).where(facts.c.id.in_(ids))
    known = set(connection.execute(live).scalars()) if ids else set()
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for run, number, after in texts:
        if after.get("fact", "") in known:
            found[run][after["text"]] = number
    return found


def _with_corrections(note: Note, corrections: dict[str, int], language: str) -> Note:
    """Return the note of a report with what the person said against it."""
    if not corrections:
        return note
    words = render_prompt("corrected", language=language, words=" ".join(corrections)).strip()
    revision = max(note.revision, *corrections.values())
    return note._replace(text=f"{note.text} {words}", revision=revision)


def _note(row: Any, name: str, topic: Topic) -> Note:
    score = {
        "abstract": topic_coverage(topic, _words(f"{row.title}\n{row.abstract}")) / 2,
        "text": topic_coverage(topic, _words(f"{row.title}\n{row.text}")) / 2,
    }
    day = time.strftime("%Y-%m-%d", time.gmtime(row.created))
    title = f"{to_one_line(name, MAX_NAME_CHARS)} ({row.run or row.id}, {day})".lstrip()
    return Note(title, " ".join(row.abstract.split()), row.id, score=score)


@lru_cache(maxsize=512)
def _words(text: str) -> tuple[str, ...]:
    """Return the words of a text; the same few reports are candidates again and again."""
    return tuple(search_words(text))
