"""Write pages and keep them findable.

Rows, namespaces, the keyword index, jobs for vectors, and expiry.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, select, update

from library.keyword_index import KeywordEntry, keyword_index
from library.page_rows import RETIRED, WORDS_VERSION, PageOrigin, join_search_words, short_hash
from library.tables import PAGE_NUMBERS, members, namespaces, pages, sources
from storage import outbox
from storage.batches import split_batches
from storage.engine import run_read, write_in_group
from storage.permissions import skip_if_read_only
from storage.upsert import dialect_insert
from text.title_mentions import title_key

VECTOR_JOB = "vectors"
"""The outbox job that creates or removes the vectors of pages to match the table.

Its data: `namespace`, the number of the namespace of their kind, and `pages`, their numbers.
"""

LONGEST_TITLE_KEY = 200
"""The most characters of the key by which the title of a page is mentioned."""

# Every file that is read executes these, and building a statement takes longer than executing it.
_GIVEN = pages.c.number.in_(PAGE_NUMBERS)
_WORDS = select(pages.c.number, pages.c.title_words, pages.c.words).where(_GIVEN)
_TITLES = select(pages.c.number, pages.c.title).where(_GIVEN)
_KINDS = select(pages.c.number, pages.c.owner, pages.c.kind).where(_GIVEN).order_by(pages.c.number)
_INDEXED = (
    select(pages.c.number, pages.c.indexed).where(_GIVEN).order_by(pages.c.number).with_for_update()
)
_OF_ORIGIN = select(pages.c.id, pages.c.number, pages.c.position).where(
    pages.c.owner == bindparam("owner"),
    pages.c.origin_id == bindparam("origin"),
    pages.c.indexed > RETIRED,
)
_UPDATED = update(pages).where(pages.c.number == bindparam("one"))
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
    """Return the number of a namespace; create it if it is new."""
    name = short_hash(owner, kind, group)
    number = connection.execute(_NAMED, {"named": name}).scalar()
    if number is None:
        row = {"name": name, "owner": owner, "kind": kind, "group": group}
        new = dialect_insert(namespaces).on_conflict_do_nothing(index_elements=["name"])
        connection.execute(new, {**row, "pages": 0, "words": 0, "title_words": 0})
        number = connection.execute(_NAMED, {"named": name}).scalar_one()
    return int(number)


def rename_namespaces(connection: Connection) -> None:
    """Name each set of pages by its owner, kind and group again, after groups were renamed."""
    rows = connection.execute(
        select(*(namespaces.c[one] for one in ("number", "name", "owner", "kind", "group")))
    ).all()
    for number, name, owner, kind, group in rows:
        new = short_hash(owner, kind, group)
        if new != name:
            named = update(namespaces).where(namespaces.c.number == number)
            connection.execute(named.values(name=new))


def join_namespaces(connection: Connection, numbers: Sequence[int], wanted: Sequence[int]) -> None:
    """Add pages to namespaces, and index there those that are in the index.

    Args:
        connection: A connection in a write transaction.
        numbers: The numbers of the pages.
        wanted: The numbers of the namespaces.
    """
    if not numbers:
        return
    indexed = lock_indexed(connection, numbers)
    joined = _namespaces_of_pages(connection, numbers)
    missing = {number for number in numbers if not joined[number].issuperset(wanted)}
    reindexed = [number for number in indexed if number in missing]
    unindex_pages(connection, reindexed)
    _add_members(connection, sorted(missing), wanted)
    index_pages(connection, reindexed)


def _add_members(connection: Connection, numbers: Sequence[int], wanted: Sequence[int]) -> None:
    """Add pages to namespaces; they must not be in the index."""
    if numbers:
        titles = connection.execute(_TITLES, {PAGE_NUMBERS.key: numbers})
        _insert_members(connection, [(number, title) for number, title in titles], wanted)


def _insert_members(
    connection: Connection, titles: Sequence[tuple[int, str]], wanted: Sequence[int]
) -> None:
    rows = [
        {"namespace": namespace, "page": number, "key": title_key(title)[:LONGEST_TITLE_KEY]}
        for number, title in titles
        for namespace in wanted
    ]
    connection.execute(_new_members(connection.dialect.name), rows)


@cache
def _new_members(dialect: str) -> Any:
    """Return the statement that adds pages to namespaces."""
    return dialect_insert(members, dialect).on_conflict_do_nothing()


def lock_indexed(connection: Connection, numbers: Sequence[int]) -> list[int]:
    """Lock pages, and return the numbers of those that are in the index.

    Code that adds pages to the index or removes them calls this before it reads their namespaces.
    """
    rows = connection.execute(_INDEXED, {PAGE_NUMBERS.key: numbers}).all()
    return [row.number for row in rows if row.indexed > 0]


def index_pages(connection: Connection, numbers: Sequence[int]) -> None:
    """Add pages to the index of their namespaces."""
    if numbers:
        _add_entries(connection, _entries(connection, numbers))


def fill_keyword_index(connection: Connection) -> None:
    """Add every page that belongs there to an empty index; the sizes of namespaces stay."""
    findable = select(pages.c.number).where(pages.c.indexed > 0).order_by(pages.c.number)
    for numbers in split_batches(connection.execute(findable).scalars().all()):
        keyword_index(connection).add_entries(connection, _entries(connection, numbers))


def _add_entries(connection: Connection, entries: Sequence[KeywordEntry]) -> None:
    keyword_index(connection).add_entries(connection, entries)
    _count(connection, entries, 1)


def unindex_pages(connection: Connection, numbers: Sequence[int]) -> None:
    """Remove pages from the index, which must contain them as they are in the table."""
    if numbers:
        entries = _entries(connection, numbers)
        keyword_index(connection).remove_entries(connection, entries)
        _count(connection, entries, -1)


def _entries(connection: Connection, numbers: Sequence[int]) -> list[KeywordEntry]:
    joined = _namespaces_of_pages(connection, numbers)
    rows = connection.execute(_WORDS, {PAGE_NUMBERS.key: numbers})
    return [
        KeywordEntry(number, sorted(joined[number]), title, body) for number, title, body in rows
    ]


def _namespaces_of_pages(connection: Connection, numbers: Sequence[int]) -> dict[int, set[int]]:
    joined: dict[int, set[int]] = defaultdict(set)
    for page, namespace in connection.execute(_MEMBERS, {PAGE_NUMBERS.key: numbers}):
        joined[page].add(namespace)
    return joined


def _count(connection: Connection, entries: Sequence[KeywordEntry], sign: int) -> None:
    """Add pages to the sizes of their namespaces, or subtract them with a `sign` of -1."""
    totals: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    for entry in entries:
        sizes = (1, _count_words(entry.body), _count_words(entry.title))
        for number in entry.namespaces:
            totals[number] = [a + sign * b for a, b in zip(totals[number], sizes, strict=True)]
    rows = [
        {"one": number, "more_pages": a, "more_words": b, "more_title_words": c}
        for number, (a, b, c) in sorted(totals.items())
    ]
    if rows:
        connection.execute(_COUNTED, rows)


def _count_words(words: str) -> int:
    """Return how many words there are, which single spaces separate."""
    return words.count(" ") + 1 if words else 0


def queue_vectors(connection: Connection, numbers: Sequence[int]) -> None:
    """Queue the vectors of pages, as one job for each owner and kind."""
    jobs: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, owner, kind in connection.execute(_KINDS, {PAGE_NUMBERS.key: numbers}):
        jobs[owner, kind].append(number)
    for (owner, kind), job_pages in jobs.items():
        data = {"namespace": ensure_namespace(connection, owner, kind), "pages": job_pages}
        outbox.enqueue_job(connection, owner, VECTOR_JOB, data)


PAGES_PER_STATEMENT = 1_000
"""The most pages named in one statement; SQLite allows 32,766 variables by default."""

_KNOWN = (
    select(pages.c.id, pages.c.number, pages.c.indexed)
    .where(pages.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(pages.c.number)
    .with_for_update()
)


def write_pages(
    connection: Connection, origin: PageOrigin, rows: Sequence[Mapping[str, Any]]
) -> Sequence[int]:
    """Insert pages that are not stored yet, and index all that are not in the index.

    Returns:
        The numbers of the pages that were not in the index before.
    """
    new = {row["id"]: row for row in rows}
    known = {row.id for row in _lock_rows(connection, list(new))}
    inserted = insert_pages(connection, [row for key, row in new.items() if key not in known])
    wanted = _namespaces_of_origin(connection, origin)
    _index_inserted(connection, {number: new[key] for key, number in inserted.items()}, wanted)
    stored = {key: row for key, row in new.items() if key not in inserted}
    updated = _update_stored(connection, stored, wanted) if stored else []
    if known:
        extended = update(pages).where(pages.c.id.in_(known), pages.c.expires != origin.expires)
        connection.execute(extended.values(expires=origin.expires))
    return sorted([*inserted.values(), *updated])


def _index_inserted(
    connection: Connection, new: Mapping[int, Mapping[str, Any]], wanted: Sequence[int]
) -> None:
    """Index pages that this transaction inserted, by number, without reading them again."""
    if not new:
        return
    _insert_members(connection, [(number, row["title"]) for number, row in new.items()], wanted)
    spaces = sorted(wanted)
    _add_entries(
        connection,
        [KeywordEntry(n, spaces, row["title_words"], row["words"]) for n, row in new.items()],
    )
    owner = next(iter(new.values()))["owner"]
    # The first of the namespaces of an origin is that of its kind.
    data = {"namespace": wanted[0], "pages": list(new)}
    outbox.enqueue_job(connection, owner, VECTOR_JOB, data)


def _update_stored(
    connection: Connection, new: Mapping[str, Mapping[str, Any]], wanted: Sequence[int]
) -> list[int]:
    """Index stored pages that are not in the index; return their numbers."""
    stored = _lock_rows(connection, list(new))
    stale = {row.number: new[row.id] for row in stored if row.indexed != WORDS_VERSION}
    _update_words(connection, stale)
    _add_members(connection, sorted(stale), wanted)
    index_pages(connection, sorted(stale))
    queue_vectors(connection, sorted(stale))
    others = [row.number for row in stored if row.number not in stale]
    join_namespaces(connection, others, wanted)
    return list(stale)


def insert_pages(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Insert pages; return the numbers, by id, of those that no other process inserted first."""
    if not rows:
        return {}
    inserted = connection.execute(_new_pages(connection.dialect.name), rows)
    return {row.id: row.number for row in inserted}


