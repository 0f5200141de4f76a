"""Add what another home has exported; what is known already is left as it is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError
from sqlalchemy import Connection, insert, select

from config.errors import Problem
from config.named_files import read_text
from config.validation import first_error
from memory.experience.insights import Wording, vouch_in
from memory.facts import rows as fact_rows
from memory.facts.fact import Fact
from memory.files.backend import change
from memory.files.sources import Source
from memory.moving import events as old_events
from memory.moving import pages as old_pages
from memory.moving.leaving import files
from memory.moving.shape import InsightLine, Moved
from memory.pages.rows import digest
from memory.profile.shape import Profile, nothing
from retrieval.secrets import masked_within
from storage.engine import write
from storage.events import Event, hold, log
from storage.tables import facts, insight_runs, insights, profiles
from storage.upsert import insert_new, upsert

READ = ("documents", "pages", "file", "web", "report")
"""What was read, which is kept as it is; the other parts and kinds of pages hold what was said."""


class Came(NamedTuple):
    """How much of a document was new."""

    facts: int
    pages: int
    insights: int
    events: int
    files: int
    profile: bool
    left: Sequence[str]
    """Memory files that say something else here, or have no place here; they are as they were."""
    unvouched: Sequence[str]
    """Parts that were left out, or that nobody is told, since they would speak for the person."""


def document(text: str, where: str) -> Moved:
    """Read what was exported.

    Raises:
        Problem: `export_invalid`, with the place of the first mistake.
    """
    hint = "it is no file of `dossier memory export`, or was changed"
    try:
        moved = Moved.model_validate_json(text)
    except ValidationError as error:
        place, said = first_error(error)
        what = f"{place or 'the file'}: {said}"
        raise Problem("export_invalid", what, where=where, hint=hint) from error
    return Moved.model_validate(_without_secrets(moved.model_dump()))


def _without_secrets(data: dict[str, Any]) -> dict[str, Any]:
    """Return what was exported without the secrets that a person told; documents stay whole."""
    told = {name: one if name in READ else masked_within(one) for name, one in data.items()}
    pages = [one if one["kind"] in READ else masked_within(one) for one in data["pages"]]
    return {**told, "pages": pages}


async def imported(owner: str, moved: Moved, *, vouched: bool = False) -> Came:
    """Add everything that is not there yet: all that is in the database at once, then the files.

    Args:
        owner: Whose memory.
        moved: What another home has exported.
        vouched: Whether the person vouches for it. A document may be written by anybody, so without
            that it says nothing in the person's name, whatever it says of itself.

    Raises:
        Problem: What keeps a memory file from being read, before anything is written, or written.
    """
    claims = [] if vouched else moved.claims()
    moved = moved if vouched else moved.unvouched()
    here = await files(owner)
    held = {name: await one.files.read(one.path) for name, one in here.items()}
    wanted = {one.name: one.text for one in moved.files}
    left = [name for name, text in wanted.items() if _differs(held, name, text)]
    new = {name: text for name, text in wanted.items() if name in held and held[name] is None}
    came = await write(partial(_arrive, owner=owner, moved=moved))
    for name, text in new.items():
        await _put_file(owner, here[name], text, _why(moved))
    return came._replace(files=len(new), left=left, unvouched=claims)


def _differs(held: Mapping[str, bytes | None], name: str, text: str) -> bool:
    there = held.get(name)
    return name not in held or (there is not None and there != text.encode())


async def _put_file(owner: str, source: Source, text: str, why: str) -> None:
    made = await change(source.files, source.path, lambda now: now or text.encode())
    if made.before is None:
        after = {"path": source.path, "text": text}
        event = Event(owner, "file.edit", source.path[-200:], None, after, "user", why)
        await write(lambda connection: log(connection, event))


def _why(moved: Moved) -> str:
    return f"imported from {moved.user}/{moved.project}"


def _arrive(connection: Connection, owner: str, moved: Moved) -> Came:
    """Add what the database does not have, in one transaction."""
    hold(connection, owner)
    renamed = old_pages.put(connection, owner, moved)
    known = _insight_ids(connection, owner, moved.insights)
    names = {**renamed.ids, **known}
    count = old_events.put(connection, owner, moved.events, names)
    new = _new_facts(connection, owner, moved)
    taught = [one for one in moved.insights if not _there(connection, known[one.id])]
    there = [one for one in moved.insights if one.live and one not in taught]
    vouched = [one for one in there if vouch_in(connection, owner, _wording(one, moved))]
    profile = _profile(connection, owner, moved.profile)
    insight_count = len(taught) + len(vouched)
    came = Came(
        len(new), renamed.new, insight_count, count, 0, profile is not None, (), unvouched=()
    )
    if any((came.facts, came.pages, came.insights, came.events, came.profile)):
        told = {"facts": came.facts, "pages": came.pages, "insights": came.insights}
        event = Event(owner, "memory.import", "", None, told, "user", _why(moved))
        number = log(connection, event)
        for fact in new:
            fact_rows.put(connection, owner, fact._replace(revision=number))
        _put_insights(connection, owner, taught, known, number)
        if profile is not None:
            row = {"data": json.dumps(profile, ensure_ascii=False), "revision": number}
            connection.execute(upsert(profiles, {"owner": owner}, row))
    return came


def _new_facts(connection: Connection, owner: str, moved: Moved) -> list[Fact]:
    """Return the facts that are not there, and that no other fact here says already."""
    mine = select(facts.c.id).where(facts.c.owner == owner)
    known = set(connection.execute(mine).scalars())
    new = []
    for one in moved.facts:
        same = fact_rows.known_as(connection, owner, one.content) if one.live else None
        if one.id not in known and same is None:
            new.append(Fact(**one.model_dump(), revision=0))
    return new


def _insight_ids(
    connection: Connection, owner: str, lines: Sequence[InsightLine]
) -> dict[str, str]:
    """Return the ids of insights here: another owner's may have the same, for they are copies."""
    wanted = select(insights.c.id).where(
        insights.c.id.in_([one.id for one in lines]), insights.c.owner != owner
    )
    taken = set(connection.execute(wanted).scalars())
    return {one.id: digest(owner, one.id) if one.id in taken else one.id for one in lines}


