"""Draw experience as an HTML page with three tiers: insights, runs and their steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from string import Template
from typing import Any, NamedTuple

import numpy as np
import scipy
from sqlalchemy import Connection, Table, select

from memory.experience.insights import Insight, insight_from_row
from memory.experience.run_history import PastRun, past_run_from_row, question_vector
from memory.experience.utterances import Utterance, list_utterances_in
from memory.tables import experience_edges, experiences, insight_edges, insight_runs, insights
from storage.engine import run_read
from text.pluralization import pluralize

GAP, LEAST = 1_140, 7
"""The width of all runs together, and the least width of one run, in pixels."""

LOWEST, MIDDLE, BELOW = 130, 330, 352
"""The y positions of the lowest insights, of the runs and of the first steps, in pixels."""

ROOM = 14
"""The distance between insights, in pixels."""

_Point = tuple[float, float]


class ExperienceGraph(NamedTuple):
    """The data of the page; similar runs are neighbours."""

    runs: Sequence[PastRun]
    edges: Sequence[tuple[str, str, str, float]]
    """A run, another run, `similar` or `used`, and their similarity."""
    insights: Sequence[Insight]
    support: Sequence[tuple[str, str, int]]
    insight_links: Sequence[tuple[str, str]]
    """Pairs of insights with a run in common."""
    steps: Mapping[str, Sequence[Utterance]]


async def load_experience_graph(owner: str, limit: int = 300) -> ExperienceGraph:
    """Return the newest runs of an owner with their edges, insights and steps."""

    def read(connection: Connection) -> ExperienceGraph:
        """Return the newest runs with their insights, and the links among what is shown."""
        newest = select(experiences).filter_by(owner=owner, live=1)
        ordered = newest.order_by(experiences.c.created.desc(), experiences.c.run).limit(limit)
        runs = [past_run_from_row(row) for row in connection.execute(ordered)]
        names = {run.run for run in runs}
        support = _rows(connection, owner, insight_runs, "insight", "run", "sign")
        taught = {insight for insight, run, _ in support if run in names}
        oldest = select(insights).filter_by(owner=owner, live=1)
        rows = connection.execute(oldest.order_by(insights.c.created, insights.c.id))
        known = [insight_from_row(row) for row in rows if row.id in taught]
        shown = {insight.id for insight in known}
        edges = _rows(connection, owner, experience_edges, "run", "other", "kind", "weight")
        links = _rows(connection, owner, insight_edges, "one", "other")
        return ExperienceGraph(
            _order_by_similarity(runs),
            [edge for edge in edges if names.issuperset(edge[:2])],
            known,
            [edge for edge in support if edge[0] in shown and edge[1] in names],
            [pair for pair in links if shown.issuperset(pair)],
            {name: list_utterances_in(connection, owner, name, main=True) for name in names},
        )

    return await run_read(read)


def _rows(connection: Connection, owner: str, table: Table, *names: str) -> list[Any]:
    """Return some columns of an owner's rows, each combination once."""
    rows = select(*(table.c[name] for name in names)).filter_by(owner=owner)
    return list(dict.fromkeys(map(tuple, connection.execute(rows))))


def render_graph_page(drawn: ExperienceGraph) -> str:
    """Return the graph as a self-contained HTML page."""
    text = resources.files("memory.experience").joinpath("page.html").read_text(encoding="utf-8")
    values = {"runs": len(drawn.runs), "insights": len(drawn.insights), "svg": _render_svg(drawn)}
    return Template(text).substitute(values)


def _render_svg(drawn: ExperienceGraph) -> str:
    """Return the picture; every element has a tooltip."""
    gap = max(LEAST, GAP / max(1, len(drawn.runs)))
    at = {run.run: 50 + gap * (index + 0.5) for index, run in enumerate(drawn.runs)}
    deepest = max((len(steps) for steps in drawn.steps.values()), default=0)
    width = int(80 + gap * len(drawn.runs))
    places = _places(drawn, at, width)
    top = min([0.0, *(y - 30 for _, y in places.values())])
    height = BELOW + 30 + 9 * deepest - top
    parts = [
        f'<svg viewBox="0 {top:.0f} {width} {height:.0f}" width="{width}" role="img">',
        _label("insights", LOWEST),
        _label("runs", MIDDLE),
        _label("steps", BELOW + 14),
        *(_arc(at[run], at[other], kind, weight) for run, other, kind, weight in drawn.edges),
        *(_line("together", places[one], places[other]) for one, other in drawn.insight_links),
        *_insights(drawn, places, at),
        *(_run(run, at[run.run]) for run in drawn.runs),
        *(step for run in drawn.runs for step in _steps(drawn.steps[run.run], at[run.run])),
    ]
    return "\n".join([*parts, "</svg>"])


