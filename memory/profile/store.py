"""Keep the profile of each owner, and log every change of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select

from config.errors import Problem
from memory.base import Reversal
from memory.profile.merging import merge
from memory.profile.shape import Profile, Told, nothing
from storage.engine import read, write
from storage.events import Event, Logged, hold, log, undoing
from storage.tables import profiles
from storage.upsert import upsert


class Kept(NamedTuple):
    """A profile and the event that changed it last; 0 where there was none."""

    profile: Profile
    revision: int


async def kept(owner: str) -> Kept:
    """Return the profile of an owner."""
    return await read(lambda connection: _kept(connection, owner))


async def learn(
    owner: str, told: Told, *, provenance: str = "user", run: str = "", why: str = ""
) -> Profile:
    """Join what a turn tells with the profile; what changes nothing is no event."""
    event = Event(owner, "profile.update", provenance=provenance, run=run, why=why)

    def change(known: Profile) -> Profile:
        return merge(known, told)

    return await _change(event, change)


async def replace(owner: str, profile: Profile, *, run: str = "", why: str = "") -> Profile:
    """Put a profile in the place of what is there: a person's edit, or nothing at all."""
    event = Event(owner, "profile.edit", provenance="user", run=run, why=why)
    return await _change(event, lambda _: profile)


def undo(connection: Connection, logged: Logged) -> Reversal | None:
    """Make a profile again what it was before an event.

    Raises:
        Problem: `undo_conflict` when the profile was changed since.
    """
    event = logged.event
    known = _kept(connection, event.owner)
    if known.profile != (event.after or nothing()):
        hint = f"see `dossier memory log`, or undo the later events first (event {logged.id})"
        raise Problem("undo_conflict", "the profile was changed since", hint=hint)
    back = Profile(**{**nothing(), **(event.before or {})})  # type: ignore[typeddict-item]
    undone = undoing(logged, "profile.undo", run=event.run)
    return _changed(connection, undone, known, back)


async def _change(event: Event, change: Callable[[Profile], Profile]) -> Profile:
    def work(connection: Connection) -> Profile:
        # The profile must not change between reading and writing it.
        hold(connection, event.owner)
        known = _kept(connection, event.owner)
        profile = change(known.profile)
        if changed := _changed(connection, event, known, profile):
            changed.write(log(connection, changed.event))
        return profile

    return await write(work)


def _changed(
    connection: Connection, event: Event, known: Kept, profile: Profile
) -> Reversal | None:
    """Return what is logged and written where a profile becomes another one, if it does."""
    if profile == known.profile:
        return None

    def write(number: int) -> None:
        row = {"data": json.dumps(profile, ensure_ascii=False), "revision": number}
        connection.execute(upsert(profiles, {"owner": event.owner}, row))

    before = known.profile if known.revision else None
    return Reversal(event._replace(item="profile", before=before, after=profile), write)


MINE = select(profiles.c.data, profiles.c.revision).where(
    profiles.c.owner == bindparam("its_owner")
)


def _kept(connection: Connection, owner: str) -> Kept:
    row = connection.execute(MINE, {"its_owner": owner}).first()
    return Kept(json.loads(row.data), row.revision) if row else Kept(nothing(), 0)
