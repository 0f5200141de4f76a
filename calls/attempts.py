"""Record every attempt at a model call before it is sent, and how it ended."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import bindparam, insert, select, update

from calls.ledger import CallCost
from runs.call_site import CallSite
from runs.tables import attempts as table
from storage.engine import SqlStatement, commit_statements, read_rows


def steady_time() -> float:
    """Return the seconds since 1970, unaffected by later changes of the system clock.

    A clock that is set, or a computer that sleeps, in the middle of a run uses up none of its
    minutes.
    """
    return _start() + time.monotonic()


@cache
def _start() -> float:
    return time.time() - time.monotonic()


OPEN_STATUS = "open"
"""The status of an attempt whose end is unknown."""

UNSENT_PREFIX = "budget_spent: "
"""The prefix of the status of an embedding request that a cap prevented; the cap follows."""

EMBEDDER, INDEXER = "embedder", "indexer"
"""Roles that request vectors: of questions, and of pages while a run has more important work.

In a run that has its report, the `embedder` requests those of pages too.
"""

NO_FAILURE = ("ok", "answer_capped", "budget_spent", "cancelled", OPEN_STATUS)
"""The statuses of attempts in which the model did not fail."""


class Attempt(NamedTuple):
    """One attempt at a model call, and what it used, or may have used."""

    id: str
    role: str
    step: str
    session: str
    model: str
    status: str
    tokens_in: int
    tokens_out: int
    cost: float
    started: float
    ended: float


async def begin_attempt(site: CallSite, role: str, worst: CallCost, seconds: float) -> str:
    """Record that a call is about to be sent; return the id of the attempt.

    Args:
        site: Where in the run it is made.
        role: Who calls.
        worst: The most it may use.
        seconds: The longest it may take.
    """
    name, statement = begin_statement(site, role, worst, seconds)
    await commit_statements(statement)
    return name


def begin_statement(
    site: CallSite, role: str, worst: CallCost, seconds: float
) -> tuple[str, SqlStatement]:
    """Return the id of a new attempt, and the statement that records it (see `begin_attempt`)."""
    now, name = steady_time(), uuid.uuid4().hex
    row: dict[str, Any] = {
        "id": name,
        "run": site.run,
        "session": worst.session,
        "role": role,
        "step": site.step,
    }
    row |= {"status": OPEN_STATUS, **_used(worst), "started": now, "ended": now + seconds}
    return name, (insert(table), row)


async def record_unsent(site: CallSite, role: str, model: str, session: str, cap: str) -> None:
    """Record that a cap prevented a request, once for each cap in a step of a session."""
    name, (statement, row) = begin_statement(site, role, CallCost(model, session=session), 0.0)
    status = f"{UNSENT_PREFIX}{cap}"
    same = (table.c[column] == row[column] for column in ("run", "session", "role", "step"))
    known = select(table.c.id).where(*same, table.c.status == status)
    if (await read_rows(known.limit(1))).first() is None:
        await commit_statements((statement, row | {"id": name, "status": status}))


def end_statement(name: str, status: str, cost: CallCost) -> SqlStatement:
    """Return the statement that records how an attempt ended, and what it used."""
    return _END, {"attempt": name, "status": status, **_used(cost), "ended": steady_time()}


_END = (
    update(table)
    .where(table.c.id == bindparam("attempt"))
    .values({name: bindparam(name) for name in (*Attempt._fields[4:9], "ended")})
)


async def set_attempt_status(name: str, status: str) -> None:
    """Record that the answer of an attempt could not be used after all."""
    await commit_statements((update(table).where(table.c.id == name).values(status=status), None))


async def list_attempts(run: str) -> Sequence[Attempt]:
    """Return the attempts of a run, oldest first; one that is open has ended by now."""
    columns = [table.c[name] for name in Attempt._fields]
    rows = await read_rows(select(*columns).where(table.c.run == run).order_by(table.c.started))
    now = steady_time()
    return [_end_by(now, Attempt._make(row)) for row in rows]


class Spending(NamedTuple):
    """What attempts used; a call with an unknown end counts with its maximum."""

    calls: int
    """Calls of models."""
    embedding_calls: int
    tokens_in: int
    tokens_out: int
    dollars: float
    open: int
    """How many calls have an unknown end."""


def sum_attempts(made: Sequence[Attempt]) -> Spending:
    """Return what some attempts used together."""
    sent = [one for one in made if not one.status.startswith(UNSENT_PREFIX)]
    embedding = sum(one.role in (EMBEDDER, INDEXER) for one in sent)
    return Spending(
        calls=len(sent) - embedding,
        embedding_calls=embedding,
        tokens_in=sum(one.tokens_in for one in made),
        tokens_out=sum(one.tokens_out for one in made),
        dollars=sum(one.cost for one in made),
        open=sum(one.status == OPEN_STATUS for one in made),
    )


def _end_by(now: float, attempt: Attempt) -> Attempt:
    if attempt.status != OPEN_STATUS:
        return attempt
    return attempt._replace(ended=min(attempt.ended, max(now, attempt.started)))


def _used(cost: CallCost) -> dict[str, Any]:
    used = {"tokens_in": cost.tokens_in, "tokens_out": cost.tokens_out, "cost": cost.dollars}
    return {"model": cost.model, **used}


class FailedRole(NamedTuple):
    """A role that its model failed to play, in a step or outside of any."""

    role: str
    step: str
    status: str
    """How the last attempt of its model ended."""
    substitute: str
    """The model that answered in its place; "" if none did."""


async def list_failed_roles(run: str) -> list[FailedRole]:
    """Return the roles of a run that their models have failed to play, each once for a step.

    Roles are in the order of their first attempts, the steps of each in that of the plan.
    """
    made: dict[tuple[str, str], list[Attempt]] = {}
    for attempt in await list_attempts(run):
        # Without an embedder, pages are found by their words.
        if attempt.role not in (EMBEDDER, INDEXER):
            made.setdefault((attempt.role, attempt.step), []).append(attempt)
    roles = list(dict.fromkeys(role for role, _ in made))
    places = sorted(made, key=lambda at: (roles.index(at[0]), len(at[1]), at[1]))
    return [failed for place in places if (failed := _failed_role(made[place]))]


def _failed_role(made: Sequence[Attempt]) -> FailedRole | None:
    last = made[-1]
    if last.status not in NO_FAILURE:
        return FailedRole(last.role, last.step, last.status, "")
    failed = [one for one in made if one.status not in NO_FAILURE and one.model != last.model]
    # If its own model has answered since the failure, the other one stood in for another call.
    if not failed or failed[-1].started < max(
        (one.started for one in made if one.model != last.model and one.status == "ok"), default=0.0
    ):
        return None
    return FailedRole(last.role, last.step, failed[-1].status, last.model)
