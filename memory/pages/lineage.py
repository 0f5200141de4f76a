"""Say how far what was made of some pages can be trusted."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from memory.pages.rows import Provenance
from storage.engine import read_rows
from storage.tables import pages

LESS_AND_LESS: tuple[Provenance, ...] = ("user", "model", "tool", "web")
"""The classes of provenance, the most trusted first."""


async def lineage(owner: str, ids: Sequence[str]) -> Provenance:
    """Return the provenance of what a model has made of some pages: that of the least trusted."""
    wanted = (
        select(pages.c.provenance).distinct().where(pages.c.owner == owner, pages.c.id.in_(ids))
    )
    found = set((await read_rows(wanted)).scalars()) | {"model"}
    return next(one for one in reversed(LESS_AND_LESS) if one in found)
