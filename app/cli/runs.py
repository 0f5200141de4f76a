"""dossier runs: what was asked and how it stands, call by call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.table import Column, Table
from rich.text import Text

from app.cli.dispatch import Invocation
from app.cli.event_loop import run_and_close
from app.cli.output import one_line, print_json
from app.cli.table import make_table, print_renderables
from calls.attempts import EMBEDDER, INDEXER, OPEN_STATUS, UNSENT_PREFIX, Attempt, list_attempts
from graph.context import Context
from report.labels import render_check_results
from runs.lifecycle import REPORT_FILES, RunRecord, find_run, list_recent_runs
from runs.lock import is_thread_locked
from runs.trace import count_shortened_queries, read_trace
from text.pluralization import pluralize
from text.script import detect_language

LONGEST = 100
"""How many characters of a question are listed at most."""


def list_runs(*, invocation: Invocation) -> int:
    """List the newest runs."""
    return run_and_close(_list(invocation.owner, invocation.as_json))


def show_run(*, run: str, removed: bool, invocation: Invocation) -> int:
    """Show every call of a run: role, step, tokens and time."""
    show = _removed if removed else _show
    return run_and_close(show(invocation.owner, run, invocation.as_json))


async def _list(owner: str, as_json: bool) -> int:
    runs = [_with_real_status(run) for run in await list_recent_runs(owner)]
    if as_json:
        print_json([_plain(run) for run in runs])
        return 0
    rows = make_table("run", "status", "asked", Column("question"))
    for run in runs:
        asked = datetime.fromtimestamp(run.created, UTC).astimezone()
        question = one_line(run.question)
        short = f"{question[:LONGEST]}…" if len(question) > LONGEST + 1 else question
        cut = Text(short, no_wrap=True, overflow="ellipsis")
        code = run.code if run.code != run.status else ""
        rows.add_row(run.id, f"{run.status} {code}".strip(), f"{asked:%Y-%m-%d %H:%M}", cut)
    print_renderables(rows if runs else "No runs yet.")
    return 0


async def _show(owner: str, name: str, as_json: bool) -> int:
    run = _with_real_status(await find_run(owner, name))
    calls, made = await read_trace(run.id), await list_attempts(run.id)
    if as_json:
        print_json({**_plain(run), "calls": calls, "spent": _spent(made)})
        return 0
    code = run.code if run.code != run.status else ""
    report = f"report: {Path(run.folder, REPORT_FILES['md'])}" if run.folder else "no report yet"
    head = f"[bold]{run.id}[/bold]  {run.status} {code}"
    print_renderables(
        head,
        Text(one_line(run.question)),
        Text(report),
        _table(calls),
        _sums(made, calls, run.context),
    )
    if count := sum(len(check["removed"]) for check in _checks(calls)):
        print_renderables(f"{count} removed by the checks: dossier runs show {run.id} --removed")
    if line := describe_shortened_searches(calls):
        print_renderables(f"{line}: --json lists them")
    if any((call["role"], call["status"]) == ("checker", "off") for call in calls):
        print_renderables(
            "The second reader was switched off: only the checks by words have read the report."
        )
    return 0


def describe_shortened_searches(calls: Iterable[Mapping[str, Any]]) -> str:
    """Say how many web searches a trace shows to be shortened or not sent; nothing for none."""
    count = count_shortened_queries(calls)
    searches = pluralize(count, "web search was", "web searches were")
    return f"{searches} shortened or not sent because of private words" if count else ""


async def _removed(owner: str, name: str, as_json: bool) -> int:
    """Show what the checks took out of each draft of a run, and what they doubt."""
    run = _with_real_status(await find_run(owner, name))
    checks = _checks(await read_trace(run.id))
    if as_json:
        print_json({**_plain(run), "checks": [_sentences(check) for check in checks]})
        return 0
    language = detect_language(run.question)
    for check in checks:
        where = " ".join(filter(None, (check["role"], check["step"])))
        print_renderables(Text(f"{where}, draft {_draft(check['attempt'])}"))
        print_renderables(Text(render_check_results(check["removed"], check["doubted"], language)))
    print_renderables("" if checks else "Nothing was removed by the checks.")
    return 0


def _draft(repetition: str) -> int:
    """Return which draft of a step or report was checked, from 1 (`CallSite.repetition`)."""
    counts = repetition.split(".")
    return int(counts[2]) + 1 if len(counts) > 2 else 1


def _checks(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what the checks did, once for each draft, however often it was checked."""
    checks = (call for call in calls if call["kind"] == "check")
    newest = {(one["role"], one["step"], one["attempt"]): one for one in checks}
    return [one for one in newest.values() if one["removed"] or one["doubted"]]


