"""dossier memory log, diff, undo: what was changed, and taking it back."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from rich.table import Column

from app.cli.memories import SHORT, cut, finished
from app.cli.output import one_line, print_json
from app.cli.table import coloured, show, table
from config.errors import EXIT, Problem
from config.settings import settings
from memory.kept.undoing import Undone, event, undo, undo_run
from runs.lifecycle import found
from runs.place import owned
from storage.events import Logged, history


def listing(*, run: str, item: str, limit: int, project: str, as_json: bool) -> int:
    """List the newest events; return the exit status."""
    owner = owned(settings().user, project)
    events = finished(history(owner, item=item, run=run, limit=limit))
    if as_json:
        print_json([_plain(one) for one in events])
        return 0
    show(_table(events) if events else "Nothing was changed yet.")
    return 0


def differing(*, number: int, project: str, as_json: bool) -> int:
    """Show what an event changed; return the exit status.

    Raises:
        Problem: `event_not_found`.
    """
    logged = finished(event(owned(settings().user, project), number))
    lines = list(_difference(logged))
    if as_json:
        print_json({**_plain(logged), "diff": "\n".join(lines)})
        return 0
    show(_table([logged]))
    show(*map(coloured, lines or [_nothing(logged)]))
    return 0


def undoing(*, number: int | None, run: str, project: str, as_json: bool) -> int:
    """Take back an event or a run; return the exit status.

    Raises:
        Problem: `usage`, `event_not_found`, `run_not_found`, or why it cannot be taken back.
    """
    if (number is None) == (not run):
        what = "name an event, or a run" if run else "nothing is named"
        raise Problem("usage", what, hint="dossier memory undo EVENT, or --run RUN")
    owner = owned(settings().user, project)
    if number is None:
        return _tell_run(run, finished(_run_undone(owner, run)), as_json=as_json)
    events = finished(undo(owner, number))
    if as_json:
        print_json({"undone": number, "events": [_plain(one) for one in events]})
    else:
        print(f"Event {number} is taken back.")
        show(_table(events))
    return 0


async def _run_undone(owner: str, name: str) -> Undone:
    return await undo_run(owner, (await found(owner, name)).id)


def _tell_run(run: str, done: Undone, *, as_json: bool) -> int:
    """Say what taking back a run came to; it is partial where something was left."""
    left = [
        {"event": one.id, "name": one.event.name, **problem.as_dict()} for one, problem in done.left
    ]
    if as_json:
        events = [_plain(one) for one in done.events]
        told = {"run": run, "event": done.event, "events": events, "left": left}
        print_json({**told, "messages_not_learnt": done.unread})
    elif not (done.events or left or done.unread):
        print(f"{run} has written nothing that is still there.")
    else:
        _show_run(run, done)
    return EXIT["partial"] if left else 0


def _show_run(run: str, done: Undone) -> None:
    if done.events:
        print(f"{run} is taken back; dossier memory undo {done.event} brings it back.")
        show(_table(list(done.events)))
    if done.unread:
        print(f"{done.unread} of its messages will not be learnt from any more.")
    for one, problem in done.left:
        print(f"left: event {one.id}, {one.event.name}: {one_line(problem.what)}")


def _table(events: list[Logged]) -> Any:
    rows = table("event", "when", "what", "by", Column("item"), Column("run"), Column("why"))
    for one in events:
        at = datetime.fromtimestamp(one.at, UTC).astimezone()
        its = one.event
        item = its.item.rpartition("/")[2] if "/" in its.item else its.item[:SHORT]
        head = (str(one.id), f"{at:%m-%d %H:%M}", its.name, its.provenance)
        rows.add_row(*head, cut(item), cut(its.run), cut(its.why))
    return rows


def _difference(logged: Logged) -> Iterator[str]:
    """Yield the lines of a unified difference between what was and what is."""
    before, after = _lines(logged.event.before), _lines(logged.event.after)
    names = f"before event {logged.id}", f"after event {logged.id}"
    yield from difflib.unified_diff(before, after, *names, lineterm="", n=3)


def _nothing(logged: Logged) -> str:
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


def _plain(logged: Logged) -> dict[str, Any]:
    told = logged.event._asdict()
    del told["owner"]
    return {"event": logged.id, "at": logged.at, **told}
