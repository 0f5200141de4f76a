"""dossier runs diff: what two versions of a report say differently."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from app.cli.dispatch import Invocation
from app.cli.output import one_line
from config.errors import ErrorCode, Problem
from graph.records import Report, VersionChanges
from report.versions import compare_versions, is_unchanged
from runs.earlier_runs import load_run_state
from runs.lifecycle import find_run
from text.pluralization import pluralize


async def show_differences(*, before: str, after: str, invocation: Invocation) -> None:
    """Show what the report of a run says otherwise than that of another one."""
    reports = [await _load_report(invocation.owner, name) for name in (before, after)]
    changes = compare_versions(reports[0]["body"], reports[1]["body"])
    same = Text("The reports say the same.")
    lines = [same] if is_unchanged(changes) else list(list_change_lines(changes))
    invocation.print_result({"before": before, "after": after, **changes}, *lines)


async def _load_report(owner: str, name: str) -> Report:
    """Return the report of a run.

    Raises:
        Problem: `run_not_found`, also if its conversation was deleted or it has no report.
    """
    run = await find_run(owner, name)
    state = await load_run_state(run)
    if state is None:
        what, hint = f"no report of {name!r} is saved", "see `dossier runs`"
        raise Problem(ErrorCode.RUN_NOT_FOUND, what, hint=hint)
    return state["report"]


def list_change_lines(changes: VersionChanges) -> Iterator[Text]:
    """Yield the lines that show changes: what is gone, what is new, what was reworded."""
    for old, new in changes["changed"]:
        yield Text(f"- {one_line(old)}", "red")
        yield Text(f"+ {one_line(new)}", "green")
    for sentence in changes["removed"]:
        yield Text(f"- {one_line(sentence)}", "red")
    for sentence in changes["added"]:
        yield Text(f"+ {one_line(sentence)}", "green")


def summarize_changes(changes: VersionChanges) -> str:
    """Return how many sentences differ between two versions, in a few words."""
    counts = {name: len(changes[name]) for name in ("added", "removed", "changed")}
    told = [f"{pluralize(count, 'sentence')} {name}" for name, count in counts.items() if count]
    return ", ".join(told) or "every sentence is the same"
