"""Make stored pages findable, or no longer: keyword index, titles, counts, and work for vectors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, select, update

from memory.pages.rows import digest
from retrieval.names import title_key
from storage import outbox
from storage.keywords import Entry, keywords
from storage.tables import GIVEN, members, namespaces, pages
from storage.upsert import insert_new

VECTORS = "vectors"
"""The job of the outbox that makes or removes the vectors of pages, as the table now says.

Its data: `namespace`, the number of the one of their kind, and `pages`, their numbers.
"""

KEY = 200
"""The longest title by which a page is mentioned, in characters."""

# Every file that is read executes them, and making a statement takes longer than executing it.
_GIVEN = pages.c.number.in_(GIVEN)
_WORDS = select(pages.c.number, pages.c.title_words, pages.c.words).where(_GIVEN)
_TITLES = select(pages.c.number, pages.c.title).where(_GIVEN)
_KINDS = select(pages.c.number, pages.c.owner, pages.c.kind).where(_GIVEN).order_by(pages.c.number)
_HELD = (
    select(pages.c.number, pages.c.indexed).where(_GIVEN).order_by(pages.c.number).with_for_update()
)
_MEMBERS = select(members.c.page, members.c.namespace).where(members.c.page.in_(GIVEN))
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


def namespace(connection: Connection, owner: str, kind: str, group: str = "") -> int:
    """Return the number of a namespace; a new one gets a number."""
    name = digest(owner, kind, group)
    number = connection.execute(_NAMED, {"named": name}).scalar()
    if number is None:
        row = {"name": name, "owner": owner, "kind": kind, "group": group}
        new = insert_new(namespaces).on_conflict_do_nothing(index_elements=["name"])
        connection.execute(new, {**row, "pages": 0, "words": 0, "title_words": 0})
        number = connection.execute(_NAMED, {"named": name}).scalar_one()
    return int(number)


def join(connection: Connection, numbers: Sequence[int], wanted: Sequence[int]) -> None:
    """Put pages into namespaces; those in the index are found there from now on.

    Args:
        connection: Of a transaction that writes.
        numbers: The pages.
        wanted: The namespaces.
    """
    if not numbers:
        return
    found = in_index(connection, numbers)
    known = _namespaces(connection, numbers)
    lacking = {number for number in numbers if not known[number].issuperset(wanted)}
    moved = [number for number in found if number in lacking]
    take(connection, moved)
    enroll(connection, sorted(lacking), wanted)
    put(connection, moved)


def enroll(connection: Connection, numbers: Sequence[int], wanted: Sequence[int]) -> None:
    """Make pages that are not in the index members of namespaces."""
    if not numbers:
        return
    rows = [
        {"namespace": one, "page": number, "key": title_key(title)[:KEY]}
        for number, title in connection.execute(_TITLES, {GIVEN.key: numbers})
        for one in wanted
    ]
    connection.execute(insert_new(members).on_conflict_do_nothing(), rows)


def in_index(connection: Connection, numbers: Sequence[int]) -> list[int]:
    """Return those of some pages that are in the index, and keep others from moving any of them.

    Whoever takes pages out or puts them in asks this first, before it looks at their namespaces.
    """
    rows = connection.execute(_HELD, {GIVEN.key: numbers}).all()
    return [row.number for row in rows if row.indexed > 0]


def put(connection: Connection, numbers: Sequence[int]) -> None:
    """Add pages to the index of their namespaces."""
    if numbers:
        entries = _entries(connection, numbers)
        keywords(connection).put(connection, entries)
        _count(connection, entries, 1)


def take(connection: Connection, numbers: Sequence[int]) -> None:
    """Take pages out of the index; they must be in it, as they are in the table."""
    if numbers:
        entries = _entries(connection, numbers)
        keywords(connection).take(connection, entries)
        _count(connection, entries, -1)


def _entries(connection: Connection, numbers: Sequence[int]) -> list[Entry]:
    known = _namespaces(connection, numbers)
    rows = connection.execute(_WORDS, {GIVEN.key: numbers})
    return [Entry(number, sorted(known[number]), title, body) for number, title, body in rows]


def _namespaces(connection: Connection, numbers: Sequence[int]) -> dict[int, set[int]]:
    known: dict[int, set[int]] = defaultdict(set)
    for page, one in connection.execute(_MEMBERS, {GIVEN.key: numbers}):
        known[page].add(one)
    return known


def _count(connection: Connection, entries: Sequence[Entry], sign: int) -> None:
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


def queue(connection: Connection, numbers: Sequence[int]) -> None:
    """Leave work for the vectors of some pages, a job for each namespace of a kind."""
    jobs: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, owner, kind in connection.execute(_KINDS, {GIVEN.key: numbers}):
        jobs[owner, kind].append(number)
    for (owner, kind), some in jobs.items():
        data = {"namespace": namespace(connection, owner, kind), "pages": some}
        outbox.put(connection, owner, VECTORS, data)