def _order_by_similarity(runs: Sequence[PastRun]) -> list[PastRun]:
    """Make runs with similar questions neighbours, by average linkage."""
    if len(runs) < 3:
        return list(runs)
    vectors = np.array([question_vector(run.question) for run in runs])
    tree = scipy.cluster.hierarchy.linkage(
        1.0 - np.clip(vectors @ vectors.T, 0, 1)[np.triu_indices(len(runs), 1)], "average"
    )
    return [runs[index] for index in scipy.cluster.hierarchy.leaves_list(tree)]


def _label(text: str, height: float) -> str:
    return f'<text class="tier" x="2" y="{height:.0f}">{text}</text>'


def _arc(start: float, end: float, kind: str, weight: float) -> str:
    left, right = sorted((start, end))
    rise = min(150.0, 12 + (right - left) * 0.4)
    path = (
        f"M{left:.1f},{MIDDLE} Q{(left + right) / 2:.1f},{MIDDLE - rise:.1f} {right:.1f},{MIDDLE}"
    )
    name = "used" if kind == "used" else "like"
    return f'<path class="{name}" d="{path}" opacity="{0.1 + 0.5 * weight:.2f}"/>'


def _places(drawn: ExperienceGraph, at: Mapping[str, float], width: int) -> dict[str, _Point]:
    """Place insights above the middle of their runs, without overlaps."""
    runs: dict[str, list[float]] = {}
    for insight, run, _ in drawn.support:
        runs.setdefault(insight, []).append(at[run])
    centres = sorted((sum(xs) / len(xs), insight) for insight, xs in runs.items())
    row_count = 4 + len(centres) * ROOM // max(width - 80, ROOM)
    ends = [0.0] * row_count
    places: dict[str, _Point] = {}
    for x, insight in centres:
        free = (row for row in range(row_count) if ends[row] + ROOM <= x)
        row = next(free, ends.index(min(ends)))
        ends[row] = max(x, ends[row] + ROOM)
        places[insight] = (ends[row], LOWEST - ROOM * row)
    return places


def _line(name: str, start: _Point, end: _Point) -> str:
    ends = f'x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
    return f'<line class="{name}" {ends}/>'


def _insights(
    drawn: ExperienceGraph, places: Mapping[str, _Point], at: Mapping[str, float]
) -> list[str]:
    """Return the insights with lines to the runs that speak for and against them."""
    lines: dict[str, list[str]] = {}
    for insight, run, sign in drawn.support:
        name = "for" if sign > 0 else "against"
        lines.setdefault(insight, []).append(_line(name, places[insight], (at[run], MIDDLE)))
    return [
        "\n".join(["<g>", *lines[insight.id], _insight(insight, places[insight.id]), "</g>"])
        for insight in drawn.insights
    ]


def _insight(insight: Insight, place: _Point) -> str:
    record = f"{insight.wins} of {pluralize(insight.uses, 'use')} won, worth {insight.score:.2f}"
    circle = f'cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="{3 + 3.5 * insight.score:.1f}"'
    return f'<circle class="insight" {circle}>{_title(f"{insight.content} — {record}")}</circle>'


def _run(run: PastRun, x: float) -> str:
    title = _title(f"{run.question} — {run.status}, {run.outcome:.2f}. {run.reason}")
    if run.status == "partial":
        square = f'x="{x - 3:.1f}" y="{MIDDLE - 3}" width="6" height="6"'
        return f'<rect class="partial" {square}>{title}</rect>'
    if run.status == "failed":
        cross = f"M{x - 3:.1f},{MIDDLE - 3} l6,6 m0,-6 l-6,6"
        return f'<path class="failed" d="{cross}">{title}</path>'
    return f'<circle class="resolved" cx="{x:.1f}" cy="{MIDDLE}" r="3.2">{title}</circle>'


def _steps(steps: Sequence[Utterance], x: float) -> list[str]:
    """Return the key steps of a run in their order, from top to bottom."""
    numbers = {step.id: number for number, step in enumerate(steps, start=1)}
    parts = []
    for number, step in enumerate(steps, start=1):
        box = f'x="{x - 2.5:.1f}" y="{BELOW + 9 * (number - 1)}" width="5" height="6"'
        basis = ", ".join(str(numbers[id]) for id in step.builds_on if id in numbers)
        suffix = f" (builds on {basis})" if basis else ""
        title = _title(f"{number}. {step.who}: {step.action[:200]}{suffix}")
        parts.append(f'<rect class="{escape(step.kind)}" {box}>{title}</rect>')
    return parts


def _title(text: str) -> str:
    return f"<title>{escape(' '.join(text.split()))}</title>"
