"""Forget what the one database holds, in one transaction of the caller's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Column, Connection, String, Table, Text, and_, delete, or_, select, update

from memory.experience.similar import packed, vector_of
from memory.facts.forgetting import forget_facts
from memory.forgetting.aim import TURN, Aim, Known
from memory.forgetting.erasure import MARK, Erasure
from memory.forgetting.reach import DERIVED, Reach
from memory.forgetting.tree import left_of_json
from memory.pages.documents import leave, listed_below
from memory.pages.forgetting import erase_pages
from memory.pages.rewriting import Wording, rewrite
from memory.pages.uploads import holding
from memory.profile.shape import nothing
from storage.events import Event, hold, log
from storage.tables import (
    events,
    experiences,
    facts,
    insights,
    meanings,
    metadata,
    pages,
    profiles,
    proposals,
)

APART = {
    *("facts", "pages", "members"),  # they have ways of their own
    *("schema", "namespaces", "documents", "former_documents"),  # names only
    *("projects", "vectors", "vector_sets"),  # names only
    *("sources", "heard"),  # ids only
}
"""The tables that are not looked through for sentences; every other one is, old and new."""

PERSONAL = {"profiles"}
"""What a person said themselves: no page is forgotten there."""


def hit_pages(connection: Connection, what: Aim, known: Known, reach: Reach) -> dict[int, Wording]:
    """Return what is left of the pages that say again what is forgotten, by their numbers."""
    wanted = select(
        pages.c.number, pages.c.kind, pages.c.run, pages.c.session_id, *_worded()
    ).where(pages.c.owner == what.owner, pages.c.id.not_in(what.pages))
    if not known.everywhere:
        wanted = wanted.where(pages.c.kind.in_(DERIVED))
    sessions = _sessions(connection, what, known)
    found: dict[int, Wording] = {}
    for row in connection.execute(wanted):
        erasure = reach.of(row.run) if row.kind in DERIVED else reach.everywhere
        if row.kind == "session":
            erasure |= sessions.get(row.session_id, Erasure())
        old = Wording(row.title, row.abstract, row.text)
        new = Wording(*map(erasure.left, old)) if erasure else old
        if new != old:
            found[row.number] = new
    return found


def hit_uploads(connection: Connection, what: Aim, known: Known, reach: Reach) -> list[str]:
    """Return the uploaded files of which a page is forgotten or says it again, by their paths."""
    numbers = hit_pages(connection, what, known, reach)
    hit = or_(pages.c.id.in_(what.pages), pages.c.number.in_(numbers))
    origins = select(pages.c.origin).distinct().where(pages.c.owner == what.owner, hit)
    return holding(connection, what.owner, connection.execute(origins).scalars())


def hit_facts(connection: Connection, what: Aim, reach: Reach) -> list[str]:
    """Return the facts that say what is forgotten, beside those that were named."""
    wanted = select(facts.c.id, facts.c.content).where(
        facts.c.owner == what.owner, facts.c.content != "", facts.c.id.not_in(what.facts)
    )
    return [row.id for row in connection.execute(wanted) if _says(reach.everywhere, row.content)]


def forget_rows(connection: Connection, what: Aim, known: Known, reach: Reach, why: str) -> None:
    """Forget what was named, and what says it again in any row of the owner."""
    hold(connection, what.owner)
    connection.execute(delete(meanings).where(meanings.c.owner == what.owner))
    rewrite(connection, hit_pages(connection, what, known, reach))
    ids = [*what.facts, *hit_facts(connection, what, reach)]
    for table in metadata.sorted_tables:
        if table.name not in APART:
            _forget_in(connection, table, what, reach)
    _end_insights(connection, what, why)
    _forget_quotes(connection, what, reach)
    _forget_profile(connection, what, why)
    _empty_events(connection, what, ids)
    forget_facts(connection, what.owner, ids, why=why)
    of_files = (proposals.c.owner == what.owner, proposals.c.path.in_(what.files))
    connection.execute(delete(proposals).where(*of_files))
    for path in what.files:
        log(connection, Event(what.owner, "file.forget", path[-200:], why=why))
    for row in listed_below(connection, what.owner, what.origin) if what.origin else ():
        leave(connection, what.owner, row["root"], row["path"])
    if what.pages:
        named = select(pages.c.number).where(
            pages.c.owner == what.owner, pages.c.id.in_(what.pages)
        )
        numbers = list(connection.execute(named.order_by(pages.c.number)).scalars())
        if numbers:
            erase_pages(connection, what.owner, numbers, why=why)


def _worded() -> list[Column[str]]:
    return [pages.c.title, pages.c.abstract, pages.c.text]


def _sessions(connection: Connection, what: Aim, known: Known) -> dict[str, Erasure]:
    """Return what is forgotten in the pages that retell a whole dialogue, by its id."""
    turns = select(pages.c.id, pages.c.session_id).where(
        pages.c.owner == what.owner, pages.c.id.in_(what.pages), pages.c.kind == TURN
    )
    found: dict[str, Erasure] = {}
    for row in connection.execute(turns):
        found[row.session_id] = found.get(row.session_id, Erasure()) | known.of_pages[row.id]
    return found


def _says(erasure: Erasure, text: str) -> bool:
    return bool(erasure) and erasure.left(text) != text


def _forget_in(connection: Connection, table: Table, what: Aim, reach: Reach) -> None:
    """Take the sentences out of every text in the rows of a table."""
    texts = [one for one in table.columns if _is_text(one)]
    for row in _rows(connection, table, texts, what, reach):
        erasure = _erasure(table, row, reach)
        values: dict[str, Any] = _changed(row, texts, erasure) if erasure else {}
        if values:
            if table is experiences and "question" in values:
                values["vector"] = packed(vector_of(values["question"]))
            its = and_(*(one == row[one.name] for one in table.primary_key.columns))
            connection.execute(update(table).where(its).values(values))


def _is_text(column: Column[Any]) -> bool:
    return isinstance(column.type, String | Text) and not (
        column.primary_key or column.name in ("owner", "run", "thread", "folder", "out")
    )


def _rows(
    connection: Connection, table: Table, texts: list[Column[Any]], what: Aim, reach: Reach
) -> Iterator[Mapping[str, Any]]:
    ids = list(table.primary_key.columns)
    run = [table.c.run] if "run" in table.c and table.c.run not in ids else []
    wanted = select(*ids, *run, *texts)
    if "owner" in table.c:
        wanted = wanted.where(table.c.owner == what.owner)
    for row in connection.execute(wanted).mappings().all():
        if "owner" in table.c or reach.belong.of(row["run"]) not in reach.belong.foreign:
            yield dict(row)


def _erasure(table: Table, row: Mapping[str, Any], reach: Reach) -> Erasure:
    if table.name == "runs":
        return reach.of(row["id"])
    if table is events and str(row["name"]).startswith("insight."):
        return reach.anywhere
    if table.name == "outbox":
        return reach.of(str(json.loads(row["data"]).get("run", "")))
    if "run" in table.c:
        if table.name == "calls" and not _certain(row["run"], reach):
            return Erasure()
        return reach.of(row["run"])
    return reach.everywhere if table.name in PERSONAL else reach.anywhere


def _certain(run: str, reach: Reach) -> bool:
    """Say whether a paid call is the owner's: calls name a run, and no owner."""
    thread = reach.belong.of(run)
    return thread in reach.threads or thread in reach.belong.mine