def _sentences(check: dict[str, Any]) -> dict[str, Any]:
    return {name: check[name] for name in ("role", "step", "attempt", "removed", "doubted")}


def _table(calls: list[dict[str, Any]]) -> Table:
    numbers = (Column(name, no_wrap=True, justify="right") for name in ("s", "in", "out"))
    rows = make_table("at", "kind", "role", "step", "status", "model", *numbers)
    for call in (call for call in calls if call["kind"] not in ("memory", "check")):
        at = datetime.fromtimestamp(call["at"], UTC).astimezone()
        words = [call["kind"], call["role"], call["step"], call["status"], call.get("model", "")]
        seconds = f"{call['seconds']:.2f}" if "seconds" in call else ""
        about = "~" if call.get("estimated") else ""
        tokens = [f"{about}{call.get(name, '')}" for name in ("tokens_in", "tokens_out")]
        rows.add_row(f"{at:%H:%M:%S}", *map(Text, words), seconds, *tokens)
    return rows


def _spent(made: Sequence[Attempt]) -> dict[str, Any]:
    """Return what a run used; a call with an unknown end counts with its maximum."""
    sent = [one for one in made if not one.status.startswith(UNSENT_PREFIX)]
    embedding = sum(one.role in (EMBEDDER, INDEXER) for one in sent)
    return {
        "calls": len(sent) - embedding,
        "embedding_calls": embedding,
        "tokens_in": sum(one.tokens_in for one in made),
        "tokens_out": sum(one.tokens_out for one in made),
        "dollars": sum(one.cost for one in made),
        "open": sum(one.status == OPEN_STATUS for one in made),
    }


def _sums(made: Sequence[Attempt], calls: list[dict[str, Any]], choices: dict[str, Any]) -> str:
    spent = _spent(made)
    asked = pluralize(spent["calls"], "model call")
    if spent["embedding_calls"]:
        asked += f", {pluralize(spent['embedding_calls'], 'embedding call')}"
    about = "~" if spent["open"] or any(call.get("estimated") for call in calls) else ""
    read, written = spent["tokens_in"], spent["tokens_out"]
    tokens = f"{about}{pluralize(read, 'token')} read, {about}{written:,} written"
    most = choices.get("max_cost", Context.max_cost)
    known = [call for call in calls if call["kind"] == "model" and call["status"] != "recorded"]
    spending = (
        f"{asked}, {tokens}, ${spent['dollars']:.4f} of ${most} spent{_render_estimates(known)}"
    )
    if not spent["open"]:
        return spending
    unsettled = pluralize(spent["open"], "call")
    return f"{spending}\n{unsettled} with an unknown end, counted with the maximum"


def _render_estimates(made: list[dict[str, Any]]) -> str:
    """Return what the calls could have cost, and what those in flight together held of the cap."""
    estimate = sum(call.get("estimate", 0.0) for call in made if call["status"] != "budget_spent")
    reserved = max((call.get("reserved", 0.0) for call in made), default=0.0)
    if not estimate:
        return ""
    return f" (estimated at most ${estimate:.4f}; reserved at once at most ${reserved:.4f})"


def _with_real_status(run: RunRecord) -> RunRecord:
    """Return a run as it stands: one that nobody works on any more is paused."""
    if run.status == "running" and not is_thread_locked(run.thread):
        return run._replace(status="paused")
    return run


def _plain(run: RunRecord) -> dict[str, object]:
    return {
        "run": run.id,
        "thread": run.thread,
        "status": run.status,
        "code": run.code,
        "question": run.question,
        "folder": run.folder,
        "created": run.created,
    }
