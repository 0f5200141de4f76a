"""Make stored pages findable, or no longer: keyword index, titles, counts, and work for vectors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, select, update

from memory.pages.rows import digest
from retrieval.names import title_key
from storage import outbox
from storage.keywords import Entry, keywords
from storage.tables import members, namespaces, pages
from storage.upsert import insert_new

VECTORS = "vectors"
"""The job of the outbox that makes or removes the vectors of pages, as the table now says.

Its data: `namespace`, the number of the one of their kind, and `pages`, their numbers.
"""

KEY = 200
"""The longest title by which a page is mentioned, in characters."""


def namespace(connection: Connection, owner: str, kind: str, group: str = "") -> int:
    """Return the number of a namespace; a new one gets a number."""
    name = digest(owner, kind, group)
    wanted = select(namespaces.c.number).where(namespaces.c.name == name)
    number = connection.execute(wanted).scalar()
    if number is None:
        row = {"name": name, "owner": owner, "kind": kind, "group": group}
        new = insert_new(namespaces).on_conflict_do_nothing(index_elements=["name"])
        connection.execute(new, {**row, "pages": 0, "words": 0, "title_words": 0})
        number = connection.execute(wanted).scalar_one()
    return int(number)


def join(connection: Connection, numbers: Sequence[int], wanted: Sequence[int]) -> None:
    """Put pages into namespaces; those in the index are found there from now on.

    Args:
        connection: Of a transaction that writes.
        numbers: The pages.
        wanted: The namespaces.
    """
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
    titles = select(pages.c.number, pages.c.title).where(pages.c.number.in_(numbers))
    rows = [
        {"namespace": one, "page": number, "key": title_key(title)[:KEY]}
        for number, title in connection.execute(titles)
        for one in wanted
    ]
    connection.execute(insert_new(members).on_conflict_do_nothing(), rows)


def in_index(connection: Connection, numbers: Sequence[int]) -> list[int]:
    """Return those of some pages that are in the index, and keep others from moving any of them.

    Whoever takes pages out or puts them in asks this first, before it looks at their namespaces.
    """
    held = select(pages.c.number, pages.c.indexed).where(pages.c.number.in_(numbers))
    rows = connection.execute(held.order_by(pages.c.number).with_for_update()).all()
    return [row.number for row in rows if row.indexed > 0]


def put(connection: Connection, numbers: Sequence[int]) -> None:
    """Add pages to the index of their namespaces."""
    entries = _entries(connection, numbers)
    keywords(connection).put(connection, entries)
    _count(connection, entries, 1)


def take(connection: Connection, numbers: Sequence[int]) -> None:
    """Take pages out of the index; they must be in it, as they are in the table."""
    entries = _entries(connection, numbers)
    keywords(connection).take(connection, entries)
    _count(connection, entries, -1)


def _entries(connection: Connection, numbers: Sequence[int]) -> list[Entry]:
    if not numbers:
        return []
    known = _namespaces(connection, numbers)
    cut = select(pages.c.number, pages.c.title_words, pages.c.words)
    rows = connection.execute(cut.where(pages.c.number.in_(numbers)))
    return [Entry(number, sorted(known[number]), title, body) for number, title, body in rows]


def _namespaces(connection: Connection, numbers: Sequence[int]) -> dict[int, set[int]]:
    wanted = select(members.c.page, members.c.namespace).where(members.c.page.in_(numbers))
    known: dict[int, set[int]] = defaultdict(set)
    for page, one in connection.execute(wanted):
        known[page].add(one)
    return known


def _count(connection: Connection, entries: Sequence[Entry], sign: int) -> None:
    """Add pages to what their namespaces know of themselves, or subtract them."""
    totals: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    for entry in entries:
        for one in entry.namespaces:
            sizes = (1, len(entry.body.split()), len(entry.title.split()))
            totals[one] = [a + sign * b for a, b in zip(totals[one], sizes, strict=True)]
    counted = update(namespaces).where(namespaces.c.number == bindparam("one"))
    more = {
        name: namespaces.c[name] + bindparam(f"more_{name}")
        for name in ("pages", "words", "title_words")
    }
    rows = [
        {"one": one, "more_pages": a, "more_words": b, "more_title_words": c}
        for one, (a, b, c) in sorted(totals.items())
    ]
    if rows:
        connection.execute(counted.values(more), rows)


def queue(connection: Connection, numbers: Sequence[int]) -> None:
    """Leave work for the vectors of some pages, a job for each namespace of a kind."""
    kinds = select(pages.c.number, pages.c.owner, pages.c.kind).where(pages.c.number.in_(numbers))
    jobs: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, owner, kind in connection.execute(kinds.order_by(pages.c.number)):
        jobs[owner, kind].append(number)
    for (owner, kind), some in jobs.items():
        data = {"namespace": namespace(connection, owner, kind), "pages": some}
        outbox.put(connection, owner, VECTORS, data)
