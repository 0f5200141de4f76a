"""dossier runs: what was asked and how it stands, call by call."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.cli.output import one_line, print_json
from config.settings import settings
from runs.lifecycle import Run, found, listed
from runs.lock import is_held
from runs.place import owned
from runs.trace import read_trace
from storage.engine import close


def main(*, name: str | None, project: str, as_json: bool) -> int:
    """List the runs of a project, or show one; return the exit status."""
    owner = owned(settings().user, project)
    return asyncio.run(_list(owner, as_json) if name is None else _show(owner, name, as_json))


async def _list(owner: str, as_json: bool) -> int:
    try:
        runs = [_truly(run) for run in await listed(owner)]
    finally:
        await close()
    if as_json:
        print_json([_plain(run) for run in runs])
        return 0
    table = Table("run", "status", "asked", "question", box=None, header_style="bold")
    for run in runs:
        asked = datetime.fromtimestamp(run.created, UTC).astimezone()
        question = one_line(run.question)
        short = f"{question[:59]}…" if len(question) > 60 else question
        table.add_row(run.id, run.status, f"{asked:%Y-%m-%d %H:%M}", escape(short))
    _console().print(table if runs else "No runs yet.")
    return 0


async def _show(owner: str, name: str, as_json: bool) -> int:
    try:
        run = _truly(await found(owner, name))
        calls = await read_trace(run.id)
    finally:
        await close()
    if as_json:
        print_json({**_plain(run), "calls": calls})
        return 0
    console = _console()
    console.print(f"[bold]{run.id}[/bold]  {run.status} {run.code}")
    console.print(one_line(run.question), markup=False)
    console.print(f"report: {run.folder}" if run.folder else "no report yet", markup=False)
    columns = ("at", "kind", "role", "step", "status", "model", "s", "in", "out")
    table = Table(*columns, box=None, header_style="bold")
    for call in calls:
        at = datetime.fromtimestamp(call["at"], UTC).astimezone()
        words = [call["kind"], call["role"], call["step"], call["status"], call.get("model", "")]
        numbers = [call.get(name, "") for name in ("seconds", "tokens_in", "tokens_out")]
        table.add_row(f"{at:%H:%M:%S}", *words, *(str(number) for number in numbers))
    console.print(table)
    made = [call for call in calls if call["kind"] == "model" and call["status"] != "recorded"]
    read = sum(call["tokens_in"] for call in made)
    written = sum(call["tokens_out"] for call in made)
    spent = sum(call["dollars"] for call in made)
    console.print(f"{len(made)} model calls, {read} tokens read, {written} written, ${spent:.4f}")
    return 0


def _console() -> Console:
    """Return where a table is printed: as wide as the terminal, else as wide as it is."""
    wide = None if sys.stdout.isatty() else 10_000
    return Console(soft_wrap=True, width=wide)


def _truly(run: Run) -> Run:
    """Return a run as it stands: one that nobody works on any more is paused."""
    if run.status == "running" and not is_held(run.thread):
        return run._replace(status="paused")
    return run


def _plain(run: Run) -> dict[str, object]:
    return {
        "run": run.id,
        "thread": run.thread,
        "status": run.status,
        "code": run.code,
        "question": run.question,
        "folder": run.folder,
        "created": run.created,
    }
