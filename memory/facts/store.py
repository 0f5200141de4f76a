"""The facts store: what is known of a person, each change one transaction with its event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from memory.facts import changing
from memory.facts.changing import Change
from memory.facts.fact import CATEGORIES as CATEGORIES
from memory.facts.fact import Fact as Fact
from memory.facts.fact import NewFact as NewFact
from memory.facts.fact import checked
from memory.facts.forgetting import forget_facts as forget_facts
from memory.facts.held import known
from memory.facts.looking import found as found
from memory.facts.looking import listed as listed
from memory.facts.looking import matching as matching
from memory.facts.looking import near as near
from memory.facts.looking import of_message as of_message
from memory.facts.looking import search as search
from storage.engine import write
from storage.events import revision as newest


async def add(
    owner: str,
    new: NewFact,
    *,
    confirmed: bool = False,
    why: str = "",
    run: str = "",
    step: str = "",
) -> Fact:
    """Know a fact; what says the same as a known one confirms that (`memory.facts.sameness`).

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
    new = checked(new, confirmed=confirmed)
    # What it is compared with is read before anyone has to wait for this transaction.
    await known(owner, await newest(owner))
    return await write(lambda c: changing.add(Change(c, owner, why, run, step), new))


async def supersede(
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
        Problem: What `add` raises; `untrusted_fact` also where a model would replace what a person
            said; `fact_not_found`, or `fact_changed` if it was removed, replaced or edited.
    """
    new = checked(new, confirmed=confirmed)
    await known(owner, await newest(owner))
    return await write(
        lambda c: changing.supersede(Change(c, owner, why, run, step), id, new, revision)
    )


async def replace(
    owner: str, ids: Sequence[str], new: NewFact, *, why: str = "", run: str = ""
) -> Fact:
    """Know a fact instead of several others, which are kept as history, or beside what is known.

    Args:
        owner: Whose.
        ids: Which facts it ends; those that have ended meanwhile are left out.
        new: What is so now.
        why: Why, for the log; so is the run.
        run: In which run.

    Returns:
        What is known now.

    Raises:
        Problem: What `add` raises; `untrusted_fact` also where a model would replace what a person
            said.
    """
    new = checked(new)
    await known(owner, await newest(owner))
    return await write(lambda c: changing.replace(Change(c, owner, why, run), ids, new))


async def edit(
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
        change = Change(connection, owner, why)
        old = changing.live(change, id, revision)
        given: dict[str, Any] = {"content": content, "category": category, "confidence": confidence}
        said = {name: value for name, value in given.items() if value is not None}
        kept = NewFact(old.content, old.category, old.confidence)
        new = checked(kept._replace(**said))
        return changing.edit(change, old, new)

    return await write(edited)


async def remove(owner: str, id: str, *, revision: int = 0, why: str = "", run: str = "") -> Fact:
    """Know a fact no more; it is kept as history until it is forgotten.

    Raises:
        Problem: `fact_not_found` or `fact_changed`.
    """

    def removed(connection: Connection) -> Fact:
        change = Change(connection, owner, why, run)
        return changing.remove(change, changing.live(change, id, revision))

    return await write(removed)
