"""Take back that pages were kept, and take that back."""

from __future__ import annotations

from sqlalchemy import Connection, select

from config.errors import Problem
from memory.base import Reversal
from memory.pages import removing
from memory.pages.keeping import put_back, retire
from memory.pages.rows import CUT, GONE
from storage.events import Logged, undoing
from storage.tables import pages

OPPOSITE = {"pages.keep": "pages.retire", "pages.retire": "pages.keep"}


def undo(connection: Connection, logged: Logged) -> Reversal | None:
    """Let pages that an event brought be found no more, or those it took away be found again.

    They stay where they are cited, and are read by their ids.

    Raises:
        Problem: `undo_conflict` when more was done to them since, `undo_impossible` when they were
            forgotten, for then nothing is left of them.
    """
    if logged.event.name in (removing.REMOVE, removing.RESTORE):
        return removing.turn(connection, logged)
    if logged.event.name not in OPPOSITE:
        what = f"{logged.event.name} cannot be taken back: nothing is left of it"
        raise Problem("undo_impossible", what, where=str(logged.id))
    return _turn(connection, logged)


def _turn(connection: Connection, logged: Logged) -> Reversal:
    event = logged.event
    data = event.after or {}
    ids, was = list(data["pages"]), CUT if event.name == "pages.keep" else GONE
    wanted = select(pages.c.number).where(
        pages.c.owner == event.owner, pages.c.id.in_(ids), pages.c.indexed == was
    )
    numbers = list(connection.execute(wanted.order_by(pages.c.number)).scalars())
    if len(numbers) < len(ids):
        what = "its pages were changed since"
        raise Problem("undo_conflict", what, where=str(logged.id))
    (retire if was == CUT else put_back)(connection, numbers)
    undone = undoing(logged, OPPOSITE[event.name])
    return Reversal(undone._replace(item=ids[0], before=None, after=data))
