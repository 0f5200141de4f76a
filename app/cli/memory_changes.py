"""dossier memory log, diff, undo, proposals, approve, reject.

What was changed, and what agents propose to change in AGENTS.md.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.table import Column
from rich.text import Text

from app.cli.dispatch import Invocation
from app.cli.event_loop import run_and_close
from app.cli.memory_items import SHORT_ID, truncate_cell
from app.cli.output import one_line, print_json
from app.cli.table import color_diff_line, make_table, print_renderables
from config.errors import ErrorCode, ErrorKind, Problem
from memory.agents_md import proposals
from memory.agents_md.proposals import Proposal, get_pending_proposal, list_proposals
from memory.registry import UndoneRun, get_event, undo_event, undo_run
from runs.lifecycle import find_run
from storage.events import LoggedEvent, list_events


def print_event_list(
    *,
    run: str,
    item: str,
    limit: int,
    invocation: Invocation,
) -> int:
    """List the changes of all memories, the newest first."""
    owner = invocation.owner
    events = run_and_close(list_events(owner, item=item, run=run, limit=limit))
    if invocation.as_json:
        print_json([_event_as_dict(one) for one in events])
        return 0
    print_renderables(_table(events) if events else "Nothing was changed yet.")
    return 0


def print_event_diff(*, event: int, invocation: Invocation) -> int:
    """Show what one event changed.

    Raises:
        Problem: `event_not_found`.
    """
    logged = run_and_close(get_event(invocation.owner, event))
    lines = list(_difference(logged))
    if invocation.as_json:
        print_json({**_event_as_dict(logged), "diff": "\n".join(lines)})
        return 0
    print_renderables(_table([logged]))
    print_renderables(*map(color_diff_line, lines or [_nothing(logged)]))
    return 0


def undo_changes(*, event: int | None, run: str, invocation: Invocation) -> int:
    """Take back an event, or everything that a run has written.

    Raises:
        Problem: `usage`, `event_not_found`, `run_not_found`, or why it cannot be taken back.
    """
    if (event is None) == (not run):
        what = "name an event, or a run" if run else "nothing is named"
        raise Problem(ErrorCode.USAGE, what, hint="dossier memory undo EVENT, or --run RUN")
    owner = invocation.owner
    if event is None:
        return _report_undone_run(
            run, run_and_close(_run_undone(owner, run)), as_json=invocation.as_json
        )
    events = run_and_close(undo_event(owner, event))
    if invocation.as_json:
        print_json({"undone": event, "events": [_event_as_dict(one) for one in events]})
    else:
        print(f"Event {event} is taken back.")
        print_renderables(_table(events))
    return 0


async def _run_undone(owner: str, name: str) -> UndoneRun:
    return await undo_run(owner, (await find_run(owner, name)).id)


def _report_undone_run(run: str, done: UndoneRun, *, as_json: bool) -> int:
    """Say what taking back a run came to; it is partial where something was left."""
    left = [
        {"event": one.id, "name": one.event.name, **problem.as_dict()}
        for one, problem in done.conflicts
    ]
    if as_json:
        events = [_event_as_dict(one) for one in done.events]
        result = {"run": run, "event": done.event, "events": events, "left": left}
        print_json({**result, "messages_not_learnt": done.dropped_messages})
    elif not (done.events or left or done.dropped_messages):
        print(f"{run} has written nothing that is still there.")
    else:
        _show_run(run, done)
    return ErrorKind.PARTIAL.exit_status if left else 0


def _show_run(run: str, done: UndoneRun) -> None:
    if done.events:
        print(f"{run} is taken back; dossier memory undo {done.event} brings it back.")
        print_renderables(_table(list(done.events)))
    if done.dropped_messages:
        print(f"{done.dropped_messages} of its messages will not be learnt from any more.")
    for one, problem in done.conflicts:
        print(f"left: event {one.id}, {one.event.name}: {one_line(problem.what)}")


def _table(events: list[LoggedEvent]) -> Any:
    rows = make_table("event", "when", "what", "by", Column("item"), Column("run"), Column("why"))
    for one in events:
        at = datetime.fromtimestamp(one.at, UTC).astimezone()
        its = one.event
        item = its.item.rpartition("/")[2] if "/" in its.item else its.item[:SHORT_ID]
        head = (str(one.id), f"{at:%m-%d %H:%M}", its.name, its.provenance)
        rows.add_row(*head, truncate_cell(item), truncate_cell(its.run), truncate_cell(its.why))
    return rows


def _difference(logged: LoggedEvent) -> Iterator[str]:
    """Yield the lines of a unified difference between what was and what is."""
    before, after = _lines(logged.event.before), _lines(logged.event.after)
    names = f"before event {logged.id}", f"after event {logged.id}"
    yield from difflib.unified_diff(before, after, *names, lineterm="", n=3)


def _nothing(logged: LoggedEvent) -> str:
    if logged.event.before is None and logged.event.after is None:
        return "What it said is forgotten, or it said nothing."
    return "It changed nothing."


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


def _event_as_dict(logged: LoggedEvent) -> dict[str, Any]:
    fields = logged.event._asdict()
    del fields["owner"]
    return {"event": logged.id, "at": logged.at, **fields}


WARNING = "possibly from a page: the run had read texts by strangers, and you have not said this"


def print_proposals(*, every: bool, invocation: Invocation) -> int:
    """Show what agents would change in AGENTS.md, as differences."""
    found = run_and_close(list_proposals(invocation.owner, decided=every))
    if invocation.as_json:
        print_json([_proposal_as_dict(one) for one in found])
    else:
        print_renderables(*(part for one in found for part in _render_proposal(one)))
        if not found:
            print_renderables("No change to AGENTS.md is proposed.")
    return 0


def approve_proposals(*, ids: list[str], invocation: Invocation) -> int:
    """Write proposed changes into the file, together with what was changed in it since.

    Raises:
        Problem: What `memory.agents_md.proposals.approve_proposal` tells of.
    """
    done = run_and_close(_decide_each(invocation.owner, ids, _approve))
    _print_decisions(done, as_json=invocation.as_json)
    return 0


def reject_proposals(*, ids: list[str], invocation: Invocation) -> int:
    """Let proposed changes be.

    Raises:
        Problem: What `memory.agents_md.proposals.reject_proposal` tells of.
    """
    done = run_and_close(_decide_each(invocation.owner, ids, _reject))
    _print_decisions(done, as_json=invocation.as_json)
    return 0


_Decided = dict[str, Any]
"""What was decided on one proposal, as `--json` prints it."""


async def _decide_each(
    owner: str, ids: Sequence[str], decide: Callable[[str, str], Awaitable[_Decided]]
) -> list[_Decided]:
    """Decide on several proposals; none is touched when one of them cannot be decided on."""
    different = list(dict.fromkeys(ids))
    for one in different:
        await get_pending_proposal(owner, one)
    return [await decide(owner, one) for one in different]


async def _approve(owner: str, name: str) -> _Decided:
    proposal = await get_pending_proposal(owner, name)
    merged = await proposals.approve_proposal(owner, name)
    result = {"id": name, "status": "approved", "path": proposal.path}
    return {**result, "conflicts": merged.conflicts}


async def _reject(owner: str, name: str) -> _Decided:
    proposal = await proposals.reject_proposal(owner, name)
    return {"id": name, "status": "rejected", "path": proposal.path, "conflicts": 0}


def _print_decisions(done: Sequence[_Decided], *, as_json: bool) -> None:
    if as_json:
        print_json(list(done))
        return
    for one in done:
        print_renderables(Text(f"{one['id']}  {one['status']}  {one_line(one['path'])}"))
        if one["conflicts"]:
            print_renderables(
                "  the file says something else there since: both texts stand in it, choose one"
            )


def _render_proposal(proposal: Proposal) -> list[Text]:
    """Return the lines that show one proposal."""
    at = datetime.fromtimestamp(proposal.created, UTC).astimezone()
    where = f"run {proposal.run} {proposal.step}".rstrip() if proposal.run else ""
    head = f"{proposal.id}  {proposal.status}  {at:%Y-%m-%d %H:%M}  {where}"
    web = [Text(WARNING, "yellow")] if proposal.provenance == "web" else []
    difference = [color_diff_line(line, indent="  ") for line in proposal.diff.splitlines()]
    why = Text(f"why: {one_line(proposal.why)}")
    return [Text(head.rstrip(), "bold"), why, *web, *difference, Text("")]


def _proposal_as_dict(proposal: Proposal) -> _Decided:
    row = proposal._asdict()
    del row["owner"]
    return {**row, "diff": proposal.diff}
