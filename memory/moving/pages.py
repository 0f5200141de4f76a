"""Put pages of another home into the page store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from memory.moving.shape import Moved, PageLine
from memory.pages.indexing import join, namespace
from memory.pages.keeping import AT_ONCE, retire, store
from memory.pages.rows import NewPage, Origin, rows
from storage.tables import documents, pages
from storage.upsert import insert_new


class Renamed(NamedTuple):
    """The ids that pages have here, by those they had; and how many were not there before."""

    ids: Mapping[str, str]
    new: int


def put(connection: Connection, owner: str, moved: Moved) -> Renamed:
    """Keep the pages that are not there yet, each as it was: by whom, from where, since when."""
    # A page of which something was forgotten keeps the id that its words once had.
    here = _known(connection, owner, [line.id for line in moved.pages])
    made = [(line, _row(owner, line)) for line in moved.pages if line.id not in here]
    ids = {line.id: str(row["id"]) for line, row in made}
    known = _known(connection, owner, list(ids.values()))
    new = [(line, row) for line, row in made if row["id"] not in known]
    for line, row in new:
        row["links"] = json.dumps([ids.get(one, one) for one in line.links])
        row["superseded_by"] = ids.get(line.superseded_by, line.superseded_by)
    for (origin, groups), some in groupby(new, lambda one: _shelf(owner, one[0])):
        _keep(connection, origin, groups, list(some))
    for document in moved.documents:
        row = {"owner": owner, **document.model_dump()}
        connection.execute(insert_new(documents).on_conflict_do_nothing(), row)
    return Renamed(ids, len(new))


def _row(owner: str, line: PageLine) -> dict[str, Any]:
    page = NewPage(
        title=line.title,
        place=line.place,
        text=line.text,
        abstract=line.abstract,
        session=line.session,
        position=line.position,
        speaker=line.speaker,
        said=line.said,
    )
    (row,) = rows(_shelf(owner, line)[0], [page])
    return row | {"created": line.created, "abstract": line.abstract}


def _shelf(owner: str, line: PageLine) -> tuple[Origin, list[str]]:
    more = (line.provenance, line.run, line.expires)
    return Origin(owner, line.kind, line.origin, "", *more), line.groups


def _keep(
    connection: Connection,
    origin: Origin,
    groups: Sequence[str],
    some: Sequence[tuple[PageLine, Mapping[str, Any]]],
) -> None:
    for first in range(0, len(some), AT_ONCE):
        batch = some[first : first + AT_ONCE]
        store(connection, origin, [row for _, row in batch])
        named = select(pages.c.number, pages.c.id).where(
            pages.c.id.in_([row["id"] for _, row in batch])
        )
        numbers = {row.id: row.number for row in connection.execute(named)}
        wanted = [namespace(connection, origin.owner, origin.kind, one) for one in groups]
        join(connection, sorted(numbers.values()), wanted)
        gone = [numbers[row["id"]] for line, row in batch if not line.found]
        if gone:
            retire(connection, sorted(gone))


def _known(connection: Connection, owner: str, ids: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for first in range(0, len(ids), AT_ONCE):
        some = pages.c.id.in_(ids[first : first + AT_ONCE])
        wanted = select(pages.c.id).where(pages.c.owner == owner, some)
        found.update(connection.execute(wanted).scalars())
    return found
