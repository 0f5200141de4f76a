"""Approve and reject what agents propose, and take back what was approved."""

from __future__ import annotations

from functools import partial
from typing import Any

from sqlalchemy import Connection

from config.errors import Problem
from memory.base import Query, Reversal, Reverse
from memory.files.backend import Backend, Change, change
from memory.files.locks import alone
from memory.files.merge import Merged, merge
from memory.files.proposals import Proposal, decide, waiting
from memory.files.section import divided, replaced
from memory.files.sources import on_disk
from memory.files.text import decoded
from storage.events import Event, Logged, log, undoing
from storage.journal import perform

EDIT = "file.edit"
"""The event of a memory file that was changed by us; the texts before and after are whole."""


async def approve(
    owner: str, name: str, files: Backend | None = None, *, status: str = "approved"
) -> Merged:
    """Change the file as proposed, together with what was changed in it since.

    Stopped half way, it does no harm to be done again: what is in the file already is not written
    twice.

    Args:
        owner: Whose proposal.
        name: Its id.
        files: Where the file lies; on disk, where it must be one of the owner's, by default.
        status: How it was decided.

    Returns:
        The agents' section as it is now, and in how many places both texts stand because they
        differ about the same lines.

    Raises:
        Problem: `proposal_not_found`, `proposal_decided`, `memory_file_unknown`,
            `memory_section_broken`, or what keeps the file from being read or written.
    """
    async with alone(f"proposal {name}"):
        proposal = await waiting(owner, name)
        seen: list[Merged] = []
        place = files or await _known(owner, proposal.path)
        changed = await change(place, proposal.path, partial(_merged, proposal, seen))
        await perform(partial(_write_down, proposal=proposal, changed=changed, status=status))
        return seen[-1]


async def reject(owner: str, name: str) -> Proposal:
    """Let a proposal be; return it.

    Raises:
        Problem: `proposal_not_found` or `proposal_decided`.
    """
    async with alone(f"proposal {name}"):
        proposal = await waiting(owner, name)
        await perform(lambda connection: decide(connection, proposal, "rejected"))
        return proposal


async def undo(logged: Logged) -> Reverse:
    """Take an edit out of its file again; what was written since stays.

    Raises:
        Problem: `undo_conflict` when the lines themselves were changed since, `undo_forgotten` when
            their text is not in the log any more, `memory_file_unknown`, or what keeps the file
            from being written.
    """
    event = logged.event
    path, after = _text(event.after, logged)
    before = _text(event.before, logged)[1] if event.before is not None else ""
    place = await _known(event.owner, path)

    changed = await change(place, path, partial(_taken_out, path, before, after))
    undone = _edit_event(undoing(logged, EDIT), path, changed)
    return lambda _: Reversal(undone) if undone else None


async def _known(owner: str, path: str) -> Backend:
    """Return where an owner's file lies; no other file on this machine is ever written."""
    for source in await on_disk(Query(owner, "", "")):
        if source.path == path:
            return source.files
    what, hint = "it is no memory file of this project", "is its folder trusted? see --trust"
    raise Problem("memory_file_unknown", what, where=path, hint=hint)


def _taken_out(path: str, before: str, after: str, held: bytes | None) -> bytes:
    """Return what a file holds without an edit; one of the section is merged inside of it."""
    text, inside = decoded(held or b"", path), divided(after, path).inside
    if replaced(before, inside, path) == after:
        merged = merge(inside, divided(text, path).inside, divided(before, path).inside)
        left = replaced(text, merged.text, path)
    else:
        merged = merge(after, text, before)
        left = merged.text
    if merged.conflicts:
        what = "the lines have been changed since"
        raise Problem("undo_conflict", what, where=path, hint="edit the file by hand")
    return left.encode()


def _merged(proposal: Proposal, seen: list[Merged], held: bytes | None) -> bytes:
    text = decoded(held or b"", proposal.path)
    merged = merge(proposal.base, divided(text, proposal.path).inside, proposal.proposed)
    seen.append(merged)
    return replaced(text, merged.text, proposal.path).encode()


def _write_down(
    connection: Connection, *, proposal: Proposal, changed: Change, status: str
) -> None:
    decide(connection, proposal, status)
    event = Event(
        proposal.owner,
        EDIT,
        provenance=proposal.provenance,
        why=proposal.why,
        run=proposal.run,
        step=proposal.step,
    )
    if edit := _edit_event(event, proposal.path, changed):
        log(connection, edit)


def _edit_event(event: Event, path: str, changed: Change) -> Event | None:
    """Return an event with what a file was and is, if that is not the same."""
    if changed.after == (changed.before or b""):
        return None
    before = None if changed.before is None else _data(path, changed.before)
    # The column of items is narrower than a path may be; the whole one is in the texts.
    item = path[-200:]
    return event._replace(item=item, before=before, after=_data(path, changed.after))


def _data(path: str, held: bytes) -> dict[str, str]:
    return {"path": path, "text": decoded(held, path)}


def _text(data: Any, logged: Logged) -> tuple[str, str]:
    """Return the path and the text of one side of an event."""
    if not data or "text" not in data:
        what = f"what event {logged.id} changed was forgotten"
        raise Problem("undo_forgotten", what, hint="edit the file by hand")
    return data["path"], data["text"]
