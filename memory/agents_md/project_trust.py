"""The folders of a person's projects, and whether their memory files may be read."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time

from sqlalchemy import Connection, delete, select

from memory.tables import projects
from runs.call_site import join_owner, split_owner
from storage.engine import read_rows, write_in_group
from storage.events import Event, LoggedEvent, Reversal, log_event, undoing
from storage.upsert import upsert

MAX_NAME_CHARS = 60
"""The most characters of a folder's name in that of its project."""

TRUST = "project.trust"
"""The event of a folder that becomes trusted or, without `after`, untrusted."""


def project_name(folder: str) -> str:
    """Return the name of the project in a folder: the folder's name and a hash of its path."""
    real = os.path.realpath(folder)
    name = "".join(one if one.isprintable() else "-" for one in os.path.basename(real)) or "root"
    return f"{name[:MAX_NAME_CHARS]}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:8]}"


async def trusted_folder(owner: str) -> str:
    """Return the trusted folder of an owner's project, if any, as the table has it."""
    user, project = split_owner(owner)
    if not project:
        return ""
    named = select(projects.c.folder).filter_by(user=user, name=project)
    return (await read_rows(named)).scalar() or ""


async def add_trusted_folder(user: str, folder: str) -> None:
    """Trust a folder: its memory files may be read from now on."""
    real = await asyncio.to_thread(os.path.realpath, folder)
    name = project_name(real)
    event = Event(join_owner(user, name), TRUST, name, after={"folder": real})

    def trust(connection: Connection) -> None:
        _put(connection, event.owner, real)
        log_event(connection, event)

    await write_in_group(trust)


def _put(connection: Connection, owner: str, folder: str) -> None:
    user, name = split_owner(owner)
    values = {"folder": folder, "trusted": time.time()}
    connection.execute(upsert(projects, {"user": user, "name": name}, values))


def undo_trust(connection: Connection, logged: LoggedEvent) -> Reversal | None:
    """Take back that a folder was trusted, or trust it again."""
    event = logged.event
    if event.after is None and event.before is not None:
        _put(connection, event.owner, event.before["folder"])
        return Reversal(undoing(logged, TRUST))
    user, name = split_owner(event.owner)
    its = delete(projects).filter_by(user=user, name=name)
    return Reversal(undoing(logged, TRUST)) if connection.execute(its).rowcount else None