@cache
def _new_pages(dialect: str) -> Any:
    """Return the statement that inserts pages and tells their numbers."""
    once = dialect_insert(pages, dialect).on_conflict_do_nothing(index_elements=["id"])
    return once.returning(pages.c.id, pages.c.number)


def _namespaces_of_origin(connection: Connection, origin: PageOrigin) -> list[int]:
    groups = dict.fromkeys(["", origin.group])
    return [ensure_namespace(connection, origin.owner, origin.kind, group) for group in groups]


def _update_words(connection: Connection, rows: Mapping[int, Mapping[str, Any]]) -> None:
    """Update the words of pages that were tokenized by an older version, or had been retired."""
    if rows:
        unindex_pages(connection, lock_indexed(connection, list(rows)))
        columns: dict[str, Any] = {
            "words": bindparam("new_words"),
            "title_words": bindparam("new_title_words"),
            "superseded_by": "",
            "indexed": WORDS_VERSION,
        }
        values = [
            {"one": number, "new_words": row["words"], "new_title_words": row["title_words"]}
            for number, row in rows.items()
        ]
        connection.execute(_UPDATED.values(columns), values)


def supersede_pages(
    connection: Connection, owner: str, origin: str, said: Mapping[str, int]
) -> None:
    """Retire the pages of an origin that are not among its current pages.

    Each records its successor: the current page at its position, or else the first one.

    Args:
        connection: A connection in a write transaction.
        owner: The owner of the pages.
        origin: The id of the origin.
        said: The positions of its current pages by id; if empty, nothing is retired.
    """
    findable = connection.execute(_OF_ORIGIN, {"owner": owner, "origin": origin})
    old = [row for row in findable if row.id not in said]
    if old and said:
        successors = {position: page for page, position in said.items()}
        first = successors[min(successors)]
        values = [{"one": row.number, "new": successors.get(row.position, first)} for row in old]
        connection.execute(_UPDATED.values(superseded_by=bindparam("new")), values)
        for batch in split_batches([row.number for row in old], PAGES_PER_STATEMENT):
            retire_pages(connection, batch)


