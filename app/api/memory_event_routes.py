"""Changes of what is remembered over HTTP: list them, undo them, decide on what agents propose."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel, Field

from app.api.listings import Cursor, Limit, Listing, make_listing, read_cursor, write_cursor
from app.api.parameters import Name, Owner, RunName
from app.api.problem_answers import ProblemAnswer, tell_problems
from app.api.router import make_router
from app.api.server_paths import PathFilter, load_path_filter
from app.cli.memory_changes import event_as_dict, proposal_as_dict
from memory.agents_md import proposals
from memory.agents_md.proposals import Proposal, get_pending_proposal, list_proposals
from memory.registry import get_event, undo_event, undo_run
from runs.lifecycle import find_run
from storage.events import LoggedEvent, list_events

router = make_router("Memory", "/api")

_MAX_EVENT = 2**31 - 1


class MemoryEvent(BaseModel):
    """One change of what is remembered."""

    event: int = Field(description="Its number, by which it is undone.")
    at: float = Field(description="In seconds since 1970.")
    name: str = Field(examples=["fact.add", "file.edit", "run.undo"])
    item: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    provenance: str
    why: str
    run: str
    step: str
    undoes: int = Field(description="The event that it undoes; 0 for none.")


class UndoneEvents(BaseModel):
    """The events that undid something."""

    events: list[MemoryEvent]


class LeftEvent(ProblemAnswer):
    """A change that could not be undone, and why."""

    event: int
    name: str


class UndoneRunAnswer(BaseModel):
    """The result of undoing what a run wrote."""

    run: str
    event: int = Field(description="The event that brings it back when it is undone; 0 for none.")
    events: list[MemoryEvent]
    left: list[LeftEvent]
    messages_not_learnt: int


class ProposedEdit(BaseModel):
    """A change that an agent proposes for an AGENTS.md."""

    id: str
    path: str
    base: str = Field(description="The section of agents when it was proposed.")
    proposed: str
    why: str
    run: str
    step: str
    provenance: str = Field(description="`web` if its words are in something the run has read.")
    status: str
    created: float
    decided: float | None
    diff: str


class DecidedEdit(BaseModel):
    """The decision on a proposal."""

    id: str
    status: str
    conflicts: int = Field(description="In how many places both texts stand in the file now.")


EventNumber = Annotated[int, Path(ge=1, le=_MAX_EVENT, description="The number of the event.")]
ProposalId = Annotated[Name, Path(description="The id of the proposal.")]
Item = Annotated[Name, Query(description="Only the changes of this item.")]
OfRun = Annotated[Name, Query(description="Only what this run has changed.")]


@router.get(
    "/memory-events",
    summary="The changes of what is remembered, the newest first",
    responses=tell_problems("bad_cursor"),
)
async def list_memory_events(
    owner: Owner, limit: Limit = 50, cursor: Cursor = "", item: Item = "", run: OfRun = ""
) -> Listing[MemoryEvent]:
    """Return the log of changes, one page at a time."""
    before = next(iter(read_cursor(cursor, int)), None)
    found = await list_events(owner, item=item, run=run, limit=limit + 1, before=before)
    paths = await load_path_filter(owner)
    more = write_cursor(found[limit - 1].id) if len(found) > limit else ""
    return make_listing([_event(one, paths) for one in found], limit, more)


@router.get(
    "/memory-events/{event}", summary="One change", responses=tell_problems("event_not_found")
)
async def get_memory_event(event: EventNumber, owner: Owner) -> MemoryEvent:
    """Return a change with the item before and after it."""
    return _event(await get_event(owner, event), await load_path_filter(owner))


@router.post(
    "/memory-events/{event}/undo",
    summary="Undo a change",
    responses=tell_problems(
        *("event_not_found", "undo_done", "undo_impossible", "undo_conflict", "undo_forgotten")
    ),
)
async def undo_memory_event(event: EventNumber, owner: Owner) -> UndoneEvents:
    """Undo a change; the undo is an event that can itself be undone."""
    undone = await undo_event(owner, event)
    paths = await load_path_filter(owner)
    return UndoneEvents(events=[_event(one, paths) for one in undone])


@router.post(
    "/runs/{run}/undo",
    summary="Undo everything that a run wrote to memory",
    responses=tell_problems("run_not_found"),
)
async def undo_memory_of_run(run: RunName, owner: Owner) -> UndoneRunAnswer:
    """Undo what a run wrote; what was changed since is left alone and listed."""
    record = await find_run(owner, run)
    done = await undo_run(owner, record.id)
    paths = await load_path_filter(owner)
    return UndoneRunAnswer(
        run=record.id,
        event=done.event,
        events=[_event(one, paths) for one in done.events],
        left=[
            LeftEvent(event=one.id, name=one.event.name, **paths.hide(problem.as_dict()))
            for one, problem in done.conflicts
        ],
        messages_not_learnt=done.dropped_messages,
    )


@router.get("/proposals", summary="What agents would change in AGENTS.md")
async def list_proposed_edits(
    owner: Owner,
    decided: Annotated[bool, Query(description="Also those that were decided on.")] = False,
) -> list[ProposedEdit]:
    """Return the changes that wait for a person, the oldest first."""
    paths = await load_path_filter(owner)
    return [_proposal(one, paths) for one in await list_proposals(owner, decided=decided)]


@router.post(
    "/proposals/{proposal}/accept",
    summary="Accept a proposal",
    responses=tell_problems(
        *("proposal_not_found", "proposal_decided", "memory_file_unknown"),
        *("memory_section_broken", "memory_file_unwritable"),
    ),
)
async def accept_proposed_edit(proposal: ProposalId, owner: Owner) -> DecidedEdit:
    """Merge a proposed change into the file as it is now."""
    merged = await proposals.approve_proposal(owner, proposal)
    return DecidedEdit(id=proposal, status="approved", conflicts=merged.conflicts)


@router.post(
    "/proposals/{proposal}/reject",
    summary="Reject a proposal",
    responses=tell_problems("proposal_not_found", "proposal_decided"),
)
async def reject_proposed_edit(proposal: ProposalId, owner: Owner) -> DecidedEdit:
    """Reject a proposed change; agents do not propose it again."""
    await get_pending_proposal(owner, proposal)
    await proposals.reject_proposal(owner, proposal)
    return DecidedEdit(id=proposal, status="rejected", conflicts=0)


def _event(logged: LoggedEvent, paths: PathFilter) -> MemoryEvent:
    return MemoryEvent(**paths.hide(event_as_dict(logged)))


def _proposal(proposal: Proposal, paths: PathFilter) -> ProposedEdit:
    return ProposedEdit(**paths.hide(proposal_as_dict(proposal)))