def _changed(row: Mapping[str, Any], texts: list[Column[Any]], erasure: Erasure) -> dict[str, str]:
    values = {}
    for column in texts:
        old = row[column.name]
        if old and (new := left_of_json(old, erasure, column.name)) != old:
            values[column.name] = new
    return values


def _end_insights(connection: Connection, what: Aim, why: str) -> None:
    """Let no run be told an insight that was named, or of which something is forgotten."""
    mine = insights.c.owner == what.owner
    named = insights.c.id.in_(what.insights)
    connection.execute(update(insights).where(mine, named).values(content=MARK, projections="{}"))
    hit = or_(insights.c.content.contains(MARK), insights.c.projections.contains(MARK))
    torn = select(insights.c.id).where(mine, or_(named, hit & (insights.c.live == 1)))
    for id in connection.execute(torn).scalars().all():
        number = log(connection, Event(what.owner, "insight.forget", id, why=why))
        its = update(insights).where(mine, insights.c.id == id)
        connection.execute(its.values(live=0, revision=number))


def _forget_quotes(connection: Connection, what: Aim, reach: Reach) -> None:
    """Take the words away that other facts rest on too."""
    wanted = select(facts.c.id, facts.c.quote).where(facts.c.owner == what.owner)
    for row in connection.execute(wanted).all():
        if row.quote and (new := reach.everywhere.left(row.quote)) != row.quote:
            its = (facts.c.owner == what.owner, facts.c.id == row.id)
            connection.execute(update(facts).where(*its).values(quote=new))


def _forget_profile(connection: Connection, what: Aim, why: str) -> None:
    """Empty a profile, or leave out of it what says nothing any more."""
    mine = profiles.c.owner == what.owner
    kept = connection.execute(select(profiles.c.data).where(mine)).scalar()
    if kept is None:
        return
    profile: Any = nothing() if what.profile else _saying(json.loads(kept))
    new = json.dumps(profile, ensure_ascii=False)
    if new != kept or what.profile:
        number = log(connection, Event(what.owner, "profile.forget", "profile", why=why))
        connection.execute(update(profiles).where(mine).values(data=new, revision=number))


def _saying(profile: dict[str, Any]) -> dict[str, Any]:
    for name in ("identities", "characteristics"):
        profile[name] = [one for one in profile[name] if _tells(one)]
    tastes = {name: one for name, one in profile["tastes"].items() if _tells(one)}
    return {**profile, "tastes": tastes}


def _tells(trait: dict[str, Any]) -> bool:
    """Tell whether a trait still says something, and rests on words that are still known."""
    return MARK not in trait["text"] and trait["quote"].strip() != MARK


def _empty_events(connection: Connection, what: Aim, ids: list[str]) -> None:
    """Leave of the events of what is forgotten that they were, when, and by whom."""
    items = [
        *ids,
        *what.insights,
        *(path[-200:] for path in what.files),
        *["profile"] * what.profile,
    ]
    its = (events.c.owner == what.owner, events.c.item.in_(items))
    connection.execute(update(events).where(*its).values(before="", after="", why=""))
