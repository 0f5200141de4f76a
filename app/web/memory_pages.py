"""What is remembered of a person: see why, change it, forget it, take changes back."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from app.api.memory_transfer_routes import export_api_memory
from app.api.parameters import Owner, Storable
from app.api.server_paths import load_path_filter
from app.cli.forget import ErasurePreview, preview_erasure, redraw_reports
from app.web.console_gate import CONSOLE
from app.web.console_route import CheckedForm, make_console_router
from app.web.page_rendering import go_to, render_console_page
from memory import registry
from memory.agents_md.proposals import list_proposals
from memory.experience.insights import list_insight_support
from memory.facts.fact import NewFact
from memory.learning.learner import learn_fact
from memory.protocol import MemoryItem
from memory.registry import MEMORIES
from privacy.service import execute_erasure, resolve_erasure_target
from storage.events import list_events
from text.normalization import is_blank

router = make_console_router()

SHOWN_MEMORIES = ("profile", "facts", "experience", "reports")
EDITABLE_MEMORIES = ("facts", "experience")

UNDOABLE = frozenset(["run", *(name for one in MEMORIES for name in one.event_names)])
"""The first words of the names of changes that can be taken back."""

_MAX_ITEMS = 60
_MAX_EVENTS = 100

ItemId = Annotated[str, Query(max_length=500), Storable]
MemoryWords = Annotated[str, Query(alias="q", max_length=200), Storable]
Told = Annotated[str, Query(max_length=20)]


@router.get("/memory")
async def show_memory(
    request: Request, owner: Owner, sought: MemoryWords = "", told: Told = ""
) -> Response:
    """Show what is remembered, memory by memory, or what of it fits some words."""
    if is_blank(sought):
        found = await registry.list_items(owner, _MAX_ITEMS)
    else:
        found = await registry.search_items(owner, sought, _MAX_ITEMS)
    paths = await load_path_filter(owner)
    items = {
        name: [paths.hide(one) for one in map(_as_shown, found[name]) if one["text"]]
        for name in SHOWN_MEMORIES
    }
    values = {
        "items": items,
        "sought": sought,
        "told": told,
        "proposals": len(await list_proposals(owner)),
        "editable": EDITABLE_MEMORIES,
    }
    return render_console_page(request, "memory", values)


def _as_shown(item: MemoryItem) -> dict[str, Any]:
    quoted = str(item.more.get("quote") or "")
    fields = {name: getattr(item, name) for name in ("memory", "id", "title", "kind", "at", "run")}
    text = item.title if item.memory == "reports" else item.text
    return {**fields, "text": text, "quote": quoted}


@router.post("/memory")
async def add_stated_words(owner: Owner, form: CheckedForm) -> Response:
    """Remember a fact that a person states of themselves.

    Raises:
        Problem: What `memory.facts.store.add_fact` tells of.
    """
    await learn_fact(owner, NewFact(form.words("text"), ""), "added by the person")
    return go_to(f"{CONSOLE}/memory?told=added")


@router.get("/memory/item")
async def show_item(request: Request, owner: Owner, id: ItemId, told: Told = "") -> Response:
    """Show one thing that is remembered: why, since when, and how it changed."""
    item = (await registry.find_items(owner, id))[0]
    support = await list_insight_support(owner) if item.memory == "experience" else {}
    paths = await load_path_filter(owner)
    values = {
        "item": paths.hide(_as_shown(item)),
        "whole": item.text,
        "state": item.state,
        "provenance": item.provenance,
        "why": str(item.more.get("message") or ""),
        "runs": support.get(item.id, []),
        "events": await list_events(owner, item=item.id, limit=_MAX_EVENTS),
        "is_editable": item.memory in EDITABLE_MEMORIES and not item.state,
        "told": told,
    }
    return render_console_page(request, "item", values)


@router.post("/memory/item")
async def change_item(owner: Owner, id: ItemId, form: CheckedForm) -> Response:
    """Let a fact or an insight say something else."""
    changed = await registry.edit_item(owner, id, form.words("text"))
    return go_to(f"{CONSOLE}/memory/item?id={quote(changed.id, safe='')}&told=changed")


@router.get("/memory/forget")
async def show_erasure(request: Request, owner: Owner, id: ItemId) -> Response:
    """Show what forgetting something would touch."""
    preview = await _preview(owner, id)
    item = (await registry.find_items(owner, id))[0]
    touched = (await load_path_filter(owner)).hide(preview.as_dict())
    values = {"item": _as_shown(item), "touched": touched}
    return render_console_page(request, "forget", values)


@router.post("/memory/forget")
async def forget_item(owner: Owner, id: ItemId, form: CheckedForm) -> Response:
    """Forget something for good."""
    del form
    preview = await _preview(owner, id)
    await execute_erasure(preview.plan, partial(redraw_reports, owner))
    return go_to(f"{CONSOLE}/memory?told=forgotten")


async def _preview(owner: str, id: str) -> ErasurePreview:
    return await preview_erasure(await resolve_erasure_target(owner, [id]), {}, copies=False)


@router.get("/memory/changes")
async def show_changes(request: Request, owner: Owner, told: Told = "") -> Response:
    """List the changes of what is remembered, the newest first."""
    events = await list_events(owner, limit=_MAX_EVENTS)
    paths = await load_path_filter(owner)
    undone = {one.event.undoes for one in events if one.event.undoes}
    shown = [
        {
            "number": one.id,
            "at": one.at,
            "name": one.event.name,
            "why": paths.hide(one.event.why),
            "by": one.event.provenance,
            "run": one.event.run,
            "says": paths.hide(_summarize_change(one.event.before, one.event.after)),
            "is_undone": one.id in undone,
        }
        for one in events
        if one.event.name.partition(".")[0] in UNDOABLE
    ]
    return render_console_page(request, "changes", {"events": shown, "told": told})


def _summarize_change(before: Any, after: Any) -> str:
    """Return what an event says now, or said before."""
    data = after or before or {}
    for name in ("content", "text", "title", "folder"):
        if isinstance(data.get(name), str) and data[name]:
            return str(data[name])[:300]
    return ""


@router.post("/memory/changes/{event}/undo")
async def undo_change(
    owner: Owner, event: Annotated[int, Path(ge=1, le=2**31 - 1)], form: CheckedForm
) -> Response:
    """Take a change back.

    Raises:
        Problem: Why it cannot be taken back.
    """
    del form
    await registry.undo_event(owner, event)
    return go_to(f"{CONSOLE}/memory/changes?told=undone")


@router.get("/memory/export")
async def export_console_memory(owner: Owner) -> Response:
    """Return everything that is remembered as one file."""
    return await export_api_memory(owner)
