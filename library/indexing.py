"""Write pages and keep them findable.

Rows, namespaces, keyword index, jobs for vectors, and what expires.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, select, update

from library.keywords import keyword_index
from library.keywords.keyword_protocol import KeywordEntry
from library.page_rows import RETIRED, WORDS_VERSION, PageOrigin, join_search_words, short_hash
from library.tables import PAGE_NUMBERS, members, namespaces, pages, sources
from storage import outbox
from storage.engine import run_read, write_in_group
from storage.permissions import skip_if_read_only
from storage.upsert import dialect_insert
from text.title_mentions import title_key

VECTOR_JOB = "vectors"
"""The job of the outbox that makes or removes the vectors of pages, as the table now says.

Its data: `ensure_namespace`, the number of the one of their kind, and `pages`, their numbers.
"""

LONGEST_TITLE_KEY = 200
"""The longest title by which a page is mentioned, in characters."""

# Every file that is read executes them, and making a statement takes longer than executing it.
_GIVEN = pages.c.number.in_(PAGE_NUMBERS)
_WORDS = select(pages.c.number, pages.c.title_words, pages.c.words).where(_GIVEN)
_TITLES = select(pages.c.number, pages.c.title).where(_GIVEN)
_KINDS = select(pages.c.number, pages.c.owner, pages.c.kind).where(_GIVEN).order_by(pages.c.number)
_INDEXED = (
    select(pages.c.number, pages.c.indexed).where(_GIVEN).order_by(pages.c.number).with_for_update()
)
_MEMBERS = select(members.c.page, members.c.namespace).where(members.c.page.in_(PAGE_NUMBERS))
_NAMED = select(namespaces.c.number).where(namespaces.c.name == bindparam("named"))
_COUNTED = (
    update(namespaces)
    .where(namespaces.c.number == bindparam("one"))
    .values(
        {
            name: namespaces.c[name] + bindparam(f"more_{name}")
            for name in ("pages", "words", "title_words")
        }
    )
)


def ensure_namespace(connection: Connection, owner: str, kind: str, group: str = "") -> int:
    """Return the number of a namespace; a new one gets a number."""
    name = short_hash(owner, kind, group)
    number = connection.execute(_NAMED, {"named": name}).scalar()
    if number is None:
        row = {"name": name, "owner": owner, "kind": kind, "group": group}
        new = dialect_insert(namespaces).on_conflict_do_nothing(index_elements=["name"])
        connection.execute(new, {**row, "pages": 0, "words": 0, "title_words": 0})
        number = connection.execute(_NAMED, {"named": name}).scalar_one()
    return int(number)


def join_namespaces(connection: Connection, numbers: Sequence[int], wanted: Sequence[int]) -> None:
    """Put pages into namespaces; those in the index are found there from now on.

    Args:
        connection: Of a transaction that writes.
        numbers: The pages.
        wanted: The namespaces.
    """
    if not numbers:
        return
    found = lock_indexed(connection, numbers)
    known = _namespaces_of_pages(connection, numbers)
    lacking = {number for number in numbers if not known[number].issuperset(wanted)}
    moved = [number for number in found if number in lacking]
    unindex_pages(connection, moved)
    _add_members(connection, sorted(lacking), wanted)
    index_pages(connection, moved)


def _add_members(connection: Connection, numbers: Sequence[int], wanted: Sequence[int]) -> None:
    """Make pages that are not in the index members of namespaces."""
    if not numbers:
        return
    rows = [
        {"namespace": one, "page": number, "key": title_key(title)[:LONGEST_TITLE_KEY]}
        for number, title in connection.execute(_TITLES, {PAGE_NUMBERS.key: numbers})
        for one in wanted
    ]
    connection.execute(dialect_insert(members).on_conflict_do_nothing(), rows)


def lock_indexed(connection: Connection, numbers: Sequence[int]) -> list[int]:
    """Return those of some pages that are in the index, and keep others from moving any of them.

    Whoever takes pages out or puts them in asks this first, before it looks at their namespaces.
    """
    rows = connection.execute(_INDEXED, {PAGE_NUMBERS.key: numbers}).all()
    return [row.number for row in rows if row.indexed > 0]


def index_pages(connection: Connection, numbers: Sequence[int]) -> None:
    """Add pages to the index of their namespaces."""
    if numbers:
        entries = _entries(connection, numbers)
        keyword_index(connection).add_entries(connection, entries)
        _count(connection, entries, 1)


def unindex_pages(connection: Connection, numbers: Sequence[int]) -> None:
    """Take pages out of the index; they must be in it, as they are in the table."""
    if numbers:
        entries = _entries(connection, numbers)
        keyword_index(connection).remove_entries(connection, entries)
        _count(connection, entries, -1)


def _entries(connection: Connection, numbers: Sequence[int]) -> list[KeywordEntry]:
    known = _namespaces_of_pages(connection, numbers)
    rows = connection.execute(_WORDS, {PAGE_NUMBERS.key: numbers})
    return [
        KeywordEntry(number, sorted(known[number]), title, body) for number, title, body in rows
    ]


def _namespaces_of_pages(connection: Connection, numbers: Sequence[int]) -> dict[int, set[int]]:
    known: dict[int, set[int]] = defaultdict(set)
    for page, one in connection.execute(_MEMBERS, {PAGE_NUMBERS.key: numbers}):
        known[page].add(one)
    return known


def _count(connection: Connection, entries: Sequence[KeywordEntry], sign: int) -> None:
    """Add pages to what their namespaces know of themselves, or subtract them."""
    totals: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    for entry in entries:
        sizes = (1, len(entry.body.split()), len(entry.title.split()))
        for one in entry.namespaces:
            totals[one] = [a + sign * b for a, b in zip(totals[one], sizes, strict=True)]
    rows = [
        {"one": one, "more_pages": a, "more_words": b, "more_title_words": c}
        for one, (a, b, c) in sorted(totals.items())
    ]
    if rows:
        connection.execute(_COUNTED, rows)


def queue_vectors(connection: Connection, numbers: Sequence[int]) -> None:
    """Leave work for the vectors of some pages, a job for each namespace of a kind."""
    jobs: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, owner, kind in connection.execute(_KINDS, {PAGE_NUMBERS.key: numbers}):
        jobs[owner, kind].append(number)
    for (owner, kind), some in jobs.items():
        data = {"namespace": ensure_namespace(connection, owner, kind), "pages": some}
        outbox.enqueue_job(connection, owner, VECTOR_JOB, data)


PAGES_PER_STATEMENT = 1_000
"""How many pages a statement names; SQLite as it usually comes takes 32,766."""

_KNOWN = (
    select(pages.c.id, pages.c.number, pages.c.indexed)
    .where(pages.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(pages.c.number)
    .with_for_update()
)


def write_pages(
    connection: Connection, origin: PageOrigin, rows: Sequence[Mapping[str, Any]]
) -> Sequence[int]:
    """Write pages that are not there yet, and let all of them be found.

    Returns:
        The numbers of those that could not be found before.
    """
    given = {row["id"]: row for row in rows}
    known = {row.id for row in _lock_known(connection, list(given))}
    new = insert_pages(connection, [row for one, row in given.items() if one not in known])
    held = _lock_known(connection, list(given))
    stale = {row.number: given[row.id] for row in held if row.indexed != WORDS_VERSION}
    _write_again(connection, stale)
    wanted = _namespaces_of_origin(connection, origin)
    fresh = sorted({*new, *stale})
    _add_members(connection, fresh, wanted)
    index_pages(connection, fresh)
    queue_vectors(connection, fresh)
    join_namespaces(connection, [row.number for row in held if row.number not in {*fresh}], wanted)
    if known:
        longer = update(pages).where(pages.c.id.in_(known), pages.c.expires != origin.expires)
        connection.execute(longer.values(expires=origin.expires))
    return fresh


def insert_pages(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """Write new pages and return their numbers, without those that another process was first to."""
    if not rows:
        return []
    once = dialect_insert(pages).on_conflict_do_nothing(index_elements=["id"])
    return list(connection.execute(once.returning(pages.c.number), rows).scalars())


def _namespaces_of_origin(connection: Connection, origin: PageOrigin) -> list[int]:
    groups = dict.fromkeys(["", origin.group])
    return [ensure_namespace(connection, origin.owner, origin.kind, group) for group in groups]


def _write_again(connection: Connection, rows: Mapping[int, Mapping[str, Any]]) -> None:
    """Write the words of pages that were cut otherwise, or are said again after they were gone."""
    if rows:
        unindex_pages(connection, lock_indexed(connection, list(rows)))
        again = update(pages).where(pages.c.number == bindparam("one"))
        words: dict[str, Any] = {
            "words": bindparam("new_words"),
            "title_words": bindparam("new_title_words"),
            "superseded_by": "",
            "indexed": WORDS_VERSION,
        }
        values = [
            {"one": one, "new_words": row["words"], "new_title_words": row["title_words"]}
            for one, row in rows.items()
        ]
        connection.execute(again.values(words), values)


def supersede_pages(
    connection: Connection, owner: str, origin: str, said: Mapping[str, int]
) -> None:
    """Let the pages of an origin that it does not have any more be found no more.

    Each is told which page says now what it said: the one in its place, or the first.

    Args:
        connection: Of a transaction that writes.
        owner: Whose pages.
        origin: The id of the origin.
        said: The places of the pages it has now, by their ids.
    """
    every = select(pages.c.id, pages.c.number, pages.c.position).where(
        pages.c.owner == owner, pages.c.origin_id == origin, pages.c.indexed > RETIRED
    )
    old = [row for row in connection.execute(every) if row.id not in said]
    if old and said:
        places = {place: one for one, place in said.items()}
        first = places[min(places)]
        values = [{"old": row.number, "new": places.get(row.position, first)} for row in old]
        marked = update(pages).where(pages.c.number == bindparam("old"))
        connection.execute(marked.values(superseded_by=bindparam("new")), values)
        for at in range(0, len(old), PAGES_PER_STATEMENT):
            retire_pages(connection, [row.number for row in old[at : at + PAGES_PER_STATEMENT]])


def retire_pages(connection: Connection, numbers: Sequence[int]) -> None:
    """Let pages be found no more; they can still be read by their ids."""
    unindex_pages(connection, lock_indexed(connection, numbers))
    gone = update(pages).where(pages.c.number.in_(numbers))
    connection.execute(gone.values(indexed=RETIRED))
    queue_vectors(connection, numbers)


def restore_pages(connection: Connection, numbers: Sequence[int]) -> None:
    """Let pages be found again that were found no more."""
    again = update(pages).where(pages.c.number.in_(numbers))
    connection.execute(again.values(indexed=WORDS_VERSION, superseded_by=""))
    index_pages(connection, numbers)
    queue_vectors(connection, numbers)


def _lock_known(connection: Connection, ids: Sequence[str]) -> Sequence[Any]:
    """Return what is there of some pages, and keep others from changing it meanwhile."""
    return connection.execute(_KNOWN, {"ids": ids}).all()


UPKEEP_BATCH = 100
"""How many pages are cut again, or ended, in one transaction."""

_STALE = select(pages.c.number).where(
    pages.c.owner == bindparam("owner"), pages.c.indexed.between(0, bindparam("older"))
)
"""An owner's pages whose words were cut in an older way."""

