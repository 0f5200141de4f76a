"""Outline the documents in scope for models: titles, kinds, languages, dates, sizes, sections.

A few statements at any size of the store: files are listed by their rows, and pages are read of
those documents only that are shown.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from html import escape
from itertools import groupby
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from sqlalchemy import Connection, case, func, select

from library.document_sections import document_title
from library.documents import FILE_KIND
from library.page_index import PageIndex, findable_condition
from library.page_retrieval import run_search
from library.page_rows import short_hash
from library.scope import Scope
from library.tables import documents, members, pages, sources
from text.normalization import to_one_line
from text.pattern_files import read_packaged_toml
from text.regex import regex
from text.script import name_language
from text.text_blocks import find_headings
from text.tokens import estimate_tokens
from text.words import query_terms

MAX_TOKENS = 1_500
"""The most tokens of an outline, escaped as in a prompt."""

MATCHED = 200
"""How many pages that match the question are looked at; their documents come first."""

SHOWN = 40
"""The most documents shown one by one."""

FOR_HEADS = 0.6
"""The share of the tokens for the lines without their sections."""

FIRST_SECTIONS, MOST_SECTIONS = 4, 16
"""How many sections every shown document gets before one gets more, and the most of one."""

READ_PAGES = 4
"""The first pages of a document, whose text is read for headings; others are known by title."""

LISTED_PAGES = 5_000
"""The largest memory whose documents are all listed; of a larger one, some and its groups are."""

GROUPS = 12
"""The most folders and sites that are counted by name."""

SAMPLED = 60
"""How many pages of a large store tell which languages it has."""

TITLE, SECTION = 80, 60
"""The most characters shown of a title and of a section's title."""

_NUMBERED = regex(r"\b(page|slide)=(?:\d+-)?(\d+)")


class DocumentScope(NamedTuple):
    """The documents that a run may use: files, web pages of the thread, or a part of memory."""

    roots: Sequence[str] = ()
    """The folders of files, those of uploads too."""
    thread: str = ""
    """The thread whose web pages are among them."""
    memory: Scope | None = None
    """The part of memory that is searched where there are no files."""


class DocumentOutline(NamedTuple):
    """An outline as text, and what it is about."""

    text: str = ""
    languages: tuple[str, ...] = ()
    """The codes of the languages of the documents, as `text.script` names them."""
    documents: int = 0
    """How many documents are in scope."""


class _Listed(NamedTuple):
    """A document before its pages are read."""

    origin_id: str
    kind: str
    name: str
    """Its file name, or its site."""
    group: str
    date: str


class _Entry(NamedTuple):
    """A document with all that can be shown of it."""

    head: str
    language: str
    sections: tuple[str, ...]


class _Found(NamedTuple):
    """The documents in scope, the best first, and what was read of those that are shown."""

    listed: Sequence[_Listed] = ()
    shown: Sequence[_Listed] = ()
    pages: Mapping[str, Sequence[Any]] = {}
    sample: Sequence[str] = ()
    unlisted: Mapping[str, int] = {}
    """How many other documents a large memory has, by kind."""


