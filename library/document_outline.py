"""Outline the documents in scope for models: titles, kinds, languages, dates, sizes, sections."""

from __future__ import annotations

import asyncio
import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import unquote

from library.document_listing import (
    DocumentScope,
    FoundDocuments,
    ListedDocument,
    ShownPage,
    find_documents,
)
from library.document_sections import RANGE_SEPARATOR, WHOLE, outlined_title, section_name
from library.page_metadata import identify_language
from prompts.prompt_injection import cut_injections
from text.boilerplate import is_contents_title
from text.normalization import cut_at_word, to_one_line
from text.pattern_files import read_packaged_toml
from text.regex import regex
from text.text_blocks import find_headings
from text.tokens import estimate_tokens

MAX_TOKENS = 1_500
"""The most tokens of an outline, escaped as in a prompt."""

FOR_HEADS = 0.6
"""The share of the tokens for the lines without their sections."""

SECTION_ROUNDS = (1, 4, 16, 64)
"""How many sections every shown document gets before one gets more; the last is the most."""

TURN = 3
"""Behind how many documents in the language of the best one stands one in another language."""

GROUPS = 12
"""The most folders and sites that are counted by name."""

TITLE, SECTION = 80, 100
"""The most characters shown of a title and of a section's title."""

_ABOUT = regex(r"\([^()]*\)\s*(?:[:：].*)?$")
"""What an outline says of a document behind its name."""

COLUMNS = 200
"""The most characters shown of the columns of a table."""

READ_ROWS = 8
"""How many rows of a table tell its columns; an empty cell of a row tells nothing."""

_TABLE_ROWS = regex(r"(?:sheet=([^&]+)&)?rows=\d+(?:-\d+)?")
_HEAD = regex(r"(?m)(?:^|; )([^:;\n]{1,60}): ")
_NUMBERED = regex(r"\b(page|slide)=(?:\d+-)?(\d+)")


class DocumentOutline(NamedTuple):
    """An outline as text, and what it is about."""

    text: str = ""
    languages: tuple[str, ...] = ()
    """The codes of the languages of the documents, as `library.page_metadata` names them."""
    documents: int = 0
    """How many documents are in scope."""


class _Entry(NamedTuple):
    """A document with all that can be shown of it."""

    head: str
    language: str
    sections: tuple[str, ...]
    """The titles of its main sections, and of those below them, in order."""
    ranks: tuple[int, ...]
    """Which of the sections are shown first: their numbers, the most telling ones first."""


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
    found = await find_documents(owner, scope, about)
    return await asyncio.to_thread(_write, found, max_tokens, _labels()[language])


async def find_named_document(owner: str, scope: DocumentScope, name: str) -> str:
    """Return the id of the origin of the document in scope that has a name; "" for none.

    Args:
        owner: The owner of the documents.
        scope: The documents.
        name: The title of a document, or what an outline calls it, with its size or without.
    """
    found = await find_documents(owner, scope, name)
    wanted = {_plain_name(name), _plain_name(_ABOUT.sub("", name))} - {""}
    same = (
        one.origin_id
        for one in found.shown
        if (rows := found.pages.get(one.origin_id)) and wanted & _list_names(one, rows)
    )
    return next(same, "")


Labels = Mapping[str, Any]
"""The words of an outline in one language, as in `document_outline.toml`."""


@cache
def _labels() -> dict[str, Labels]:
    return read_packaged_toml("library", "document_outline.toml")


def _write(found: FoundDocuments, max_tokens: int, labels: Labels) -> DocumentOutline:
    """Write as many lines as fit, then as many sections in them as fit."""
    entries = [
        _describe(one, rows, labels)
        for one in found.shown
        if (rows := found.pages.get(one.origin_id))
    ]
    if not entries:
        return DocumentOutline()
    told = [entry.language for entry in entries] + [
        identify_language(text) for text in found.sample
    ]
    languages = [code for code, _ in Counter(filter(None, told)).most_common()]
    count = len(found.listed) + sum(found.unlisted.values())
    first = _first_line(count, languages, labels)
    groups = Counter(one.group or _kind(one.kind, labels) for one in found.listed)
    groups.update({_kind(kind, labels): number for kind, number in found.unlisted.items()})
    more = _more_line(count, groups, labels)
    left = max_tokens - _count(first) - _count(more)
    kept = _fitting(_in_turns(entries), int(left * (1 if len(entries) == 1 else FOR_HEADS)))
    left -= sum(_count(entry.head) for entry in kept)
    lines = _with_sections(kept, left, labels)
    rest = count - len(kept)
    last = [_more_line(rest, groups, labels)] if rest else []
    return DocumentOutline("\n".join([first, *lines, *last]), tuple(languages), count)


