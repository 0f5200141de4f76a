"""Edits of memory files that agents propose: stored, approved, rejected and undone."""

from __future__ import annotations

import difflib
import secrets
import time
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, insert, select, update

from config.errors import ErrorCode, Problem
from memory.agents_md.backends import FileBackend, FileChange, change_file
from memory.agents_md.content import decode_file, replace_learned, split_sections
from memory.agents_md.disk import file_lock
from memory.agents_md.file_sources import disk_sources
from memory.agents_md.tables import proposals
from memory.agents_md.three_way_merge import MergedText, merge_texts
from memory.protocol import Query
from storage.engine import advisory_lock, read_rows, run_write, write_in_group
from storage.events import Event, LoggedEvent, Reversal, Reverse, log_event, undoing

PENDING = "pending"

MOST = 50
"""How many proposals of one owner may wait; nobody reads more."""


class Proposal(NamedTuple):
    """Other lines for the agents' section of a memory file."""

    owner: str
    path: str
    base: str
    """The section as it was when the change was proposed."""
    proposed: str
    """The section as it shall be."""
    why: str
    run: str = ""
    step: str = ""
    provenance: str = "model"
    """`web` where its words stand in something that the run has read, else `model`."""
    id: str = ""
    status: str = PENDING
    """`pending`, `approved`, `rejected`, or `allowed` where no person was asked."""
    created: float = 0.0
    decided: float | None = None

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        both = self.base.splitlines(), self.proposed.splitlines()
        return "\n".join(difflib.unified_diff(*both, self.path, self.path, lineterm="", n=2))

    @property
    def added(self) -> list[str]:
        """The lines that are new in it."""
        old = set(self.base.split("\n"))
        return [line for line in self.proposed.split("\n") if line.strip() and line not in old]

    @property
    def removed(self) -> list[str]:
        """The lines that are in it no more."""
        new = set(self.proposed.split("\n"))
        return [line for line in self.base.split("\n") if line.strip() and line not in new]


async def save_proposal(proposal: Proposal) -> Proposal:
    """Keep a proposal, and return it with its id; the same one again is the one that is there.

    Raises:
        Problem: `edit_refused` when it was rejected before, or too many wait already.
    """
    row = {**proposal._asdict(), "id": secrets.token_hex(6), "created": time.time()}
    return await run_write(lambda connection: _keep(connection, row))


def _keep(connection: Connection, row: dict[str, Any]) -> Proposal:
    advisory_lock(connection, f"proposals {row['owner']}")
    mine = select(proposals).where(proposals.c.owner == row["owner"])
    same = [proposals.c[name] == row[name] for name in ("path", "base", "proposed")]
    left = proposals.c.status.in_([PENDING, "rejected"])
    known = connection.execute(mine.where(left, *same).order_by(proposals.c.created.desc())).first()
    if known and known.status != PENDING:
        raise Problem(
            ErrorCode.EDIT_REFUSED, "the person has rejected this before", hint="leave it"
        )
    if known:
        return _proposal(known)
    if len(connection.execute(mine.where(proposals.c.status == PENDING)).all()) >= MOST:
        what = f"{MOST} proposals wait for the person already"
        raise Problem(ErrorCode.EDIT_REFUSED, what, hint="leave it")
    connection.execute(insert(proposals).values(row))
    return Proposal(**row)


async def list_proposals(owner: str, *, decided: bool = False) -> list[Proposal]:
    """Return an owner's proposals that wait, the oldest first; on request all of them."""
    mine = select(proposals).where(proposals.c.owner == owner).order_by(proposals.c.created)
    if not decided:
        mine = mine.where(proposals.c.status == PENDING)
    return [_proposal(row) for row in await read_rows(mine)]


async def count_pending_proposals(owner: str, run: str) -> int:
    """Return how many proposals of a run wait."""
    wait = (proposals.c.owner == owner, proposals.c.run == run, proposals.c.status == PENDING)
    counted = select(func.count()).select_from(proposals).where(*wait)
    number: int = (await read_rows(counted)).scalar_one()
    return number


async def get_pending_proposal(owner: str, name: str) -> Proposal:
    """Return an owner's proposal that nobody has decided on.

    Raises:
        Problem: `proposal_not_found` or `proposal_decided`.
    """
    mine = select(proposals).where(proposals.c.owner == owner, proposals.c.id == name)
    row = (await read_rows(mine)).first()
    if row is None:
        hint = "see `dossier memory proposals`"
        raise Problem(ErrorCode.PROPOSAL_NOT_FOUND, f"there is no proposal {name!r}", hint=hint)
    if row.status != PENDING:
        raise Problem(ErrorCode.PROPOSAL_DECIDED, f"it is {row.status} already", where=name)
    return _proposal(row)


