"""Import an exported memory; items that exist already stay unchanged."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError
from sqlalchemy import Connection, insert, select

from config.errors import ErrorCode, Problem, first_validation_error
from config.user_files import read_named_file
from graph.records import Genre
from library import indexing
from library.genres import JudgedPage, judge_genre
from library.page_metadata import PageMetadata
from library.page_rows import NewPage, PageOrigin, build_page_rows, short_hash, strip_unstorable
from library.tables import documents, pages
from memory.agents_md.backends import change_file
from memory.agents_md.file_sources import FileSource, list_exportable_files
from memory.experience.insights import InsightText, vouch_insight_in
from memory.facts import queries as fact_rows
from memory.facts import store
from memory.facts.fact import Fact
from memory.profile.store import put_profile, select_profile
from memory.profile.traits import Profile, empty_profile
from memory.tables import facts, insight_runs, insights
from privacy.exporter import EventLine, ExportDocument, InsightLine, PageLine, WatchLine
from runs.schedules import Schedule
from runs.watches import Watch, make_watch, put_paused_watches
from storage.batches import split_batches
from storage.engine import run_write
from storage.events import Event, lock_owner, log_event, undo_reason
from storage.tables import events
from storage.upgrades import feedback_step, undone_number
from storage.upsert import dialect_insert
from text.secret_masking import mask_secrets_within


def _put_events(
    connection: Connection, owner: str, lines: Sequence[EventLine], names: Mapping[str, str]
) -> int:
    """Log the events that do not exist yet, in their order and with their times.

    Args:
        connection: A connection in a write transaction.
        owner: The owner of the log.
        lines: The events.
        names: The local ids of items, by their exported ids where these differ.

    Returns:
        The number of new events.
    """
    mine = select(events.c.name, events.c.item, events.c.at, events.c.id).filter_by(owner=owner)
    known = {tuple(key): number for *key, number in connection.execute(mine)}
    numbers: dict[int, int] = {}
    new = 0
    for line in sorted(lines, key=lambda line: line.id):
        key = (line.name, names.get(line.item, line.item), line.at)
        if key not in known:
            new += 1
        numbers[line.id] = known.get(key) or _log_event(connection, owner, line, names, numbers)
    return new


def _log_event(
    connection: Connection,
    owner: str,
    line: EventLine,
    names: Mapping[str, str],
    numbers: Mapping[int, int],
) -> int:
    item = names.get(line.item, line.item)
    before, after = _renamed(line.before, names), _renamed(line.after, names)
    if line.name == "run.undo" and after:
        after["events"] = [numbers[id] for id in after["events"] if id in numbers]
    undoes = numbers.get(undone_number(line.id, line.name, line.provenance, line.why), 0)
    why = undo_reason(undoes) if undoes else line.why
    step = feedback_step(line.run, line.step, line.provenance, line.why)
    who = (line.provenance, why, line.run, step, undoes)
    return log_event(connection, Event(owner, line.name, item, before, after, *who), at=line.at)


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case str():
            return names.get(value) or strip_unstorable(value)
        case list():
            return [_renamed(element, names) for element in value]
        case dict():
            return {strip_unstorable(key): _renamed(field, names) for key, field in value.items()}
        case _:
            return value


def _put_pages(
    connection: Connection, owner: str, moved: ExportDocument
) -> tuple[dict[str, str], int]:
    """Store the pages that do not exist yet, with their provenance, origin and times.

    Returns:
        The local ids of the pages by their exported ids, and the number of new pages.
    """
    # A page of which something was erased keeps the id of its original text.
    present = _known(connection, owner, [line.id for line in moved.pages])
    rows = [(line, _row(owner, line)) for line in moved.pages if line.id not in present]
    ids = {line.id: str(row["id"]) for line, row in rows}
    known = _known(connection, owner, list(ids.values()))
    new = [(line, row) for line, row in rows if row["id"] not in known]
    for line, row in new:
        row["links"] = json.dumps([ids.get(link, link) for link in line.links])
        row["superseded_by"] = ids.get(line.superseded_by, line.superseded_by)
    for (origin, groups), batch in groupby(new, lambda page: _origin_and_groups(owner, page[0])):
        _store_page_batches(connection, origin, groups, list(batch))
    for document in moved.documents:
        row = {"owner": owner, **document.model_dump()}
        connection.execute(dialect_insert(documents).on_conflict_do_nothing(), row)
    return ids, len(new)


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
        metadata=PageMetadata(
            line.site, line.published, line.author, line.language, _judge_imported(line)
        ),
    )
    (row,) = build_page_rows(_origin_and_groups(owner, line)[0], [page])
    return row | {"created": line.created, "abstract": line.abstract}


def _judge_imported(line: PageLine) -> Genre | Literal[""]:
    """Return the genre of an imported page, judged here: an export cannot make a source strong."""
    if line.kind != "web":
        return "file" if line.kind == "file" else ""
    judged = JudgedPage(line.origin, line.title, line.text, "", line.author, line.published)
    return judge_genre(judged)


def _origin_and_groups(owner: str, line: PageLine) -> tuple[PageOrigin, list[str]]:
    origin = PageOrigin(owner, line.kind, line.origin, "", line.provenance, line.run, line.expires)
    return origin, line.groups


def _store_page_batches(
    connection: Connection,
    origin: PageOrigin,
    groups: Sequence[str],
    new: Sequence[tuple[PageLine, Mapping[str, Any]]],
) -> None:
    for batch in split_batches(new, indexing.PAGES_PER_STATEMENT):
        indexing.write_pages(connection, origin, [row for _, row in batch])
        ids = [row["id"] for _, row in batch]
        stored = select(pages.c.number, pages.c.id).where(pages.c.id.in_(ids))
        numbers = {id: number for number, id in connection.execute(stored)}
        namespace = partial(indexing.ensure_namespace, connection, origin.owner, origin.kind)
        indexing.join_namespaces(connection, sorted(numbers.values()), list(map(namespace, groups)))
        if retired := [numbers[row["id"]] for line, row in batch if not line.found]:
            indexing.retire_pages(connection, sorted(retired))


def _known(connection: Connection, owner: str, ids: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for batch in split_batches(ids):
        wanted = select(pages.c.id).where(pages.c.owner == owner, pages.c.id.in_(batch))
        found.update(connection.execute(wanted).scalars())
    return found


DOCUMENT_PARTS = ("documents", "pages", "file", "web", "report")
"""Documents, stored unchanged; the other parts and kinds of pages quote a person."""


class ImportResult(NamedTuple):
    """How much of an export was new."""

    facts: int
    pages: int
    insights: int
    events: int
    files: int
    profile: bool
    left: Sequence[str]
    """Memory files that differ here or have no place here; they stay unchanged."""
    watches: int
    """Watches, which are paused until the person resumes them."""
    unvouched: Sequence[str]
    """Parts that were left out because they would speak for the person."""


def read_export_file(file: Path) -> ExportDocument:
    """Read and parse an exported file.

    Raises:
        Problem: `file_not_found`, `file_unreadable` or `export_invalid`.
    """
    return parse_export(read_named_file(file), str(file))


def parse_export(text: str, where: str) -> ExportDocument:
    """Parse an export.

    Raises:
        Problem: `export_invalid`, with the location of the first error.
    """
    hint = "it is no file of `dossier memory export`, or was changed"
    try:
        moved = ExportDocument.model_validate_json(text)
    except ValidationError as error:
        place, reason = first_validation_error(error)
        what = f"{place or 'the file'}: {reason}"
        raise Problem(ErrorCode.EXPORT_INVALID, what, where=where, hint=hint) from error
    return ExportDocument.model_validate(_without_secrets(moved.model_dump()))


def _without_secrets(data: dict[str, Any]) -> dict[str, Any]:
    """Return an export with the secrets of a person masked; documents stay unchanged."""

    def masked(kind: str, part: Any) -> Any:
        return part if kind in DOCUMENT_PARTS else mask_secrets_within(part)

    pages = [masked(page["kind"], page) for page in data["pages"]]
    return {name: masked(name, part) for name, part in data.items()} | {"pages": pages}


async def import_exported_memory(
    owner: str, moved: ExportDocument, *, vouched: bool = False
) -> ImportResult:
    """Add everything that does not exist yet: all rows in one transaction, then the files.

    Args:
        owner: The owner of the memory.
        moved: The export.
        vouched: Whether the person vouches for it. Anybody may have written an export, so without
            that nothing of it counts as said by the person, whatever it claims.

    Raises:
        Problem: The reason why a memory file cannot be read, before anything is written, or why it
            cannot be written.
    """
    claims = [] if vouched else moved.list_personal_parts()
    moved = moved if vouched else moved.without_personal_parts()
    here = await list_exportable_files(owner)
    current = {name: await source.files.read(source.path) for name, source in here.items()}
    imported = {file.name: file.text for file in moved.files}
    different = [name for name, text in imported.items() if current.get(name) != text.encode()]
    new = [name for name in different if name in current and current[name] is None]
    left = [name for name in different if name not in new]
    result = await run_write(partial(_import_rows, owner=owner, moved=moved))
    for name in new:
        await _put_file(owner, here[name], imported[name], _why(moved))
    return result._replace(files=len(new), left=left, unvouched=claims)


async def _put_file(owner: str, source: FileSource, text: str, why: str) -> None:
    change = await change_file(source.files, source.path, lambda now: now or text.encode())
    if change.before is None:
        after = {"path": source.path, "text": text}
        event = Event(owner, "file.edit", source.path[-200:], None, after, "user", why)
        await run_write(lambda connection: log_event(connection, event))


def _why(moved: ExportDocument) -> str:
    return f"imported from {moved.user}/{moved.project}"


def _import_rows(connection: Connection, owner: str, moved: ExportDocument) -> ImportResult:
    """Add the rows that do not exist yet."""
    lock_owner(connection, owner)
    page_ids, page_count = _put_pages(connection, owner, moved)
    known = _insight_ids(connection, owner, moved.insights)
    count = _put_events(connection, owner, moved.events, {**page_ids, **known})
    new = _new_facts(connection, owner, moved)
    mine = select(insights.c.id).where(insights.c.id.in_(list(known.values())))
    here = set(connection.execute(mine).scalars())
    new_insights = [line for line in moved.insights if known[line.id] not in here]
    others = [line for line in moved.insights if known[line.id] in here and line.live]
    vouched = sum(_vouch(connection, owner, line, moved) for line in others)
    profile = _merged_profile(connection, owner, moved.profile)
    insight_count, has_profile = len(new_insights) + vouched, profile is not None
    kept = put_paused_watches(connection, [_watch(owner, line) for line in moved.watches])
    result = ImportResult(len(new), page_count, insight_count, count, 0, has_profile, (), kept, ())
    if any(result):
        counts = {"facts": result.facts, "pages": result.pages, "insights": result.insights}
        event = Event(owner, "memory.import", "", None, counts, "user", _why(moved))
        number = log_event(connection, event)
        for fact in new:
            store.put_fact(connection, owner, fact._replace(revision=number))
        _put_insights(connection, owner, new_insights, known, number)
        if profile is not None:
            put_profile(connection, owner, profile, number)
    return result


def _watch(owner: str, line: WatchLine) -> Watch:
    schedule = Schedule(line.cron, line.zone)
    return make_watch(
        owner, line.name, line.question, schedule, line.context, line.notify, always=line.always
    )


def _new_facts(connection: Connection, owner: str, moved: ExportDocument) -> list[Fact]:
    """Return the facts that neither exist here nor repeat a fact that does."""
    mine = select(facts.c.id).filter_by(owner=owner)
    known = set(connection.execute(mine).scalars())
    new = []
    for line in moved.facts:
        same = fact_rows.select_same_fact(connection, owner, line.content) if line.live else None
        if line.id not in known and same is None:
            new.append(Fact(**line.model_dump(), revision=0))
    return new


def _insight_ids(
    connection: Connection, owner: str, lines: Sequence[InsightLine]
) -> dict[str, str]:
    """Return the local ids of insights; ids that another owner has imported are replaced."""
    ids = [line.id for line in lines]
    theirs = select(insights.c.id).where(insights.c.id.in_(ids), insights.c.owner != owner)
    taken = set(connection.execute(theirs).scalars())
    return {line.id: short_hash(owner, line.id) if line.id in taken else line.id for line in lines}


def _vouch(connection: Connection, owner: str, line: InsightLine, moved: ExportDocument) -> bool:
    words = InsightText(line.content, line.projections, line.provenance, _why(moved))
    return vouch_insight_in(connection, owner, words)


def _put_insights(
    connection: Connection,
    owner: str,
    lines: Sequence[InsightLine],
    known: Mapping[str, str],
    number: int,
) -> None:
    for line in lines:
        row = line.model_dump(exclude={"runs"}) | {"id": known[line.id], "owner": owner}
        row["projections"] = json.dumps(line.projections, ensure_ascii=False)
        row["merged_into"] = known.get(line.merged_into, line.merged_into)
        row |= {"live": int(line.live), "revision": number}
        connection.execute(insert(insights), row)
        support = {"owner": owner, "insight": known[line.id], "said": "source"}
        for run, sign in line.runs.items():
            new = dialect_insert(insight_runs).on_conflict_do_nothing()
            connection.execute(new, {**support, "run": run, "sign": sign})


def _merged_profile(connection: Connection, owner: str, imported: Profile | None) -> Profile | None:
    """Return the stored profile with the imported traits; `None` if nothing is new."""
    known = select_profile(connection, owner).profile
    imported = imported or empty_profile()
    merged: dict[str, Any] = {"tastes": imported["tastes"] | known["tastes"]}
    for name in ("identities", "characteristics"):
        texts = {trait["text"] for trait in known[name]}
        merged[name] = [*known[name], *(new for new in imported[name] if new["text"] not in texts)]
    return None if merged == known else Profile(**merged)  # type: ignore[typeddict-item]
