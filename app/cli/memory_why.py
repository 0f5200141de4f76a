"""dossier memory why: what the calls of a run were told, and why that was chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rich.table import Column
from rich.text import Text

from app.cli.memories import SHORT, cut, finished, plain
from app.cli.output import one_line, print_json
from app.cli.table import show, table
from config.counted import counted
from config.settings import settings
from memory.kept.why import Told, Why, why
from runs.lifecycle import found
from runs.place import owned


def main(*, run: str, project: str, as_json: bool) -> int:
    """Show what a run was told; return the exit status.

    Raises:
        Problem: `run_not_found`.
    """
    name, told = finished(_why(owned(settings().user, project), run))
    if as_json:
        notes = [_plain(one) for one in told.told]
        sums = {"calls": told.calls, "tokens": told.tokens, "estimated": told.estimated}
        print_json({"run": name, **sums, "told": notes})
        return 0
    rows = table("id", "memory", Column("score"), Column("told to"), *columns(told))
    for one in told.told:
        parts = " ".join(f"{part} {value:.2g}" for part, value in one.score.items())
        where = ", ".join(f"{place} ×{count}" for place, count in one.where.items())
        head = cut(_short(one.id)), one.memory, Text(parts), Text(where)
        rows.add_row(*head, *(cut(says(one)) for says in columns(told).values()))
    show(*([rows, Text(said(told))] if told.told else [f"No call of {name} was told anything."]))
    return 0


def said(told: Why) -> str:
    """Return how many calls were told anything, and how long that was."""
    calls = counted(told.calls, "call was", "calls were")
    about = "about " if told.estimated else ""
    return f"{calls} reminded, with {about}{counted(told.tokens, 'token')} in all"


async def _why(owner: str, name: str) -> tuple[str, Why]:
    run = await found(owner, name)
    return run.id, await why(owner, run.id)


def _short(id: str) -> str:
    return id.rpartition("/")[2] if "/" in id else id[:SHORT]


def columns(told: Why) -> dict[str, Callable[[Told], str]]:
    """Return what is shown of each thing: what it said, and what it says now where that differs."""
    columns: dict[str, Callable[[Told], str]] = {"what it said": _said, "what it says now": _says}
    return {name: says for name, says in columns.items() if any(map(says, told.told))}


def _said(one: Told) -> str:
    cut = f"({one.cut[0]:,} of {counted(one.cut[1], 'line')}) " if one.cut[1] else ""
    return cut + one_line(one.said or "")


def _says(one: Told) -> str:
    if one.item is None:
        return "(gone)"
    text = one.item.title if one.memory in ("reports", "pages") else one.item.text
    now = "" if text == one.said else one_line(text)
    return f"({one.item.state}) {now}".rstrip() if one.item.state else now


def _plain(one: Told) -> Mapping[str, Any]:
    told = one._asdict()
    return {**told, "item": plain(one.item) if one.item else None}
