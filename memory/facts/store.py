"""Change the facts about a person: each change is one transaction with its event."""

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
from memory.tables import facts
from storage.engine import run_write
from storage.events import Event, lock_owner, log_event, read_revision
from storage.upsert import upsert

MAX_COMPARED = 5
"""How many of the most similar facts are compared with a new one."""


class FactChange(NamedTuple):
    """The transaction of a change, and what the log says of it."""

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
        """Log an event of the run of the change, or else of `run`; return its number."""
        where = (self.why, self.run or run, self.step)
        event = Event(self.owner, name, item, before, after, provenance, *where)
        return log_event(self.connection, event)

    def put(self, fact: Fact, revision: int) -> Fact:
        """Write a fact with the number of its event, and return it so."""
        fact = fact._replace(revision=revision)
        put_fact(self.connection, self.owner, fact)
        return fact


async def add_fact(
    owner: str,
    new: NewFact,
    *,
    replaced: Sequence[str] = (),
    why: str = "",
    run: str = "",
    step: str = "",
) -> Fact:
    """Add a fact, or confirm a known fact that says the same (`memory.facts.fact`).

    The wording that says more stays. A confirmation makes a fact more certain only within its class
    of trust: what a model says changes nothing that a person said.

    Args:
        owner: Whose.
        new: The fact.
        replaced: The ids of facts whose place it takes, as far as they are live.
        why: The reason, for the log; so are the next two.
        run: The run; by default the one the fact is from.
        step: The step of the run.

    Returns:
        The fact as it is known now.

    Raises:
        Problem: `untrusted_fact` for what a tool or a web page says, and where a model would
            replace what a person said; `fact_empty`, `fact_too_long` or `fact_invalid`.
    """
    new = validate_fact(new)
    # The cache is filled before anyone has to wait for this transaction.
    await load_fact_snapshot(owner, await read_revision(owner))
    return await run_write(lambda c: _add(FactChange(c, owner, why, run, step), new, replaced))


async def supersede_fact(
    owner: str, id: str, new: NewFact, *, why: str = "", run: str = ""
) -> Fact:
    """Replace a fact, which becomes history; it holds until the new one begins.

    If the new fact says what another known one says, that one takes the place; if it says what the
    old one says, the old one is confirmed.

    Args:
        owner: Whose.
        id: The fact that is replaced.
        new: The new fact.
        why: The reason, for the log.
        run: The run.

    Returns:
        The fact as it is known now.

    Raises:
        Problem: What `add_fact` raises; `fact_not_found`, or `fact_changed` if it was removed or
            replaced.
    """
    new = validate_fact(new)
    await load_fact_snapshot(owner, await read_revision(owner))
    return await run_write(lambda c: _supersede(FactChange(c, owner, why, run), id, new))


async def edit_fact(owner: str, id: str, content: str, *, why: str = "") -> Fact:
    """Replace the text of a fact by a person's own words.

    Raises:
        Problem: `fact_not_found`, `fact_changed`, `fact_known`, `fact_empty` or `fact_too_long`.
    """

    def work(connection: Connection) -> Fact:
        """Change the fact unless another one says the same already."""
        change = FactChange(connection, owner, why)
        old = _select_live(change, id)
        new = validate_fact(NewFact(content, old.category, old.confidence))
        other = queries.select_same_fact(connection, owner, new.content)
        if other and other.id != id:
            what, hint = "another fact says that already", f"it is {other.id}"
            raise Problem(ErrorCode.FACT_KNOWN, what, where=id, hint=hint)
        edited = old._replace(content=new.content, provenance="user")
        return _rewrite(change, "fact.edit", old, edited, "user")

    return await run_write(work)


EMPTY: Mapping[str, Any] = {
    **dict.fromkeys(("content", "category", "quote", "thread", "run", "message"), ""),
    **dict.fromkeys(("confidence", "created", "valid_from"), 0.0),
    **dict.fromkeys(("provenance", "superseded_by"), ""),
    "valid_to": None,
    "live": 0,
}
"""What is left of a forgotten fact beside its id, its owner and its revision."""


def forget_facts(
    connection: Connection, owner: str, ids: Sequence[str], *, why: str = ""
) -> list[str]:
    """Empty facts, live ones and history, in the caller's transaction.

    The caller empties their events in the log, and scrubs free pages and the write-ahead log.

    Returns:
        The ids of those that were not forgotten before.
    """
    lock_owner(connection, owner)
    change = FactChange(connection, owner, why)
    found = queries.select_facts(connection, owner, list(dict.fromkeys(ids)))
    forgotten = [fact.id for fact in found if fact.content]
    for id in forgotten:
        number = change.log_event("fact.forget", id, None, None)
        its = update(facts).filter_by(owner=owner, id=id)
        # A hash of what was said would tell who guesses it, so the key is the id.
        connection.execute(its.values({**EMPTY, "key": id, "revision": number}))
    return forgotten


