"""The sections of one stored document: where each begins, and how long it is."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from sqlalchemy import Connection, or_, select

from library.documents import FILE_KIND
from library.knowledge_records import KNOWLEDGE_KIND
from library.page_index import findable_condition
from library.page_rows import PageOrigin, short_hash
from library.tables import documents, pages
from storage.engine import run_read
from text.answerability import document_title
from text.keyword_ranking import rank_texts
from text.text_blocks import find_headings
from text.tokens import estimate_tokens
from text.words import query_terms, search_words, word_weight

TITLE_SEPARATOR = " — "
"""Parts the title of a document from that of a section in the title of a page of a file."""

RANGE_SEPARATOR = " … "
"""Parts the first from the last section in the title of a page that holds several."""

PATH_SEPARATOR = "›"
"""Parts the titles of sections from those of the sections in them."""

WHOLE = 1
"""The level of a section that no marked heading opens: a page of a document."""


CLEAR = 0.6
"""The least weighted share of some words that the title of the section they name has."""


class PagePart(NamedTuple):
    """A part of a stored page: the page's id, and the ends of the part in its text."""

    page: str
    start: int
    end: int


class OutlinedSection(NamedTuple):
    """A section of a document; `size` is that of its own text, without lower sections."""

    title: str
    level: int
    """The level of its heading; 1 is the highest."""
    place: str
    """The place of its page in the document, such as `page=4`."""
    start: int
    """Where it begins, in characters from the beginning of the document."""
    size: int
    """Its characters up to the next heading of any level."""
    whole: int
    """Its characters with all lower sections."""
    parts: tuple[PagePart, ...]
    """Where its text is, with all lower sections, in order."""


class OutlinedDocument(NamedTuple):
    """A document with all of its sections, in order."""

    title: str
    kind: str
    origin: str
    pages: tuple[PagePart, ...]
    """Its stored pages in their order, whole."""
    sections: tuple[OutlinedSection, ...]
    tokens: int
    """The estimated tokens of its whole text."""


async def outline_document(owner: str, name: str) -> OutlinedDocument | None:
    """Return the outline of the document that a name stands for, or `None`.

    Args:
        owner: The owner of the document.
        name: The id of one of its pages or of its origin, its path, its address, or the hash of a
            file's content.
    """
    rows = await run_read(lambda connection: _read_pages(connection, owner, name))
    return await asyncio.to_thread(_outline, rows) if rows else None


async def find_section(owner: str, name: str, words: str) -> OutlinedSection | None:
    """Return the section of a document that some words name, or `None`.

    Args:
        owner: The owner of the document.
        name: The document, as for `outline_document`.
        words: The title of the section, its beginning, or words of it.
    """
    document = await outline_document(owner, name)
    return match_section(document, words) if document else None


def match_sections(document: OutlinedDocument, words: str) -> list[OutlinedSection]:
    """Return all sections with a title, or else the one that some words name; none for none.

    A title may stand behind those above it, such as `open › Parameters`.
    """
    *above, asked = map(_plain, words.split(PATH_SEPARATOR))
    found: list[OutlinedSection] = []
    path: list[OutlinedSection] = []
    for section in document.sections:
        path = [*(one for one in path if one.level < section.level), section]
        names = iter([_plain(one.title) for one in path[:-1]])
        if asked and _plain(section.title) == asked and all(name in names for name in above):
            found.append(section)
    one = None if found else match_section(document, words)
    return [one] if one else found


def match_section(document: OutlinedDocument, words: str) -> OutlinedSection | None:
    """Return the section whose title is, begins with, contains or clearly matches some words.

    A title matches clearly if it shares most of the words, by how much each says about a topic.
    """
    asked = _plain(words)
    titles = [_plain(section.title) for section in document.sections]
    tests = (str.__eq__, str.startswith, str.__contains__)
    for test in tests if asked else ():
        for title, section in zip(titles, document.sections, strict=True):
            if test(title, asked):
                return section
    ranked = rank_texts(words, [section.title for section in document.sections])
    if not ranked:
        return None
    best = document.sections[ranked[0][0]]
    weights = {word: word_weight(word) for word in query_terms(words)}
    shared = weights.keys() & set(search_words(best.title))
    return best if sum(weights[word] for word in shared) >= CLEAR * sum(weights.values()) else None


def _plain(title: str) -> str:
    """Return a title without marks, in lower case."""
    return " ".join(title.strip("#*_ \t").casefold().split())


_PAGE = select(
    *(pages.c[name] for name in ("id", "kind", "origin", "title", "place", "position", "text"))
)


