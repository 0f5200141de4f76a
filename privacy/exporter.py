"""Export the whole memory of an owner as one validated document."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from sqlalchemy import Connection, select

from config.errors import Problem
from graph.context import build_context
from library.page_rows import Provenance, strip_unstorable
from memory.facts.fact import FactCategory
from memory.profile.traits import Profile
from memory.protocol import Export
from memory.registry import MEMORIES
from runs.call_site import split_owner
from runs.lifecycle import NAME
from runs.schedules import parse_schedule
from runs.watches import Watch, list_watches
from storage.engine import run_read
from storage.tables import events

_Text = Annotated[str, AfterValidator(strip_unstorable)]


def _fold_lines(text: str) -> str:
    """Replace line breaks by spaces."""
    return " ".join(text.split())


_Line = Annotated[_Text, AfterValidator(_fold_lines)]
_Id = Annotated[str, Field(max_length=32)]
_RunId = Annotated[str, Field(max_length=80)]
_Timestamp = Annotated[float, Field(allow_inf_nan=False)]
_Share = Annotated[float, Field(ge=0, le=1)]
_Count = Annotated[int, Field(ge=0)]


class _StrictModel(BaseModel):
    """A part of the document; unknown names are errors."""

    model_config = ConfigDict(extra="forbid")


class FactLine(_StrictModel):
    """A current or former fact; the words of tools and web pages are never facts."""

    id: _Id = Field(min_length=1)
    content: _Line = Field(min_length=1)
    category: FactCategory
    confidence: _Share
    quote: _Line
    thread: str = Field(max_length=64)
    run: _RunId
    message: _Text
    provenance: Literal["user", "model"]
    created: _Timestamp
    valid_from: _Timestamp
    valid_to: _Timestamp | None
    superseded_by: _Id
    live: bool


class PageLine(_StrictModel):
    """A page; web pages have the provenance `web`."""

    id: _Id = Field(min_length=1)
    kind: str = Field(min_length=1, max_length=16)
    origin: _Text
    groups: list[_Text]
    place: _Text
    session: _Text
    position: _Count
    title: _Text
    abstract: _Text
    text: _Text
    speaker: _Text
    said: str = Field(max_length=40)
    links: list[str]
    site: _Text = ""
    published: str = Field(max_length=40, default="")
    author: _Text = ""
    language: str = Field(max_length=16, default="")
    provenance: Provenance
    run: _RunId
    created: _Timestamp
    expires: _Timestamp | None
    superseded_by: _Id
    found: bool
    """Whether searches still return it."""

    @model_validator(mode="after")
    def _stays_web(self) -> PageLine:
        if self.kind == "web" and self.provenance != "web":
            msg = f"a page of the web is not by {self.provenance}"
            raise ValueError(msg)
        return self


class DocumentLine(_StrictModel):
    """The file from which pages were read."""

    root: _Text
    path: _Text
    size: _Count
    modified: int
    sha256: str = Field(max_length=64)
    reader: int
    code: str = Field(max_length=64)
    reason: _Text


class FileLine(_StrictModel):
    """A memory file: `person`, or its path in the project's folder."""

    name: Literal["person", "AGENTS.md", ".dossier/AGENTS.md"]
    text: _Text


class EventLine(_StrictModel):
    """An event of the log."""

    id: int
    run: _RunId
    step: str = Field(max_length=32)
    name: str = Field(min_length=1, max_length=64)
    item: _Text = Field(max_length=200)
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    provenance: str = Field(max_length=8)
    why: _Text
    at: _Timestamp


class InsightLine(_StrictModel):
    """A lesson of past runs, and the runs that speak for it (1) or against it (-1)."""

    id: _Id = Field(min_length=1)
    content: _Text = Field(min_length=1)
    projections: dict[str, _Text]
    provenance: Provenance
    wins: _Count
    uses: _Count
    live: bool
    merged_into: _Id
    created: _Timestamp
    runs: dict[_RunId, Literal[1, -1]]


class WatchLine(_StrictModel):
    """A question that is asked again on a schedule; its history stays behind."""

    name: str = Field(pattern=NAME.pattern)
    question: _Text = Field(min_length=1)
    cron: str = Field(max_length=100)
    zone: str = Field(max_length=64)
    context: dict[str, Any]
    notify: list[_Line]
    always: bool

    @model_validator(mode="after")
    def _can_be_asked(self) -> WatchLine:
        try:
            parse_schedule(self.cron, self.zone)
            build_context(self.context)
        except Problem as problem:
            raise ValueError(str(problem)) from problem
        return self