def _decide(connection: Connection, proposal: Proposal, status: str) -> None:
    """Write down in a transaction how a proposal was decided."""
    its = update(proposals).where(proposals.c.id == proposal.id)
    connection.execute(its.values(status=status, decided=time.time()))


def _proposal(row: Any) -> Proposal:
    return Proposal(**row._mapping)


EDIT_EVENT = "file.edit"
"""The event of an edit of a memory file; it holds the whole texts before and after."""

ITEM_CHARS = 200
"""How much of a path the column of items holds; its end is kept, and the texts hold all of it."""


async def approve_proposal(
    owner: str, name: str, files: FileBackend | None = None, *, status: str = "approved"
) -> MergedText:
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
    async with file_lock(f"proposal {name}"):
        proposal = await get_pending_proposal(owner, name)
        seen: list[MergedText] = []
        place = files or await _known(owner, proposal.path)
        changed = await change_file(place, proposal.path, partial(_merged, proposal, seen))
        await write_in_group(
            partial(_write_down, proposal=proposal, changed=changed, status=status)
        )
        return seen[-1]


async def reject_proposal(owner: str, name: str) -> Proposal:
    """Let a proposal be; return it.

    Raises:
        Problem: `proposal_not_found` or `proposal_decided`.
    """
    async with file_lock(f"proposal {name}"):
        proposal = await get_pending_proposal(owner, name)
        await write_in_group(lambda connection: _decide(connection, proposal, "rejected"))
        return proposal


async def undo_file_edit(logged: LoggedEvent) -> Reverse:
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

    changed = await change_file(place, path, partial(_taken_out, path, before, after))
    undone = _edit_event(undoing(logged, EDIT_EVENT), path, changed)
    return lambda _: Reversal(undone) if undone else None


async def _known(owner: str, path: str) -> FileBackend:
    """Return where an owner's file lies; no other file on this machine is ever written."""
    for source in await disk_sources(Query(owner, "", "")):
        if source.path == path:
            return source.files
    what, hint = "it is no memory file of this project", "is its folder trusted? see --trust"
    raise Problem(ErrorCode.MEMORY_FILE_UNKNOWN, what, where=path, hint=hint)


def _taken_out(path: str, before: str, after: str, held: bytes | None) -> bytes:
    """Return what a file holds without an edit; one of the section is merged inside of it."""
    text, inside = decode_file(held or b"", path), split_sections(after, path).learned
    if replace_learned(before, inside, path) == after:
        merged = merge_texts(
            inside, split_sections(text, path).learned, split_sections(before, path).learned
        )
        left = replace_learned(text, merged.text, path)
    else:
        merged = merge_texts(after, text, before)
        left = merged.text
    if merged.conflicts:
        what = "the lines have been changed since"
        raise Problem(ErrorCode.UNDO_CONFLICT, what, where=path, hint="edit the file by hand")
    return left.encode()


def _merged(proposal: Proposal, seen: list[MergedText], held: bytes | None) -> bytes:
    text = decode_file(held or b"", proposal.path)
    merged = merge_texts(
        proposal.base, split_sections(text, proposal.path).learned, proposal.proposed
    )
    seen.append(merged)
    return replace_learned(text, merged.text, proposal.path).encode()


def _write_down(
    connection: Connection, *, proposal: Proposal, changed: FileChange, status: str
) -> None:
    _decide(connection, proposal, status)
    event = Event(
        proposal.owner,
        EDIT_EVENT,
        provenance=proposal.provenance,
        why=proposal.why,
        run=proposal.run,
        step=proposal.step,
    )
    if edit := _edit_event(event, proposal.path, changed):
        log_event(connection, edit)


def _edit_event(event: Event, path: str, changed: FileChange) -> Event | None:
    """Return an event with what a file was and is, if that is not the same."""
    if changed.after == (changed.before or b""):
        return None
    before = None if changed.before is None else _data(path, changed.before)
    return event._replace(item=path[-ITEM_CHARS:], before=before, after=_data(path, changed.after))


def _data(path: str, held: bytes) -> dict[str, str]:
    return {"path": path, "text": decode_file(held, path)}


def _text(data: Any, logged: LoggedEvent) -> tuple[str, str]:
    """Return the path and the text of one side of an event."""
    if not data or "text" not in data:
        what = f"what event {logged.id} changed was forgotten"
        raise Problem(ErrorCode.UNDO_FORGOTTEN, what, hint="edit the file by hand")
    return data["path"], data["text"]
