"""Find the threads in which something that is erased was said, read or cited."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from typing import NamedTuple

from sqlalchemy import Connection, select

from config.settings import settings
from library.tables import pages, sources
from memory.tables import facts
from privacy.erasure import Erasure, visit_texts
from privacy.erasure_target import (
    ErasurePatterns,
    ErasureTarget,
    build_erasure_patterns,
    erasure_of_sentences,
)
from privacy.saved_states import PrunedRun, SavedCheckpoints, list_pruned_runs
from runs.call_site import split_owner
from runs.tables import calls, runs

DERIVED_KINDS = ("report", "session")
"""The kinds of pages that repeat what other pages say."""


class OwnerThreads(NamedTuple):
    """The threads of an owner, and the runs of each."""

    by_run: Mapping[str, str]
    without_runs: frozenset[str]
    """Those without a run, in which only the memory was asked; see `_list_owner_threads`."""
    foreign: frozenset[str]
    """Those of other owners, which are never touched."""
    pruned: Mapping[str, PrunedRun]
    """The pruned runs with report files, each a thread of its own."""

    @property
    def owned(self) -> list[str]:
        """The threads that are certainly the owner's."""
        return list(dict.fromkeys([*self.by_run.values(), *self.without_runs]))

    def get_thread(self, run: str) -> str:
        """Return the thread of a run."""
        if run in self.pruned:
            return run
        return self.by_run.get(run) or run.rpartition("-")[0]


class AffectedThreads(NamedTuple):
    """Where something is erased, and by what it is recognized there."""

    everywhere: Erasure
    threads: Mapping[str, Erasure]
    """What is erased in a thread."""
    owner_threads: OwnerThreads

    def get_erasure(self, run: str) -> Erasure:
        """Return what is erased in the data of a run, or everywhere without a run."""
        thread = self.owner_threads.get_thread(run)
        return self.threads.get(thread, self.everywhere) if run else self.everywhere

    @property
    def fallback_erasure(self) -> Erasure:
        """What is erased in data of an unknown run, where ids may mean something else."""
        return reduce(or_, self.threads.values(), self.everywhere).without_ids()


def _list_owner_threads(
    connection: Connection, owner: str, saved: SavedCheckpoints
) -> OwnerThreads:
    """Return an owner's threads.

    The command line asks the memory in threads without a run; those are its user's.
    """
    rows = connection.execute(select(runs.c.id, runs.c.thread, runs.c.owner)).all()
    mine = {row.id: row.thread for row in rows if row.owner == owner}
    foreign = frozenset(row.thread for row in rows) - set(mine.values())
    user = split_owner(owner)[0] == settings().user
    others = frozenset(saved.list_threads()) - foreign - set(mine.values()) if user else frozenset()
    gone = {one.run.id: one for one in list_pruned_runs(connection, owner, saved)}
    return OwnerThreads(mine, others, foreign, gone)


def find_affected_threads(
    connection: Connection, what: ErasureTarget, saved: SavedCheckpoints
) -> tuple[ErasurePatterns, AffectedThreads]:
    """Return by what something that is erased is recognized, and where."""
    belong = _list_owner_threads(connection, what.owner, saved)
    using = _using(connection, what, saved, belong)
    known = build_erasure_patterns(connection, what, set().union(*using.values()))
    found: dict[str, Erasure] = {}
    for thread, some in using.items():
        erasure = reduce(or_, (known.by_page[page] for page in some))
        gone = belong.pruned.get(thread)
        ids = gone.list_cited_ids(some) if gone else _list_source_ids(connection, thread, some)
        erasure |= Erasure(cited=frozenset(ids))
        found[thread] = known.everywhere | _with_citing(saved, thread, erasure, gone)
    for run, erasure in known.by_run.items():
        thread = belong.get_thread(run)
        found[thread] = found.get(thread, known.everywhere) | erasure
    if known.everywhere:
        mine = select(facts.c.thread).filter_by(owner=what.owner)
        near = set(connection.execute(mine.where(facts.c.id.in_(what.facts))).scalars())
        for thread in belong.owned:
            if thread in near or saved.would_change(thread, known.everywhere):
                found[thread] = found.get(thread, known.everywhere) | known.nearby
        for run, gone in belong.pruned.items():
            if gone.to_report_state(known.everywhere):
                found[run] = found.get(run, known.everywhere) | known.nearby
    affected = AffectedThreads(known.everywhere, found, belong)
    return known, _with_derived(connection, what, affected, saved)


def _list_source_ids(connection: Connection, thread: str, ids: Iterable[str]) -> list[str]:
    """Return the ids by which a thread cites pages."""
    cited = select(sources.c.number).filter_by(thread=thread)
    numbers = connection.execute(cited.where(sources.c.page.in_(list(ids)))).scalars()
    return [f"S{number}" for number in numbers]


def _using(
    connection: Connection, what: ErasureTarget, saved: SavedCheckpoints, belong: OwnerThreads
) -> dict[str, set[str]]:
    """Return the threads that have used some of the pages, and which pages."""
    mine = select(pages.c.id, pages.c.run, pages.c.kind, pages.c.origin).filter_by(owner=what.owner)
    rows = connection.execute(mine.where(pages.c.id.in_(what.pages))).all()
    ids = [row.id for row in rows]
    using = saved.find_page_references(saved.list_threads(), ids)
    cited = select(sources.c.thread, sources.c.page).where(sources.c.page.in_(ids))
    for thread, page in connection.execute(cited):
        using.setdefault(thread, set()).add(page)
    for row in rows:
        for run in filter(None, [row.run, *_fetching(connection, row.kind, row.origin)]):
            using.setdefault(belong.get_thread(run), set()).add(row.id)
    for run, gone in belong.pruned.items():
        if some := set(gone.list_cited_ids(ids).values()):
            using.setdefault(run, set()).update(some)
    return {thread: some for thread, some in using.items() if thread not in belong.foreign}


def _fetching(connection: Connection, kind: str, origin: str) -> list[str]:
    """Return the runs whose recorded calls name the address of a web page."""
    if kind != "web":
        return []
    written = json.dumps(origin)[1:-1]
    naming = select(calls.c.run).distinct().where(calls.c.result.contains(written, autoescape=True))
    return list(connection.execute(naming).scalars())


def _with_citing(
    saved: SavedCheckpoints, thread: str, erasure: Erasure, gone: PrunedRun | None
) -> Erasure:
    """Add the sentences that cite a page, which may be elsewhere without the citation."""
    citing: set[str] = set()
    if erasure.cited:

        def see(text: str) -> None:
            citing.update(erasure.find_citing_sentences(text))

        saved.visit_thread_texts(thread, see)
        if gone:
            visit_texts(gone.state, see)
    return erasure | erasure_of_sentences(citing)


def _with_derived(
    connection: Connection, what: ErasureTarget, affected: AffectedThreads, saved: SavedCheckpoints
) -> AffectedThreads:
    """Add the threads that have used reports which repeat what is erased."""
    found = dict(affected.threads)
    mine = select(pages.c.id, pages.c.run, pages.c.text).filter_by(owner=what.owner)
    reports = mine.where(pages.c.kind.in_(DERIVED_KINDS))
    while True:
        hit = {}
        for id, run, text in connection.execute(reports):
            erasure = found.get(affected.owner_threads.get_thread(run))
            if erasure and erasure.redact(text) != text:
                hit[id] = erasure
        more = {
            thread: reduce(or_, (hit[page].without_ids() for page in hit))
            for thread in saved.find_page_references(affected.owner_threads.owned, hit)
            if thread not in found
        }
        if not more:
            return affected._replace(threads=found)
        found |= more
