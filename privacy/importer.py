"""Import what another home has exported; what is known already is left as it is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError
from sqlalchemy import Connection, insert, select

from config.errors import ErrorCode, Problem, first_validation_error
from config.user_files import read_named_file
from library.indexing import (
    PAGES_PER_STATEMENT,
    ensure_namespace,
    join_namespaces,
    retire_pages,
    write_pages,
)
from library.page_rows import NewPage, PageOrigin, build_page_rows, short_hash, strip_unstorable
from library.tables import documents, pages
from memory.agents_md.backends import change_file
from memory.agents_md.file_sources import FileSource, list_exportable_files
from memory.experience.insights import InsightText, vouch_insight_in
from memory.experience.tables import insight_runs, insights
from memory.facts import queries as fact_rows
from memory.facts import store
from memory.facts.fact import Fact
from memory.facts.tables import facts
from memory.profile.tables import profiles
from memory.profile.traits import Profile, empty_profile
from privacy.exporter import EventLine, ExportDocument, InsightLine, PageLine
from storage.engine import run_write
from storage.events import Event, lock_owner, log_event, undo_reason
from storage.tables import events
from storage.upgrades import feedback_step, undone_number
from storage.upsert import dialect_insert, upsert
from text.secret_masking import mask_secrets_within


def _put_events(
    connection: Connection, owner: str, lines: Sequence[EventLine], names: Mapping[str, str]
) -> int:
    """Log the events that are not there yet, in their order and at their times.

    Args:
        connection: Of a transaction that writes.
        owner: Whose log.
        lines: The events.
        names: What other ids some things have here.

    Returns:
        How many are new.
    """
    columns = (events.c.id, events.c.name, events.c.item, events.c.at)
    mine = select(*columns).where(events.c.owner == owner)
    known = {(row.name, row.item, row.at): row.id for row in connection.execute(mine)}
    numbers: dict[int, int] = {}
    new = 0
    for line in sorted(lines, key=lambda one: one.id):
        item = names.get(line.item, line.item)
        number = known.get((line.name, item, line.at))
        if number is None:
            number, new = _log_event(connection, owner, line, item, names, numbers), new + 1
        numbers[line.id] = number
    return new


def _log_event(
    connection: Connection,
    owner: str,
    line: EventLine,
    item: str,
    names: Mapping[str, str],
    numbers: Mapping[int, int],
) -> int:
    before, after = _renamed(line.before, names), _renamed(line.after, names)
    if line.name == "run.undo" and after:
        after["events"] = [numbers[one] for one in after["events"] if one in numbers]
    undoes = numbers.get(undone_number(line.id, line.name, line.provenance, line.why), 0)
    why = undo_reason(undoes) if undoes else line.why
    step = feedback_step(line.run, line.step, line.provenance, line.why)
    where = (line.provenance, why, line.run, step, undoes)
    return log_event(connection, Event(owner, line.name, item, before, after, *where), at=line.at)


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case str():
            return names.get(value) or strip_unstorable(value)
        case list():
            return [_renamed(one, names) for one in value]
        case dict():
            return {strip_unstorable(key): _renamed(one, names) for key, one in value.items()}
        case _:
            return value


class _ImportedPages(NamedTuple):
    """The ids that pages have here, by those they had; and how many were not there before."""

    ids: Mapping[str, str]
    new: int


def _put_pages(connection: Connection, owner: str, moved: ExportDocument) -> _ImportedPages:
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
    for (origin, groups), some in groupby(new, lambda one: _origin_and_groups(owner, one[0])):
        _store_page_batches(connection, origin, groups, list(some))
    for document in moved.documents:
        row = {"owner": owner, **document.model_dump()}
        connection.execute(dialect_insert(documents).on_conflict_do_nothing(), row)
    return _ImportedPages(ids, len(new))


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
    (row,) = build_page_rows(_origin_and_groups(owner, line)[0], [page])
    return row | {"created": line.created, "abstract": line.abstract}


def _origin_and_groups(owner: str, line: PageLine) -> tuple[PageOrigin, list[str]]:
    more = (line.provenance, line.run, line.expires)
    return PageOrigin(owner, line.kind, line.origin, "", *more), line.groups


def _store_page_batches(
    connection: Connection,
    origin: PageOrigin,
    groups: Sequence[str],
    some: Sequence[tuple[PageLine, Mapping[str, Any]]],
) -> None:
    for first in range(0, len(some), PAGES_PER_STATEMENT):
        batch = some[first : first + PAGES_PER_STATEMENT]
        write_pages(connection, origin, [row for _, row in batch])
        named = select(pages.c.number, pages.c.id).where(
            pages.c.id.in_([row["id"] for _, row in batch])
        )
        numbers = {row.id: row.number for row in connection.execute(named)}
        wanted = [ensure_namespace(connection, origin.owner, origin.kind, one) for one in groups]
        join_namespaces(connection, sorted(numbers.values()), wanted)
        gone = [numbers[row["id"]] for line, row in batch if not line.found]
        if gone:
            retire_pages(connection, sorted(gone))


def _known(connection: Connection, owner: str, ids: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for first in range(0, len(ids), PAGES_PER_STATEMENT):
        some = pages.c.id.in_(ids[first : first + PAGES_PER_STATEMENT])
        wanted = select(pages.c.id).where(pages.c.owner == owner, some)
        found.update(connection.execute(wanted).scalars())
    return found


DOCUMENT_PARTS = ("documents", "pages", "file", "web", "report")
"""What was read, which is kept as it is; the other parts and kinds of pages hold what was said."""


class ImportResult(NamedTuple):
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


def parse_export(text: str, where: str) -> ExportDocument:
    """Read what was exported.

    Raises:
        Problem: `export_invalid`, with the place of the first mistake.
    """
    hint = "it is no file of `dossier memory export`, or was changed"
    try:
        moved = ExportDocument.model_validate_json(text)
    except ValidationError as error:
        place, said = first_validation_error(error)
        what = f"{place or 'the file'}: {said}"
        raise Problem(ErrorCode.EXPORT_INVALID, what, where=where, hint=hint) from error
    return ExportDocument.model_validate(_without_secrets(moved.model_dump()))


def _without_secrets(data: dict[str, Any]) -> dict[str, Any]:
    """Return what was exported without the secrets that a person told; documents stay whole."""
    told = {
        name: one if name in DOCUMENT_PARTS else mask_secrets_within(one)
        for name, one in data.items()
    }
    pages = [
        one if one["kind"] in DOCUMENT_PARTS else mask_secrets_within(one) for one in data["pages"]
    ]
    return {**told, "pages": pages}


async def import_exported_memory(
    owner: str, moved: ExportDocument, *, vouched: bool = False
) -> ImportResult:
    """Add everything that is not there yet: all that is in the database at once, then the files.

    Args:
        owner: Whose memory.
        moved: What another home has exported.
        vouched: Whether the person vouches for it. A document may be written by anybody, so without
            that it says nothing in the person's name, whatever it says of itself.

    Raises:
        Problem: What keeps a memory file from being read, before anything is written, or written.
    """
    claims = [] if vouched else moved.list_personal_parts()
    moved = moved if vouched else moved.without_personal_parts()
    here = await list_exportable_files(owner)
    held = {name: await one.files.read(one.path) for name, one in here.items()}
    wanted = {one.name: one.text for one in moved.files}
    left = [name for name, text in wanted.items() if _differs(held, name, text)]
    new = {name: text for name, text in wanted.items() if name in held and held[name] is None}
    came = await run_write(partial(_arrive, owner=owner, moved=moved))
    for name, text in new.items():
        await _put_file(owner, here[name], text, _why(moved))
    return came._replace(files=len(new), left=left, unvouched=claims)


def _differs(held: Mapping[str, bytes | None], name: str, text: str) -> bool:
    there = held.get(name)
    return name not in held or (there is not None and there != text.encode())


async def _put_file(owner: str, source: FileSource, text: str, why: str) -> None:
    made = await change_file(source.files, source.path, lambda now: now or text.encode())
    if made.before is None:
        after = {"path": source.path, "text": text}
        event = Event(owner, "file.edit", source.path[-200:], None, after, "user", why)
        await run_write(lambda connection: log_event(connection, event))


def _why(moved: ExportDocument) -> str:
    return f"imported from {moved.user}/{moved.project}"


def _arrive(connection: Connection, owner: str, moved: ExportDocument) -> ImportResult:
    """Add what the database does not have, in one transaction."""
    lock_owner(connection, owner)
    renamed = _put_pages(connection, owner, moved)
    known = _insight_ids(connection, owner, moved.insights)
    names = {**renamed.ids, **known}
    count = _put_events(connection, owner, moved.events, names)
    new = _new_facts(connection, owner, moved)
    taught = [one for one in moved.insights if not _there(connection, known[one.id])]
    there = [one for one in moved.insights if one.live and one not in taught]
    vouched = [one for one in there if vouch_insight_in(connection, owner, _wording(one, moved))]
    profile = _profile(connection, owner, moved.profile)
    insight_count = len(taught) + len(vouched)
    came = ImportResult(
        len(new), renamed.new, insight_count, count, 0, profile is not None, (), unvouched=()
    )
    if any((came.facts, came.pages, came.insights, came.events, came.profile)):
        told = {"facts": came.facts, "pages": came.pages, "insights": came.insights}
        event = Event(owner, "memory.import", "", None, told, "user", _why(moved))
        number = log_event(connection, event)
        for fact in new:
            store.put_fact(connection, owner, fact._replace(revision=number))
        _put_insights(connection, owner, taught, known, number)
        if profile is not None:
            row = {"data": json.dumps(profile, ensure_ascii=False), "revision": number}
            connection.execute(upsert(profiles, {"owner": owner}, row))
    return came


def _new_facts(connection: Connection, owner: str, moved: ExportDocument) -> list[Fact]:
    """Return the facts that are not there, and that no other fact here says already."""
    mine = select(facts.c.id).where(facts.c.owner == owner)
    known = set(connection.execute(mine).scalars())
    new = []
    for one in moved.facts:
        same = fact_rows.select_same_fact(connection, owner, one.content) if one.live else None
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
    return {one.id: short_hash(owner, one.id) if one.id in taken else one.id for one in lines}


def _there(connection: Connection, insight: str) -> bool:
    its = select(insights.c.id).where(insights.c.id == insight)
    return connection.execute(its).first() is not None


def _wording(line: InsightLine, moved: ExportDocument) -> InsightText:
    return InsightText(line.content, line.projections, line.provenance, _why(moved))


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
            connection.execute(dialect_insert(insight_runs).on_conflict_do_nothing(), of)


def _profile(connection: Connection, owner: str, told: Profile | None) -> Profile | None:
    """Return the profile with what is new in another one; `None` if nothing is."""
    mine = select(profiles.c.data).where(profiles.c.owner == owner)
    held = connection.execute(mine).scalar()
    known: Profile = json.loads(held) if held else empty_profile()
    told = told or empty_profile()
    joined: dict[str, Any] = {"tastes": told["tastes"] | known["tastes"]}
    for name in ("identities", "characteristics"):
        has = {one["text"] for one in known[name]}
        more = [one for one in told[name] if one["text"] not in has]
        joined[name] = [*known[name], *more]
    return None if joined == known else Profile(**joined)  # type: ignore[typeddict-item]


def read_export_file(file: Path) -> ExportDocument:
    """Read an exported file.

    Raises:
        Problem: `file_not_found`, `file_unreadable` or `export_invalid`.
    """
    return parse_export(read_named_file(file), str(file))
