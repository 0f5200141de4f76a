"""Split text into sentences by kinds of lines, wrapped lines and ends of sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from text.pattern_files import PatternFile
from text.regex import regex
from text.script import CJK, detect_language

_PATTERNS = PatternFile("text", "sentences.toml")


_TELLING = regex(r"[=:：{}()\[;<\d#]")
"""Every entry but an import has one of these; few lines of prose do."""

_WORDS, _CHARACTERS = 6, 40
"""The limits of a value after a colon; a line with a longer one, like "Note: …", is prose."""


class Setting(NamedTuple):
    """A key and the value that a line gives it, as they are spelt."""

    key: str
    value: str


def parse_setting(line: str) -> Setting | None:
    """Return the setting that a line makes: `port = 8443`, `"port": 8443,`, `- port: 8443`."""
    assigned = _PATTERNS.assigned.fullmatch(line)
    found = assigned or _PATTERNS.paired.fullmatch(line)
    if not found or not found["value"].strip("{[( "):
        return None
    long = len(found["value"]) > _CHARACTERS or len(found["value"].split()) > _WORDS
    return None if long and not assigned else Setting(found["key"], found["value"])


def parse_section(line: str) -> str:
    """Return the name of the section that a line opens: `[server]`, `server:`, `def serve(`."""
    found = _PATTERNS.section.match(line)
    return next(filter(None, (found["table"], found["key"], found["named"])), "") if found else ""


# Each line is checked with the line above it and with the line below it.
@lru_cache(maxsize=64)
def is_entry(line: str) -> bool:
    """Tell whether a line is a setting or a line of a log or of code, not prose or a heading."""
    if not _TELLING.search(line) and "import" not in line:
        return False
    if parse_setting(line) or parse_section(line):
        return True
    return bool(_PATTERNS.stamped.match(line) or _PATTERNS.code.match(line))


NARROWEST, WIDEST = 40, 120
"""The fewest and the most columns at which lines are wrapped."""

FULL = 0.9
"""A line is full if it and the next word take more than this share of the page width."""

BULLET = regex(r"\s*(?:[-*+•·▪◦>|]|\(?\d{1,3}[.)、]\s|[（(]?[一二三四五六七八九十]+[)）、])")
"""How an item of a list, a quoted line or a row of a table begins."""

_HEADING = regex(r"#{1,6}\s")
"""How a heading begins in markdown."""

_CLOSERS = "\"'\u2019\u201d\u300d\u300f\u300b\uff09)\\]\u3011"
"""What may follow the mark that ends a sentence, for the inside of a character class."""

ENDED = regex(f"[.!?:;。！？；：…|][{_CLOSERS}]*(?:\\[\\d+(?:, [^]\n]{{1,80}})?\\])*$")
"""The end of a line that is also the end of a sentence."""

_MARKS = frozenset(".!?:;。！？；：…|")
_LAST = _MARKS | set("\"'\u2019\u201d\u300d\u300f\u300b\uff09)]\u3011\n")
_WIDE = regex(f"[{CJK}\u3000-\u303f\uff00-\uffef]")
_FIRST = regex(f"[{CJK}]|[^\\s{CJK}]+")
_FIRST_CJK = regex(f"[{CJK}]")
_LONGEST_JOINING = len("between") + 1
_SIGNS = regex(r"[^\W\d_]+|\d+")
_DIGIT = regex(r"\d")


def measure_page_width(lines: Sequence[str]) -> int:
    """Return the columns of the page that lines were wrapped at, or 0 if they were not.

    Nine in ten of the lines that have another one right below them are not longer, and most of
    them do not end with a sentence.
    """
    inside = [line for line, below in pairwise(map(str.rstrip, lines)) if line and below]
    widths = sorted(map(measure_columns, inside))
    width = widths[int(0.9 * (len(widths) - 1))] if widths else 0
    if not NARROWEST <= width <= WIDEST:
        return 0
    cut = sum(not _ends_sentence(line) for line in inside)
    return width if 2 * cut > len(inside) else 0


def _ends_sentence(line: str) -> bool:
    """Tell whether the end of a line is also the end of a sentence."""
    last = line[-1:]
    return last in _MARKS or (last in _LAST and bool(ENDED.search(line)))


def _goes_on(line: str, following: str, width: int) -> bool:
    """Tell whether the sentence of a line continues in the next line.

    `width` is the width of their page, or 0 if it is unknown.
    """
    return may_join_lines(line, following) and continues_prose(line, following, width)


def continues_prose(line: str, following: str, width: int) -> bool:
    """Tell whether a sentence continues in the next line, if both lines are prose."""
    bare = line.rstrip()
    after = following.strip()
    if _ends_sentence(bare) or measure_columns(bare) < NARROWEST:
        return False
    if after[0].islower() or _FIRST_CJK.match(after):
        return True
    if _PATTERNS.goes_on.search(bare, len(bare) - _LONGEST_JOINING):
        return True
    return is_line_full(bare, following, width)


def is_line_full(line: str, following: str, width: int) -> bool:
    """Tell whether the first word of the next line would not have fitted on a line."""
    word = _FIRST.match(following.lstrip())
    more = measure_columns(word[0]) if word else 0
    return bool(width) and measure_columns(line.rstrip()) + 1 + more > FULL * width


def may_join_lines(line: str, following: str) -> bool:
    """Tell whether two lines are both prose: no headings, items, rows, settings or entries."""
    if not _is_prose(line) or BULLET.match(following) or not _is_prose(following):
        return False
    form = _form(line)
    return not form or form != _form(following)


# Each line is checked with the line above it and with the line below it.
@lru_cache(maxsize=64)
def _is_prose(line: str) -> bool:
    """Tell whether a line is prose: not empty, and not a row, a heading or an entry."""
    bare = line.strip()
    if not bare or "|" in bare or "\t" in bare or _HEADING.match(bare):
        return False
    return not is_entry(line)


def _form(line: str) -> str:
    """Return the form of the first word of an entry, such as "0-0-0" for a date; "" for prose."""
    words = line.split(maxsplit=1)
    word = words[0] if words else ""
    if not _DIGIT.search(word):
        return ""
    form = _SIGNS.sub(lambda sign: "0" if sign[0].isdecimal() else "a", word)
    return form if len(form) > 1 and not form[0].isspace() and "0" in form else ""


def measure_columns(text: str) -> int:
    """Return how wide a text is; a Chinese character is two columns wide."""
    return len(text) if text.isascii() else len(text) + len(_WIDE.findall(text))


# It begins with the marks themselves, so that `re` can skip everything else.
_END = regex(
    f"[.!?。！？；…](?:(?:(?<=[。！？；…])[。！？；…]*+"
    f"|(?<=[!?])(?<![!?][!?])[!?]*+(?=[{_CLOSERS}]*[{CJK}]))[{_CLOSERS}]*+(?![，、,])"
    f"|(?<=[.!?])(?<![.!?][.!?])[.!?]*+[{_CLOSERS}]*(?:\\[\\d+(?:, [^]\n]{{1,80}})?\\])*(?=\\s))"
)
_LAST_WORD = regex(r"[^\W_]+(?:\.[^\W_]+)*$")
_LONGEST_SHORT_FORM = 40

LONGEST_SENTENCE = 2_000
"""The longest sentence, in characters; longer text is data, and is cut at white space."""


class Span(NamedTuple):
    """A piece of a text: `text[start:end]`, offsets in characters."""

    start: int
    end: int
    text: str


@lru_cache(maxsize=128)
def list_sentences(text: str) -> tuple[Span, ...]:
    """Return `split_sentences`, cached since checks and claims look into the same pages."""
    return tuple(split_sentences(text))


def split_sentences(text: str) -> list[Span]:
    """Return the sentences of an English or Chinese text, in order, without white space around.

    A line that is a heading, a bullet or a row of a table ends where the line ends; other lines
    are joined where the text was only wrapped.
    """
    return [
        sentence
        for start, end in _blocks(text)
        for sentence in _trimmed(text, _within(text, _cuts(text[start:end], start)))
    ]


def is_heading(sentence: str) -> bool:
    """Tell whether a sentence found by `split_sentences` looks like a heading of what follows.

    A line that opens a section of a configuration is one; a setting in it is none.
    """
    if _HEADING.match(sentence) or parse_section(sentence):
        return True
    if "|" in sentence or "\t" in sentence or _ends_sentence(sentence) or BULLET.match(sentence):
        return False
    most = 30 if detect_language(sentence) == "zh" else 80
    return len(sentence) <= most and not is_entry(sentence)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ends of each run of lines that may share a sentence."""
    lines = text.split("\n")
    width = measure_page_width(lines)
    start = done = 0
    previous = ""
    for line in lines:
        if start < done and not _goes_on(previous, line, width):
            yield start, done
            start = done
        previous, done = line, done + len(line) + 1
    yield start, len(text)


