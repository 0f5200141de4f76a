"""Clean text and cut it into sentences."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from retrieval.entries import entry, section
from retrieval.folding import fold as fold
from retrieval.folding import locate
from retrieval.regex import regex
from retrieval.script import CJK
from retrieval.script import language as language
from retrieval.wrapping import BULLET, CLOSERS, HEADING, ended, goes_on, page_width

_BREAKS = regex("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_UNSEEN = regex(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)
# Letters and a symbol that are displayed as blank space.
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_NOTHING = frozenset(["Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "Mn", "Me"])

# It begins with the marks themselves, which is what makes `re` skip everything else.
_END = regex(
    f"[.!?。！？；…](?:(?:(?<=[。！？；…])[。！？；…]*+"
    f"|(?<=[!?])(?<![!?][!?])[!?]*+(?=[{CLOSERS}]*[{CJK}]))[{CLOSERS}]*+(?![，、,])"
    f"|(?<=[.!?])(?<![.!?][.!?])[.!?]*+[{CLOSERS}]*(?:\\[\\d+(?:, [^]\n]{{1,80}})?\\])*(?=\\s))"
)
_LAST_WORD = regex(r"[^\W_]+(?:\.[^\W_]+)*$")
_NEVER_LAST = regex("mrs?|ms|dr|prof|st|mt|gen|col|sgt|capt|lt|rev|hon|e[.]g|i[.]e|cf|vs")
_BEFORE_NUMBER = regex(
    "figs?|eqs?|nos?|vols?|pp?|ch|sec|sect|arts?|ed|para|approx|ca"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
)
_SELDOM_LAST = regex("[^\\W\\d_](?:[.][^\\W\\d_])*|al|etc|inc|ltd|co|corp|jr|sr|ph[.]d")
_LONGEST_SHORT_FORM = 40
_OPENER = regex(
    r"\W*(?:the|an?|it|its|he|she|his|her|they|their|we|you|i|this|that|these|those|there|in|on|at"
    r"|as|but|and|if|when|while|after|before|for|however|although|since|by|with|to|from|during"
    r"|until|each|every|all|no(?!\.\s*\d))\b",
    re.IGNORECASE,
)


LONGEST = 2_000
"""The longest sentence, in characters; longer text is data, and is cut at white space."""


class Span(NamedTuple):
    """A piece of a text: `text[start:end]`, offsets in characters."""

    start: int
    end: int
    text: str


def normalise(text: str) -> str:
    r"""Return `text` in NFC with `\n` line ends, without control, bidi and surrogate characters.

    A vertical tab, a form feed and the Unicode line separators become `\n`.
    """
    return unicodedata.normalize("NFC", _UNSEEN.sub("", _BREAKS.sub("\n", text)))


def in_one_line(text: str, most: int) -> str:
    """Return a text in one line of at most so many characters; "…" ends one that is cut."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def blank(text: str) -> bool:
    """Say whether a text is invisible: only spaces, invisible characters and marks on no letter."""
    return all(one in _FILLERS or unicodedata.category(one) in _NOTHING for one in text)


def find(quote: str, text: str) -> Span | None:
    """Return the place in `text` that reads like `quote` when both are folded, or None."""
    place = locate(quote, text)
    return Span(*place, text[slice(*place)]) if place else None


def sentences(text: str) -> list[Span]:
    """Return the sentences of an English or Chinese text, in order, without white space around.

    A line that is a heading, a bullet or a row of a table ends where the line ends; other lines
    are joined where the text was only wrapped.
    """
    return [
        sentence
        for start, end in _blocks(text)
        for sentence in _trimmed(text, _within(text, _cuts(text[start:end], start)))
    ]


def heading(sentence: str) -> bool:
    """Tell whether a sentence found by `sentences` looks like a heading of what follows.

    A line that opens a section of a configuration is one; a setting in it is none.
    """
    if HEADING.match(sentence) or section(sentence):
        return True
    if "|" in sentence or "\t" in sentence or ended(sentence) or BULLET.match(sentence):
        return False
    return len(sentence) <= (30 if language(sentence) == "zh" else 80) and not entry(sentence)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ends of each run of lines that may share a sentence."""
    lines = text.split("\n")
    width = page_width(lines)
    start = done = 0
    previous = ""
    for line in lines:
        if start < done and not goes_on(previous, line, width):
            yield start, done
            start = done
        previous, done = line, done + len(line) + 1
    yield start, len(text)


def _cuts(block: str, offset: int) -> Iterator[tuple[int, int]]:
    start = 0
    for end in _END.finditer(block):
        if not _abbreviation(block, start, end):
            yield offset + start, offset + end.end()
            start = end.end()
    yield offset + start, offset + len(block)


def _within(text: str, cuts: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield pieces of a text of which none is longer than a sentence may be."""
    for start, end in cuts:
        while end - start > LONGEST:
            last = start + LONGEST
            place = max(text.rfind(gap, start + LONGEST // 2, last) for gap in " \n") + 1 or last
            yield start, place
            start = place
        yield start, end


def _abbreviation(block: str, start: int, end: re.Match[str]) -> bool:
    """Tell whether a full stop, question or exclamation mark does not end the sentence."""
    if end[0][0] in "。！？；…" or not block[end.end() : end.end() + 1].isspace():
        return False
    after = block[end.end() : end.end() + 80].lstrip()[:40]
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
    if not initial and _BEFORE_NUMBER.fullmatch(word):
        return after[:1].isdigit()
    if _NEVER_LAST.fullmatch(word) or (first and word.isdigit() and word == before.strip()):
        return True
    return bool(_SELDOM_LAST.fullmatch(word)) and not _OPENER.match(after)


def _trimmed(text: str, cuts: Iterator[tuple[int, int]]) -> Iterator[Span]:
    for start, end in cuts:
        piece = text[start:end].strip()
        if piece:
            at = text.index(piece, start)
            yield Span(at, at + len(piece), piece)
