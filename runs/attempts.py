"""Record every attempt at a model call before it is sent, and how it ended."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import insert, select, update

from runs.ledger import Cost
from runs.place import Here
from runs.steady import steady
from storage.engine import read_rows
from storage.journal import Statement, commit
from storage.tables import attempts as table

OPEN = "open"
"""The status of an attempt whose end is unknown."""

UNSENT = "budget_spent: "
"""How the status of an embedding request begins that a cap prevented; the cap follows."""

EMBEDDER, INDEXER = "embedder", "indexer"
"""Who has vectors made: of questions, and of pages while a run has more important work to do.

In a run that has its report, pages are the `embedder`'s too.
"""

NO_FAILURE = ("ok", "answer_capped", "budget_spent", "cancelled", OPEN)
"""How attempts ended that are no failure of the model."""


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


async def begun(here: Here, role: str, worst: Cost, seconds: float) -> str:
    """Record that a call is about to be sent; return the id of the attempt.

    Args:
        here: Where in the run it is made.
        role: Who calls.
        worst: The most it may use.
        seconds: The longest it may take.
    """
    name, statement = opened(here, role, worst, seconds)
    await commit(statement)
    return name


def opened(here: Here, role: str, worst: Cost, seconds: float) -> tuple[str, Statement]:
    """Return the id of a new attempt, and the statement that records it (see `begun`)."""
    now, name = steady(), uuid.uuid4().hex
    row: dict[str, Any] = {
        "id": name,
        "run": here.run,
        "session": worst.session,
        "role": role,
        "step": here.step,
    }
    row |= {"status": OPEN, **_used(worst), "started": now, "ended": now + seconds}
    return name, (insert(table), row)


async def unsent(here: Here, role: str, model: str, session: str, cap: str) -> None:
    """Record that a cap prevented a request, once for each cap in a step of a session."""
    name, (statement, row) = opened(here, role, Cost(model, session=session), 0.0)
    status = f"{UNSENT}{cap}"
    same = (table.c[column] == row[column] for column in ("run", "session", "role", "step"))
    known = select(table.c.id).where(*same, table.c.status == status)
    if (await read_rows(known.limit(1))).first() is None:
        await commit((statement, row | {"id": name, "status": status}))


def settled(name: str, status: str, cost: Cost) -> Statement:
    """Return the statement that records how an attempt ended, and what it used."""
    values = {"status": status, **_used(cost), "ended": steady()}
    return update(table).where(table.c.id == name).values(values), None


async def renamed(name: str, status: str) -> None:
    """Record that the answer of an attempt could not be used after all."""
    await commit((update(table).where(table.c.id == name).values(status=status), None))


async def attempts(run: str) -> Sequence[Attempt]:
    """Return the attempts of a run, oldest first; one that is open has ended by now."""
    columns = [table.c[name] for name in Attempt._fields]
    rows = await read_rows(select(*columns).where(table.c.run == run).order_by(table.c.started))
    now = steady()
    return [_known(Attempt._make(row), now) for row in rows]


def _known(one: Attempt, now: float) -> Attempt:
    return one._replace(ended=min(one.ended, max(now, one.started))) if one.status == OPEN else one


def _used(cost: Cost) -> dict[str, Any]:
    used = {"tokens_in": cost.tokens_in, "tokens_out": cost.tokens_out, "cost": cost.dollars}
    return {"model": cost.model, **used}


class Failing(NamedTuple):
    """A role that its model did not play to the end, at a step or at none."""

    role: str
    step: str
    status: str
    """How the last attempt of its model ended."""
    stood_in: str
    """The model that answered for it; none where no other did."""


async def failing(run: str) -> list[Failing]:
    """Return the roles of a run that their models have not played so far, each once for a step.

    They come in the order of their first attempts, and the steps of a role in that of the plan.
    """
    made: dict[tuple[str, str], list[Attempt]] = {}
    for one in await attempts(run):
        # Without an embedder, pages are found by their words.
        if one.role not in (EMBEDDER, INDEXER):
            made.setdefault((one.role, one.step), []).append(one)
    roles = list(dict.fromkeys(role for role, _ in made))
    named = sorted(made, key=lambda at: (roles.index(at[0]), len(at[1]), at[1]))
    return [found for one in named if (found := _failing(made[one]))]


def _failing(made: Sequence[Attempt]) -> Failing | None:
    last = made[-1]
    if last.status not in NO_FAILURE:
        return Failing(last.role, last.step, last.status, "")
    failed = [one for one in made if one.status not in NO_FAILURE and one.model != last.model]
    # Where its own model has answered behind the failure, another one is asked for another call.
    if not failed or failed[-1].started < max(
        (one.started for one in made if one.model != last.model and one.status == "ok"), default=0.0
    ):
        return None
    return Failing(last.role, last.step, failed[-1].status, last.model)
