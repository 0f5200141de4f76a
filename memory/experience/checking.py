"""Look for edges of the experience that lead nowhere."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from storage.engine import read
from storage.tables import (
    credits,
    experience_edges,
    experiences,
    insight_edges,
    insight_runs,
    insights,
    recalls,
)


async def dangling() -> dict[str, int]:
    """Return how many edges of each table have an end that is not there; nothing if all do.

    The runs that speak for an insight need not be here: it may be from another home.
    """
    return await read(_dangling)


def _dangling(connection: Connection) -> dict[str, int]:
    ends = {
        "experience_edges.run": (experience_edges, experience_edges.c.run, experiences.c.run),
        "experience_edges.other": (experience_edges, experience_edges.c.other, experiences.c.run),
        "recalls.other": (recalls, recalls.c.other, experiences.c.run),
        "insight_runs.insight": (insight_runs, insight_runs.c.insight, insights.c.id),
        "insight_edges.one": (insight_edges, insight_edges.c.one, insights.c.id),
        "insight_edges.other": (insight_edges, insight_edges.c.other, insights.c.id),
        "credits.insight": (credits, credits.c.insight, insights.c.id),
    }
    counts = {
        name: connection.execute(
            select(func.count())
            .select_from(table)
            .where(
                ~select(there).where(there == here, there.table.c.owner == table.c.owner).exists()
            )
        ).scalar_one()
        for name, (table, here, there) in ends.items()
    }
    return {name: count for name, count in counts.items() if count}