_EXPIRED = select(pages.c.number).where(
    pages.c.owner == bindparam("owner"), pages.c.expires <= bindparam("now")
)
"""An owner's pages that have had their time."""

_DUE = select(_STALE.exists() | _EXPIRED.exists())


def needs_refresh(connection: Connection, owner: str) -> bool:
    """Say whether something has to be done before an owner's pages are searched."""
    return bool(connection.execute(_DUE, _due_values(owner)).scalar())


async def refresh_index(owner: str) -> None:
    """Do what has to be done before an owner's pages are searched, where it can be written."""
    with skip_if_read_only():
        while stale := await run_read(partial(_next_batch, wanted=_STALE, owner=owner)):
            await write_in_group(partial(_recut, numbers=stale))
        while ended := await run_read(partial(_next_batch, wanted=_EXPIRED, owner=owner)):
            await write_in_group(partial(_end, numbers=ended))


def _due_values(owner: str) -> dict[str, object]:
    return {"owner": owner, "older": WORDS_VERSION - 1, "now": time.time()}


def _next_batch(connection: Connection, wanted: Select[Any], owner: str) -> list[int]:
    return list(connection.execute(wanted.limit(UPKEEP_BATCH), _due_values(owner)).scalars())


def _recut(connection: Connection, numbers: Sequence[int]) -> None:
    wanted = select(pages.c.number, pages.c.title, pages.c.text, pages.c.indexed).where(
        pages.c.number.in_(numbers), pages.c.indexed.between(0, WORDS_VERSION - 1)
    )
    rows = connection.execute(wanted.order_by(pages.c.number).with_for_update()).all()
    if not rows:
        return
    found = [row.number for row in rows]
    unindex_pages(connection, lock_indexed(connection, found))
    again = update(pages).where(pages.c.number == bindparam("one"))
    words = [
        {"one": row.number, "t": join_search_words(row.title), "w": join_search_words(row.text)}
        for row in rows
    ]
    cut_now = {"title_words": bindparam("t"), "words": bindparam("w"), "indexed": WORDS_VERSION}
    connection.execute(again.values(cut_now), words)
    named = update(members).where(members.c.page == bindparam("one"))
    keys = [{"one": row.number, "k": title_key(row.title)[:LONGEST_TITLE_KEY]} for row in rows]
    connection.execute(named.values(key=bindparam("k")), keys)
    index_pages(connection, found)
    queue_vectors(connection, [row.number for row in rows if row.indexed == 0])


def _end(connection: Connection, numbers: Sequence[int]) -> None:
    """Let pages be found no more, and forget those that nobody has cited."""
    held = select(pages.c.number).where(pages.c.number.in_(numbers), pages.c.expires.is_not(None))
    ended = list(connection.execute(held.with_for_update()).scalars())
    retire_pages(connection, ended)
    those = pages.c.number.in_(ended)
    connection.execute(update(pages).where(those).values(expires=None))
    cited = select(sources.c.page).where(sources.c.page == pages.c.id).exists()
    uncited = select(pages.c.number).where(those, ~cited)
    delete_page_rows(connection, list(connection.execute(uncited).scalars()))


def delete_page_rows(connection: Connection, numbers: Sequence[int]) -> None:
    """Remove pages that are in no index any more."""
    connection.execute(delete(members).where(members.c.page.in_(numbers)))
    connection.execute(delete(pages).where(pages.c.number.in_(numbers)))
