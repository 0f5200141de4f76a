"""Put the log of another home into this one's, behind what is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from memory.moving.shape import EventLine
from memory.pages.rows import storable
from storage.events import Event, log, undo_reason
from storage.tables import events
from storage.upgrades import undone_number


def put(
    connection: Connection, owner: str, lines: Sequence[EventLine], names: Mapping[str, str]
) -> int:
    """Log the events that are not there yet, in their order and at their times.

    Args:
        connection: Of a transaction that writes.
        owner: Whose log.
        lines: The events.
        names: What other ids some things have here.

    Returns:
        How many are new.
    """
    columns = (events.c.id, events.c.name, events.c.item, events.c.at)
    mine = select(*columns).where(events.c.owner == owner)
    known = {(row.name, row.item, row.at): row.id for row in connection.execute(mine)}
    numbers: dict[int, int] = {}
    new = 0
    for line in sorted(lines, key=lambda one: one.id):
        item = names.get(line.item, line.item)
        number = known.get((line.name, item, line.at))
        if number is None:
            number, new = _log(connection, owner, line, item, names, numbers), new + 1
        numbers[line.id] = number
    return new


def _log(
    connection: Connection,
    owner: str,
    line: EventLine,
    item: str,
    names: Mapping[str, str],
    numbers: Mapping[int, int],
) -> int:
    before, after = _renamed(line.before, names), _renamed(line.after, names)
    if line.name == "run.undo" and after:
        after["events"] = [numbers[one] for one in after["events"] if one in numbers]
    undoes = numbers.get(undone_number(line.id, line.name, line.provenance, line.why), 0)
    why = undo_reason(undoes) if undoes else line.why
    where = (line.provenance, why, line.run, line.step, undoes)
    return log(connection, Event(owner, line.name, item, before, after, *where), at=line.at)


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case str():
            return names.get(value) or storable(value)
        case list():
            return [_renamed(one, names) for one in value]
        case dict():
            return {storable(key): _renamed(one, names) for key, one in value.items()}
        case _:
            return value
