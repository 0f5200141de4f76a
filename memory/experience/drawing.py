"""Draw the three tiers of experience as one page: insights, runs, and what was done in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from string import Template
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from sqlalchemy import Connection, select

from memory.experience.insights import Insight, read_row
from memory.experience.runs import Experience
from memory.experience.runs import read_row as read_run
from memory.experience.similar import vector_of
from memory.experience.utterances import Utterance, said_in
from storage.engine import read
from storage.tables import experience_edges, experiences, insight_runs, insights

GAP, LEAST = 1_140, 7
"""How wide all runs stand together, if each has at least so many pixels."""

TOP, MIDDLE, BELOW = 60, 330, 352
"""Where insights, runs, and what was done in them begin, in pixels from above."""


class Graph(NamedTuple):
    """What is drawn; the runs stand beside those that are like them."""

    runs: Sequence[Experience]
    similar: Sequence[tuple[str, str, float]]
    insights: Sequence[Insight]
    support: Sequence[tuple[str, str, int]]
    steps: Mapping[str, Sequence[Utterance]]


async def graph(owner: str, limit: int = 300) -> Graph:
    """Return the newest runs of an owner with all that hangs on them."""

    def look(connection: Connection) -> Graph:
        newest = select(experiences).where(experiences.c.owner == owner)
        ordered = newest.order_by(experiences.c.created.desc(), experiences.c.run).limit(limit)
        runs = [read_run(row) for row in connection.execute(ordered)]
        names = {one.run for one in runs}
        edge = experience_edges.c
        edges = select(edge.run, edge.other, edge.weight).where(
            edge.owner == owner, edge.kind == "similar"
        )
        similar = [tuple(row) for row in connection.execute(edges) if {row.run, row.other} <= names]
        live = select(insights).where(insights.c.owner == owner, insights.c.live == 1)
        known = [read_row(row) for row in connection.execute(live)]
        signs = select(insight_runs.c.insight, insight_runs.c.run, insight_runs.c.sign)
        told = connection.execute(signs.where(insight_runs.c.owner == owner))
        support = [tuple(row) for row in told if row.run in names]
        steps = {one: said_in(connection, owner, one, main=True) for one in names}
        return Graph(_beside(runs), similar, known, support, steps)

    return await read(look)


def page(drawn: Graph) -> str:
    """Return the graph as a page of HTML that needs nothing else."""
    text = resources.files("memory.experience").joinpath("page.html").read_text(encoding="utf-8")
    told = {"runs": len(drawn.runs), "insights": len(drawn.insights), "svg": svg(drawn)}
    return Template(text).substitute(told)


def svg(drawn: Graph) -> str:
    """Return the picture; whoever points at a thing is told what it is."""
    gap = max(LEAST, GAP / max(1, len(drawn.runs)))
    at = {one.run: 50 + gap * (place + 0.5) for place, one in enumerate(drawn.runs)}
    deepest = max((len(steps) for steps in drawn.steps.values()), default=0)
    width, height = int(80 + gap * len(drawn.runs)), BELOW + 30 + 9 * deepest
    parts = [
        f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img">',
        *(_label(*one) for one in (("insights", TOP), ("runs", MIDDLE), ("steps", BELOW + 14))),
        *(_arc(at[one], at[other], weight) for one, other, weight in drawn.similar),
        *_insights(drawn, at),
        *(_run(one, at[one.run]) for one in drawn.runs),
        *(text for one in drawn.runs for text in _steps(drawn.steps[one.run], at[one.run])),
    ]
    return "\n".join([*parts, "</svg>"])


def _beside(runs: Sequence[Experience]) -> list[Experience]:
    """Put runs that asked something similar beside each other, by average linkage."""
    if len(runs) < 3:
        return list(runs)
    vectors = np.array([vector_of(one.question) for one in runs])
    tree = linkage(
        1.0 - np.clip(vectors @ vectors.T, 0, 1)[np.triu_indices(len(runs), 1)], "average"
    )
    return [runs[place] for place in leaves_list(tree)]


def _label(text: str, height: float) -> str:
    return f'<text class="tier" x="2" y="{height:.0f}">{text}</text>'


def _arc(one: float, other: float, weight: float) -> str:
    left, right = sorted((one, other))
    rise = min(150.0, 12 + (right - left) * 0.4)
    path = (
        f"M{left:.1f},{MIDDLE} Q{(left + right) / 2:.1f},{MIDDLE - rise:.1f} {right:.1f},{MIDDLE}"
    )
    return f'<path class="like" d="{path}" opacity="{0.1 + 0.5 * weight:.2f}"/>'


def _insights(drawn: Graph, at: Mapping[str, float]) -> list[str]:
    """Return the insights, each above the middle of the runs that speak of it, and their lines."""
    runs: dict[str, list[tuple[float, int]]] = {}
    for insight, run, sign in drawn.support:
        runs.setdefault(insight, []).append((at[run], sign))
    parts = []
    for number, one in enumerate(drawn.insights):
        told = runs.get(one.id, [])
        x = sum(place for place, _ in told) / len(told) if told else 30.0
        y = TOP + 14 + 18 * (number % 5)
        parts += [
            f'<line class="{"for" if sign > 0 else "against"}" x1="{x:.1f}" y1="{y}" '
            f'x2="{place:.1f}" y2="{MIDDLE}"/>'
            for place, sign in told
        ]
        said = f"{one.content} — {one.wins} of {one.uses} uses won, worth {one.score:.2f}"
        size = 3 + 5 * one.score
        parts.append(
            f'<circle class="insight" cx="{x:.1f}" cy="{y}" r="{size:.1f}">{_title(said)}</circle>'
        )
    return parts


def _run(one: Experience, x: float) -> str:
    said = _title(f"{one.question} — {one.status}, {one.outcome:.2f}. {one.reason}")
    if one.status == "partial":
        place = f'x="{x - 3:.1f}" y="{MIDDLE - 3}" width="6" height="6"'
        return f'<rect class="partial" {place}>{said}</rect>'
    if one.status == "failed":
        cross = f"M{x - 3:.1f},{MIDDLE - 3} l6,6 m0,-6 l-6,6"
        return f'<path class="failed" d="{cross}">{said}</path>'
    return f'<circle class="resolved" cx="{x:.1f}" cy="{MIDDLE}" r="3.2">{said}</circle>'


def _steps(steps: Sequence[Utterance], x: float) -> list[str]:
    parts = []
    for at, one in enumerate(steps):
        place = f'x="{x - 2.5:.1f}" y="{BELOW + 9 * at}" width="5" height="6"'
        said = _title(f"{one.who}: {one.action[:200]}")
        parts.append(f'<rect class="{escape(one.kind)}" {place}>{said}</rect>')
    return parts


def _title(text: str) -> str:
    return f"<title>{escape(' '.join(text.split()))}</title>"
