"""Export everything that is remembered for an owner as one document.

It is checked before it is used.
"""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from sqlalchemy import Connection, Row, Select, select

from library.page_rows import RETIRED, Provenance, strip_unstorable
from library.tables import documents, members, namespaces, pages
from memory.agents_md.file_sources import FileSource, disk_sources, person_file
from memory.agents_md.recall import list_memory_files
from memory.experience.tables import insight_runs, insights
from memory.facts.fact import FactCategory
from memory.facts.tables import facts
from memory.profile.tables import profiles
from memory.profile.traits import Profile, Trait
from memory.protocol import Query
from runs.call_site import split_owner
from storage.engine import run_read
from storage.tables import events

_Text = Annotated[str, AfterValidator(strip_unstorable)]


def _fold_lines(text: str) -> str:
    """Return a text with spaces in the place of its line breaks."""
    return " ".join(text.split())


_Line = Annotated[_Text, AfterValidator(_fold_lines)]
_Id = Annotated[str, Field(max_length=32)]
_RunId = Annotated[str, Field(max_length=80)]
_Timestamp = Annotated[float, Field(allow_inf_nan=False)]
_Share = Annotated[float, Field(ge=0, le=1)]
_Count = Annotated[int, Field(ge=0)]


class _StrictModel(BaseModel):
    """Part of the document: a name that is not known is a mistake."""

    model_config = ConfigDict(extra="forbid")


class FactLine(_StrictModel):
    """A fact that is known, or was; what a tool or a web page said is none."""

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
    """A page; what was read on the web says so."""

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
    provenance: Provenance
    run: _RunId
    created: _Timestamp
    expires: _Timestamp | None
    superseded_by: _Id
    found: bool
    """Whether searches find it still."""

    @model_validator(mode="after")
    def _stays_web(self) -> PageLine:
        if self.kind == "web" and self.provenance != "web":
            msg = f"a page of the web is not by {self.provenance}"
            raise ValueError(msg)
        return self


class DocumentLine(_StrictModel):
    """Where a file lay that pages are from."""

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
    """A line of the log."""

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
    """What past runs teach, and which of them speak for it (1) or against it (-1)."""

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


Stranger = TypeVar("Stranger", PageLine, InsightLine)


def _on_lines(profile: Profile) -> Profile:
    """Return a profile whose traits and the words they rest on are on one line each."""
    return Profile(
        identities=[_on_line(one) for one in profile["identities"]],
        characteristics=[_on_line(one) for one in profile["characteristics"]],
        tastes={name: _on_line(one) for name, one in profile["tastes"].items()},
    )


def _on_line(trait: Trait) -> Trait:
    folded = {name: _fold_lines(trait[name]) for name in ("text", "quote")}
    return Trait(**{**trait, **folded})  # type: ignore[typeddict-item]


class ExportDocument(_StrictModel):
    """Everything that is remembered for one person and project."""

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

    def list_personal_parts(self) -> list[str]:
        """Return the parts that speak for the person."""
        parts = ("facts", "profile", "files", "events")
        own = any(one.provenance == "user" for one in self.insights)
        return [*(name for name in parts if getattr(self, name)), *(["insights"] if own else [])]

    def without_personal_parts(self) -> ExportDocument:
        """Return what remains where nobody vouches for it: pages, and insights of a stranger."""
        pages = [_distrust(one) for one in self.pages]
        insights = [_distrust(one) for one in self.insights]
        left: dict[str, Any] = {"facts": [], "profile": None, "files": [], "events": []}
        return self.model_copy(update={**left, "pages": pages, "insights": insights})

    def count_parts(self) -> dict[str, int]:
        """Return how much there is of each."""
        names = ("facts", "pages", "insights", "events", "files")
        return {name: len(getattr(self, name)) for name in names}