def retire_pages(connection: Connection, numbers: Sequence[int]) -> None:
    """Remove pages from search; they can still be read by their ids."""
    unindex_pages(connection, lock_indexed(connection, numbers))
    retired = update(pages).where(pages.c.number.in_(numbers))
    connection.execute(retired.values(indexed=RETIRED))
    queue_vectors(connection, numbers)


def restore_pages(connection: Connection, numbers: Sequence[int]) -> None:
    """Return retired pages to search."""
    restored = update(pages).where(pages.c.number.in_(numbers))
    connection.execute(restored.values(indexed=WORDS_VERSION, superseded_by=""))
    index_pages(connection, numbers)
    queue_vectors(connection, numbers)


def _lock_rows(connection: Connection, ids: Sequence[str]) -> Sequence[Any]:
    """Lock the rows of stored pages, and return them."""
    return connection.execute(_KNOWN, {"ids": ids}).all()


UPKEEP_BATCH = 100
"""The most pages that are tokenized again, or expire, in one transaction."""

_STALE = select(pages.c.number).where(
    pages.c.owner == bindparam("owner"), pages.c.indexed.between(0, bindparam("older"))
)
"""An owner's pages whose words were tokenized by an older version."""

_EXPIRED = select(pages.c.number).where(
    pages.c.owner == bindparam("owner"), pages.c.expires <= bindparam("now")
)
"""An owner's pages whose time has expired."""