def _there(connection: Connection, insight: str) -> bool:
    its = select(insights.c.id).where(insights.c.id == insight)
    return connection.execute(its).first() is not None


def _wording(line: InsightLine, moved: Moved) -> Wording:
    return Wording(line.content, line.projections, line.provenance, _why(moved))


def _put_insights(
    connection: Connection,
    owner: str,
    lines: Sequence[InsightLine],
    known: Mapping[str, str],
    number: int,
) -> None:
    for one in lines:
        row = one.model_dump(exclude={"runs"}) | {
            "id": known[one.id],
            "owner": owner,
            "projections": json.dumps(one.projections, ensure_ascii=False),
            "live": int(one.live),
            "merged_into": known.get(one.merged_into, one.merged_into),
            "revision": number,
        }
        connection.execute(insert(insights), row)
        for run, sign in one.runs.items():
            of = {"owner": owner, "insight": known[one.id], "run": run, "sign": sign}
            of["said"] = "source"
            connection.execute(insert_new(insight_runs).on_conflict_do_nothing(), of)


def _profile(connection: Connection, owner: str, told: Profile | None) -> Profile | None:
    """Return the profile with what is new in another one; `None` if nothing is."""
    mine = select(profiles.c.data).where(profiles.c.owner == owner)
    held = connection.execute(mine).scalar()
    known: Profile = json.loads(held) if held else nothing()
    told = told or nothing()
    joined: dict[str, Any] = {"tastes": told["tastes"] | known["tastes"]}
    for name in ("identities", "characteristics"):
        has = {one["text"] for one in known[name]}
        more = [one for one in told[name] if one["text"] not in has]
        joined[name] = [*known[name], *more]
    return None if joined == known else Profile(**joined)  # type: ignore[typeddict-item]


def read_document(file: Path) -> Moved:
    """Read a file that was exported.

    Raises:
        Problem: `file_not_found`, `file_unreadable` or `export_invalid`.
    """
    try:
        text = read_text(file)
    except FileNotFoundError as error:
        what = "there is no such file"
        raise Problem("file_not_found", what, where=str(file), hint="check the path") from error
    except (OSError, UnicodeDecodeError) as error:
        what = getattr(error, "strerror", "") or "it is no text in UTF-8"
        hint = "name a text file that you may read"
        raise Problem("file_unreadable", what, where=str(file), hint=hint) from error
    return document(text, str(file))