def _distrust(line: Stranger) -> Stranger:
    """Return a line that is trusted no more than what a tool says."""
    foreign = line.provenance in ("tool", "web")
    return line if foreign else line.model_copy(update={"provenance": "tool"})


PERSON_FILE = "person"


async def export_memory(owner: str) -> ExportDocument:
    """Return everything of an owner, as it is at one moment; what was forgotten is not in it.

    A memory file that cannot be read is not in it either
    (`memory.agents_md.recall.unreadable_files`).
    """
    user, project = split_owner(owner)
    mine = person_file(user)
    said = [
        FileLine.model_validate({"name": _name(one.source.path, mine), "text": one.text})
        for one in await list_memory_files(owner)
        if one.problem is None
    ]
    rows = await run_read(lambda connection: _rows(connection, owner))
    return ExportDocument.model_construct(
        user=user, project=project, at=time.time(), files=said, **rows
    )


async def list_exportable_files(owner: str) -> dict[str, FileSource]:
    """Return an owner's memory files by the names they have in any home."""
    mine = person_file(split_owner(owner)[0])
    return {_name(one.path, mine): one for one in await disk_sources(Query(owner, "", ""))}


def _name(path: str, mine: str) -> str:
    if path == mine:
        return PERSON_FILE
    folder, name = os.path.split(path)
    return f".dossier/{name}" if os.path.basename(folder) == ".dossier" else name


def _rows(connection: Connection, owner: str) -> dict[str, Any]:
    def of(wanted: Select[Any]) -> list[Row[Any]]:
        return list(connection.execute(wanted).all())

    known = of(select(facts).where(facts.c.owner == owner, facts.c.content != ""))
    groups = _groups(connection, owner)
    runs = _runs(connection, owner)
    return {
        "facts": [_line(FactLine, one, live=one.live == 1) for one in known],
        "profile": _profile(connection, owner),
        "pages": [
            _page(one, groups[one.number])
            for one in of(select(pages).where(pages.c.owner == owner).order_by(pages.c.number))
        ],
        "documents": [
            _line(DocumentLine, one)
            for one in of(select(documents).where(documents.c.owner == owner))
        ],
        "events": [
            _line(EventLine, one, before=_data(one.before), after=_data(one.after))
            for one in of(select(events).where(events.c.owner == owner).order_by(events.c.id))
        ],
        "insights": [
            _line(
                InsightLine,
                one,
                projections=json.loads(one.projections),
                live=one.live == 1,
                runs=runs[one.id],
            )
            for one in of(select(insights).where(insights.c.owner == owner))
        ],
    }


def _line(shape: Any, row: Row[Any], **more: Any) -> Any:
    fields = {name: getattr(row, name) for name in shape.model_fields if name not in more}
    return shape.model_construct(**fields, **more)


def _page(row: Row[Any], groups: list[str]) -> PageLine:
    more = {"groups": groups, "links": json.loads(row.links), "found": row.indexed > RETIRED}
    line: PageLine = _line(PageLine, row, **more)
    return line


def _profile(connection: Connection, owner: str) -> Any:
    held = connection.execute(select(profiles.c.data).where(profiles.c.owner == owner)).scalar()
    return json.loads(held) if held else None


def _groups(connection: Connection, owner: str) -> Mapping[int, list[str]]:
    joined = members.join(namespaces, namespaces.c.number == members.c.namespace)
    wanted = select(members.c.page, namespaces.c.group).select_from(joined)
    mine = wanted.where(namespaces.c.owner == owner, namespaces.c.group != "")
    found: dict[int, list[str]] = defaultdict(list)
    for page, group in connection.execute(mine.order_by(namespaces.c.number)):
        found[page].append(group)
    return found


def _runs(connection: Connection, owner: str) -> Mapping[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for one in connection.execute(select(insight_runs).where(insight_runs.c.owner == owner)):
        found[one.insight][one.run] = one.sign
    return found


def _data(text: str) -> Any:
    return json.loads(text) if text else None
