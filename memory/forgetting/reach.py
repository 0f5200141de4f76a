"""Find the conversations in which something that is to be forgotten was said, read or cited."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from typing import NamedTuple

from sqlalchemy import Connection, select

from config.settings import settings
from memory.forgetting.aim import Aim, Known, derived, recognised
from memory.forgetting.checkpoints import Saved
from memory.forgetting.erasure import Erasure
from memory.forgetting.pruned import Pruned, pruned
from runs.place import parted
from storage.tables import calls, facts, pages, runs, sources

DERIVED = ("report", "session")
"""The kinds of pages that say again what other pages say."""


class Threads(NamedTuple):
    """The conversations of an owner, and which run belongs to which."""

    of_runs: Mapping[str, str]
    others: frozenset[str]
    """Those without a run, in which the memory alone was asked; see `threads`."""
    foreign: frozenset[str]
    """Those of other owners: nothing in them is ever touched."""
    pruned: Mapping[str, Pruned]
    """The runs that were pruned and have report files, each a conversation of its own."""

    @property
    def mine(self) -> list[str]:
        """The conversations that are the owner's for certain."""
        return list(dict.fromkeys([*self.of_runs.values(), *self.others]))

    def of(self, run: str) -> str:
        """Return the conversation of a run."""
        if run in self.pruned:
            return run
        return self.of_runs.get(run) or run.rpartition("-")[0]


class Reach(NamedTuple):
    """Where something is to be forgotten, and by what it is recognised there."""

    everywhere: Erasure
    threads: Mapping[str, Erasure]
    """What else is forgotten in a conversation."""
    belong: Threads

    def of(self, run: str) -> Erasure:
        """Return what is forgotten in what a run has left; what is of no run is everywhere."""
        return self.threads.get(self.belong.of(run), self.everywhere) if run else self.everywhere

    @property
    def anywhere(self) -> Erasure:
        """What is forgotten where it is not known of which run something is; no ids count there."""
        every = reduce(or_, self.threads.values(), self.everywhere)
        return Erasure(every.phrases, every.lines, every.shared, every.gists, every.terms)


def threads(connection: Connection, owner: str, saved: Saved) -> Threads:
    """Return an owner's conversations.

    The command line asks the memory in conversations without a run; those are its user's.
    """
    rows = connection.execute(select(runs.c.id, runs.c.thread, runs.c.owner)).all()
    mine = {row.id: row.thread for row in rows if row.owner == owner}
    foreign = frozenset(row.thread for row in rows) - set(mine.values())
    user = parted(owner)[0] == settings().user
    others = frozenset(saved.threads()) - foreign - set(mine.values()) if user else frozenset()
    gone = {one.run.id: one for one in pruned(connection, owner, saved)}
    return Threads(mine, others, foreign, gone)


def reach(connection: Connection, what: Aim, saved: Saved) -> tuple[Known, Reach]:
    """Return by what something is recognised that is to be forgotten, and where."""
    belong = threads(connection, what.owner, saved)
    using = _using(connection, what, saved, belong)
    known = recognised(connection, what, set().union(*using.values()))
    found: dict[str, Erasure] = {}
    for thread, some in using.items():
        erasure = reduce(or_, (known.of_pages[page] for page in some))
        gone = belong.pruned.get(thread)
        ids = frozenset(gone.cited(some)) if gone else numbers(connection, thread, some)
        erasure |= Erasure(cited=ids)
        found[thread] = known.everywhere | _with_citing(saved, thread, erasure, gone)
    for run, erasure in known.of_runs.items():
        thread = belong.of(run)
        found[thread] = found.get(thread, known.everywhere) | erasure
    if known.everywhere:
        near = set(_said_in(connection, what))
        for thread in belong.mine:
            if thread in near or saved.forgets(thread, known.everywhere):
                found[thread] = found.get(thread, known.everywhere) | known.nearby
        for run, gone in belong.pruned.items():
            if gone.told(known.everywhere):
                found[run] = found.get(run, known.everywhere) | known.nearby
    made = Reach(known.everywhere, found, belong)
    return known, _with_derived(connection, what, made, saved)


def numbers(connection: Connection, thread: str, ids: Iterable[str]) -> frozenset[str]:
    """Return by which ids a conversation cites pages."""
    cited = select(sources.c.number).where(
        sources.c.thread == thread, sources.c.page.in_(list(ids))
    )
    return frozenset(f"S{number}" for number in connection.execute(cited).scalars())


def _using(connection: Connection, what: Aim, saved: Saved, belong: Threads) -> dict[str, set[str]]:
    """Return the conversations that have used some of the pages, and which."""
    wanted = select(pages.c.id, pages.c.run, pages.c.kind, pages.c.origin)
    mine = wanted.where(pages.c.owner == what.owner, pages.c.id.in_(what.pages))
    rows = connection.execute(mine).all()
    ids = [row.id for row in rows]
    using = saved.naming(saved.threads(), ids)
    cited = select(sources.c.thread, sources.c.page).where(sources.c.page.in_(ids))
    for thread, page in connection.execute(cited):
        using.setdefault(thread, set()).add(page)
    for row in rows:
        for run in filter(None, [row.run, *_fetching(connection, row.kind, row.origin)]):
            using.setdefault(belong.of(run), set()).add(row.id)
    for run, gone in belong.pruned.items():
        if some := set(gone.cited(ids).values()):
            using.setdefault(run, set()).update(some)
    return {thread: some for thread, some in using.items() if thread not in belong.foreign}


def _fetching(connection: Connection, kind: str, origin: str) -> list[str]:
    """Return the runs whose paid calls name the address of a web page."""
    if kind != "web":
        return []
    written = json.dumps(origin)[1:-1]
    naming = select(calls.c.run).distinct().where(calls.c.result.contains(written, autoescape=True))
    return list(connection.execute(naming).scalars())


def _said_in(connection: Connection, what: Aim) -> list[str]:
    mine = select(facts.c.thread).where(facts.c.owner == what.owner, facts.c.id.in_(what.facts))
    return [thread for thread in connection.execute(mine).scalars() if thread]


def _with_citing(saved: Saved, thread: str, erasure: Erasure, gone: Pruned | None) -> Erasure:
    """Add the sentences that cite a page: they stand elsewhere without the mark."""
    citing: set[str] = set()
    if erasure.cited:
        saved.texts(thread, lambda text: citing.update(erasure.citing(text)))
        for text in gone.texts() if gone else ():
            citing.update(erasure.citing(text))
    return erasure | derived(citing)


def _with_derived(connection: Connection, what: Aim, made: Reach, saved: Saved) -> Reach:
    """Add the conversations that have used reports which say again what is forgotten."""
    found = dict(made.threads)
    while True:
        reports = select(pages.c.id, pages.c.run, pages.c.text).where(
            pages.c.owner == what.owner, pages.c.kind.in_(DERIVED)
        )
        hit = {
            row.id: found[made.belong.of(row.run)]
            for row in connection.execute(reports)
            if made.belong.of(row.run) in found
            and found[made.belong.of(row.run)].left(row.text) != row.text
        }
        more = {
            thread: reduce(or_, (_uncited(hit[page]) for page in hit))
            for thread in saved.naming(made.belong.mine, hit)
            if thread not in found
        }
        if not more:
            return made._replace(threads=found)
        found |= more


def _uncited(erasure: Erasure) -> Erasure:
    return Erasure(erasure.phrases, erasure.lines, erasure.shared, erasure.gists, erasure.terms)