def _cuts(block: str, offset: int) -> Iterator[tuple[int, int]]:
    start = 0
    for end in _END.finditer(block):
        if not _abbreviation(block, start, end):
            last = _after_bold(block, start, end.end())
            yield offset + start, offset + last
            start = last
    yield offset + start, offset + len(block)


def _after_bold(block: str, start: int, end: int) -> int:
    """Return the end of a sentence, behind the marks that end the bold type of its last words."""
    closes = block.startswith("**", end) and block.count("**", start, end) % 2
    return end + 2 if closes else end


def _within(text: str, cuts: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield pieces of a text that are no longer than the longest sentence."""
    for start, end in cuts:
        while end - start > LONGEST_SENTENCE:
            last = start + LONGEST_SENTENCE
            half = start + LONGEST_SENTENCE // 2
            place = max(text.rfind(gap, half, last) for gap in " \n") + 1 or last
            yield start, place
            start = place
        yield start, end


def _abbreviation(block: str, start: int, end: re.Match[str]) -> bool:
    """Tell whether a full stop, question or exclamation mark does not end the sentence."""
    if end[0][0] in "。！？；…":
        return False
    after = block[end.end() : end.end() + 80].lstrip()[:40]
    if end[0] == "!" and _FIRST_CJK.match(after) and _FIRST_CJK.search(block, start, end.start()):
        # Chinese ends no sentence with this mark: it is of the name before it, such as "3DNow!".
        return block[end.start() - 1].isascii()
    if not block[end.end() : end.end() + 1].isspace():
        return False
    if after[:1].islower():
        return True
    if end[0] != ".":
        return False
    near = max(start, end.start() - _LONGEST_SHORT_FORM)
    return _is_short_form(block[near : end.start()], after, first=near == start)


def _is_short_form(before: str, after: str, *, first: bool) -> bool:
    """Tell whether the full stop between `before` and `after` belongs to the word before it.

    `first` says that the sentence begins with `before`.
    """
    found = _LAST_WORD.search(before)
    word = found[0].lower() if found else ""
    initial = len(word) == 1 and word != (found[0] if found else "")
    if not initial and _PATTERNS.before_number.fullmatch(word):
        return after[:1].isdigit()
    if _PATTERNS.never_last.fullmatch(word) or (
        first and word.isdigit() and word == before.strip()
    ):
        return True
    return bool(_PATTERNS.seldom_last.fullmatch(word)) and not _PATTERNS.opener.match(after)


def _trimmed(text: str, cuts: Iterator[tuple[int, int]]) -> Iterator[Span]:
    for start, end in cuts:
        piece = text[start:end].strip()
        if piece:
            at = text.index(piece, start)
            yield Span(at, at + len(piece), piece)
