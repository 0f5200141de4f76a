"""Branches that run side by side: one that fails takes no other with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from graph.records import entries_of_turn
from graph.session import ThreadSession
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tools import evidence
from tools.evidence import SearchRequest

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "reporter", "Checks"
)


@pytest.mark.parametrize("error", [KeyError("nobody foresaw this"), OSError("no disk")])
@pytest.mark.parametrize("depth", ["standard", "quick"])
async def test_a_search_before_planning_that_raises_stops_no_other(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    depth: str,
):
    gather = evidence.gather_evidence

    async def gathered(here: Any, context: Any, wanted: SearchRequest) -> Any:
        if wanted.queries == ["winter"]:
            raise error
        return await gather(here, context, wanted)

    monkeypatch.setattr("nodes.background.gather_evidence", gathered)
    script.on("Rewrite", {"question": "How do bees dance?", "queries": ["winter", "waggle dance"]})

    outcome = await thread.begin("How do bees dance?", make(choices, depth=depth), quiet)

    entries = entries_of_turn(outcome.state["background"], 1).values()
    told = [(entry["query"], entry["status"], entry["reason"]) for entry in entries]
    assert told == [
        ("How do bees dance?", "ok", ""),
        ("winter", "failed", "internal"),
        ("waggle dance", "ok", ""),
    ]
    assert outcome.state["report"]["cited"]


async def test_a_step_that_raises_stops_no_other(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    gather = evidence.gather_evidence

    async def gathered(here: Any, context: Any, wanted: SearchRequest) -> Any:
        if wanted.queries == ["winter cluster"]:
            raise KeyError("nobody foresaw this")
        return await gather(here, context, wanted)

    monkeypatch.setattr("nodes.researcher.gather_evidence", gathered)
    script.on("Draft", draft("waggle dance", "winter cluster"))

    outcome = await thread.begin("How do bees live?", make(choices), quiet)

    findings = entries_of_turn(outcome.state["findings"], 1)
    ended = {name: (one["status"], one["reason"]) for name, one in findings.items()}
    assert ended == {"s1": ("ok", ""), "s2": ("failed", "internal")}
    assert outcome.state["status"] == "partial"


Watched = Callable[[Callable[[str], Any]], None]


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    """Have every search of a step wait for what a test says, after being told the query."""
    gather = evidence.gather_evidence

    def watch(wait: Callable[[str], Any]) -> None:
        async def gathered(here: Any, context: Any, wanted: SearchRequest) -> Any:
            await wait(wanted.queries[0])
            return await gather(here, context, wanted)

        monkeypatch.setattr("nodes.researcher.gather_evidence", gathered)

    return watch


TITLES = ["waggle dance", "winter cluster", "queen eggs", "honey eaten", "workers feed"]


async def test_a_slow_step_does_not_hold_back_those_that_wait(
    thread: ThreadSession, choices: dict[str, object], script: Script, watched: Watched
):
    last = asyncio.Event()

    async def wait(query: str) -> None:
        if query == TITLES[0]:
            await last.wait()
        elif query == TITLES[-1]:
            last.set()

    watched(wait)
    script.on("Draft", draft(*TITLES))

    async with asyncio.timeout(20):
        context = make(choices, parallelism=2, max_steps=5)
        outcome = await thread.begin("How do bees live?", context, quiet)

    assert len(entries_of_turn(outcome.state["findings"], 1)) == 5


async def test_no_more_steps_work_side_by_side_than_the_run_allows(
    thread: ThreadSession, choices: dict[str, object], script: Script, watched: Watched
):
    pair = asyncio.Barrier(2)
    working: set[str] = set()
    most: list[int] = []

    async def wait(query: str) -> None:
        working.add(query)
        await pair.wait()
        for _ in range(500):
            most.append(len(working))
            await asyncio.sleep(0)
        working.remove(query)

    watched(wait)
    script.on("Draft", draft(*TITLES[:4]))
    script.on("Enough", {"enough": True})

    async with asyncio.timeout(20):
        context = make(choices, parallelism=2, max_reflections=0)
        await thread.begin("How do bees live?", context, quiet)

    assert max(most) == 2


async def test_steps_that_waited_when_a_run_was_stopped_are_done_when_it_goes_on(
    thread: ThreadSession, choices: dict[str, object], script: Script, watched: Watched
):
    stuck, never = asyncio.Event(), asyncio.Event()

    async def wait(query: str) -> None:
        if query == TITLES[1]:
            stuck.set()
            await never.wait()

    watched(wait)
    script.on("Draft", draft(*TITLES))
    context = make(choices, parallelism=1, max_steps=5)
    running = asyncio.create_task(thread.begin("How do bees live?", context, quiet))
    await stuck.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    never.set()

    outcome = await thread.resume(context, quiet)

    assert len(entries_of_turn(outcome.state["findings"], 1)) == 5
    assert script.prompts("researcher").count(script.prompts("researcher")[0]) == 1
