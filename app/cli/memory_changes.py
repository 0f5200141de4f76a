"""dossier memory log, diff, undo, proposals, approve, reject.

What was changed, and what agents propose to change in AGENTS.md.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Column, Table
from rich.text import Text

from app.cli.dispatch import Invocation
from app.cli.output import one_line
from app.cli.table import color_diff_line, local_time, make_table, shorten_id, truncate_cell
from config.errors import ErrorCode, ErrorKind, Problem
from memory.agents_md import proposals
from memory.agents_md.proposals import Proposal, get_pending_proposal, list_proposals
from memory.registry import UndoneRun, get_event, undo_event, undo_run
from runs.lifecycle import find_run
from storage.events import LoggedEvent, list_events


async def print_event_list(*, run: str, item: str, limit: int, invocation: Invocation) -> None:
    """List the changes of all memories, the newest first."""
    events = await list_events(invocation.owner, item=item, run=run, limit=limit)
    data = [event_as_dict(one) for one in events]
    invocation.print_result(data, _table(events) if events else "Nothing was changed yet.")


async def print_event_diff(*, event: int, invocation: Invocation) -> None:
    """Show what one event changed.

    Raises:
        Problem: `event_not_found`.
    """
    logged = await get_event(invocation.owner, event)
    before, after = logged.event.before, logged.event.after
    names = f"before event {event}", f"after event {event}"
    lines = list(difflib.unified_diff(_lines(before), _lines(after), *names, lineterm=""))
    nothing = "It changed nothing."
    if before is None and after is None:
        nothing = "What it said is forgotten, or it said nothing."
    data = {**event_as_dict(logged), "diff": "\n".join(lines)}
    invocation.print_result(data, _table([logged]), *map(color_diff_line, lines or [nothing]))


async def undo_changes(*, event: int | None, run: str, invocation: Invocation) -> int:
    """Take back an event, or everything that a run has written.

    Raises:
        Problem: `usage`, `event_not_found`, `run_not_found`, or why it cannot be taken back.
    """
    if (event is None) == (not run):
        what = "name an event, or a run" if run else "nothing is named"
        raise Problem(ErrorCode.USAGE, what, hint="dossier memory undo EVENT, or --run RUN")
    if event is None:
        return await _undo_run(run, invocation)
    events = await undo_event(invocation.owner, event)
    data = {"undone": event, "events": [event_as_dict(one) for one in events]}
    invocation.print_result(data, Text(f"Event {event} is taken back."), _table(events))
    return 0


async def _undo_run(run: str, invocation: Invocation) -> int:
    """Take back what a run has written; it is partial where something was left."""
    owner = invocation.owner
    done = await undo_run(owner, (await find_run(owner, run)).id)
    left = [
        {"event": one.id, "name": one.event.name, **problem.as_dict()}
        for one, problem in done.conflicts
    ]
    events = [event_as_dict(one) for one in done.events]
    data = {"run": run, "event": done.event, "events": events, "left": left}
    invocation.print_result(
        {**data, "messages_not_learnt": done.dropped_messages}, *_describe_undone_run(run, done)
    )
    return ErrorKind.PARTIAL.exit_status if left else 0


def _describe_undone_run(run: str, done: UndoneRun) -> Iterator[RenderableType]:
    if not (done.events or done.conflicts or done.dropped_messages):
        yield Text(f"{run} has written nothing that is still there.")
    if done.events:
        yield Text(f"{run} is taken back; dossier memory undo {done.event} brings it back.")
        yield _table(done.events)
    if done.dropped_messages:
        yield Text(f"{done.dropped_messages} of its messages will not be learnt from any more.")
    for one, problem in done.conflicts:
        yield Text(f"left: event {one.id}, {one.event.name}: {one_line(problem.what)}")


def _table(events: Sequence[LoggedEvent]) -> Table:
    rows = make_table("event", "when", "what", "by", Column("item"), Column("run"), Column("why"))
    for logged in events:
        event = logged.event
        head = f"{logged.id}", f"{local_time(logged.at):%m-%d %H:%M}", event.name, event.provenance
        rows.add_row(*head, *map(truncate_cell, (shorten_id(event.item), event.run, event.why)))
    return rows


def _lines(data: Mapping[str, Any] | None) -> list[str]:
    """Return data as lines; a text among it line by line, as it stands."""
    lines: list[str] = []
    for name, value in (data or {}).items():
        if isinstance(value, str) and "\n" in value:
            lines += [f"{name}:", *(f"  {line}" for line in value.splitlines())]
        elif isinstance(value, dict | list):
            shown = json.dumps(value, ensure_ascii=False, indent=2).splitlines()
            lines += [f"{name}: {shown[0]}", *shown[1:]]
        else:
            lines.append(f"{name}: {value}")
    return lines


def event_as_dict(logged: LoggedEvent) -> dict[str, Any]:
    """Return an event as `--json` prints it."""
    fields = logged.event._asdict()
    del fields["owner"]
    return {"event": logged.id, "at": logged.at, **fields}


BOTH_TEXTS = "the file says something else there since: both texts stand in it, choose one"

WARNING = "possibly from a page: the run had read texts by strangers, and you have not said this"


async def print_proposals(*, every: bool, invocation: Invocation) -> None:
    """Show what agents would change in AGENTS.md, as differences."""
    found = await list_proposals(invocation.owner, decided=every)
    nothing = Text("No change to AGENTS.md is proposed.")
    lines = [line for one in found for line in _render_proposal(one)]
    invocation.print_result([proposal_as_dict(one) for one in found], *(lines or [nothing]))


async def approve_proposals(*, ids: list[str], invocation: Invocation) -> None:
    """Write proposed changes into the file, together with what was changed in it since.

    Raises:
        Problem: What `memory.agents_md.proposals.approve_proposal` tells of.
    """
    await _decide(ids, invocation, approved=True)


async def reject_proposals(*, ids: list[str], invocation: Invocation) -> None:
    """Let proposed changes be.

    Raises:
        Problem: What `memory.agents_md.proposals.reject_proposal` tells of.
    """
    await _decide(ids, invocation, approved=False)


async def _decide(ids: Sequence[str], invocation: Invocation, *, approved: bool) -> None:
    """Decide on several proposals; none is touched when one of them cannot be decided on."""
    owner, status = invocation.owner, "approved" if approved else "rejected"
    pending = [await get_pending_proposal(owner, one) for one in dict.fromkeys(ids)]
    data: list[dict[str, Any]] = []
    lines = []
    for one in pending:
        conflicts = 0
        if approved:
            conflicts = (await proposals.approve_proposal(owner, one.id)).conflicts
        else:
            await proposals.reject_proposal(owner, one.id)
        data.append({"id": one.id, "status": status, "path": one.path, "conflicts": conflicts})
        lines.append(Text(f"{one.id}  {status}  {one_line(one.path)}"))
        lines += [Text(f"  {BOTH_TEXTS}")] * bool(conflicts)
    invocation.print_result(data, *lines)


def _render_proposal(proposal: Proposal) -> list[Text]:
    """Return the lines that show one proposal."""
    where = f"run {proposal.run} {proposal.step}".rstrip() if proposal.run else ""
    at = f"{local_time(proposal.created):%Y-%m-%d %H:%M}"
    head = f"{proposal.id}  {proposal.status}  {at}  {where}"
    web = [Text(WARNING, "yellow")] if proposal.provenance == "web" else []
    difference = [color_diff_line(line, indent="  ") for line in proposal.diff.splitlines()]
    why = Text(f"why: {one_line(proposal.why)}")
    return [Text(head.rstrip(), "bold"), why, *web, *difference, Text("")]


def proposal_as_dict(proposal: Proposal) -> dict[str, Any]:
    """Return a proposal as `--json` prints it."""
    row = proposal._asdict()
    del row["owner"]
    return {**row, "diff": proposal.diff}