def _read_pages(connection: Connection, owner: str, name: str) -> Sequence[Any]:
    """Return the pages of the document with a page, a path, an address or a hash of this name."""
    mine = pages.c.owner == owner
    its_page = select(pages.c.origin_id).where(
        mine, or_(pages.c.id == name, pages.c.origin_id == name)
    )
    its_file = select(documents.c.sha256).where(
        documents.c.owner == owner, or_(documents.c.path == name, documents.c.sha256 == name)
    )
    hashes = connection.execute(its_file.limit(1)).scalars()
    origins = [short_hash(FILE_KIND, sha256) for sha256 in hashes]
    origins += connection.execute(its_page).scalars()
    kinds = ("web", "chat", "report", "session")
    origins += [PageOrigin(owner, kind, name).id for kind in kinds]
    # No search finds what a knowledge base has returned, but it can be read on.
    readable = or_(findable_condition(pages), pages.c.kind == KNOWLEDGE_KIND)
    live = (mine, pages.c.origin_id.in_(origins), readable)
    return connection.execute(_PAGE.where(*live).order_by(pages.c.position)).all()


class _Mark(NamedTuple):
    """The beginning of a section: its level and title, its page and where it is in the document."""

    title: str
    level: int
    page: int
    start: int


def _outline(rows: Sequence[Any]) -> OutlinedDocument:
    starts = [0, *accumulate(len(row.text) for row in rows)]
    parts = tuple(PagePart(row.id, 0, len(row.text)) for row in rows)
    title = outlined_title(rows[0].kind, rows[0].title)
    marks: list[_Mark] = []
    for at, row in enumerate(rows):
        begun = marks[-1].title if marks else ""
        marks += _marks(row, at, starts[at], title, begun)
    if len(marks) < 2:
        marks = [_Mark(row.place or title, WHOLE, at, starts[at]) for at, row in enumerate(rows)]
    sections = tuple(
        _section(mark, ends, starts, rows)
        for mark, ends in zip(marks, _find_ends(marks, starts[-1]), strict=True)
    )
    tokens = sum(estimate_tokens(row.text) for row in rows)
    return OutlinedDocument(title, rows[0].kind, rows[0].origin, parts, sections, tokens)


def _find_ends(marks: Sequence[_Mark], last: int) -> list[tuple[int, int]]:
    """Return where the next section of any level begins after each, and of its level or above."""
    ends: list[tuple[int, int]] = []
    below = last
    open_marks: list[_Mark] = []
    for mark in reversed(marks):
        while open_marks and open_marks[-1].level > mark.level:
            open_marks.pop()
        ends.append((below, open_marks[-1].start if open_marks else last))
        open_marks.append(mark)
        below = mark.start
    return ends[::-1]


def outlined_title(kind: str, title: str) -> str:
    """Return the title of the document that a page with this title is of."""
    return document_title(title) if kind == FILE_KIND else title


def _marks(row: Any, at: int, start: int, title: str, begun: str) -> Iterator[_Mark]:
    """Yield where sections begin in a page: at its headings, or where it begins itself.

    A page that begins without a heading goes on with the section `begun` before it unless its
    title names another one.
    """
    headings = find_headings(row.text)
    named = section_name(row.title, row.place, title)
    goes_on = bool(begun) and named.startswith(begun.removesuffix("…"))
    if not headings and ((named and not goes_on) or at == 0):
        yield _Mark(named or title, WHOLE, at, start)
    elif headings and headings[0].start > 0 and at == 0:
        yield _Mark(title, WHOLE, at, start)
    for heading in headings:
        yield _Mark(heading.text, heading.level, at, start + heading.start)


def section_name(page_title: str, place: str, title: str) -> str:
    """Return the title of the section that begins with a page, if the page's title names one.

    Args:
        page_title: The title of the page.
        place: Its place in the document.
        title: The title of the document.
    """
    goes_on = "part=" in place
    return "" if goes_on else page_title[len(title) :].removeprefix(TITLE_SEPARATOR)


def _section(
    mark: _Mark, ends: tuple[int, int], starts: Sequence[int], rows: Sequence[Any]
) -> OutlinedSection:
    own, whole = (end - mark.start for end in ends)
    parts = tuple(_parts(mark.start, ends[1], starts, rows))
    place = rows[mark.page].place
    return OutlinedSection(mark.title, mark.level, place, mark.start, own, whole, parts)


def _parts(start: int, end: int, starts: Sequence[int], rows: Sequence[Any]) -> Iterator[PagePart]:
    """Yield the parts of the pages between two places in the document."""
    for at in range(bisect_right(starts, start) - 1, len(rows)):
        if starts[at] >= end:
            return
        yield PagePart(
            rows[at].id, max(start - starts[at], 0), min(end, starts[at + 1]) - starts[at]
        )