def _kind(kind: str, labels: Labels) -> str:
    """Name a kind of pages; an import may bring kinds of its own."""
    return str(labels.get(kind, kind))


def _first_line(count: int, languages: Sequence[str], labels: Labels) -> str:
    known = labels["document"] if count == 1 else labels["documents"].format(count=f"{count:,}")
    names = labels["comma"].join(labels.get(code, code) for code in languages)
    told = labels["languages"].format(names=names)
    return f"{known}{labels['semicolon']}{told}" if names else str(known)


def _more_line(count: int, groups: Mapping[str, int], labels: Labels) -> str:
    """Say how many documents are not listed, and count all of them by folder or site."""
    ordered = sorted(groups.items(), key=lambda one: (-one[1], one[0]))
    counts = [f"{to_one_line(name, SECTION)} {number:,}" for name, number in ordered[:GROUPS]]
    others = sum(number for _, number in ordered[GROUPS:])
    counts += [labels["others"].format(count=f"{others:,}")] if others else []
    joined = labels["semicolon"].join(counts)
    return str(labels["more"].format(count=f"{count:,}", groups=joined))


def _in_turns(entries: Sequence[_Entry]) -> list[_Entry]:
    """Return entries with one in another language than the best behind every `TURN` others."""
    main = [one for one in entries if one.language == entries[0].language]
    others = iter([one for one in entries if one.language != entries[0].language])
    mixed: list[_Entry] = []
    for at, one in enumerate(main, start=1):
        mixed.append(one)
        mixed += islice(others, 1 if at % TURN == 0 else 0)
    return [*mixed, *others]


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
    for most in SECTION_ROUNDS:
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
    """Return the line of an entry with so many of its sections, in their order."""
    names = labels["semicolon"].join(entry.sections[at] for at in sorted(entry.ranks[:number]))
    rest = len(entry.sections) - number
    more = f"{labels['semicolon']}… +{rest}" if rest else ""
    return f"{entry.head}{labels['colon']}{names}{more}"


def _count(line: str) -> int:
    return estimate_tokens(f"{escape(line, quote=False)}\n")


def _describe(one: ListedDocument, rows: Sequence[ShownPage], labels: Labels) -> _Entry:
    """Return what is shown of a document, from its pages in their order."""
    title = outlined_title(one.kind, rows[0].title)
    opening = "\n".join(row.text for row in rows[:4])[:4_000]
    language = rows[0].language or identify_language(opening)
    date = next((row.published for row in rows if row.published), one.date)
    about = [labels.get(language, language), date, _size(rows, language, labels)]
    head = f"- {_name(one, title, labels)} ({labels['comma'].join(filter(None, about))})"
    tables = _list_columns(rows, title, labels)
    sections = {
        name: level for name, level in _find_sections(rows, title).items() if name not in tables
    }
    names = [cut_at_word(cut_injections(name), COLUMNS) for name in tables.values()]
    names += [cut_at_word(cut_injections(name), SECTION) for name in sections]
    ranks = [len(tables) + at for at in _rank_sections([*sections.values()])]
    return _Entry(head, language, tuple(names), (*range(len(tables)), *ranks))


def _list_columns(rows: Iterable[ShownPage], title: str, labels: Labels) -> dict[str, str]:
    """Return for each sheet of a table what heads its columns, as its first rows tell it."""
    told: dict[str, str] = {}
    for row in rows:
        place = _TABLE_ROWS.fullmatch(row.place)
        sheet = unquote(place[1] or "") if place else ""
        if not place or sheet in told or not (heads := _find_heads(row.text)):
            continue
        columns = labels["columns"].format(names=labels["comma"].join(heads))
        told[sheet] = f"{sheet}{labels['colon']}{columns}" if sheet not in ("", title) else columns
    return told