Stranger = TypeVar("Stranger", PageLine, InsightLine)


def _on_lines(profile: Profile) -> Profile:
    """Return a profile with every trait and its quote on a single line."""
    tastes = profile["tastes"].values()
    for trait in (*profile["identities"], *profile["characteristics"], *tastes):
        trait["text"], trait["quote"] = _fold_lines(trait["text"]), _fold_lines(trait["quote"])
    return profile


class ExportDocument(_StrictModel):
    """The memory of one person and project."""

    format: Literal["dossier memory"] = "dossier memory"
    version: Literal[1] = 1
    user: str
    project: str
    at: _Timestamp
    facts: list[FactLine]
    profile: Annotated[Profile, AfterValidator(_on_lines)] | None
    files: list[FileLine]
    pages: list[PageLine]
    documents: list[DocumentLine]
    events: list[EventLine]
    insights: list[InsightLine]
    watches: list[WatchLine] = Field(default=[], max_length=1_000)

    def list_personal_parts(self) -> list[str]:
        """Return the parts that speak for the person."""
        parts = ("facts", "profile", "files", "events", "watches")
        vouched = any(insight.provenance == "user" for insight in self.insights)
        return [name for name in parts if getattr(self, name)] + ["insights"] * vouched

    def without_personal_parts(self) -> ExportDocument:
        """Return the parts that need no vouching: pages and insights, both as said by a tool."""
        pages = [_distrust(page) for page in self.pages]
        insights = [_distrust(insight) for insight in self.insights]
        empty: dict[str, Any] = {"facts": [], "profile": None, "files": [], "events": []}
        empty |= {"watches": []}
        return self.model_copy(update={**empty, "pages": pages, "insights": insights})

    def count_parts(self) -> dict[str, int]:
        """Return the number of items in each part."""
        names = ("facts", "pages", "insights", "events", "files", "watches")
        return {name: len(getattr(self, name)) for name in names}


def _distrust(line: Stranger) -> Stranger:
    """Return a line with the trust of a tool's output at most."""
    foreign = line.provenance in ("tool", "web")
    return line if foreign else line.model_copy(update={"provenance": "tool"})


_LINES: Mapping[str, type[_StrictModel]] = {
    "facts": FactLine,
    "pages": PageLine,
    "documents": DocumentLine,
    "events": EventLine,
    "insights": InsightLine,
}
"""The models of the lines of each part; rows from the database are not validated again."""


async def export_memory(owner: str) -> ExportDocument:
    """Return a snapshot of an owner's memory, without erased items.

    Memory files that cannot be read are left out (`memory.agents_md.memory.unreadable_files`).
    """
    user, project = split_owner(owner)
    exports = [await memory.export(owner) for memory in MEMORIES]
    parts = await run_read(partial(_read_parts, owner=owner, exports=exports))
    lines: Any = {name: _build_lines(shape, parts[name]) for name, shape in _LINES.items()}
    lines["files"] = [FileLine.model_validate(file) for file in parts["files"]]
    lines["watches"] = [_describe_watch(one) for one in await list_watches(owner)]
    return ExportDocument.model_construct(
        user=user, project=project, at=time.time(), profile=parts["profile"], **lines
    )


def _describe_watch(watch: Watch) -> WatchLine:
    cron, zone = watch.schedule
    # The owner of an import may be another one.
    chosen = {name: one for name, one in watch.context.items() if name not in ("user", "project")}
    named = {name: getattr(watch, name) for name in ("name", "question", "notify", "always")}
    return WatchLine.model_construct(**named, cron=cron, zone=zone, context=chosen)


def _read_parts(connection: Connection, owner: str, exports: Sequence[Export]) -> dict[str, Any]:
    logged = select(events).filter_by(owner=owner).order_by(events.c.id)
    rows: list[dict[str, Any]] = [dict(row._mapping) for row in connection.execute(logged)]
    for row in rows:
        row |= {side: json.loads(row[side] or "null") for side in ("before", "after")}
    parts: dict[str, Any] = {"events": rows}
    for export in exports:
        parts.update(export(connection))
    return parts


def _build_lines(shape: type[_StrictModel], rows: Iterable[Mapping[str, Any]]) -> list[Any]:
    return [
        shape.model_construct(**{name: row[name] for name in shape.model_fields}) for row in rows
    ]