def put_fact(connection: Connection, owner: str, fact: Fact) -> None:
    """Write a fact as it is now, whether or not it is there."""
    row = fact._asdict() | {"live": int(fact.live), "key": fact_key(fact.content)}
    connection.execute(upsert(facts, {"owner": owner, "id": row.pop("id")}, row))


def _add(change: FactChange, new: NewFact, replaced: Sequence[str]) -> Fact:
    lock_owner(change.connection, change.owner)
    old = queries.select_facts(change.connection, change.owner, replaced)
    if successors := [_supersede(change, fact.id, new) for fact in old if fact.live]:
        return successors[-1]
    if same := _find_same(change, new):
        return _confirm(change, *same, new)
    fact = _build_fact(new)
    data = fact_event_data(fact)
    number = change.log_event("fact.add", fact.id, None, data, new.provenance, new.run)
    return change.put(fact, number)


def _supersede(change: FactChange, id: str, new: NewFact) -> Fact:
    old = _select_live(change, id)
    if trust_level(new.provenance) < trust_level(old.provenance):
        what = f"what a {old.provenance} said is not replaced by what a {new.provenance} says"
        raise Problem(ErrorCode.UNTRUSTED_FACT, what, where=id, hint="say yourself that it is so")
    same = _find_same(change, new)
    if same and same[0].id == id:
        return _confirm(change, *same, new)
    before, after = same or (None, _build_fact(new))
    # Until a fact begins to hold, the old one does.
    end = time.time() if before else max(after.valid_from, old.valid_from)
    ended = old._replace(valid_to=end, superseded_by=after.id, live=end > time.time())
    both = supersede_event_data(old, before), supersede_event_data(ended, after)
    number = change.log_event("fact.supersede", id, *both, new.provenance, new.run)
    change.put(ended, number)
    return change.put(after, number)


def _select_live(change: FactChange, id: str) -> Fact:
    """Return a fact that is to be changed, and lock it until the end of the transaction.

    Raises:
        Problem: `fact_not_found`, or `fact_changed` if it is not live.
    """
    lock_owner(change.connection, change.owner)
    fact = queries.select_fact(change.connection, change.owner, id)
    if fact is None or not fact.content:
        raise Problem(ErrorCode.FACT_NOT_FOUND, "no fact has this id", where=id)
    if not fact.live:
        hint = f"{fact.superseded_by} took its place" if fact.superseded_by else "it was removed"
        raise Problem(ErrorCode.FACT_CHANGED, "it is not known any more", where=id, hint=hint)
    return fact


def _find_same(change: FactChange, new: NewFact) -> tuple[Fact, Fact] | None:
    """Return the fact that says the same, and that fact merged with the new one."""
    connection, owner = change.connection, change.owner
    same = queries.select_same_fact(connection, owner, new.content)
    if same and same.valid_to is not None and same.valid_to <= time.time():
        # A fact that has ended is history when it is said again.
        put_fact(connection, owner, same._replace(live=False))
        same = None
    for old in [same] if same else _select_similar(connection, owner, new.content):
        if merged := merge_fact(old, new):
            return old, merged
    return None


def _select_similar(connection: Connection, owner: str, content: str) -> list[Fact]:
    known = get_fact_cache(owner).refresh(connection, owner)
    ids = [id for id, _ in known.most_similar(content, MAX_COMPARED, SAME_FACT_COSINE)]
    found = queries.select_facts(connection, owner, ids)
    return [fact for fact in found if fact.live and fact.valid_to is None]


def _build_fact(new: NewFact) -> Fact:
    now = time.time()
    fields: dict[str, Any] = new._asdict()
    fields["valid_from"] = now if new.valid_from is None else new.valid_from
    fields |= {"valid_to": None, "superseded_by": "", "live": True, "revision": 0}
    return Fact(id=uuid4().hex, created=now, **fields)


def _confirm(change: FactChange, old: Fact, merged: Fact, new: NewFact) -> Fact:
    name = "fact.confirm" if merged.content == old.content else "fact.reword"
    return _rewrite(change, name, old, merged, new.provenance, new.run)


def _rewrite(
    change: FactChange, name: str, old: Fact, new: Fact, provenance: str, run: str = ""
) -> Fact:
    """Log what becomes of a fact, and write it if it changes."""
    both = fact_event_data(old), fact_event_data(new)
    number = change.log_event(name, old.id, *both, provenance, run)
    return old if new == old else change.put(new, number)
