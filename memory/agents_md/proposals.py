"""Proposals of agents to edit memory files: stored, approved, rejected and undone."""

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
from memory.agents_md.three_way_merge import MergedText, merge_texts
from memory.protocol import Query
from memory.tables import proposals
from storage.engine import advisory_lock, read_rows, run_write, write_in_group
from storage.events import Event, LoggedEvent, Reversal, Reverse, log_event, undoing

PENDING = "pending"

MAX_PENDING = 50
"""The most pending proposals of one owner; nobody reads more."""


class Proposal(NamedTuple):
    """A proposed change of the agents' section of a memory file."""

    owner: str
    path: str
    base: str
    """The section when the change was proposed."""
    proposed: str
    """The section after the change."""
    why: str
    run: str = ""
    step: str = ""
    provenance: str = "model"
    """`web` if its words are in something that the run has read, else `model`."""
    id: str = ""
    status: str = PENDING
    """`pending`, `approved`, `rejected`, or `allowed` if no person was asked."""
    created: float = 0.0
    decided: float | None = None

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        both = self.base.splitlines(), self.proposed.splitlines()
        return "\n".join(difflib.unified_diff(*both, self.path, self.path, lineterm="", n=2))

    @property
    def added(self) -> list[str]:
        """The new lines."""
        return _new_lines(self.base, self.proposed)

    @property
    def removed(self) -> list[str]:
        """The lines that are gone."""
        return _new_lines(self.proposed, self.base)


def _new_lines(old: str, new: str) -> list[str]:
    known = set(old.split("\n"))
    return [line for line in new.split("\n") if line.strip() and line not in known]


async def save_proposal(proposal: Proposal) -> Proposal:
    """Store a proposal, and return it with its id; an equal pending one is returned instead.

    Raises:
        Problem: `edit_refused` if it was rejected before, or too many are pending.
    """
    row = {**proposal._asdict(), "id": secrets.token_hex(6), "created": time.time()}
    return await run_write(lambda connection: _keep(connection, row))


def _keep(connection: Connection, row: dict[str, Any]) -> Proposal:
    advisory_lock(connection, f"proposals {row['owner']}")
    mine = select(proposals).filter_by(owner=row["owner"])
    same = [proposals.c[name] == row[name] for name in ("path", "base", "proposed")]
    undecided = proposals.c.status.in_([PENDING, "rejected"])
    newest = mine.where(undecided, *same).order_by(proposals.c.created.desc())
    known = connection.execute(newest).first()
    if known and known.status != PENDING:
        what = "the person has rejected this before"
        raise Problem(ErrorCode.EDIT_REFUSED, what, hint="leave it")
    if known:
        return _proposal(known)
    if len(connection.execute(mine.filter_by(status=PENDING)).all()) >= MAX_PENDING:
        what = f"{MAX_PENDING} proposals wait for the person already"
        raise Problem(ErrorCode.EDIT_REFUSED, what, hint="leave it")
    connection.execute(insert(proposals).values(row))
    return Proposal(**row)


async def list_proposals(owner: str, *, decided: bool = False) -> list[Proposal]:
    """Return an owner's pending proposals, or all with `decided`, the oldest first."""
    mine = select(proposals).filter_by(owner=owner).order_by(proposals.c.created)
    if not decided:
        mine = mine.filter_by(status=PENDING)
    return [_proposal(row) for row in await read_rows(mine)]


async def count_pending_proposals(owner: str, run: str) -> int:
    """Return how many proposals of a run are pending."""
    wait = (proposals.c.owner == owner, proposals.c.run == run, proposals.c.status == PENDING)
    counted = select(func.count()).select_from(proposals).where(*wait)
    number: int = (await read_rows(counted)).scalar_one()
    return number


async def get_pending_proposal(owner: str, name: str) -> Proposal:
    """Return a pending proposal of an owner.

    Raises:
        Problem: `proposal_not_found` or `proposal_decided`.
    """
    mine = select(proposals).filter_by(owner=owner, id=name)
    row = (await read_rows(mine)).first()
    if row is None:
        hint = "see `dossier memory proposals`"
        raise Problem(ErrorCode.PROPOSAL_NOT_FOUND, f"there is no proposal {name!r}", hint=hint)
    if row.status != PENDING:
        raise Problem(ErrorCode.PROPOSAL_DECIDED, f"it is {row.status} already", where=name)
    return _proposal(row)


