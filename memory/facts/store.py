"""Change what is known of a person: each change is one transaction with its event."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

from sqlalchemy import Connection, update

from config.errors import ErrorCode, Problem
from memory.facts import queries
from memory.facts.cache import get_fact_cache, load_fact_snapshot
from memory.facts.fact import (
    SAME_FACT_COSINE,
    Fact,
    NewFact,
    fact_event_data,
    fact_key,
    merge_fact,
    supersede_event_data,
    trust_level,
    validate_fact,
)
from memory.facts.queries import select_fact
from memory.facts.tables import facts
from storage.engine import run_write
from storage.events import Event, lock_owner, log_event, read_revision
from storage.upsert import upsert

NEAREST = 5
"""How many of the facts most like a new one are looked at, whether they say the same."""


class FactChange(NamedTuple):
    """In which transaction something of an owner is changed, where in which run, and why."""

    connection: Connection
    owner: str
    why: str = ""
    run: str = ""
    step: str = ""

    def log_event(
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
        return log_event(
            self.connection, Event(self.owner, name, item, before, after, provenance, *where)
        )


def _add(change: FactChange, new: NewFact) -> Fact:
    """Know a fact, or more surely what is known; `memory.facts.store.add_fact` says how."""
    lock_owner(change.connection, change.owner)
    known = _find_same(change, new)
    return _confirm(change, *known, new) if known else _create(change, new)


def _supersede(change: FactChange, id: str, new: NewFact, revision: int = 0) -> Fact:
    """Know something else instead; `memory.facts.store.supersede_fact` says how."""
    old = _select_live(change, id, revision)
    if trust_level(new.provenance) < trust_level(old.provenance):
        what = f"what a {old.provenance} said is not replaced by what a {new.provenance} says"
        raise Problem(ErrorCode.UNTRUSTED_FACT, what, where=id, hint="say yourself that it is so")
    known = _find_same(change, new)
    if known and known[0].id == id:
        return _confirm(change, *known, new)
    before, after = known or (None, _made(new))
    # What holds from some later day leaves what holds till then.
    since = time.time() if before else max(after.valid_from, old.valid_from)
    ended = old._replace(valid_to=since, superseded_by=after.id, live=since > time.time())
    number = change.log_event(
        "fact.supersede",
        id,
        supersede_event_data(old, before),
        supersede_event_data(ended, after),
        new.provenance,
        new.run,
    )
    put_fact(change.connection, change.owner, ended._replace(revision=number))
    after = after._replace(revision=number)
    put_fact(change.connection, change.owner, after)
    return after


def _replace(change: FactChange, ids: Sequence[str], new: NewFact) -> Fact:
    """Know a fact instead of several; `memory.facts.store.replace_facts` says how."""
    lock_owner(change.connection, change.owner)
    held = [
        fact.id for fact in queries.select_facts(change.connection, change.owner, ids) if fact.live
    ]
    known = [_supersede(change, id, new) for id in held]
    return known[-1] if known else _add(change, new)


def _edit(change: FactChange, old: Fact, new: NewFact) -> Fact:
    """Put what a person wrote in the place of what was there; where it was said stays.

    Raises:
        Problem: `fact_known` if another fact says that.
    """
    other = queries.select_same_fact(change.connection, change.owner, new.content)
    if other and other.id != old.id:
        hint = f"it is {other.id}"
        raise Problem(
            ErrorCode.FACT_KNOWN, "another fact says that already", where=old.id, hint=hint
        )
    after = old._replace(
        content=new.content, category=new.category, confidence=new.confidence, provenance="user"
    )
    return _rewrite(change, "fact.edit", old, after, "user")


def _remove(change: FactChange, old: Fact) -> Fact:
    """Know a fact no more; what it was stays in the log, and in the history."""
    number = change.log_event("fact.remove", old.id, fact_event_data(old), None)
    gone = old._replace(live=False, valid_to=time.time(), revision=number)
    put_fact(change.connection, change.owner, gone)
    return gone


def _select_live(change: FactChange, id: str, revision: int = 0) -> Fact:
    """Return a fact that is to be changed, and let nobody else change it meanwhile.

    Args:
        change: The change.
        id: Which.
        revision: The one at which the caller has seen it; 0 for any.

    Raises:
        Problem: `fact_not_found`, or `fact_changed` if it is not live or has another revision.
    """
    lock_owner(change.connection, change.owner)
    fact = queries.select_fact(change.connection, change.owner, id)
    if fact is None or not fact.content:
        raise Problem(ErrorCode.FACT_NOT_FOUND, "no fact has this id", where=id)
    if not fact.live:
        hint = f"{fact.superseded_by} took its place" if fact.superseded_by else "it was removed"
        raise Problem(ErrorCode.FACT_CHANGED, "it is not known any more", where=id, hint=hint)
    if revision not in (0, fact.revision):
        what = f"event {fact.revision} has changed it"
        raise Problem(ErrorCode.FACT_CHANGED, what, where=id, hint="look at it again")
    return fact


def _find_same(change: FactChange, new: NewFact) -> tuple[Fact, Fact] | None:
    """Return the fact that says the same, and what it is now that it is said again."""
    connection, owner = change.connection, change.owner
    same = queries.select_same_fact(connection, owner, new.content)
    if same and same.valid_to is not None and same.valid_to <= time.time():
        # It held once; now it is said anew, so what it was is history.
        put_fact(connection, owner, same._replace(live=False))
        same = None
    for old in [same] if same else _alike(connection, owner, new.content):
        if after := merge_fact(old, new):
            return old, after
    return None


def _alike(connection: Connection, owner: str, content: str) -> list[Fact]:
    known = get_fact_cache(owner).refresh(connection, owner)
    ids = [id for id, _ in known.most_similar(content, NEAREST, SAME_FACT_COSINE)]
    found = queries.select_facts(connection, owner, ids)
    return [fact for fact in found if fact.live and fact.valid_to is None]


def _made(new: NewFact) -> Fact:
    now = time.time()
    since = now if new.valid_from is None else new.valid_from
    told: dict[str, Any] = new._asdict() | {"valid_from": since}
    return Fact(
        **told, id=uuid4().hex, created=now, valid_to=None, superseded_by="", live=True, revision=0
    )


def _create(change: FactChange, new: NewFact) -> Fact:
    fact = _made(new)
    number = change.log_event(
        "fact.add", fact.id, None, fact_event_data(fact), new.provenance, new.run
    )
    fact = fact._replace(revision=number)
    put_fact(change.connection, change.owner, fact)
    return fact


def _confirm(change: FactChange, old: Fact, after: Fact, new: NewFact) -> Fact:
    name = "fact.confirm" if after.content == old.content else "fact.reword"
    return _rewrite(change, name, old, after, new.provenance, new.run)


def _rewrite(
    change: FactChange, name: str, old: Fact, new: Fact, provenance: str, run: str = ""
) -> Fact:
    """Log what becomes of a fact, and write it if that is anything new."""
    number = change.log_event(
        name,
        old.id,
        fact_event_data(old),
        fact_event_data(new),
        provenance,
        run,
    )
    if new == old:
        return old
    new = new._replace(revision=number)
    put_fact(change.connection, change.owner, new)
    return new


EMPTY = {
    "content": "",
    "category": "",
    "confidence": 0.0,
    "quote": "",
    "thread": "",
    "run": "",
    "message": "",
    "provenance": "",
    "created": 0.0,
    "valid_from": 0.0,
    "valid_to": None,
    "superseded_by": "",
    "live": 0,
}
"""What is left of a fact beside its id, its owner and its revision."""


def forget_facts(
    connection: Connection, owner: str, ids: Sequence[str], *, why: str = "", run: str = ""
) -> list[str]:
    """Empty facts, whether they are known still or history, in a transaction of the caller's.

    What the log says of them (`fact.*` events of these items, and those that name one of them as a
    `successor`) is for the caller to scrub; so are free pages and the write-ahead log.

    Returns:
        The ids of those that were there and were not forgotten before.
    """
    lock_owner(connection, owner)
    change = FactChange(connection, owner, why, run)
    found = [select_fact(connection, owner, id) for id in dict.fromkeys(ids)]
    forgotten = [fact.id for fact in found if fact and fact.content]
    for id in forgotten:
        number = change.log_event("fact.forget", id, None, None)
        its = update(facts).where(facts.c.owner == owner, facts.c.id == id)
        # A hash of what was said would tell who guesses it, so the key is the id.
        connection.execute(its.values(EMPTY | {"key": id, "revision": number}))
    return forgotten


async def add_fact(
    owner: str,
    new: NewFact,
    *,
    confirmed: bool = False,
    why: str = "",
    run: str = "",
    step: str = "",
) -> Fact:
    """Know a fact; what says the same as a known one confirms that (`memory.facts.fact`).

    The wording that says more stays. A confirmation makes a fact more sure only within its class
    of trust: what a model says changes nothing that a person said.

    Args:
        owner: Whose.
        new: What.
        confirmed: Whether a person says themselves that it is so, wherever it is from.
        why: Why it is known now, for the log; so are the two that follow.
        run: In which run; by default the one it is from.
        step: In which step of it.

    Returns:
        What is known now.

    Raises:
        Problem: `untrusted_fact` for what a tool or a web page says; `fact_empty`,
            `fact_too_long` or `fact_invalid`.
    """
    new = validate_fact(new, confirmed=confirmed)
    # What it is compared with is read before anyone has to wait for this transaction.
    await load_fact_snapshot(owner, await read_revision(owner))
    return await run_write(lambda c: _add(FactChange(c, owner, why, run, step), new))


async def supersede_fact(
    owner: str,
    id: str,
    new: NewFact,
    *,
    confirmed: bool = False,
    revision: int = 0,
    why: str = "",
    run: str = "",
    step: str = "",
) -> Fact:
    """Know something else instead of a fact, which is kept as history.

    The old one holds until the new one begins. If the new one says what another fact says, that
    one takes the place; if it says what the old one says, that is confirmed.

    Args:
        owner: Whose.
        id: Which fact is replaced.
        new: What is so now.
        confirmed: Whether a person says themselves that it is so, wherever it is from.
        revision: The one at which the caller has seen the old one; any when it is 0.
        why: Why, for the log; so are the two that follow.
        run: In which run.
        step: In which step of it.

    Returns:
        What is known now.

    Raises:
        Problem: What `add_fact` raises; `untrusted_fact` also where a model would replace what a
            person said; `fact_not_found`, or `fact_changed` if it was removed, replaced or edited.
    """
    new = validate_fact(new, confirmed=confirmed)
    await load_fact_snapshot(owner, await read_revision(owner))
    return await run_write(
        lambda c: _supersede(FactChange(c, owner, why, run, step), id, new, revision)
    )


async def replace_facts(
    owner: str, ids: Sequence[str], new: NewFact, *, why: str = "", run: str = "", step: str = ""
) -> Fact:
    """Know a fact instead of several others, which are kept as history, or beside what is known.

    Args:
        owner: Whose.
        ids: Which facts it ends; those that have ended meanwhile are left out.
        new: What is so now.
        why: Why, for the log; so are the two that follow.
        run: In which run.
        step: In which step of it.

    Returns:
        What is known now.

    Raises:
        Problem: What `add_fact` raises; `untrusted_fact` also where a model would replace what a
            person said.
    """
    new = validate_fact(new)
    await load_fact_snapshot(owner, await read_revision(owner))
    return await run_write(lambda c: _replace(FactChange(c, owner, why, run, step), ids, new))


async def edit_fact(
    owner: str,
    id: str,
    content: str | None = None,
    *,
    category: str | None = None,
    confidence: float | None = None,
    revision: int = 0,
    why: str = "",
) -> Fact:
    """Let a person write what a fact says; it is their own word from then on.

    Args:
        owner: Whose.
        id: Which.
        content: What it says; what is left out stays.
        category: What it is about.
        confidence: How sure it is, in 0..1.
        revision: The one at which the person has seen it; any when it is 0.
        why: Why, for the log.

    Raises:
        Problem: `fact_not_found`, `fact_changed`, `fact_known`, `fact_empty`, `fact_too_long` or
            `fact_invalid`.
    """

    def edited(connection: Connection) -> Fact:
        change = FactChange(connection, owner, why)
        old = _select_live(change, id, revision)
        given: dict[str, Any] = {"content": content, "category": category, "confidence": confidence}
        said = {name: value for name, value in given.items() if value is not None}
        kept = NewFact(old.content, old.category, old.confidence)
        new = validate_fact(kept._replace(**said))
        return _edit(change, old, new)

    return await run_write(edited)


async def remove_fact(
    owner: str, id: str, *, revision: int = 0, why: str = "", run: str = ""
) -> Fact:
    """Know a fact no more; it is kept as history until it is forgotten.

    Raises:
        Problem: `fact_not_found` or `fact_changed`.
    """

    def removed(connection: Connection) -> Fact:
        change = FactChange(connection, owner, why, run)
        return _remove(change, _select_live(change, id, revision))

    return await run_write(removed)


def put_fact(connection: Connection, owner: str, fact: Fact) -> None:
    """Write a fact as it is now, whether or not it is there."""
    row = fact._asdict() | {"live": int(fact.live), "key": fact_key(fact.content)}
    connection.execute(upsert(facts, {"owner": owner, "id": row.pop("id")}, row))
