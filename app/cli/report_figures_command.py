"""dossier eval report: the figures of reports that need no judge, side by side."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from rich.table import Column, Table
from rich.text import Text

from app.cli.dispatch import Invocation
from app.cli.output import one_line
from app.cli.runner import has_report
from app.cli.table import make_table
from config.errors import ErrorCode, Problem
from evals.report_figures import ReportFigures, figures_as_dict, measure_report
from graph.session import open_session
from graph.state import State
from runs.lifecycle import RunRecord, find_run, find_run_of_report
from tools.source_checks import load_cited_texts

ROWS = (
    ("words", "words"),
    ("sentences", "sentences"),
    ("reading grade (Flesch-Kincaid)", "reading_grade"),
    ("characters a sentence", "characters_per_sentence"),
    ("characters a clause", "characters_per_clause"),
    ("claims", "claims"),
    ("  with a verified citation", "verified"),
    ("  doubted", "doubted"),
    ("  removed", "removed"),
    ("marked as inference", "inferences"),
    ("said to be unknown", "unknowns"),
    ("sources cited", "sources"),
    ("  documents", "documents"),
    ("  independent", "independent"),
    ("steps in the report", "steps_covered"),
    ("parts of the question covered", "parts_covered"),
    ("quotations word for word", "quotations_verified"),
    ("tables", "tables"),
)
"""The figures in the order of the table, with their labels."""

OUT_OF = {"steps_covered": "steps", "parts_covered": "parts", "quotations_verified": "quotations"}
"""Counts that are shown with what they are a part of."""

SHARES = {"verified": "verified_share", "doubted": "doubted_share", "removed": "removed_share"}


async def print_report_figures(*, reports: list[str] | None, invocation: Invocation) -> None:
    """Print the figures of some reports, each in a column.

    Raises:
        Problem: `usage`, `run_not_found`, `file_not_found`, or `run_unfinished` if there is no
            report.
    """
    if not reports:
        hint = "dossier runs lists the runs"
        raise Problem(ErrorCode.USAGE, "no report is named", hint=hint)
    measured = [await _measure(invocation.owner, name) for name in reports]
    data = [figures_as_dict(one) for one in measured]
    invocation.print_result(data, _table(measured), *_questions(measured))


async def _measure(owner: str, name: str) -> ReportFigures:
    run = await _find(owner, name)
    state = await _load_state(run)
    texts = await load_cited_texts(owner, state)
    return await asyncio.to_thread(measure_report, run.id, state, texts)


async def _find(owner: str, name: str) -> RunRecord:
    """Return the run of a name, or of a report's file or folder.

    Raises:
        Problem: `run_not_found`, or `file_not_found` for a file that is not there.
    """
    folder = _report_folder(name)
    return await (find_run_of_report(owner, folder) if folder else find_run(owner, name))


def _report_folder(name: str) -> str:
    """Return the folder of a report that is named by its file or folder; "" for a run's name."""
    path = Path(os.path.expanduser(name))
    if path.suffix not in (".md", ".html") and not path.is_dir():
        return ""
    if not path.exists():
        what, hint = "there is no such file", "name a run, or the file of its report"
        raise Problem(ErrorCode.FILE_NOT_FOUND, what, where=name, hint=hint)
    return str((path if path.is_dir() else path.parent).absolute())


async def _load_state(run: RunRecord) -> State:
    """Return the state in which a run ended, also if its thread has gone on.

    Raises:
        Problem: `run_unfinished` if it has no report.
    """
    async with open_session(run.thread) as opened:
        async for snapshot in opened.graph.aget_state_history(opened.config):
            state = cast("State", snapshot.values)
            if state.get("run") == run.id and has_report(state):
                return state
    hint = f"dossier runs show {run.id}"
    raise Problem(ErrorCode.RUN_UNFINISHED, f"{run.id} has no report", hint=hint)


def _table(measured: Sequence[ReportFigures]) -> Table:
    columns = (Column(one.run, justify="right", no_wrap=True) for one in measured)
    rows = make_table("", *columns)
    for label, name in ROWS:
        cells = [_cell(one, name) for one in measured]
        if any(cells):
            rows.add_row(label, *cells)
    return rows


def _cell(figures: ReportFigures, name: str) -> str:
    value: Any = getattr(figures, name)
    if value is None:
        return ""
    if name in OUT_OF:
        return f"{value} of {getattr(figures, OUT_OF[name])}"
    if name in SHARES:
        share = getattr(figures, SHARES[name])
        return f"{value}" if share is None else f"{value} ({share:.0%})"
    return f"{value:.1f}" if isinstance(value, float) else f"{value:,}"


def _questions(measured: Sequence[ReportFigures]) -> list[Text]:
    lines: list[Text] = []
    for one in measured:
        lines.append(Text(f"{one.run}: {one_line(one.question)}"))
        if one.parts_open:
            lines.append(Text(f"  not covered: {one_line('; '.join(one.parts_open))}"))
    return lines
