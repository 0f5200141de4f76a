"""Quote lists whole, and find the row of a table that has the most or the least."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from models.extractive.prompt_parser import SourceQuote
from text.answerability import SourcePassage, document_title
from text.pattern_files import PatternFile
from text.question_types import PLURAL_PATTERN
from text.regex import regex
from text.script import detect_language
from text.sentences import split_sentences
from text.text_blocks import AnnouncedList, find_lists
from text.topics import Topic, extract_topic, strip_request_phrases, topic_coverage
from text.words import query_terms, search_words

_PATTERNS = PatternFile("models.extractive", "lists_and_tables.toml", plural=PLURAL_PATTERN)


ANSWER_COVERAGE = {"en": 0.85, "zh": 0.65}
"""What a list and the headings above it say of a question, at least, to be called its answer."""

RELATED_COVERAGE = 0.7
"""What they say of it, at least, to be quoted as a list that may answer it."""

OWN_COVERAGE = 0.4
"""What a list says of a question itself, at least, without the title of its document."""

LONGEST = 400
"""Of a longer item, in characters, the first sentences are quoted."""

MOST = 80
"""A list of more items is a register, and not an answer."""


class ListMatch(NamedTuple):
    """A list as a quote, how much of a question it and its headings name, and whether it is cut."""

    quote: SourceQuote
    coverage: float
    own_coverage: float
    is_cut: bool


def find_asked_list(question: str, pages: Sequence[SourcePassage]) -> ListMatch | None:
    """Return the list that a question asks for, if one is near enough to it."""
    about = _list_topic(question)
    noun = _find_things(question)
    things = set(search_words(_PATTERNS.form.sub("", noun[2]))) if noun else set()
    found = [one for page in pages for one in _fitting(about, page, things)]
    good = [
        one
        for one in found
        if one.coverage >= RELATED_COVERAGE and one.own_coverage >= OWN_COVERAGE
    ]
    return max(good, key=lambda one: one.coverage + one.own_coverage, default=None)


def is_complete_list_answer(
    question: str, quote: SourceQuote, pages: Sequence[SourcePassage]
) -> bool:
    """Tell whether a quoted list is one that names all that a question asks for."""
    found = find_asked_list(question, pages)
    if not found or found.quote != quote or found.is_cut or not _announces(question, quote.text):
        return False
    return found.coverage >= ANSWER_COVERAGE[detect_language(question)]


def _announces(question: str, lead: str) -> bool:
    """Tell whether a sentence says itself that what is asked for follows.

    That its heading does is not enough: there may be a list of anything below it. Of "index
    types" it is "index" that tells.
    """
    found = _find_things(question)
    telling = search_words(_PATTERNS.form.sub(" ", found["things"])) if found else []
    return not telling or telling[-1] in search_words(lead)


def add_list_items(quote: SourceQuote, pages: Iterable[SourcePassage]) -> SourceQuote:
    """Return a quote with the items of the list that it announces with a colon."""
    if quote.items or not quote.text.endswith((":", "：")):
        return quote
    lists = (one for page in pages if page.id == quote.source for one in find_lists(page.text))
    found = next((one for one in lists if _line(one.lead.text).endswith(quote.text)), None)
    return quote._replace(items=_items(found)) if found else quote


def _list_topic(question: str) -> Topic:
    """Return what a list has to be about, without the words for its form."""
    line = question.split("\n")[0]
    bare = _PATTERNS.form.sub(" ", line)
    return extract_topic(bare if search_words(bare) else line)


def _find_things(question: str) -> re.Match[str] | None:
    """Return the noun for what is to be listed, alone and with the words before it."""
    return _PATTERNS.things.search(strip_request_phrases(question.split("\n")[0]))


def _fitting(about: Topic, page: SourcePassage, things: Collection[str]) -> Iterator[ListMatch]:
    """Yield the lists of a page that are announced as `things`."""
    section = page.title.removeprefix(document_title(page.title))
    for found in find_lists(page.text):
        if len(found.items) <= MOST:
            own = search_words(f"{section}\n{found.above}\n{found.lead.text}")
            if not set(things) <= set(own):
                continue
            every = [*search_words(document_title(page.title)), *own]
            quote = SourceQuote(page.id, _line(found.lead.text), items=_items(found))
            yield ListMatch(quote, _part(about, every), _part(about, own), found.cut)


def _part(about: Topic, statements: Sequence[str]) -> float:
    return min(1.0, topic_coverage(about._replace(pairs={}, names=()), statements) / 1.5)


def _items(found: AnnouncedList) -> tuple[str, ...]:
    return tuple(_line(_short(one.text)) for one in found.items)


def _short(item: str) -> str:
    """Return an item, or the first sentences of a long one."""
    if len(item) <= LONGEST:
        return item
    spans = split_sentences(item)
    ends = [span.end for span in spans if span.end <= LONGEST] or [spans[0].end]
    return item[: max(ends)]


def _line(text: str) -> str:
    return " ".join(text.split())


_COLON = regex(r"[:：]")
_NUMBER = regex(r"[-−]?\d+(?:,\d{3})*(?:\.\d+)?")
_SCALES = {"万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8, "million": 1e6, "billion": 1e9}


def find_extreme_row(question: str, rows: Sequence[str]) -> int | None:
    """Return which row a superlative question asks for, if it names a column of numbers.

    `rows` are the rows of one table, each written "header: value; header: value".
    """
    most, least = _PATTERNS.most.search(question), _PATTERNS.least.search(question)
    if not most and not least:
        return None
    tables = [parse_row(row) for row in rows]
    column = _column(question, tables)
    if column is None:
        return None
    values = {at: parse_scaled_number(table.get(column, "")) for at, table in enumerate(tables)}
    known = {at: value for at, value in values.items() if value is not None}
    return (max if most else min)(known, key=known.__getitem__) if len(known) > 1 else None


def parse_row(text: str) -> dict[str, str]:
    """Return the values of a row by their headers; of what is no row, nothing."""
    found = [_cell(part) for part in re.split(r"[;；](?:\s|$)", text.rstrip(" ;.。；"))]
    if len(found) < 2 or not all(found):
        return {}
    return dict(cell for cell in found if cell)


def _cell(part: str) -> tuple[str, str] | None:
    """Return the header and the value of a cell."""
    header, *values = _COLON.split(part, maxsplit=1)
    if not header or not values or ";" in header or "\n" in values[0].strip():
        return None
    return header.strip() or header[-1], values[0].strip()


def parse_scaled_number(text: str) -> float | None:
    """Return the first number of a text, with the word after it that multiplies it."""
    found = _NUMBER.search(text)
    if not found:
        return None
    after = text[found.end() :].lstrip()
    scale = next((by for word, by in _SCALES.items() if after.startswith(word)), 1.0)
    return float(found[0].replace(",", "").replace("−", "-")) * scale


def _column(question: str, tables: Sequence[Mapping[str, str]]) -> str | None:
    """Return the column of numbers whose header shares most with the question.

    A word that stands in many headers tells little of which is meant.
    """
    filled = [header for table in tables for header in table if _is_number(table[header])]
    headers = [header for header in dict.fromkeys(filled) if filled.count(header) > 1]
    named = {header: search_words(header) for header in headers}
    rows = _PATTERNS.get_rows("measures")
    measures = [" ".join(words) for asked, *words in rows if re.search(asked, question)]
    wanted = query_terms(question) + query_terms(" ".join(measures))
    worth = {
        header: sum(_rarity(term, named.values()) for term in wanted if _has(named[header], term))
        for header in headers
    }
    if not worth or (len(worth) > 1 and not any(worth.values())):
        return None
    return max(worth, key=worth.__getitem__)


def _is_number(value: str) -> bool:
    """Tell whether a value is a number with at most a unit, not a text that has one somewhere."""
    return bool(re.fullmatch(rf"\W*{_NUMBER.pattern}\W*\w{{0,10}}\W*", value))


def _rarity(term: str, headers: Iterable[Sequence[str]]) -> float:
    bags = list(headers)
    return math.log((len(bags) + 1) / max(sum(_has(bag, term) for bag in bags), 1))


def _has(header: Sequence[str], term: str) -> bool:
    """Tell whether a header has a term, also an irregular form of it: "lost" is in "loss"."""
    return any(word == term or _akin(word, term) for word in header)


def _akin(one: str, other: str) -> bool:
    same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))
    return 3 <= same >= max(len(one), len(other)) - 1 and one.isalpha() and other.isalpha()
