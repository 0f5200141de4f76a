"""Metrics of all runs, for those who run a server, without content or names of users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from runs.tables import attempts, runs
from storage.engine import read_rows, run_read
from storage.tables import outbox


class RunCount(NamedTuple):
    """The number of runs with a status."""

    status: str
    total: int
    seconds: float
    """The sum of their durations, from the question to the last change."""


class CallCount(NamedTuple):
    """The attempts at calls of a model with a status."""

    model: str
    status: str
    total: int
    tokens_in: int
    tokens_out: int
    dollars: float
    seconds: float


class JobCount(NamedTuple):
    """The number of waiting jobs of a kind."""

    job: str
    total: int


class RunMetrics(NamedTuple):
    """The metrics of all runs in a database."""

    runs: list[RunCount]
    calls: list[CallCount]
    jobs: list[JobCount]


async def read_run_metrics() -> RunMetrics:
    """Return the metrics of all runs in the database, without pruned ones."""
    return await run_read(_read)


def _read(connection: Connection) -> RunMetrics:
    taken = func.sum(runs.c.updated - runs.c.created)
    by_status = select(runs.c.status, func.count(), taken).group_by(runs.c.status)
    sums = (attempts.c.tokens_in, attempts.c.tokens_out, attempts.c.cost)
    taken = func.sum(attempts.c.ended - attempts.c.started)
    key = (attempts.c.model, attempts.c.status)
    by_model = select(*key, func.count(), *map(func.sum, sums), taken).group_by(*key)
    by_job = select(outbox.c.job, func.count()).group_by(outbox.c.job)
    return RunMetrics(
        [RunCount._make(row) for row in connection.execute(by_status.order_by(runs.c.status))],
        [CallCount._make(row) for row in connection.execute(by_model.order_by(*key))],
        [JobCount._make(row) for row in connection.execute(by_job.order_by(outbox.c.job))],
    )


class RunSpending(NamedTuple):
    """The cost of a run and its owner, without any content."""

    run: str
    owner: str
    status: str
    created: float
    """In seconds since 1970."""
    calls: int
    dollars: float


async def list_run_spendings(limit: int) -> list[RunSpending]:
    """Return the newest runs of all users with their costs, the newest first."""
    spent = (func.count(attempts.c.run), func.coalesce(func.sum(attempts.c.cost), 0.0))
    columns = (runs.c.id, runs.c.owner, runs.c.status, runs.c.created)
    joined = runs.outerjoin(attempts, attempts.c.run == runs.c.id)
    newest = select(*columns, *spent).select_from(joined).group_by(*columns)
    rows = await read_rows(newest.order_by(runs.c.created.desc(), runs.c.id.desc()).limit(limit))
    return [RunSpending._make(row) for row in rows]


async def sum_run_costs(names: Sequence[str]) -> dict[str, float]:
    """Return the costs of runs in US dollars, by name, without runs that cost nothing."""
    its = select(attempts.c.run, func.sum(attempts.c.cost).label("dollars")).where(
        attempts.c.run.in_(names)
    )
    rows = (await read_rows(its.group_by(attempts.c.run))).all()
    return {row.run: float(row.dollars) for row in rows if row.dollars}
