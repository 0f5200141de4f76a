"""What was done to a fact can be taken back, and so can the taking back."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Connection

from config.errors import Problem
from memory.facts.fact import Fact, NewFact
from memory.facts.queries import find_fact, list_facts
from memory.facts.store import add_fact, edit_fact, forget_facts, supersede_fact
from memory.registry import revert
from memory.tables import facts
from storage.engine import read_rows, run_write
from storage.events import LoggedEvent, list_events
from tests.removed_facts import remove_fact

pytestmark = pytest.mark.usefixtures("either")

ME = "me/"


async def last() -> LoggedEvent:
    return (await list_events(ME, limit=1))[0]


async def seen() -> list[tuple[Any, ...]]:
    """Return what is known, apart from revisions."""
    return [tuple(fact._replace(revision=0)) for fact in await list_facts(ME)]


async def conflict(logged: LoggedEvent) -> str:
    with pytest.raises(Problem) as failure:
        await revert(logged)
    assert failure.value.code == "undo_conflict"
    return failure.value.what


@pytest.fixture
async def tea() -> Fact:
    return await add_fact(ME, NewFact("Drinks green tea", "preference", 0.8))


async def replaced(fact: Fact) -> None:
    await supersede_fact(ME, fact.id, NewFact("Drinks coffee now"))


async def edited(fact: Fact) -> None:
    await edit_fact(ME, fact.id, "Drinks white tea")


async def removed(fact: Fact) -> None:
    await remove_fact(ME, fact.id)


async def confirmed(fact: Fact) -> None:
    del fact
    await add_fact(ME, NewFact("drinks green tea", "correction", 0.9))


async def confirmed_alike(fact: Fact) -> None:
    del fact
    await add_fact(ME, NewFact("drinks green tea", "preference", 0.8))


async def added(fact: Fact) -> None:
    del fact
    await add_fact(ME, NewFact("Keeps bees"))


async def replaced_by_known(fact: Fact) -> None:
    await add_fact(ME, NewFact("Drinks coffee now", confidence=0.5))
    await supersede_fact(ME, fact.id, NewFact("drinks coffee now", confidence=0.9))


@pytest.mark.parametrize(
    "done", [replaced, edited, removed, confirmed, confirmed_alike, added, replaced_by_known]
)
async def test_what_was_done_is_taken_back_and_done_again(tea: Fact, done: Any):
    if done is replaced_by_known:
        await add_fact(ME, NewFact("Drinks coffee now", confidence=0.5))
    before = await seen()
    await done(tea)
    after = await seen()

    await revert(await last())
    assert await seen() == before
    await revert(await last())
    assert await seen() == after


async def test_an_undo_is_an_event_and_a_revision(tea: Fact):
    await edited(tea)
    logged = await last()
    await revert(logged)

    event = (await last()).event
    assert (event.name, event.item, event.owner) == ("fact.undo", tea.id, ME)
    assert (event.before, event.after) == (logged.event.after, logged.event.before)
    fact = await find_fact(ME, tea.id)
    assert fact is not None
    assert fact.revision == (await last()).id


async def test_what_was_changed_since_is_not_taken_back(tea: Fact):
    first = await last()
    await edited(tea)

    assert "changed since" in await conflict(first)
    assert [fact.content for fact in await list_facts(ME)] == ["Drinks white tea"]


async def test_a_replacement_is_not_taken_back_when_what_replaced_it_was_changed(tea: Fact):
    await replaced(tea)
    event = await last()
    (coffee,) = await list_facts(ME)
    await edit_fact(ME, coffee.id, "Drinks coffee now, with milk")

    await conflict(event)
    assert [fact.content for fact in await list_facts(ME)] == ["Drinks coffee now, with milk"]


async def test_nothing_is_taken_back_twice(tea: Fact):
    await edited(tea)
    event = await last()
    await revert(event)

    with pytest.raises(Problem, match="undo_done"):
        await revert(event)


async def test_what_is_known_again_is_not_brought_back_beside_it(tea: Fact):
    await removed(tea)
    event = await last()
    again = await add_fact(ME, NewFact("drinks green tea"))

    assert again.id in await conflict(event)
    assert await list_facts(ME) == [again]


async def test_a_forgotten_fact_does_not_come_back(tea: Fact):
    await edited(tea)
    event = await last()
    await run_write(lambda c: forget_facts(c, ME, [tea.id]))

    await conflict(event)
    scrubbed = event._replace(event=event.event._replace(before=None, after=None))
    assert "forgotten" in await conflict(scrubbed)


async def test_a_fact_whose_adding_is_taken_back_is_history(tea: Fact):
    await revert(await last())

    assert await list_facts(ME) == []
    assert [fact.id for fact in await list_facts(ME, include_ended=True)] == [tea.id]


async def test_forgetting_leaves_the_id_and_the_revision_and_nothing_else(tea: Fact):
    await replaced(tea)
    (coffee,) = await list_facts(ME)

    def forget(connection: Connection) -> list[str]:
        return forget_facts(connection, ME, [tea.id, "nobody", coffee.id, tea.id], why="asked")

    assert await run_write(forget) == [tea.id, coffee.id]
    assert await run_write(forget) == []

    rows = (await read_rows(facts.select())).mappings().all()
    for row in rows:
        left = {name: value for name, value in row.items() if value}
        assert left.keys() == {"owner", "id", "key", "revision"}
        assert left["key"] == left["id"]
    assert {row["id"] for row in rows} == {tea.id, coffee.id}
    assert await list_facts(ME, include_ended=True) == []
    assert (await last()).event.why == "asked"
    assert (await last()).event.name == "fact.forget"


async def test_nobody_forgets_for_another(tea: Fact):
    assert await run_write(lambda c: forget_facts(c, "you/", [tea.id])) == []
    assert await list_facts(ME) == [tea]
