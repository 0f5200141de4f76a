"""Proposals of agents to edit memory files: stored, approved, rejected and undone."""

from __future__ import annotations

import difflib
import secrets
import time
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select, update

from config.errors import ErrorCode, Problem
from memory.agents_md.backends import FileBackend, FileChange, change_file
from memory.agents_md.content import decode_file, replace_learned, split_sections
from memory.agents_md.disk import file_lock
from memory.agents_md.file_sources import disk_sources
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
    return sum(one.run == run for one in await list_proposals(owner))


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
            """Return the file with the proposal merged into what it says by now."""
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
    origin = (proposal.provenance, proposal.why, proposal.run, proposal.step)
    event = Event(proposal.owner, EDIT_EVENT, "", None, None, *origin)
    if edit := _edit_event(event, proposal.path, changed):
        log_event(connection, edit)


def _edit_event(event: Event, path: str, changed: FileChange) -> Event | None:
    """Return an event with a file's texts before and after, if they differ."""
    if changed.after == (changed.before or b""):
        return None
    before, after = (
        None if data is None else {"path": path, "text": decode_file(data, path)}
        for data in (changed.before, changed.after)
    )
    return event._replace(item=path[-ITEM_CHARS:], before=before, after=after)


def _logged_text(data: Any, logged: LoggedEvent) -> tuple[str, str]:
    """Return the path and the text in one side of an event."""
    if not data or "text" not in data:
        what = f"what event {logged.id} changed was forgotten"
        raise Problem(ErrorCode.UNDO_FORGOTTEN, what, hint="edit the file by hand")
    return data["path"], data["text"]


class MergedText(NamedTuple):
    """A text that two sides have changed."""

    text: str
    conflicts: int
    """In how many places both changed the same lines; what both wrote stands there."""


class _Hunk(NamedTuple):
    """The lines from `start` up to `end`, which one side has put others in the place of."""

    start: int
    end: int
    lines: tuple[str, ...]


def merge_texts(base: str, ours: str, theirs: str) -> MergedText:
    """Return a text with what both sides made of another one.

    This is the three-way merge of diff3 (Khanna, Kunal and Pierce 2007) for notes rather than code:
    a line goes if either side took it out, and whatever either side wrote is there afterwards, ours
    first. So it never needs marks of a conflict in the text.

    Args:
        base: What both sides began with.
        ours: What one of them made of it.
        theirs: What the other one did.
    """
    lines = base.split("\n")
    mine, other = _hunks(lines, ours.split("\n")), _hunks(lines, theirs.split("\n"))
    gone = {at for hunk in [*mine, *other] for at in range(hunk.start, hunk.end)}
    written = [{hunk.start: hunk.lines for hunk in side} for side in (mine, other)]
    merged: list[str] = []
    for at in range(len(lines) + 1):
        merged += _both(*(side.get(at, ()) for side in written))
        if at < len(lines) and at not in gone:
            merged.append(lines[at])
    return MergedText("\n".join(merged), sum(_disagree(one, two) for one in mine for two in other))


def _hunks(base: Sequence[str], changed: Sequence[str]) -> list[_Hunk]:
    """Return how some lines differ from others, in their order."""
    return [
        _Hunk(start, end, tuple(changed[first:last]))
        for tag, start, end, first, last in _steps(base, changed)
        if tag != "equal"
    ]


def _both(ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Return the lines of two sides, ours first; what both have in the same order stands once."""
    joined: list[str] = []
    for tag, start, end, first, last in _steps(ours, theirs):
        joined += ours[start:end]
        joined += theirs[first:last] if tag != "equal" else ()
    return joined


def _steps(one: Sequence[str], two: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield the steps from some lines to others; what is alike at both ends is not compared."""
    head = _alike(one, two)
    tail = _alike(one[head:][::-1], two[head:][::-1])
    if head:
        yield "equal", 0, head, 0, head
    middle = one[head : len(one) - tail], two[head : len(two) - tail]
    opcodes = SequenceMatcher(None, *middle, autojunk=False).get_opcodes()
    for tag, start, end, first, last in opcodes:
        yield tag, head + start, head + end, head + first, head + last
    if tail:
        yield "equal", len(one) - tail, len(one), len(two) - tail, len(two)


def _alike(one: Sequence[str], two: Sequence[str]) -> int:
    """Return with how many of the same lines both begin."""
    pairs = enumerate(zip(one, two, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(two)))


def _disagree(one: _Hunk, two: _Hunk) -> bool:
    """Say whether two hunks write something else for the same lines, or into lines that went."""
    same = max(one.start, two.start) < min(one.end, two.end)
    within = one.start < two.start < one.end or two.start < one.start < two.end
    return (same or within) and one != two and bool(one.lines or two.lines)
