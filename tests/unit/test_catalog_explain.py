"""What a run was told is what is shown of it; what a thing says now is called so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli import memory_items
from graph.context import Context
from memory.agents_md.memory import file_notes
from memory.facts.fact import NewFact
from memory.facts.store import add_fact, edit_fact, supersede_fact
from memory.registry import explain_recall
from runs import lifecycle
from runs.call_site import CallSite
from runs.trace import trace

pytestmark = pytest.mark.usefixtures("either")

ME = "local/"

Tell = Callable[..., Awaitable[None]]


@pytest.fixture
def told() -> Tell:
    """Writes down that a call was told something."""

    async def tell(memory: str, id: str, revision: int = 0) -> None:
        await lifecycle.create_run(ME, "t1", 1, "How do bees dance?", Context())
        note: dict[str, Any] = {"memory": memory, "id": id, "revision": revision, "score": {}}
        here = CallSite(ME, "t1", "t1-1", "", "")
        await trace(here, "memory", "planner", "ok", notes=[note], tokens=1)

    return tell


@pytest.fixture
def file(home: Path) -> Path:
    home.mkdir(parents=True, exist_ok=True)
    return home / "AGENTS.md"


def written(file: Path, text: str) -> str:
    """Write a memory file; return the id of what a call is told of it."""
    file.write_text(text)
    (note,) = file_notes(str(file), file.read_bytes())
    return note.id


async def test_a_fact_is_shown_as_the_run_was_told_it(told: Tell):
    fact = await add_fact(ME, NewFact("Likes tea"))
    await told("facts", fact.id, fact.revision)
    await edit_fact(ME, fact.id, "Likes coffee")

    (one,) = (await explain_recall(ME, "t1-1")).items

    assert one.item is not None
    assert (one.said, one.item.text) == ("Likes tea", "Likes coffee")


async def test_a_fact_that_took_anothers_place_is_shown_as_told_too(told: Tell):
    old = await add_fact(ME, NewFact("Likes tea"))
    new = await supersede_fact(ME, old.id, NewFact("Likes coffee"))
    await told("facts", new.id, new.revision)

    assert [one.said for one in (await explain_recall(ME, "t1-1")).items] == ["Likes coffee"]


async def test_what_no_event_tells_of_a_fact_is_not_made_up(told: Tell):
    fact = await add_fact(ME, NewFact("Likes tea"))
    other = await add_fact(ME, NewFact("Lives in Graz"))
    await told("facts", fact.id, other.revision)

    assert [one.said for one in (await explain_recall(ME, "t1-1")).items] == [None]


async def test_a_file_is_shown_without_what_no_model_is_told(told: Tell, file: Path):
    await told("instructions", written(file, "Use metres.\n<!-- mine alone -->\n"))

    (one,) = (await explain_recall(ME, "t1-1")).items

    assert one.item is not None
    assert (one.said, one.item.text, one.item.state) == ("Use metres.", "Use metres.", "")


async def test_a_file_that_was_changed_since_is_said_to_be(told: Tell, file: Path):
    await told("instructions", written(file, "Use metres.\n"))
    written(file, "Use yards.\n<!-- mine alone -->\n")

    (one,) = (await explain_recall(ME, "t1-1")).items

    assert one.item is not None
    assert (one.said, one.item.text, one.item.state) == (None, "Use yards.", "changed since")


@pytest.mark.parametrize("then", [True, False])
async def test_the_columns_are_called_what_they_are(told: Tell, file: Path, then: bool):
    await told("instructions", written(file, "Use metres.\n"))
    if not then:
        written(file, "Use yards.\n")

    heads = memory_items.text_columns(await explain_recall(ME, "t1-1"))

    assert list(heads) == ["what it said" if then else "what it says now"]
