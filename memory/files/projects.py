"""The folders of a person's projects, and whether their memory files may be read."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time

from sqlalchemy import Connection, delete, select

from runs.place import owned, parted
from storage.engine import read_rows
from storage.events import Event, Logged, log
from storage.journal import perform
from storage.tables import projects
from storage.upsert import upsert

LONGEST = 60
"""The most characters of a folder's name in that of its project."""


def project_of(folder: str) -> str:
    """Return the name of the project in a folder: the folder's, and what tells it from others."""
    real = os.path.realpath(folder)
    name = "".join(one if one.isprintable() else "-" for one in os.path.basename(real)) or "root"
    return f"{name[:LONGEST]}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:8]}"


async def trusted(owner: str) -> str:
    """Return the folder of an owner's project whose files may be read; empty where there is none.

    The table alone says so: a name that nobody has trusted leads to no folder.
    """
    user, project = parted(owner)
    if not project:
        return ""
    named = select(projects.c.folder).where(projects.c.user == user, projects.c.name == project)
    return (await read_rows(named)).scalar() or ""


async def trust(user: str, folder: str) -> None:
    """Write down that the memory files of a folder may be read from now on."""
    real = await asyncio.to_thread(os.path.realpath, folder)
    await perform(lambda connection: _trust(connection, user, real))


def _trust(connection: Connection, user: str, folder: str) -> None:
    name = project_of(folder)
    values = {"folder": folder, "trusted": time.time()}
    connection.execute(upsert(projects, {"user": user, "name": name}, values))
    log(connection, Event(owned(user, name), "project.trust", name, after={"folder": folder}))


async def undo(logged: Logged) -> None:
    """Take back that a folder was trusted, or trust it again."""
    event = logged.event
    if event.after is None and event.before is not None:
        await trust(parted(event.owner)[0], event.before["folder"])
    else:
        await perform(lambda connection: _distrust(connection, logged))


def _distrust(connection: Connection, logged: Logged) -> None:
    event = logged.event
    user, name = parted(event.owner)
    its = (projects.c.user == user, projects.c.name == name)
    if connection.execute(delete(projects).where(*its)).rowcount:
        why = f"undo of event {logged.id}"
        log(connection, Event(event.owner, "project.trust", name, event.after, None, why=why))
