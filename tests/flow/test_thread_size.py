"""A thread of many questions: a turn costs at the end what it cost in the beginning."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.types import StateSnapshot

from calls.compaction import count_message_tokens
from graph.session import ThreadSession
from nodes.conversation import max_shown_tokens
from report import findings
from runs.checkpointer import CheckpointSaver
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.places import new_process

pytestmark = pytest.mark.extractive(
    "Rewrite",
    "researcher",
    "Verdict",
    "reporter",
    "Checks",
    "Lessons",
    "Lookup",
    "Notes",
    "summary",
)

QUESTIONS = (
    "Who described the waggle dance?",
    "How cold is a winter cluster?",
    "How many eggs does the queen lay?",
    "How much honey does a cluster eat?",
)

ALONE = 1_000
"""The tokens of the longest request of a first question, and some more."""

SIZES = (
    "SELECT (SELECT COALESCE(SUM(LENGTH(checkpoint)), 0) FROM checkpoints) + "
    "(SELECT COALESCE(SUM(LENGTH(value)), 0) FROM writes) + "
    "(SELECT COALESCE(SUM(LENGTH(value)), 0) FROM blobs)"
)

NESTED = (
    "SELECT COUNT(*) FROM checkpoints WHERE checkpoint_ns > '' "
    "UNION ALL SELECT COUNT(*) FROM writes WHERE checkpoint_ns > ''"
)


def saver(thread: ThreadSession) -> CheckpointSaver:
    assert isinstance(thread.graph.checkpointer, CheckpointSaver)
    return thread.graph.checkpointer


def size(thread: ThreadSession) -> int:
    return int(saver(thread).conn.execute(SIZES).fetchone()[0])


def nested(thread: ThreadSession) -> int:
    return sum(count for (count,) in saver(thread).conn.execute(NESTED))


async def history(thread: ThreadSession) -> list[StateSnapshot]:
    return [one async for one in thread.graph.aget_state_history(thread.config)]


@pytest.fixture
def scripted(choices: dict[str, object], script: Script) -> dict[str, object]:
    script.on("Draft", draft("waggle dance", "winter cluster"))
    script.on("Triage", {"research": True})
    script.on("Enough", {"enough": True})
    return choices


async def asked(thread: ThreadSession, choices: dict[str, object], times: int) -> list[int]:
    """Ask so many questions; return the size of what is saved behind each."""
    sizes = []
    for number in range(times):
        question = f"{QUESTIONS[number % len(QUESTIONS)]} ({number})"
        outcome = await thread.begin(question, make(choices), quiet)
        assert outcome.state["report"]["cited"]
        sizes.append(size(thread))
    return sizes


async def test_a_later_turn_leaves_no_more_and_sends_no_more_than_an_early_one(
    thread: ThreadSession,
    scripted: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("DOSSIER_CONTEXT_TOKENS", "4000")
    new_process()

    sizes = await asked(thread, scripted, 12)

    more = [new - old for old, new in pairwise(sizes)]
    assert sum(more[-4:]) < 1.5 * sum(more[2:6])
    assert nested(thread) == 0
    longest = max(count_message_tokens(messages) for _, messages in script.asked)
    assert longest < max_shown_tokens() + findings.MAX_EARLIER_TOKENS + ALONE


async def test_every_turn_of_the_history_can_be_gone_back_to(
    thread: ThreadSession, scripted: dict[str, object]
):
    await asked(thread, scripted, 4)
    ends = {one.values["turn"]: one for one in await history(thread) if not one.next}
    assert sorted(ends) == [1, 2, 3, 4]

    said = {"messages": [HumanMessage("How much honey does a winter cluster eat?")]}
    for turn in (2, 1):
        config: Any = {**thread.config, **ends[turn].config}
        state = await thread.graph.ainvoke(said, config, context=make(scripted))
        assert (state["run"], state["status"]) == (f"t1-{turn + 1}.2", "succeeded")
        assert len([one for one in state["messages"] if one.type == "human"]) == turn + 1

    ends = {one.values["run"]: one for one in await history(thread) if not one.next}
    assert sorted(ends) == ["t1-1", "t1-2", "t1-2.2", "t1-3", "t1-3.2", "t1-4"]
    assert [len(one.values["answers"]) for _, one in sorted(ends.items())] == [1, 2, 2, 3, 3, 4]


async def test_within_the_newest_turn_every_step_can_be_gone_back_to(
    thread: ThreadSession, scripted: dict[str, object]
):
    await asked(thread, scripted, 2)

    stands = [one.next for one in await history(thread) if one.values.get("run") == "t1-2"]

    for node in ("planner", "team", "reporter", "memorize"):
        assert (node,) in stands


async def test_branches_that_broke_off_leave_nothing_behind_the_next_question(
    thread: ThreadSession, scripted: dict[str, object]
):
    def stop(event: dict[str, Any]) -> None:
        if event.get("node") == "researcher":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await thread.begin(QUESTIONS[0], make(scripted), stop)
    assert nested(thread) > 0

    said = {"messages": [HumanMessage(QUESTIONS[1])]}
    await thread.graph.ainvoke(said, thread.config, context=make(scripted))

    assert nested(thread) == 0


async def test_of_a_finished_turn_its_searches_are_not_carried_along(
    thread: ThreadSession, scripted: dict[str, object]
):
    await asked(thread, scripted, 3)

    state = (await thread.current()).values

    assert {name.partition("/")[0] for name in state["background"]} == {"3"}
    assert {name.partition("/")[0] for name in state["findings"]} == {"1", "2", "3"}