def _find_heads(text: str) -> list[str]:
    """Return what heads the cells of rows that were written as `hive: A; weight: 38.2.`."""
    rows = [set(_HEAD.findall(line)) for line in text.split("\n", READ_ROWS)[:READ_ROWS]]
    rows = [row for row in rows if row]
    counts = Counter(name for row in rows for name in row)
    # A cell may have a semicolon and a colon in it, and no other row has the same.
    usual = {name for name, count in counts.items() if count > 1 or len(rows) == 1}
    return [name for name in dict.fromkeys(_HEAD.findall(text)) if name in usual]


def _name(one: ListedDocument, title: str, labels: Labels) -> str:
    """Return how a document is called: by its file or site, and by its title if that says more."""
    where = cut_injections(one.name) or _kind(one.kind, labels)
    if title in (where, os.path.splitext(where)[0]):
        return str(where)
    return f"{where}{labels['colon']}{cut_at_word(cut_injections(title), TITLE)}"


def _list_names(one: ListedDocument, rows: Sequence[ShownPage]) -> set[str]:
    """Return what a document may be called: its title, whole or cut, or as outlines call it."""
    title = outlined_title(one.kind, rows[0].title)
    called = {_name(one, title, labels) for labels in _labels().values()}
    return {*map(_plain_name, (title, cut_at_word(cut_injections(title), TITLE), *called))}


def _plain_name(name: str) -> str:
    """Return a name with plain colons and blanks, in lower case."""
    plain = unicodedata.normalize("NFKC", name).removeprefix("- ").rstrip(" .…")
    return " ".join(plain.replace(":", " : ").casefold().split())


def _size(rows: Sequence[ShownPage], language: str, labels: Labels) -> str:
    """Return how large a document is: its numbered pages or slides, or else about its words."""
    if numbered := _NUMBERED.search(rows[-1].place):
        unit, count = numbered[1], int(numbered[2])
    else:
        size = sum(row.size for row in rows)
        unit, count = ("signs", size) if language == "zh" else ("words", max(size // 6, 1))
    return str(labels["sizes"][unit].format(count=f"{count:,}"))


def _find_sections(rows: Iterable[ShownPage], title: str) -> dict[str, int]:
    """Return the sections of the two highest levels with their levels, in order."""
    found: dict[str, int] = {}
    unread: list[str] = []
    for row in rows:
        headings = {one.text: one.level for one in find_headings(row.text)}
        named = section_name(row.title, row.place, title)
        names = named.split(RANGE_SEPARATOR) if named and not headings else []
        unread += [] if row.text else names
        for name, level in (headings or dict.fromkeys(names, WHOLE)).items():
            if name != title and not is_contents_title(name):
                found.setdefault(name, level)
    # The level of a section that was not read is not known, so it is none of the highest.
    levels = sorted({level for name, level in found.items() if name not in unread})[:2]
    lowest = levels[-1] if levels else WHOLE
    found.update((name, lowest) for name in unread if name in found)
    return {name: level for name, level in found.items() if level <= lowest}


def _rank_sections(levels: Sequence[int]) -> list[int]:
    """Return the numbers of sections, main ones first, each level evenly over the document."""
    ranked: list[int] = []
    for level in sorted(set(levels)):
        its = [at for at, one in enumerate(levels) if one == level]
        ranked += _spread(its)
    return ranked


def _spread(numbers: Sequence[int]) -> Iterator[int]:
    """Yield numbers such that the first ones of any count are far from each other.

    These are the first and, again and again, those in the middle between two that were yielded.
    """
    step = 1 << max(len(numbers) - 1, 0).bit_length()
    while step:
        is_first = step >= len(numbers)
        starts = range(0, len(numbers), step) if is_first else range(step, len(numbers), 2 * step)
        yield from (numbers[at] for at in starts)
        step //= 2
