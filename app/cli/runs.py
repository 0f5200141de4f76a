"""dossier runs: what was asked and how it stands, call by call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Column, Table
from rich.text import Text

from app.cli.dispatch import Invocation
from app.cli.output import one_line
from app.cli.table import local_time, make_table, truncate_cell
from calls.attempts import Attempt, list_attempts, sum_attempts
from config.errors import ErrorCode, Problem
from graph.context import build_context
from report.labels import render_check_results
from runs.lifecycle import (
    REPORT_FILES,
    RunRecord,
    find_run,
    list_recent_runs,
    with_real_status,
)
from runs.trace import describe_shortened_searches, list_base_searches, read_trace
from text.pluralization import pluralize
from text.script import detect_language

LONGEST = 100
"""How many characters of a question are listed at most."""

SECOND_READER_OFF = (
    "The second reader was switched off: only the checks by words have read the report."
)


async def list_runs(*, invocation: Invocation) -> None:
    """List the newest runs."""
    runs = [with_real_status(run) for run in await list_recent_runs(invocation.owner)]
    rows = make_table("run", "status", "asked", Column("question"))
    for run in runs:
        question = one_line(run.question)
        short = f"{question[:LONGEST]}…" if len(question) > LONGEST + 1 else question
        asked = f"{local_time(run.created):%Y-%m-%d %H:%M}"
        rows.add_row(run.id, _describe_status(run), asked, truncate_cell(short))
    invocation.print_result([_run_as_dict(run) for run in runs], rows if runs else "No runs yet.")


async def show_run(
    *,
    run: str,
    report: bool,
    source: str | None,
    removed: bool,
    invocation: Invocation,
) -> None:
    """Show every call of a run, its report, what the checks took out, or a source of its report.

    Raises:
        Problem: `run_not_found`, `report_not_found`, `usage`, or what `show_cited_source` raises.
    """
    if report + removed + (source is not None) > 1:
        what = "--report, --removed and --source show different things"
        raise Problem(ErrorCode.USAGE, what, hint="give one of them")
    shown = with_real_status(await find_run(invocation.owner, run))
    if report:
        from app.cli.stored_report import show_stored_report  # noqa: PLC0415

        await show_stored_report(shown, invocation)
        return
    if source is not None:
        # Most calls of this command load no checkpoints.
        from app.cli.cited_source import show_cited_source  # noqa: PLC0415

        await show_cited_source(shown, source, invocation)
        return
    calls = await read_trace(shown.id)
    if removed:
        _print_removed(shown, _checks(calls), invocation)
    else:
        _print_calls(shown, calls, await list_attempts(shown.id), invocation)


def _print_calls(
    run: RunRecord, calls: list[dict[str, Any]], made: Sequence[Attempt], invocation: Invocation
) -> None:
    data = {**_run_as_dict(run), "calls": calls, "spent": sum_attempts(made)._asdict()}
    report = f"report: {run.folder}/{REPORT_FILES['md']}" if run.folder else "no report yet"
    notes = []
    if count := sum(len(check["removed"]) for check in _checks(calls)):
        notes.append(f"{count} removed by the checks: dossier runs show {run.id} --removed")
    for name, searches in list_base_searches(calls).items():
        counts = pluralize(len(searches["queries"]), "query", "queries")
        found = pluralize(searches["passages"], "passage")
        notes.append(f"knowledge base {name}: {found} for {counts}; --json has them")
    for call in calls:
        if (call["kind"], call["role"], call["status"]) == ("compute", "knowledge", "ok"):
            named = ", ".join(map(str, call.get("bases") or ()))
            notes.append(f"computed over tables of the knowledge bases {named}")
    if line := describe_shortened_searches(calls):
        notes.append(f"{line}: --json lists them")
    if any((call["role"], call["status"]) == ("checker", "off") for call in calls):
        notes.append(SECOND_READER_OFF)
    invocation.print_result(
        data,
        f"[bold]{run.id}[/bold]  {_describe_status(run)}",
        Text(one_line(run.question)),
        Text(report),
        _table(calls),
        _sums(made, calls, run.context),
        *notes,
    )


def _print_removed(run: RunRecord, checks: list[dict[str, Any]], invocation: Invocation) -> None:
    """Show what the checks took out of each draft of a run, and what they doubt."""
    language = detect_language(run.question)
    names = ("role", "step", "attempt", "removed", "doubted")
    sentences = [{name: check[name] for name in names} for check in checks]
    lines = []
    for check in checks:
        where = " ".join(filter(None, (check["role"], check["step"])))
        results = render_check_results(check["removed"], check["doubted"], language)
        lines += [Text(f"{where}, draft {_draft(check['attempt'])}"), Text(results)]
    invocation.print_result(
        {**_run_as_dict(run), "checks": sentences},
        *lines,
        "" if checks else "Nothing was removed by the checks.",
    )


def _describe_status(run: RunRecord) -> str:
    return run.status if run.code in ("", run.status) else f"{run.status} {run.code}"


def _draft(repetition: str) -> int:
    """Return which draft of a step or report was checked, from 1 (`CallSite.repetition`)."""
    counts = repetition.split(".")
    return int(counts[2]) + 1 if len(counts) > 2 else 1


def _checks(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what the checks did, once for each draft, however often it was checked."""
    checks = (call for call in calls if call["kind"] == "check")
    newest = {(one["role"], one["step"], one["attempt"]): one for one in checks}
    return [one for one in newest.values() if one["removed"] or one["doubted"]]


