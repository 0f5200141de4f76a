"""Find the documents in scope, the best for a question first, and the first pages of some.

A few statements at any size of the store: files are listed by their rows, and pages are read of
those documents only that are shown.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, groupby, islice, zip_longest
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from library.documents import FILE_KIND
from library.page_index import PageIndex, findable_condition
from library.page_metadata import extract_site
from library.page_retrieval import run_search
from library.page_rows import short_hash
from library.scope import Scope
from library.tables import documents, members, pages, sources
from text.words import query_terms

MATCHED = 200
"""How many pages that match the question are looked at; their documents come first."""

SHOWN = 40
"""The most documents whose pages are read."""

OTHERS = 10
"""How many of them are of folders, sites and languages that the best ones are not of."""

READ_CHARACTERS, READ_PAGES = 1_000_000, 2_000
"""The most characters and pages that are read for headings; other pages are known by title."""

LISTED_PAGES = 5_000
"""The largest memory whose documents are all listed; of a larger one, some and its counts are."""

NEWEST = 50
"""How many pages of a large memory, the last stored, have their documents listed in any case."""

SAMPLED = 60
"""How many pages of a large store tell which languages it has."""


class DocumentScope(NamedTuple):
    """The documents that a run may use: files, web pages of the thread, or a part of memory."""

    roots: Sequence[str] = ()
    """The folders of files, those of uploads too."""
    thread: str = ""
    """The thread whose web pages are among them."""
    memory: Scope | None = None
    """The part of memory that is searched where there are no files."""


class ListedDocument(NamedTuple):
    """A document before its pages are read."""

    origin_id: str
    kind: str
    name: str
    """Its file name, or its site."""
    group: str
    date: str
    """When it was said or written, if that is known; no document is as old as its file or copy."""


class FoundDocuments(NamedTuple):
    """The documents in scope, the best first, and what was read of those that are shown."""

    listed: Sequence[ListedDocument] = ()
    shown: Sequence[ListedDocument] = ()
    pages: Mapping[str, Sequence[ShownPage]] = {}
    sample: Sequence[str] = ()
    unlisted: Mapping[str, int] = {}
    """How many other documents a large memory has, by kind."""


async def find_documents(owner: str, scope: DocumentScope, about: str) -> FoundDocuments:
    """Return the documents in scope, those that match best first.

    Args:
        owner: The owner of the documents.
        scope: The documents.
        about: What they are needed for; the question.
    """
    parts = [Scope(groups=list(scope.roots))]
    if scope.memory is not None and not scope.roots:
        kinds, groups = scope.memory
        both = kinds is not None and groups is not None
        parts = [Scope(kinds), Scope(groups=groups)] if both else [scope.memory]
    found = [
        await run_search(
            owner, lambda index: _find(index, owner, scope, about), part.kinds, part.groups
        )
        for part in parts
    ]
    return _join(found)


def _join(found: Sequence[FoundDocuments]) -> FoundDocuments:
    listed = {one.origin_id: one for part in found for one in part.listed}
    shown = {one.origin_id: one for part in found for one in part.shown}
    read = {origin: rows for part in found for origin, rows in part.pages.items()}
    sample = [text for part in found for text in part.sample]
    unlisted = Counter[str]()
    for part in found:
        unlisted.update(part.unlisted)
    return FoundDocuments(
        list(listed.values()), list(shown.values())[:SHOWN], read, sample, unlisted
    )


def _find(index: PageIndex, owner: str, scope: DocumentScope, about: str) -> FoundDocuments:
    """List the documents in scope, and read the pages of those that are shown."""
    connection = index.connection
    matched = _rank_origins(index, about)
    listed = [*_list_files(connection, owner, scope.roots)] if scope.roots else []
    unlisted: Mapping[str, int] = {}
    if scope.memory is not None and not scope.roots:
        listed += _list_memory(index, owner, matched)
        unlisted = _count_unlisted(index, listed)
    listed += _list_read_pages(connection, owner, scope.thread)
    unique = {one.origin_id: one for one in listed}
    best = [unique[origin] for origin in matched if origin in unique]
    ordered = list(dict.fromkeys([*best, *unique.values()]))
    shown = _choose_shown(ordered, _list_languages(connection, owner, ordered))
    read = _read_pages(connection, owner, [one.origin_id for one in shown])
    large = len(ordered) > SHOWN and index.namespaces
    sample = [row.text for row in index.sample(SAMPLED)] if large else []
    return FoundDocuments(ordered, shown, read, sample, unlisted)


def _choose_shown(
    ordered: Sequence[ListedDocument], languages: Mapping[str, str]
) -> list[ListedDocument]:
    """Return the best documents, and some of each folder, site and language without one of them.

    A question finds no document in another language by its words.
    """
    if len(ordered) <= SHOWN:
        return list(ordered)

    def kind(one: ListedDocument) -> tuple[str, str]:
        return one.group, languages.get(one.origin_id, "")

    best = list(ordered[: SHOWN - OTHERS])
    known = set(map(kind, best))
    others: dict[tuple[str, str], list[ListedDocument]] = {}
    for one in ordered[SHOWN - OTHERS :]:
        if kind(one) not in known:
            others.setdefault(kind(one), []).append(one)
    in_turn = filter(None, chain.from_iterable(zip_longest(*others.values())))
    return list(dict.fromkeys([*best, *islice(in_turn, OTHERS), *ordered]))[:SHOWN]


def _list_languages(
    connection: Connection, owner: str, listed: Sequence[ListedDocument]
) -> dict[str, str]:
    """Return the languages that documents declare, by origin; only where not all are shown."""
    if len(listed) <= SHOWN:
        return {}
    its = (pages.c.owner == owner, pages.c.origin_id.in_([one.origin_id for one in listed]))
    told = select(pages.c.origin_id, func.max(pages.c.language).label("language"))
    rows = connection.execute(told.where(*its).group_by(pages.c.origin_id))
    return {row.origin_id: row.language for row in rows}


def _rank_origins(index: PageIndex, about: str) -> list[str]:
    """Return the origins of the pages that match best, best first, each once."""
    terms = query_terms(about)
    numbers = index.matching(terms, MATCHED) if terms and index.namespaces else []
    rows = index.connection.execute(
        select(pages.c.number, pages.c.origin_id).where(pages.c.number.in_(numbers))
    )
    origins = {row.number: row.origin_id for row in rows}
    return list(dict.fromkeys(origins[number] for number in numbers if number in origins))


def _list_files(
    connection: Connection, owner: str, roots: Sequence[str] | None
) -> Iterator[ListedDocument]:
    """Yield the files of some folders that could be read, by path; of all if `roots` is `None`."""
    names = ("root", "path", "sha256")
    its = (documents.c.owner == owner, documents.c.code == "")
    wanted = select(*(documents.c[name] for name in names)).where(*its).order_by(documents.c.path)
    if roots is not None:
        wanted = wanted.where(documents.c.root.in_(roots))
    for row in connection.execute(wanted):
        origin = short_hash(FILE_KIND, row.sha256)
        folder, name = os.path.split(row.path)
        yield ListedDocument(origin, FILE_KIND, name, _relative(folder, row.root), "")


def _relative(folder: str, root: str) -> str:
    """Return a folder from the name of its root on."""
    above = os.path.dirname(root)
    return folder[len(above) :].strip("/") if folder.startswith(root) else os.path.basename(folder)


_ORIGINS = select(
    pages.c.origin_id,
    func.min(pages.c.kind).label("kind"),
    func.min(pages.c.origin).label("origin"),
    func.max(pages.c.said).label("said"),
    func.max(pages.c.created).label("created"),
).group_by(pages.c.origin_id)


def _list_read_pages(connection: Connection, owner: str, thread: str) -> Iterator[ListedDocument]:
    """Yield the web pages of which a thread was shown something, in the order of their numbers."""
    if thread:
        its = (sources.c.thread == thread, pages.c.owner == owner, pages.c.kind == "web")
        read = _ORIGINS.join(sources, sources.c.page == pages.c.id).where(*its)
        found = connection.execute(read.order_by(func.min(sources.c.number)))
        yield from map(_listed_origin, found)


def _list_memory(index: PageIndex, owner: str, matched: Sequence[str]) -> Iterator[ListedDocument]:
    """Yield the documents of a part of memory, newest first; of a large one some."""
    stored = _ORIGINS.join(members, members.c.page == pages.c.number).where(
        members.c.namespace.in_(index.namespaces), findable_condition(pages)
    )
    if index.stats().pages > LISTED_PAGES:
        some = [*matched, *_newest_origins(index)]
        stored = stored.where(pages.c.origin_id.in_(some))
    newest = stored.order_by(func.max(pages.c.number).desc())
    found = [_listed_origin(row) for row in index.connection.execute(newest)]
    has_files = any(one.kind == FILE_KIND for one in found)
    files = _list_files(index.connection, owner, None) if has_files else ()
    named = {one.origin_id: one for one in files}
    yield from (named.get(one.origin_id, one) for one in found)


def _newest_origins(index: PageIndex) -> Iterable[str]:
    """Return the origins of the pages that were stored last."""
    its = (members.c.namespace.in_(index.namespaces), findable_condition(pages))
    stored = select(pages.c.origin_id).join(members, members.c.page == pages.c.number).where(*its)
    return index.connection.execute(stored.order_by(members.c.page.desc()).limit(NEWEST)).scalars()


def _count_unlisted(index: PageIndex, listed: Iterable[ListedDocument]) -> dict[str, int]:
    """Return how many documents of a large part of memory are not listed, by kind."""
    if index.stats().pages <= LISTED_PAGES:
        return {}
    stored = select(pages.c.kind, func.count(pages.c.origin_id.distinct()))
    stored = stored.join(members, members.c.page == pages.c.number).group_by(pages.c.kind)
    its = (members.c.namespace.in_(index.namespaces), findable_condition(pages))
    counts = Counter({row[0]: row[1] for row in index.connection.execute(stored.where(*its))})
    counts.subtract(one.kind for one in listed)
    return dict(+counts)


_WRITTEN_HERE = frozenset(["report", "chat", "session"])
"""The kinds of documents that are stored when they are written."""


def _listed_origin(row: Any) -> ListedDocument:
    site = extract_site(row.origin) if row.kind == "web" else ""
    day = row.said[:10]
    if not day and row.kind in _WRITTEN_HERE:
        day = datetime.fromtimestamp(row.created, UTC).date().isoformat()
    return ListedDocument(row.origin_id, row.kind, site, site, day)


_SHOWN_PAGES = select(
    *(pages.c[name] for name in ("number", "origin_id", "title", "place", "language", "published")),
    func.length(pages.c.text).label("size"),
).order_by(pages.c.origin_id, pages.c.position)


class ShownPage(NamedTuple):
    """A page of a document that is shown; its text is empty if it was not read."""

    title: str
    place: str
    language: str
    published: str
    size: int
    text: str


def _read_pages(
    connection: Connection, owner: str, origins: Sequence[str]
) -> dict[str, Sequence[ShownPage]]:
    """Return the pages of some documents by origin, as many with their text as may be read."""
    its = (pages.c.owner == owner, pages.c.origin_id.in_(origins), findable_condition(pages))
    rows = connection.execute(_SHOWN_PAGES.where(*its)).all() if origins else []
    found = {origin: list(group) for origin, group in groupby(rows, lambda row: row.origin_id)}
    read = _choose_read(list(found.values()))
    wanted = select(pages.c.number, pages.c.text).where(pages.c.number.in_(read))
    texts = {row.number: row.text for row in connection.execute(wanted)} if read else {}
    return {
        origin: [_shown_page(row, texts.get(row.number, "")) for row in group]
        for origin, group in found.items()
    }


def _shown_page(row: Any, text: str) -> ShownPage:
    return ShownPage(row.title, row.place, row.language, row.published, row.size, text)


def _choose_read(documents: Sequence[Sequence[Any]]) -> list[int]:
    """Return the numbers of the pages to read: the first one of every document, then the next."""
    read: list[int] = []
    left = READ_CHARACTERS
    in_turn = filter(None, chain.from_iterable(zip_longest(*documents)))
    for row in islice(in_turn, READ_PAGES):
        left -= row.size
        if left < 0:
            break
        read.append(row.number)
    return read