async def outline_documents(
    owner: str,
    scope: DocumentScope,
    about: str,
    max_tokens: int = MAX_TOKENS,
    language: str = "en",
) -> DocumentOutline:
    """Return the outline of the documents in scope, those that match best first.

    Args:
        owner: The owner of the documents.
        scope: The documents.
        about: What they are needed for; the question.
        max_tokens: The most tokens of the outline, as they are estimated.
        language: The language of its words, `en` or `zh`.
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
    joined = _join(found)
    return await asyncio.to_thread(_write, joined, max_tokens, _labels()[language])


def _join(found: Sequence[_Found]) -> _Found:
    listed = {one.origin_id: one for part in found for one in part.listed}
    shown = {one.origin_id: one for part in found for one in part.shown}
    read = {origin: rows for part in found for origin, rows in part.pages.items()}
    sample = [text for part in found for text in part.sample]
    unlisted = Counter[str]()
    for part in found:
        unlisted.update(part.unlisted)
    return _Found(list(listed.values()), list(shown.values())[:SHOWN], read, sample, unlisted)


def _find(index: PageIndex, owner: str, scope: DocumentScope, about: str) -> _Found:
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
    shown = ordered[:SHOWN]
    read = _read_pages(connection, owner, [one.origin_id for one in shown])
    large = len(ordered) > SHOWN and index.namespaces
    sample = [row.text for row in index.sample(SAMPLED)] if large else []
    return _Found(ordered, shown, read, sample, unlisted)


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
) -> Iterator[_Listed]:
    """Yield the files of some folders that could be read, by path; of all if `roots` is `None`."""
    names = ("root", "path", "sha256", "modified")
    its = (documents.c.owner == owner, documents.c.code == "")
    wanted = select(*(documents.c[name] for name in names)).where(*its).order_by(documents.c.path)
    if roots is not None:
        wanted = wanted.where(documents.c.root.in_(roots))
    for row in connection.execute(wanted):
        day = datetime.fromtimestamp(row.modified / 1e9, UTC).date().isoformat()
        origin = short_hash(FILE_KIND, row.sha256)
        folder, name = os.path.split(row.path)
        yield _Listed(origin, FILE_KIND, name, _relative(folder, row.root), day)


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


def _list_read_pages(connection: Connection, owner: str, thread: str) -> Iterator[_Listed]:
    """Yield the web pages of which a thread was shown something, in the order of their numbers."""
    if thread:
        its = (sources.c.thread == thread, pages.c.owner == owner, pages.c.kind == "web")
        read = _ORIGINS.join(sources, sources.c.page == pages.c.id).where(*its)
        found = connection.execute(read.order_by(func.min(sources.c.number)))
        yield from map(_listed_origin, found)


def _list_memory(index: PageIndex, owner: str, matched: Sequence[str]) -> Iterator[_Listed]:
    """Yield the documents of a part of memory, newest first; of a large one those that match."""
    stored = _ORIGINS.join(members, members.c.page == pages.c.number).where(
        members.c.namespace.in_(index.namespaces), findable_condition(pages)
    )
    if index.stats().pages > LISTED_PAGES:
        stored = stored.where(pages.c.origin_id.in_(matched))
    newest = stored.order_by(func.max(pages.c.number).desc())
    found = [_listed_origin(row) for row in index.connection.execute(newest)]
    has_files = any(one.kind == FILE_KIND for one in found)
    files = _list_files(index.connection, owner, None) if has_files else ()
    named = {one.origin_id: one for one in files}
    yield from (named.get(one.origin_id, one) for one in found)


def _count_unlisted(index: PageIndex, listed: Iterable[_Listed]) -> dict[str, int]:
    """Return how many documents of a large part of memory are not listed, by kind."""
    if index.stats().pages <= LISTED_PAGES:
        return {}
    stored = select(pages.c.kind, func.count(pages.c.origin_id.distinct()))
    stored = stored.join(members, members.c.page == pages.c.number).group_by(pages.c.kind)
    its = (members.c.namespace.in_(index.namespaces), findable_condition(pages))
    counts = Counter({row[0]: row[1] for row in index.connection.execute(stored.where(*its))})
    counts.subtract(one.kind for one in listed)
    return dict(+counts)


def _listed_origin(row: Any) -> _Listed:
    site = urlsplit(row.origin).hostname or "" if row.kind == "web" else ""
    day = row.said[:10] or datetime.fromtimestamp(row.created, UTC).date().isoformat()
    return _Listed(row.origin_id, row.kind, site, site, day)


_SHOWN_PAGES = select(
    pages.c.origin_id,
    pages.c.title,
    pages.c.place,
    func.length(pages.c.text).label("size"),
    case((pages.c.position < READ_PAGES, pages.c.text), else_="").label("text"),
).order_by(pages.c.origin_id, pages.c.position)


def _read_pages(
    connection: Connection, owner: str, origins: Sequence[str]
) -> dict[str, Sequence[Any]]:
    """Return the pages of some documents by origin, only the first ones with their text."""
    its = (pages.c.owner == owner, pages.c.origin_id.in_(origins), findable_condition(pages))
    rows = connection.execute(_SHOWN_PAGES.where(*its)).all() if origins else []
    return {origin: list(group) for origin, group in groupby(rows, lambda row: row.origin_id)}


Labels = Mapping[str, Any]
"""The words of an outline in one language, as in `document_outline.toml`."""


@cache
def _labels() -> dict[str, Labels]:
    return read_packaged_toml("library", "document_outline.toml")


def _write(found: _Found, max_tokens: int, labels: Labels) -> DocumentOutline:
    """Write as many lines as fit, then as many sections in them as fit."""
    entries = [
        _describe(one, rows, labels) for one in found.shown if (rows := found.pages.get(one.origin_id))
    ]
    if not entries:
        return DocumentOutline()
    told = [entry.language for entry in entries] + [name_language(text) for text in found.sample]
    languages = [code for code, _ in Counter(filter(None, told)).most_common()]
    count = len(found.listed) + sum(found.unlisted.values())
    first = _first_line(count, languages, labels)
    groups = Counter(one.group or labels[one.kind] for one in found.listed)
    groups.update({labels[kind]: number for kind, number in found.unlisted.items()})
    more = _more_line(count, groups, labels)
    left = max_tokens - _count(first) - _count(more)
    kept = _fitting(entries, int(left * (1 if len(entries) == 1 else FOR_HEADS)))
    left -= sum(_count(entry.head) for entry in kept)
    lines = _with_sections(kept, left, labels)
    rest = count - len(kept)
    last = [_more_line(rest, groups, labels)] if rest else []
    return DocumentOutline("\n".join([first, *lines, *last]), tuple(languages), count)


def _first_line(count: int, languages: Sequence[str], labels: Labels) -> str:
    known = labels["document"] if count == 1 else labels["documents"].format(count=f"{count:,}")
    names = labels["comma"].join(labels[code] for code in languages)
    told = labels["languages"].format(names=names)
    return f"{known}{labels['semicolon']}{told}" if names else str(known)


def _more_line(count: int, groups: Mapping[str, int], labels: Labels) -> str:
    """Say how many documents are not listed, and count all of them by folder or site."""
    ordered = Counter(groups).most_common()
    counts = [f"{to_one_line(name, SECTION)} {number:,}" for name, number in ordered[:GROUPS]]
    others = sum(number for _, number in ordered[GROUPS:])
    counts += [labels["others"].format(count=f"{others:,}")] if others else []
    joined = labels["semicolon"].join(counts)
    return str(labels["more"].format(count=f"{count:,}", groups=joined))


def _fitting(entries: Sequence[_Entry], tokens: int) -> list[_Entry]:
    """Return the first entries whose lines fit without sections; one at least."""
    kept: list[_Entry] = []
    for entry in entries:
        tokens -= _count(entry.head)
        if tokens < 0 and kept:
            break
        kept.append(entry)
    return kept


def _with_sections(entries: Sequence[_Entry], left: int, labels: Labels) -> list[str]:
    """Return the lines of entries with as many sections as fit: a few of each, then more."""
    shown = [0] * len(entries)
    lines = [entry.head for entry in entries]
    for most in (FIRST_SECTIONS, MOST_SECTIONS):
        for at, entry in enumerate(entries):
            for number in range(shown[at] + 1, min(most, len(entry.sections)) + 1):
                longer = _line(entry, number, labels)
                more = _count(longer) - _count(lines[at])
                if more > left:
                    break
                left -= more
                lines[at], shown[at] = longer, number
    return lines


def _line(entry: _Entry, number: int, labels: Labels) -> str:
    names = labels["semicolon"].join(entry.sections[:number])
    rest = len(entry.sections) - number
    more = f"{labels['semicolon']}… +{rest}" if rest else ""
    return f"{entry.head}{labels['colon']}{names}{more}"


def _count(line: str) -> int:
    return estimate_tokens(f"{escape(line, quote=False)}\n")


def _describe(one: _Listed, rows: Sequence[Any], labels: Labels) -> _Entry:
    """Return what is shown of a document, from its pages in their order."""
    title = document_title(one.kind, rows[0].title)
    opening = "\n".join(row.text for row in rows)[:4_000]
    language = name_language(opening)
    about = [labels[language]] if language else []
    about += [one.date, _size(rows, language, labels)]
    where = one.name or labels[one.kind]
    name = to_one_line(title, TITLE)
    known = where if os.path.splitext(where)[0] == title else f"{where}{labels['colon']}{name}"
    head = f"- {known} ({labels['comma'].join(about)})"
    return _Entry(head, language, tuple(_sections(rows, title)))


def _size(rows: Sequence[Any], language: str, labels: Labels) -> str:
    """Return how large a document is: its numbered pages or slides, or else about its words."""
    if numbered := _NUMBERED.search(rows[-1].place):
        unit, count = numbered[1], int(numbered[2])
    else:
        size = sum(row.size for row in rows)
        unit, count = ("signs", size) if language == "zh" else ("words", max(size // 6, 1))
    return str(labels["sizes"][unit].format(count=f"{count:,}"))


def _sections(rows: Iterable[Any], title: str) -> list[str]:
    """Return the main sections: headings of the two highest levels, or the titles of pages."""
    found: list[tuple[int, str]] = []
    for row in rows:
        headings = [(one.level, one.text) for one in find_headings(row.text)]
        named = row.title[len(title) :].removeprefix(" — ") if "part=" not in row.place else ""
        found += headings or ([(1, named)] if named else [])
    names = [(level, to_one_line(name, SECTION)) for level, name in found if name != title]
    levels = sorted({level for level, _ in names})[:2]
    return list(dict.fromkeys(name for level, name in names if level in levels))