def _table(calls: list[dict[str, Any]]) -> Table:
    numbers = (Column(name, no_wrap=True, justify="right") for name in ("s", "in", "out"))
    rows = make_table("at", "kind", "role", "step", "status", "model", *numbers)
    for call in (call for call in calls if call["kind"] not in ("memory", "check")):
        who = str(call.get("base") or call["role"])
        words = [call["kind"], who, call["step"], call["status"], call.get("model", "")]
        seconds = f"{call['seconds']:.2f}" if "seconds" in call else ""
        about = "~" if call.get("estimated") else ""
        tokens = [f"{about}{call.get(name, '')}" for name in ("tokens_in", "tokens_out")]
        rows.add_row(f"{local_time(call['at']):%H:%M:%S}", *map(Text, words), seconds, *tokens)
    return rows


def _sums(made: Sequence[Attempt], calls: list[dict[str, Any]], choices: dict[str, Any]) -> str:
    spent = sum_attempts(made)
    asked = pluralize(spent.calls, "model call")
    if spent.embedding_calls:
        asked += f", {pluralize(spent.embedding_calls, 'embedding call')}"
    about = "~" if spent.open or any(call.get("estimated") for call in calls) else ""
    read, written = spent.tokens_in, spent.tokens_out
    tokens = f"{about}{pluralize(read, 'token')} read, {about}{written:,} written"
    most = build_context(choices).limits.max_cost
    known = [call for call in calls if call["kind"] == "model" and call["status"] != "recorded"]
    dollars = f"${spent.dollars:.4f} of ${most} spent"
    spending = f"{asked}, {tokens}, {dollars}{_render_estimates(known)}"
    if not spent.open:
        return spending
    unsettled = pluralize(spent.open, "call")
    return f"{spending}\n{unsettled} with an unknown end, counted with the maximum"


def _render_estimates(made: list[dict[str, Any]]) -> str:
    """Return what the calls could have cost, and what those in flight together held of the cap."""
    estimate = sum(call.get("estimate", 0.0) for call in made if call["status"] != "budget_spent")
    reserved = max((call.get("reserved", 0.0) for call in made), default=0.0)
    if not estimate:
        return ""
    return f" (estimated at most ${estimate:.4f}; reserved at once at most ${reserved:.4f})"


def _run_as_dict(run: RunRecord) -> dict[str, object]:
    names = ("thread", "status", "code", "question", "folder", "created")
    return {"run": run.id} | {name: getattr(run, name) for name in names}
