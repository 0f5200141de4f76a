"""What is remembered of a person over HTTP: list, search, read, add, edit, and why it was told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, Field

from app.api.listings import Cursor, Limit, Listing, make_listing, read_cursor, write_cursor
from app.api.parameters import Name, Owner, RunName, Words
from app.api.problem_answers import tell_problems
from app.api.router import make_router
from app.api.server_paths import PathFilter, load_path_filter
from app.cli.memory_items import item_as_dict
from config.errors import ErrorCode, Problem
from memory import registry
from memory.agents_md.file_sources import list_exportable_files
from memory.facts.fact import FactCategory, NewFact
from memory.learning.learner import learn_fact
from memory.protocol import MemoryItem
from memory.registry import MEMORIES, RecalledItem, explain_recall
from runs.lifecycle import find_run

router = make_router("Memory", "/api/memories")
run_router = make_router("Memory", "/api/runs")

MAX_SKIPPED = 100_000
"""How far into the list of a memory a cursor may lead."""

_FILES = "instructions"
"""The memory whose items are files, which go by their names in exports and not by paths."""


class RememberedItem(BaseModel):
    """One thing that is remembered."""

    memory: str = Field(examples=[one.name for one in MEMORIES])
    id: str
    text: str
    title: str = ""
    kind: str = Field(default="", description="The category of a fact, the kind of a page.")
    state: str = Field(default="", description="Empty while it is current.")
    at: float = Field(default=0.0, description="In seconds since 1970; 0 if unknown.")
    provenance: str = ""
    run: str = ""


class WholeItem(RememberedItem):
    """One thing that is remembered, with all its fields."""

    more: dict[str, Any]


class StatedFact(BaseModel):
    """Something that a person says of themselves."""

    text: Words = Field(examples=["I work on honeybees."])
    category: FactCategory | Literal[""] = Field(
        default="", description="Found out from the words when it is empty."
    )


class NewWording(BaseModel):
    """The new text of an item."""

    text: Words


class ToldItem(BaseModel):
    """Something that calls of a run were told."""

    memory: str
    id: str
    score: dict[str, float] = Field(description="The parts of its score, by name.")
    where: dict[str, int] = Field(description="How many calls were told it, by role and step.")
    said: str = Field(description="What it said then; empty if that is no longer known.")
    now: RememberedItem | None = Field(description="What it says now; nothing if it is gone.")


class ToldItems(BaseModel):
    """Why a run knew something: what its calls were told, and how that was chosen."""

    run: str
    calls: int = Field(description="How many calls were told anything.")
    tokens: int
    told: list[ToldItem]


MemoryName = Annotated[
    Name,
    Query(
        description="Only this memory; all of them when it is empty.",
        json_schema_extra={"enum": ["", *(one.name for one in MEMORIES)]},
    ),
]

ItemId = Annotated[
    Name, Path(description="The id of the item, at least its first four characters.")
]


@router.get(
    "", summary="What is remembered", responses=tell_problems("memory_unknown", "bad_cursor")
)
async def list_memory_items(
    owner: Owner,
    limit: Limit = 50,
    cursor: Cursor = "",
    memory: MemoryName = "",
    history: Annotated[bool, Query(description="Also what is only history.")] = False,
) -> Listing[RememberedItem]:
    """Return what is remembered, memory by memory, the newest of each first."""
    names = [memory] if memory else [one.name for one in MEMORIES]
    at, skip = _read_place(cursor, names)
    items: list[MemoryItem] = []
    places: list[tuple[str, int]] = []
    for name in names[at:]:
        wanted = limit + 1 - len(items)
        listed = await registry.list_items(owner, skip + wanted, name, every=history)
        found = listed[name][skip:]
        items += found
        places += [(name, skip + number) for number in range(1, len(found) + 1)]
        skip = 0
        if len(items) > limit:
            break
    more = write_cursor(*places[limit - 1]) if len(items) > limit else ""
    return make_listing(await _describe(owner, items), limit, more)


def _read_place(cursor: str, names: Sequence[str]) -> tuple[int, int]:
    """Return the index of the memory that a cursor leads to, and how many of its items to skip.

    Raises:
        Problem: `bad_cursor`.
    """
    given = read_cursor(cursor, str, int)
    if not given:
        return 0, 0
    name, skip = given
    if name not in names or not 0 <= skip <= MAX_SKIPPED:
        what, hint = "this is no cursor of this list", "begin the list anew"
        raise Problem(ErrorCode.BAD_CURSOR, what, hint=hint)
    return names.index(name), skip


@router.get(
    "/search", summary="Search what is remembered", responses=tell_problems("memory_unknown")
)
async def search_memory_items(
    owner: Owner,
    q: Annotated[Words, Query(description="What is looked for.")],
    limit: Limit = 20,
    memory: MemoryName = "",
) -> Listing[RememberedItem]:
    """Return the items that match a query, the best of each memory first."""
    found = await registry.search_items(owner, q, limit, memory)
    items = [item for some in found.values() for item in some]
    return Listing(items=await _describe(owner, items), next="")


@router.get(
    "/{id}",
    summary="One thing that is remembered",
    responses=tell_problems("memory_not_found", "memory_ambiguous"),
)
async def get_memory_item(id: ItemId, owner: Owner) -> list[WholeItem]:
    """Return a whole item; for the id of a run, every page of its report."""
    items = await registry.find_items(owner, await _to_stored_id(owner, id))
    shown = await _describe(owner, items)
    paths = await load_path_filter(owner)
    return [
        WholeItem(**one.model_dump(), more=paths.hide(dict(item.more)))
        for one, item in zip(shown, items, strict=True)
    ]


@router.post(
    "",
    status_code=201,
    summary="Add a fact about yourself",
    responses=tell_problems("fact_empty", "fact_too_long", "fact_invalid"),
)
async def add_memory_fact(owner: Owner, stated: StatedFact) -> RememberedItem:
    """Add a fact; a known one is returned unchanged."""
    new = NewFact(stated.text, stated.category)
    fact = await learn_fact(owner, new, "added by the person")
    (item,) = await registry.find_items(owner, fact.id)
    return RememberedItem(**item_as_dict(item))


@router.patch(
    "/{id}",
    summary="Edit a fact or an insight",
    responses=tell_problems("memory_not_found", "memory_ambiguous", "not_editable"),
)
async def edit_memory_item(id: ItemId, owner: Owner, wording: NewWording) -> RememberedItem:
    """Change the text of an item; the change can be undone."""
    item = await registry.edit_item(owner, id, wording.text)
    return RememberedItem(**item_as_dict(item))


@run_router.get(
    "/{run}/memory",
    summary="What the calls of a run were told, and why",
    responses=tell_problems("run_not_found"),
)
async def explain_run_memory(run: RunName, owner: Owner) -> ToldItems:
    """Return what the calls of a run were told from memory."""
    record = await find_run(owner, run)
    explained = await explain_recall(owner, record.id)
    names, paths = await asyncio.gather(_name_files(owner), load_path_filter(owner))
    told = [_explain(one, names, paths) for one in explained.items]
    return ToldItems(run=record.id, calls=explained.calls, tokens=explained.tokens, told=told)


def _explain(one: RecalledItem, names: dict[str, str], paths: PathFilter) -> ToldItem:
    item = one.item and _show(one.item, names, paths)
    return ToldItem(
        memory=one.memory,
        id=names.get(one.id, paths.hide(one.id)),
        score=dict(one.score),
        where=dict(one.where),
        said=one.said or "",
        now=item,
    )


async def _describe(owner: str, items: Sequence[MemoryItem]) -> list[RememberedItem]:
    names, paths = await asyncio.gather(_name_files(owner), load_path_filter(owner))
    return [_show(one, names, paths) for one in items]


def _show(item: MemoryItem, names: dict[str, str], paths: PathFilter) -> RememberedItem:
    shown = {**item_as_dict(item), "title": paths.hide(item.title)}
    if item.memory == _FILES:
        shown |= {"id": names.get(item.id, "file"), "title": names.get(item.id, "file")}
        shown["text"] = paths.hide(item.text) if item.state else item.text
    return RememberedItem(**shown)


async def _name_files(owner: str) -> dict[str, str]:
    """Return the names of an owner's memory files, by their paths."""
    return {one.path: name for name, one in (await list_exportable_files(owner)).items()}


async def _to_stored_id(owner: str, id: str) -> str:
    """Return the internal id of an item; for a memory file, its path."""
    paths = {name: path for path, name in (await _name_files(owner)).items()}
    return paths.get(id, id)
