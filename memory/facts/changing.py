"""Change what is known of a person, in a transaction of the caller's, each time with an event."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

from sqlalchemy import Connection

from config.errors import Problem
from memory.facts import rows
from memory.facts.fact import Fact, NewFact, trust
from memory.facts.held import holder
from memory.facts.sameness import ALIKE, joined
from storage.events import Event, hold, log

NEAREST = 5
"""How many of the facts most like a new one are looked at, whether they say the same."""


class Change(NamedTuple):
    """In which transaction something of an owner is changed, where in which run, and why."""

    connection: Connection
    owner: str
    why: str = ""
    run: str = ""
    step: str = ""

    def logged(
        self,
        name: str,
        item: str,
        before: Mapping[str, Any] | None,
        after: Mapping[str, Any] | None,
        provenance: str = "user",
        run: str = "",
    ) -> int:
        """Write an event, of a run if one is named here or in the change; return its number."""
        where = (self.why, self.run or run, self.step)
        return log(
            self.connection, Event(self.owner, name, item, before, after, provenance, *where)
        )


def add(change: Change, new: NewFact) -> Fact:
    """Know a fact, or more surely what is known; `memory.facts.store.add` says how."""
    hold(change.connection, change.owner)
    known = _known(change, new)
    return _confirm(change, *known, new) if known else _create(change, new)


def supersede(change: Change, id: str, new: NewFact, revision: int = 0) -> Fact:
    """Know something else instead; `memory.facts.store.supersede` says how."""
    old = live(change, id, revision)
    if trust(new.provenance) < trust(old.provenance):
        what = f"what a {old.provenance} said is not replaced by what a {new.provenance} says"
        raise Problem("untrusted_fact", what, where=id, hint="say yourself that it is so")
    known = _known(change, new)
    if known and known[0].id == id:
        return _confirm(change, *known, new)
    before, after = known or (None, _made(new))
    # What holds from some later day leaves what holds till then.
    since = time.time() if before else max(after.valid_from, old.valid_from)
    ended = old._replace(valid_to=since, superseded_by=after.id, live=since > time.time())
    number = change.logged(
        "fact.supersede",
        id,
        rows.both(old, before),
        rows.both(ended, after),
        new.provenance,
        new.run,
    )
    rows.put(change.connection, change.owner, ended._replace(revision=number))
    after = after._replace(revision=number)
    rows.put(change.connection, change.owner, after)
    return after


def replace(change: Change, ids: Sequence[str], new: NewFact) -> Fact:
    """Know a fact instead of several; `memory.facts.store.replace` says how."""
    hold(change.connection, change.owner)
    held = [fact.id for fact in rows.some(change.connection, change.owner, ids) if fact.live]
    known = [supersede(change, id, new) for id in held]
    return known[-1] if known else add(change, new)


def edit(change: Change, old: Fact, new: NewFact) -> Fact:
    """Put what a person wrote in the place of what was there; where it was said stays.

    Raises:
        Problem: `fact_known` if another fact says that.
    """
    other = rows.known_as(change.connection, change.owner, new.content)
    if other and other.id != old.id:
        hint = f"it is {other.id}"
        raise Problem("fact_known", "another fact says that already", where=old.id, hint=hint)
    after = old._replace(
        content=new.content, category=new.category, confidence=new.confidence, provenance="user"
    )
    return _rewrite(change, "fact.edit", old, after, "user")


def remove(change: Change, old: Fact) -> Fact:
    """Know a fact no more; what it was stays in the log, and in the history."""
    number = change.logged("fact.remove", old.id, rows.data(old), None)
    gone = old._replace(live=False, valid_to=time.time(), revision=number)
    rows.put(change.connection, change.owner, gone)
    return gone


def live(change: Change, id: str, revision: int = 0) -> Fact:
    """Return a fact that is to be changed, and let nobody else change it meanwhile.

    Args:
        change: The change.
        id: Which.
        revision: The one at which the caller has seen it; 0 for any.

    Raises:
        Problem: `fact_not_found`, or `fact_changed` if it is not live or has another revision.
    """
    hold(change.connection, change.owner)
    fact = rows.one(change.connection, change.owner, id)
    if fact is None or not fact.content:
        raise Problem("fact_not_found", "no fact has this id", where=id)
    if not fact.live:
        hint = f"{fact.superseded_by} took its place" if fact.superseded_by else "it was removed"
        raise Problem("fact_changed", "it is not known any more", where=id, hint=hint)
    if revision not in (0, fact.revision):
        what = f"event {fact.revision} has changed it"
        raise Problem("fact_changed", what, where=id, hint="look at it again")
    return fact


def _known(change: Change, new: NewFact) -> tuple[Fact, Fact] | None:
    """Return the fact that says the same, and what it is now that it is said again."""
    connection, owner = change.connection, change.owner
    same = rows.known_as(connection, owner, new.content)
    if same and same.valid_to is not None and same.valid_to <= time.time():
        # It held once; now it is said anew, so what it was is history.
        rows.put(connection, owner, same._replace(live=False))
        same = None
    for old in [same] if same else _alike(connection, owner, new.content):
        if after := joined(old, new):
            return old, after
    return None


def _alike(connection: Connection, owner: str, content: str) -> list[Fact]:
    known = holder(owner).refresh(connection, owner)
    ids = [id for id, _ in known.alike(content, NEAREST, ALIKE)]
    found = rows.some(connection, owner, ids)
    return [fact for fact in found if fact.live and fact.valid_to is None]


def _made(new: NewFact) -> Fact:
    now = time.time()
    since = now if new.valid_from is None else new.valid_from
    told: dict[str, Any] = new._asdict() | {"valid_from": since}
    return Fact(
        **told, id=uuid4().hex, created=now, valid_to=None, superseded_by="", live=True, revision=0
    )


def _create(change: Change, new: NewFact) -> Fact:
    fact = _made(new)
    number = change.logged("fact.add", fact.id, None, rows.data(fact), new.provenance, new.run)
    fact = fact._replace(revision=number)
    rows.put(change.connection, change.owner, fact)
    return fact


def _confirm(change: Change, old: Fact, after: Fact, new: NewFact) -> Fact:
    name = "fact.confirm" if after.content == old.content else "fact.reword"
    return _rewrite(change, name, old, after, new.provenance, new.run)


def _rewrite(
    change: Change, name: str, old: Fact, new: Fact, provenance: str, run: str = ""
) -> Fact:
    """Log what becomes of a fact, and write it if that is anything new."""
    number = change.logged(name, old.id, rows.data(old), rows.data(new), provenance, run)
    if new == old:
        return old
    new = new._replace(revision=number)
    rows.put(change.connection, change.owner, new)
    return new
