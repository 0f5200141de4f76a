"""What agents would change in memory files, kept until a person decides."""

from __future__ import annotations

import difflib
import secrets
import time
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, insert, select, update

from config.errors import Problem
from storage.engine import alone, read_rows, write
from storage.tables import proposals

PENDING = "pending"

MOST = 50
"""How many proposals of one owner may wait; nobody reads more."""


class Proposal(NamedTuple):
    """Other lines for the agents' section of a memory file."""

    owner: str
    path: str
    base: str
    """The section as it was when the change was proposed."""
    proposed: str
    """The section as it shall be."""
    why: str
    run: str = ""
    step: str = ""
    provenance: str = "model"
    """`web` where its words stand in something that the run has read, else `model`."""
    id: str = ""
    status: str = PENDING
    """`pending`, `approved`, `rejected`, or `allowed` where no person was asked."""
    created: float = 0.0
    decided: float | None = None

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        both = self.base.splitlines(), self.proposed.splitlines()
        return "\n".join(difflib.unified_diff(*both, self.path, self.path, lineterm="", n=2))

    @property
    def added(self) -> list[str]:
        """The lines that are new in it."""
        old = set(self.base.split("\n"))
        return [line for line in self.proposed.split("\n") if line.strip() and line not in old]

    @property
    def removed(self) -> list[str]:
        """The lines that are in it no more."""
        new = set(self.proposed.split("\n"))
        return [line for line in self.base.split("\n") if line.strip() and line not in new]


async def keep(proposal: Proposal) -> Proposal:
    """Keep a proposal, and return it with its id; the same one again is the one that is there.

    Raises:
        Problem: `edit_refused` when it was rejected before, or too many wait already.
    """
    row = {**proposal._asdict(), "id": secrets.token_hex(6), "created": time.time()}
    return await write(lambda connection: _keep(connection, row))


def _keep(connection: Connection, row: dict[str, Any]) -> Proposal:
    alone(connection, f"proposals {row['owner']}")
    mine = select(proposals).where(proposals.c.owner == row["owner"])
    same = [proposals.c[name] == row[name] for name in ("path", "base", "proposed")]
    left = proposals.c.status.in_([PENDING, "rejected"])
    known = connection.execute(mine.where(left, *same).order_by(proposals.c.created.desc())).first()
    if known and known.status != PENDING:
        raise Problem("edit_refused", "the person has rejected this before", hint="leave it")
    if known:
        return _proposal(known)
    if len(connection.execute(mine.where(proposals.c.status == PENDING)).all()) >= MOST:
        what = f"{MOST} proposals wait for the person already"
        raise Problem("edit_refused", what, hint="leave it")
    connection.execute(insert(proposals).values(row))
    return Proposal(**row)


async def listed(owner: str, *, decided: bool = False) -> list[Proposal]:
    """Return an owner's proposals that wait, the oldest first; on request all of them."""
    mine = select(proposals).where(proposals.c.owner == owner).order_by(proposals.c.created)
    if not decided:
        mine = mine.where(proposals.c.status == PENDING)
    return [_proposal(row) for row in await read_rows(mine)]


async def proposed_by(owner: str, run: str) -> int:
    """Return how many proposals of a run wait."""
    wait = (proposals.c.owner == owner, proposals.c.run == run, proposals.c.status == PENDING)
    counted = select(func.count()).select_from(proposals).where(*wait)
    number: int = (await read_rows(counted)).scalar_one()
    return number


async def waiting(owner: str, name: str) -> Proposal:
    """Return an owner's proposal that nobody has decided on.

    Raises:
        Problem: `proposal_not_found` or `proposal_decided`.
    """
    mine = select(proposals).where(proposals.c.owner == owner, proposals.c.id == name)
    row = (await read_rows(mine)).first()
    if row is None:
        hint = "see `dossier memory proposals`"
        raise Problem("proposal_not_found", f"there is no proposal {name!r}", hint=hint)
    if row.status != PENDING:
        raise Problem("proposal_decided", f"it is {row.status} already", where=name)
    return _proposal(row)


def decide(connection: Connection, proposal: Proposal, status: str) -> None:
    """Write down in a transaction how a proposal was decided."""
    its = update(proposals).where(proposals.c.id == proposal.id)
    connection.execute(its.values(status=status, decided=time.time()))


def _proposal(row: Any) -> Proposal:
    return Proposal(**row._mapping)
