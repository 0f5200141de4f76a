"""Gather everything that is remembered for an owner."""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, Select, select

from memory.base import Query
from memory.files.reading import held
from memory.files.sources import Source, of_person, on_disk
from memory.moving.shape import (
    DocumentLine,
    EventLine,
    FactLine,
    FileLine,
    InsightLine,
    Moved,
    PageLine,
)
from memory.pages.rows import GONE
from runs.place import parted
from storage.engine import read
from storage.tables import (
    documents,
    events,
    facts,
    insight_runs,
    insights,
    members,
    namespaces,
    pages,
    profiles,
)

PERSON = "person"


async def exported(owner: str) -> Moved:
    """Return everything of an owner, as it is at one moment; what was forgotten is not in it.

    A memory file that cannot be read is not in it either (`memory.files.reading.unreadable`).
    """
    user, project = parted(owner)
    mine = of_person(user)
    said = [
        FileLine.model_validate({"name": _name(one.source.path, mine), "text": one.text})
        for one in await held(owner)
        if one.problem is None
    ]
    rows = await read(lambda connection: _rows(connection, owner))
    return Moved.model_construct(user=user, project=project, at=time.time(), files=said, **rows)


async def files(owner: str) -> dict[str, Source]:
    """Return an owner's memory files by the names they have in any home."""
    mine = of_person(parted(owner)[0])
    return {_name(one.path, mine): one for one in await on_disk(Query(owner, "", ""))}


def _name(path: str, mine: str) -> str:
    if path == mine:
        return PERSON
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
    more = {"groups": groups, "links": json.loads(row.links), "found": row.indexed > GONE}
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
