"""Draw the three tiers of experience as one page: insights, runs, and what was done in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from string import Template
from typing import NamedTuple

import numpy as np
import scipy
from sqlalchemy import Connection, select

from memory.experience.insights import Insight, insight_from_row
from memory.experience.run_history import PastRun, past_run_from_row, question_vector
from memory.experience.tables import (
    experience_edges,
    experiences,
    insight_edges,
    insight_runs,
    insights,
)
from memory.experience.utterances import Utterance, list_utterances_in
from storage.engine import run_read
from text.pluralization import pluralize

GAP, LEAST = 1_140, 7
"""How wide all runs stand together, if each has at least so many pixels."""

LOWEST, MIDDLE, BELOW = 130, 330, 352
"""Where the lowest insights, the runs, and what was done in them stand, in pixels from above."""

ROOM = 14
"""How far insights stand from each other, in pixels."""

_Point = tuple[float, float]


class ExperienceGraph(NamedTuple):
    """What is drawn; the runs stand beside those that are like them."""

    runs: Sequence[PastRun]
    edges: Sequence[tuple[str, str, str, float]]
    """A run, another one, `similar` or `used`, and how similar they are."""
    insights: Sequence[Insight]
    support: Sequence[tuple[str, str, int]]
    insight_links: Sequence[tuple[str, str]]
    """Insights that one run has to do with."""
    steps: Mapping[str, Sequence[Utterance]]


async def load_experience_graph(owner: str, limit: int = 300) -> ExperienceGraph:
    """Return the newest runs of an owner with all that hangs on them."""

    def look(connection: Connection) -> ExperienceGraph:
        mine = (experiences.c.owner == owner, experiences.c.live == 1)
        newest = select(experiences).where(*mine)
        ordered = newest.order_by(experiences.c.created.desc(), experiences.c.run).limit(limit)
        runs = [past_run_from_row(row) for row in connection.execute(ordered)]
        names = {one.run for one in runs}
        support = _support(connection, owner, names)
        known = _known(connection, owner, {insight for insight, _, _ in support})
        shown = {one.id for one in known}
        return ExperienceGraph(
            _order_by_similarity(runs),
            _edges(connection, owner, names),
            known,
            [one for one in support if one[0] in shown],
            _joined(connection, owner, shown),
            {one: list_utterances_in(connection, owner, one, main=True) for one in names},
        )

    return await run_read(look)


def _support(connection: Connection, owner: str, names: set[str]) -> list[tuple[str, str, int]]:
    runs = insight_runs.c
    signs = select(runs.insight, runs.run, runs.sign).where(runs.owner == owner)
    return [tuple(row) for row in connection.execute(signs) if row.run in names]


def _known(connection: Connection, owner: str, spoken: set[str]) -> list[Insight]:
    """Return the insights that stand now and that one of the runs speaks of."""
    live = select(insights).where(insights.c.owner == owner, insights.c.live == 1)
    known = map(
        insight_from_row, connection.execute(live.order_by(insights.c.created, insights.c.id))
    )
    return [one for one in known if one.id in spoken]


def _edges(
    connection: Connection, owner: str, names: set[str]
) -> list[tuple[str, str, str, float]]:
    edge = experience_edges.c
    edges = select(edge.run, edge.other, edge.kind, edge.weight).where(edge.owner == owner)
    return [tuple(row) for row in connection.execute(edges) if {row.run, row.other} <= names]


def _joined(connection: Connection, owner: str, shown: set[str]) -> list[tuple[str, str]]:
    edge = insight_edges.c
    pairs = select(edge.one, edge.other).where(edge.owner == owner).distinct()
    return [tuple(row) for row in connection.execute(pairs) if {row.one, row.other} <= shown]


def render_graph_page(drawn: ExperienceGraph) -> str:
    """Return the graph as a page of HTML that needs nothing else."""
    text = resources.files("memory.experience").joinpath("page.html").read_text(encoding="utf-8")
    told = {"runs": len(drawn.runs), "insights": len(drawn.insights), "svg": _render_svg(drawn)}
    return Template(text).substitute(told)


def _render_svg(drawn: ExperienceGraph) -> str:
    """Return the picture; whoever points at a thing is told what it is."""
    gap = max(LEAST, GAP / max(1, len(drawn.runs)))
    at = {one.run: 50 + gap * (place + 0.5) for place, one in enumerate(drawn.runs)}
    deepest = max((len(steps) for steps in drawn.steps.values()), default=0)
    width = int(80 + gap * len(drawn.runs))
    places = _places(drawn, at, width)
    top = min([0.0, *(y - 30 for _, y in places.values())])
    height = BELOW + 30 + 9 * deepest - top
    parts = [
        f'<svg viewBox="0 {top:.0f} {width} {height:.0f}" width="{width}" role="img">',
        *(_label(*one) for one in (("insights", LOWEST), ("runs", MIDDLE), ("steps", BELOW + 14))),
        *(_arc(at[one], at[other], kind, weight) for one, other, kind, weight in drawn.edges),
        *(_line("together", places[one], places[other]) for one, other in drawn.insight_links),
        *_insights(drawn, places, at),
        *(_run(one, at[one.run]) for one in drawn.runs),
        *(text for one in drawn.runs for text in _steps(drawn.steps[one.run], at[one.run])),
    ]
    return "\n".join([*parts, "</svg>"])


def _order_by_similarity(runs: Sequence[PastRun]) -> list[PastRun]:
    """Put runs that asked something similar beside each other, by average linkage."""
    if len(runs) < 3:
        return list(runs)
    vectors = np.array([question_vector(one.question) for one in runs])
    tree = scipy.cluster.hierarchy.linkage(
        1.0 - np.clip(vectors @ vectors.T, 0, 1)[np.triu_indices(len(runs), 1)], "average"
    )
    return [runs[place] for place in scipy.cluster.hierarchy.leaves_list(tree)]


def _label(text: str, height: float) -> str:
    return f'<text class="tier" x="2" y="{height:.0f}">{text}</text>'


def _arc(one: float, other: float, kind: str, weight: float) -> str:
    left, right = sorted((one, other))
    rise = min(150.0, 12 + (right - left) * 0.4)
    path = (
        f"M{left:.1f},{MIDDLE} Q{(left + right) / 2:.1f},{MIDDLE - rise:.1f} {right:.1f},{MIDDLE}"
    )
    name = "used" if kind == "used" else "like"
    return f'<path class="{name}" d="{path}" opacity="{0.1 + 0.5 * weight:.2f}"/>'


def _places(drawn: ExperienceGraph, at: Mapping[str, float], width: int) -> dict[str, _Point]:
    """Return where the insights stand: above the middle of their runs, none upon another."""
    runs: dict[str, list[float]] = {}
    for insight, run, _ in drawn.support:
        runs.setdefault(insight, []).append(at[run])
    wished = sorted((sum(some) / len(some), insight) for insight, some in runs.items())
    rows = 4 + len(wished) * ROOM // max(width - 80, ROOM)
    ends = [0.0] * rows
    places: dict[str, _Point] = {}
    for x, insight in wished:
        row = next((one for one in range(rows) if ends[one] + ROOM <= x), None)
        row = ends.index(min(ends)) if row is None else row
        ends[row] = max(x, ends[row] + ROOM)
        places[insight] = (ends[row], LOWEST - ROOM * row)
    return places


def _line(name: str, one: _Point, other: _Point) -> str:
    ends = f'x1="{one[0]:.1f}" y1="{one[1]:.1f}" x2="{other[0]:.1f}" y2="{other[1]:.1f}"'
    return f'<line class="{name}" {ends}/>'


def _insights(
    drawn: ExperienceGraph, places: Mapping[str, _Point], at: Mapping[str, float]
) -> list[str]:
    """Return the insights, each with the lines to the runs that speak for and against it."""
    lines: dict[str, list[str]] = {}
    for insight, run, sign in drawn.support:
        name = "for" if sign > 0 else "against"
        lines.setdefault(insight, []).append(_line(name, places[insight], (at[run], MIDDLE)))
    return [
        "\n".join(["<g>", *lines[one.id], _insight(one, places[one.id]), "</g>"])
        for one in drawn.insights
    ]


def _insight(one: Insight, place: _Point) -> str:
    said = f"{one.content} — {one.wins} of {pluralize(one.uses, 'use')} won, worth {one.score:.2f}"
    where = f'cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="{3 + 3.5 * one.score:.1f}"'
    return f'<circle class="insight" {where}>{_title(said)}</circle>'


def _run(one: PastRun, x: float) -> str:
    said = _title(f"{one.question} — {one.status}, {one.outcome:.2f}. {one.reason}")
    if one.status == "partial":
        place = f'x="{x - 3:.1f}" y="{MIDDLE - 3}" width="6" height="6"'
        return f'<rect class="partial" {place}>{said}</rect>'
    if one.status == "failed":
        cross = f"M{x - 3:.1f},{MIDDLE - 3} l6,6 m0,-6 l-6,6"
        return f'<path class="failed" d="{cross}">{said}</path>'
    return f'<circle class="resolved" cx="{x:.1f}" cy="{MIDDLE}" r="3.2">{said}</circle>'


def _steps(steps: Sequence[Utterance], x: float) -> list[str]:
    """Return the key steps from above in the order in which they came, and what each builds on."""
    numbers = {one.id: number for number, one in enumerate(steps, start=1)}
    parts = []
    for at, one in enumerate(steps):
        place = f'x="{x - 2.5:.1f}" y="{BELOW + 9 * at}" width="5" height="6"'
        on = ", ".join(str(numbers[other]) for other in one.builds_on if other in numbers)
        builds = f" (builds on {on})" if on else ""
        said = _title(f"{at + 1}. {one.who}: {one.action[:200]}{builds}")
        parts.append(f'<rect class="{escape(one.kind)}" {place}>{said}</rect>')
    return parts


def _title(text: str) -> str:
    return f"<title>{escape(' '.join(text.split()))}</title>"
