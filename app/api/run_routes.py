"""Runs over HTTP: list them, read one with its trace and cost, stop one."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field

from app.api.listings import Cursor, Limit, Listing, make_listing, read_cursor, write_cursor
from app.api.parameters import Name, Owner, RunName
from app.api.problem_answers import tell_problems
from app.api.router import make_router
from app.api.running_runs import cancel_run
from app.api.server_paths import load_path_filter
from calls.attempts import Attempt, list_attempts, sum_attempts
from runs.lifecycle import RunRecord, find_run, list_recent_runs, with_real_status
from runs.trace import read_trace

router = make_router("Dossier runs", "/api/runs")


class RunSummary(BaseModel):
    """A run in a list: its question and its status."""

    run: str
    thread: str
    status: str = Field(examples=["succeeded", "running", "waiting_review", "paused", "failed"])
    code: str = Field(description="The code of the error that ended it; empty for none.")
    question: str
    created: float = Field(description="When it was asked, in seconds since 1970.")
    updated: float
    has_report: bool


class RunCost(BaseModel):
    """What a run used; a call whose end is unknown counts with its maximum."""

    calls: int = Field(description="Calls of models.")
    embedding_calls: int
    tokens_in: int
    tokens_out: int
    dollars: float
    open: int = Field(description="How many calls have an unknown end.")


class RunDetails(RunSummary):
    """A run with its choices and its cost."""

    turn: int = Field(description="The number of the question in its thread.")
    choices: dict[str, Any] = Field(description="What was chosen for it, as in `context`.")
    spent: RunCost


class CallOfModel(BaseModel):
    """An attempt at a model call."""

    role: str
    step: str
    model: str
    status: str
    tokens_in: int
    tokens_out: int
    dollars: float
    started: float
    ended: float


class RunCosts(RunCost):
    """What a run used, in total and per call."""

    run: str
    attempts: list[CallOfModel]


class CancelledRuns(BaseModel):
    """What was stopped."""

    run: str
    cancelled: int = Field(description="How many runs of the server were told to stop.")


RunStatusName = Annotated[
    Name, Query(description="Only runs that are recorded so, such as `succeeded`.")
]


@router.get("", summary="Your runs, the newest first", responses=tell_problems("bad_cursor"))
async def list_api_runs(
    owner: Owner, limit: Limit = 50, cursor: Cursor = "", status: RunStatusName = ""
) -> Listing[RunSummary]:
    """Return the runs of a person, one page at a time."""
    given = read_cursor(cursor, float, str)
    before = (given[0], given[1]) if given else None
    found = await list_recent_runs(owner, limit + 1, before=before, status=status)
    shown = await asyncio.to_thread(lambda: [with_real_status(one) for one in found])
    last = found[limit - 1] if len(found) > limit else None
    more = write_cursor(last.created, last.id) if last else ""
    return make_listing([summarize_run(one) for one in shown], limit, more)


@router.get("/{run}", summary="A run", responses=tell_problems("run_not_found"))
async def get_api_run(run: RunName, owner: Owner) -> RunDetails:
    """Return a run with its choices and its cost."""
    found = await asyncio.to_thread(with_real_status, await find_run(owner, run))
    spent = sum_attempts(await list_attempts(found.id))
    hidden = (await load_path_filter(owner)).hide(found.context)
    return RunDetails(
        **summarize_run(found).model_dump(),
        turn=found.turn,
        choices=hidden,
        spent=RunCost(**spent._asdict()),
    )


@router.get(
    "/{run}/trace", summary="What a run did, call by call", responses=tell_problems("run_not_found")
)
async def get_run_trace(
    run: RunName, owner: Owner, limit: Limit = 200, cursor: Cursor = ""
) -> Listing[dict[str, Any]]:
    """Return the trace of a run, the oldest line first, one page at a time."""
    found = await find_run(owner, run)
    start = next(iter(read_cursor(cursor, int)), 0)
    lines = (await read_trace(found.id))[max(0, start) :]
    hidden = (await load_path_filter(owner)).hide(lines[: limit + 1])
    return make_listing(hidden, limit, write_cursor(max(0, start) + limit))


@router.get(
    "/{run}/cost", summary="What a run used, call by call", responses=tell_problems("run_not_found")
)
async def get_run_cost(run: RunName, owner: Owner) -> RunCosts:
    """Return what a run used in total, and each attempt at a model call."""
    found = await find_run(owner, run)
    made = await list_attempts(found.id)
    return RunCosts(
        run=found.id, **sum_attempts(made)._asdict(), attempts=[_describe(one) for one in made]
    )


@router.post(
    "/{run}/cancel",
    summary="Stop a run",
    responses=tell_problems("run_not_found", "server_missing"),
)
async def cancel_api_run(run: RunName, owner: Owner) -> CancelledRuns:
    """Stop a run; a run without input on the same thread resumes it."""
    found = await find_run(owner, run)
    return CancelledRuns(run=found.id, cancelled=await cancel_run(found))


def summarize_run(run: RunRecord) -> RunSummary:
    """Return a run as it is listed."""
    names = ("thread", "status", "code", "question", "created", "updated")
    fields: dict[str, Any] = {name: getattr(run, name) for name in names}
    return RunSummary(run=run.id, has_report=bool(run.folder), **fields)


def _describe(attempt: Attempt) -> CallOfModel:
    fields = attempt._asdict()
    return CallOfModel(dollars=attempt.cost, **{n: fields[n] for n in fields if n != "cost"})
