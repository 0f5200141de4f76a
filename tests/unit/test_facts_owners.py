"""Nobody is ever shown what is known of somebody else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from config.errors import Problem
from memory.facts.cache import find_similar_facts, search_facts
from memory.facts.fact import Fact, NewFact
from memory.facts.memory import FactMemory
from memory.facts.queries import find_fact, list_facts
from memory.facts.store import add_fact, edit_fact, forget_facts, supersede_fact
from memory.protocol import Query
from runs.call_site import join_owner
from storage.engine import close_database, run_write
from storage.events import list_events, read_revision

OWNERS = [
    join_owner(user, project)
    for user in ("a", "a/b", "a%2Fb", "A", "", "%", "甲")
    for project in ("", "b", "b/", "_", "%")
]

STEP = st.tuples(
    st.sampled_from(["add", "edit", "supersede", "forget"]),
    st.sampled_from(OWNERS),
    st.integers(0, 99),
)


def say(owner: str, number: int) -> str:
    """Return what is the same for all, and whose it is: the place of the owner among them."""
    return f"Likes tea{number} 喜欢茶 owner{OWNERS.index(owner)}x"


async def _do(verb: str, owner: str, number: int, ids: list[str]) -> None:
    """Do something for an owner, with any fact there is, whoever it belongs to."""
    new = NewFact(say(owner, number), quote=say(owner, number))
    other = ids[number % len(ids)] if ids else "nobody"
    if verb == "add" or not ids:
        ids.append((await add_fact(owner, new)).id)
        return
    if verb == "forget":
        await run_write(lambda c: forget_facts(c, owner, [other]))
        return
    works: dict[str, Callable[[], Awaitable[Fact]]] = {
        "edit": lambda: edit_fact(owner, other, new.content),
        "supersede": lambda: supersede_fact(owner, other, new),
    }
    # It is refused where the fact is another's, or gone.
    with suppress(Problem):
        ids.append((await works[verb]()).id)


async def _shown(owner: str, ids: list[str]) -> str:
    """Return all that an owner is shown, by every way of reading."""
    query = Query(owner, "planner", "tea 喜欢茶", (), await read_revision(owner))
    shown = [
        await list_facts(owner),
        await list_facts(owner, include_ended=True),
        [await find_fact(owner, id) for id in ids],
        await find_similar_facts(owner, "tea1 喜欢茶", 100),
        await search_facts(owner, "likes", 100),
        await search_facts(owner, "茶", 100),
        await FactMemory().recall(query, 100_000),
        await list_events(owner, limit=1_000),
    ]
    return str(shown)


@pytest.mark.usefixtures("home")
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(STEP, min_size=3, max_size=12), st.randoms(use_true_random=False))
def test_no_way_of_reading_shows_what_another_owner_has(steps, chance):
    async def trial() -> None:
        ids: list[str] = []
        for step in steps:
            await _do(*step, ids)
        for owner in {owner for _, owner, _ in steps} | set(chance.sample(OWNERS, 3)):
            shown = await _shown(owner, ids)
            others = [at for at, other in enumerate(OWNERS) if other != owner]
            assert not [at for at in others if f"owner{at}x" in shown]
        await close_database()

    asyncio.run(trial())
