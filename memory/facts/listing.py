"""List what is known of a person; this needs nothing that compares facts."""

from __future__ import annotations

import time

from sqlalchemy import or_, select

from memory.facts import rows
from memory.facts.fact import Fact
from storage.engine import read_rows
from storage.tables import facts


async def listed(owner: str, all: bool = False) -> list[Fact]:
    """Return an owner's facts, the oldest first.

    Args:
        owner: Whose.
        all: Also those that were replaced, removed or have ended; none that was forgotten.
    """
    wanted = select(facts).where(facts.c.owner == owner, facts.c.content != "")
    if not all:
        lasting = or_(facts.c.valid_to.is_(None), facts.c.valid_to > time.time())
        wanted = wanted.where(facts.c.live == 1, lasting)
    found = await read_rows(wanted.order_by(facts.c.created, facts.c.id))
    return [rows.fact_of(row) for row in found]