REFRESH_DUE = _STALE.exists() | _EXPIRED.exists()
"""Whether an owner has stale or expired pages, with the values of `refresh_values`."""


async def refresh_index(owner: str) -> bool:
    """Update an owner's stale pages and expire others; return `False` if the store is read-only."""
    with skip_if_read_only():
        while stale := await run_read(partial(_next_batch, wanted=_STALE, owner=owner)):
            await write_in_group(partial(_retokenize, numbers=stale))
        while expired := await run_read(partial(_next_batch, wanted=_EXPIRED, owner=owner)):
            await write_in_group(partial(_expire, numbers=expired))
        return True
    return False


def refresh_values(owner: str) -> dict[str, object]:
    """Return the values of `REFRESH_DUE` for an owner."""
    return {"owner": owner, "older": WORDS_VERSION - 1, "now": time.time()}


def _next_batch(connection: Connection, wanted: Select[Any], owner: str) -> list[int]:
    return list(connection.execute(wanted.limit(UPKEEP_BATCH), refresh_values(owner)).scalars())


def _retokenize(connection: Connection, numbers: Sequence[int]) -> None:
    wanted = select(pages.c.number, pages.c.title, pages.c.text, pages.c.indexed).where(
        pages.c.number.in_(numbers), pages.c.indexed.between(0, WORDS_VERSION - 1)
    )
    rows = connection.execute(wanted.order_by(pages.c.number).with_for_update()).all()
    if not rows:
        return
    stale = [row.number for row in rows]
    unindex_pages(connection, lock_indexed(connection, stale))
    words = [
        {"one": row.number, "t": join_search_words(row.title), "w": join_search_words(row.text)}
        for row in rows
    ]
    columns = {"title_words": bindparam("t"), "words": bindparam("w"), "indexed": WORDS_VERSION}
    connection.execute(_UPDATED.values(columns), words)
    joined = update(members).where(members.c.page == bindparam("one"))
    keys = [{"one": row.number, "k": title_key(row.title)[:LONGEST_TITLE_KEY]} for row in rows]
    connection.execute(joined.values(key=bindparam("k")), keys)
    index_pages(connection, stale)
    queue_vectors(connection, [row.number for row in rows if row.indexed == 0])


def _expire(connection: Connection, numbers: Sequence[int]) -> None:
    """Retire pages, and delete those that no thread cites."""
    due = select(pages.c.number).where(pages.c.number.in_(numbers), pages.c.expires.is_not(None))
    expired = list(connection.execute(due.with_for_update()).scalars())
    retire_pages(connection, expired)
    is_expired = pages.c.number.in_(expired)
    connection.execute(update(pages).where(is_expired).values(expires=None))
    cited = select(sources.c.page).where(sources.c.page == pages.c.id).exists()
    uncited = select(pages.c.number).where(is_expired, ~cited)
    delete_page_rows(connection, list(connection.execute(uncited).scalars()))


def delete_page_rows(connection: Connection, numbers: Sequence[int]) -> None:
    """Delete the rows of pages that are in no index."""
    connection.execute(delete(members).where(members.c.page.in_(numbers)))
    connection.execute(delete(pages).where(pages.c.number.in_(numbers)))
