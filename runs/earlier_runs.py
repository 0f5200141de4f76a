"""Find earlier runs that answered the same question, and load the state in which a run ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from sqlalchemy import func, select

from graph.state import State
from runs.checkpointer import open_checkpointer
from runs.lifecycle import RunRecord, find_run
from runs.tables import runs
from storage.engine import read_rows
from storage.tables import events
from text.question_matching import is_same_question

ANSWERED = ("succeeded", "partial")
"""The statuses of runs that have an answer."""

REJECTIONS = ("feedback.down", "feedback.text")
"""The events of a person's word against a run."""

COMPARED = 2_000
"""With how many runs of similar length a question is compared, the newest first."""

SPARE = 40
"""So many characters of politeness may make the same question longer."""

SAVED = 100
"""How many checkpoints of a thread are looked at, the newest first."""


async def list_answered_runs(owner: str, question: str, run: str, limit: int) -> list[RunRecord]:
    """Return the newest other runs of an owner that answered the same question, the newest first.

    What the person said was wrong is no answer.
    """
    length = len(question)
    others = select(runs.c.id, runs.c.question).where(
        runs.c.owner == owner,
        runs.c.id != run,
        runs.c.status.in_(ANSWERED),
        func.length(runs.c.question).between(length // 2 - SPARE, 2 * length + SPARE),
    )
    rows = await read_rows(others.order_by(runs.c.created.desc()).limit(COMPARED))
    found = [row.id for row in rows if is_same_question(row.question, question)]
    wrong = await _list_rejected(owner, found) if found else set()
    right = [name for name in found if name not in wrong]
    return [await find_run(owner, name) for name in right[:limit]]


async def list_thread_answers(owner: str, threads: Sequence[str]) -> list[str]:
    """Return the ids of the runs of some threads that have an answer."""
    its = select(runs.c.id).where(
        runs.c.owner == owner, runs.c.thread.in_(threads), runs.c.status.in_(ANSWERED)
    )
    return list((await read_rows(its)).scalars())


async def _list_rejected(owner: str, found: Sequence[str]) -> set[str]:
    """Return those of some runs that the person called bad or corrected."""
    said = select(events.c.item).where(
        events.c.owner == owner, events.c.item.in_(found), events.c.name.in_(REJECTIONS)
    )
    return set((await read_rows(said)).scalars())


async def load_thread_states(thread: str) -> dict[str, State]:
    """Return the states in which the runs of a thread delivered their reports, by run."""
    place: RunnableConfig = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    found: dict[str, State] = {}
    async with open_checkpointer() as saver:
        async for saved in saver.alist(place, limit=SAVED):
            values: dict[str, Any] = saved.checkpoint["channel_values"]
            if values.get("run") and values.get("report", {}).get("created"):
                found.setdefault(values["run"], cast("State", values))
    return found


async def load_run_state(run: RunRecord) -> State | None:
    """Return the state in which a run delivered its report; None if it is not saved any more."""
    place: RunnableConfig = {"configurable": {"thread_id": run.thread, "checkpoint_ns": ""}}
    async with open_checkpointer() as saver:
        async for saved in saver.alist(place, limit=SAVED):
            values: dict[str, Any] = saved.checkpoint["channel_values"]
            if values.get("run") == run.id and values.get("report", {}).get("created"):
                return cast("State", values)
    return None