def _decide(connection: Connection, proposal: Proposal, status: str) -> None:
    """Store the decision on a proposal."""
    its = update(proposals).filter_by(id=proposal.id)
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
    """Merge a proposal into its file.

    After an interruption it can be repeated: what is in the file already is not written twice.

    Args:
        owner: Whose proposal.
        name: Its id.
        files: The backend of the file; by default the disk, for files of the owner.
        status: The decision.

    Returns:
        The agents' section now, with the number of conflicts, where it has both texts.

    Raises:
        Problem: `proposal_not_found`, `proposal_decided`, `memory_file_unknown`,
            `memory_section_broken`, or what keeps the file from being read or written.
    """
    async with file_lock(f"proposal {name}"):
        proposal = await get_pending_proposal(owner, name)
        backend = files or await _backend_of(owner, proposal.path)
        merged = MergedText("", 0)

        def merge(data: bytes | None) -> bytes:
            nonlocal merged
            text = decode_file(data or b"", proposal.path)
            learned = split_sections(text, proposal.path).learned
            merged = merge_texts(proposal.base, learned, proposal.proposed)
            return replace_learned(text, merged.text, proposal.path).encode()

        changed = await change_file(backend, proposal.path, merge)
        await write_in_group(partial(_approve, proposal=proposal, changed=changed, status=status))
        return merged


async def reject_proposal(owner: str, name: str) -> Proposal:
    """Reject a proposal; return it.

    Raises:
        Problem: `proposal_not_found` or `proposal_decided`.
    """
    async with file_lock(f"proposal {name}"):
        proposal = await get_pending_proposal(owner, name)
        await write_in_group(lambda connection: _decide(connection, proposal, "rejected"))
        return proposal


async def undo_file_edit(logged: LoggedEvent) -> Reverse:
    """Take an edit out of its file; what was written since stays.

    Raises:
        Problem: `undo_conflict` if the lines themselves were changed since, `undo_forgotten` if
            their text was erased from the log, `memory_file_unknown`, or what keeps the file from
            being written.
    """
    event = logged.event
    path, after = _logged_text(event.after, logged)
    before = _logged_text(event.before, logged)[1] if event.before is not None else ""
    backend = await _backend_of(event.owner, path)
    changed = await change_file(backend, path, partial(_without_edit, path, before, after))
    undone = _edit_event(undoing(logged, EDIT_EVENT), path, changed)
    return lambda _: Reversal(undone) if undone else None


async def _backend_of(owner: str, path: str) -> FileBackend:
    """Return the backend of an owner's file; no other file on this machine is ever written."""
    for source in await disk_sources(Query(owner, "", "")):
        if source.path == path:
            return source.files
    what, hint = "it is no memory file of this project", "is its folder trusted? see --trust"
    raise Problem(ErrorCode.MEMORY_FILE_UNKNOWN, what, where=path, hint=hint)


def _without_edit(path: str, before: str, after: str, data: bytes | None) -> bytes:
    """Return the content of a file without an edit; one of the section is merged inside of it."""
    text, learned = decode_file(data or b"", path), split_sections(after, path).learned
    if replace_learned(before, learned, path) == after:
        sections = (split_sections(one, path).learned for one in (text, before))
        merged = merge_texts(learned, *sections)
        rest = replace_learned(text, merged.text, path)
    else:
        merged = merge_texts(after, text, before)
        rest = merged.text
    if merged.conflicts:
        what = "the lines have been changed since"
        raise Problem(ErrorCode.UNDO_CONFLICT, what, where=path, hint="edit the file by hand")
    return rest.encode()


def _approve(
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
    """Return an event with a file's texts before and after, if they differ."""
    if changed.after == (changed.before or b""):
        return None
    before = None if changed.before is None else _event_data(path, changed.before)
    return event._replace(
        item=path[-ITEM_CHARS:], before=before, after=_event_data(path, changed.after)
    )


def _event_data(path: str, data: bytes) -> dict[str, str]:
    return {"path": path, "text": decode_file(data, path)}


def _logged_text(data: Any, logged: LoggedEvent) -> tuple[str, str]:
    """Return the path and the text in one side of an event."""
    if not data or "text" not in data:
        what = f"what event {logged.id} changed was forgotten"
        raise Problem(ErrorCode.UNDO_FORGOTTEN, what, hint="edit the file by hand")
    return data["path"], data["text"]
