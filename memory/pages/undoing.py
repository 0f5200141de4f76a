"""Take back that pages were kept, and take that back."""

from __future__ import annotations

from functools import partial

from sqlalchemy import Connection, select

from config.errors import Problem
from memory.pages import removing
from memory.pages.keeping import put_back, retire
from memory.pages.rows import CUT, GONE
from storage.engine import write
from storage.events import Logged, log, undoing
from storage.tables import pages

OPPOSITE = {"pages.keep": "pages.retire", "pages.retire": "pages.keep"}


async def undo(logged: Logged) -> None:
    """Let pages that an event brought be found no more, or those it took away be found again.

    They stay where they are cited, and are read by their ids.

    Raises:
        Problem: `undo_conflict` when more was done to them since, `undo_impossible` when they were
            forgotten, for then nothing is left of them.
    """
    if logged.event.name in (removing.REMOVE, removing.RESTORE):
        await removing.turn(logged)
        return
    if logged.event.name not in OPPOSITE:
        what = f"{logged.event.name} cannot be taken back: nothing is left of it"
        raise Problem("undo_impossible", what, where=str(logged.id))
    await write(partial(_turn, logged=logged))


def _turn(connection: Connection, logged: Logged) -> None:
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
    log(connection, undone._replace(item=ids[0], before=None, after=data))
