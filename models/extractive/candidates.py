"""The sentences of some pages that could be quoted, each with where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from models.extractive.blocks import Page, Quote
from models.extractive.manual import Entry, entries, only_names, within
from models.extractive.sections import paths
from retrieval.entries import entry
from retrieval.regex import regex
from retrieval.text import Span, heading, sentences
from retrieval.words import words

LONGEST = 600
"""A longer sentence, in characters, is rather a table or a list that was not recognised."""

CHAIN = 300
"""More than two sentences stand together only up to so many characters."""

FEW = 6
"""What is said of a term in so few words goes on with the next sentence, after a mere name."""

WHOLE = 120
"""Clauses between Chinese semicolons are one sentence if it has at most so many characters."""

_UNQUOTABLE = regex(r"^#|[a-z][a-z0-9+.-]*://|www\.", re.IGNORECASE)
_FURNITURE = regex(
    r"^\S+\(\w{1,5}\)\s.*\s\S+\(\w{1,5}\)$|\s{3,}\S+\(\d\w{0,3}\)$|[│┌└├┼]"
    r"|^(?=.*[^.!?]$)(?:[^\[]*\[[^\]\d][^\]]*\]){3}",
    re.DOTALL,
)
"""What stands at the head or foot of a manual page, a drawn table, and how a command is called."""
_RECORD = regex(r'^\s*[\[{,]*\s*\{?\s*"[^"]*"\s*:.*"[^"]*"\s*:|[\[{]\s*"[^"]*"\s*:')
"""A row of JSON with several keys, or one that opens an object; it is data and no sentence."""
_NEVER = (_UNQUOTABLE, _RECORD, _FURNITURE)
_CAPITALS = regex(r"[A-Z][^a-z\u0080-\U0010ffff]{8,}")
_MARK = regex(
    r"(?:(?:[-*+•·▪◦>]|\(?\d{1,3}[.)、]|[（(]?[一二三四五六七八九十]+[)）、]|\[[ xX]\])"
    r"(?:\s+|(?<=[、）])))+"
)
"""What makes an item of a list of a line; it is left out of a quote."""
_COMMENT = regex(r"^(?:#|//|--(?=\s)|\"\"\"|''')\s*(?=.*[.!?。！？]\W*$)|\s*(?:\"\"\"|''')$")
"""What makes a comment of a sentence in a program."""

_OPENS_BACKWARDS = regex(
    r"(?:he|she|it|they|his|her|its|their|this|these|those|that|such|however|therefore|thus|hence"
    r"|moreover|furthermore|also|but|and|so|then|consequently|instead|both"
    r"|the (?:former|latter|others?|first two|two|three)|(?:i|we) (?:call|name) (?:it|this|that)"
    r"|(?:in|at|on|for|from|with|by|during|after|before|under)\b[^,.;]{0,20}\b(?:this|these|those)"
    r")\b"
    r"|[他她它][们們]?|[这這那该該此其]|因此|所以|但是?|然而|不[过過]|而且|同[时時]|另外|此外|[于於]是|[并並]且?|[后後][来來者]",
    re.IGNORECASE,
)
_SPEAKS_OF_ITSELF = regex(
    r"this (?:paper|review|article|essay|study|report|book|chapter)\b", re.IGNORECASE
)


class Candidate(NamedTuple):
    """A sentence, with the one before it where it cannot stand alone."""

    page: int
    """The number of its passage."""
    text: str
    first: bool
    """Whether it is the first sentence of its passage."""
    above: str
    """The nearest heading above it in its passage."""
    opens: bool
    """Whether no other sentence stands between it and that heading."""
    under: str = ""
    """The sections of a configuration that it stands in, or the entry of a manual."""

    @property
    def hangs(self) -> bool:
        """Whether it begins with what was said before, and that could not be put before it."""
        return _points_back(self.text) and not self.under


def candidates(pages: Sequence[Page]) -> Iterator[Candidate]:
    """Yield what could be quoted, passage by passage; headings are among it."""
    for number, page in enumerate(pages):
        spans, above, opens = _whole(page.text), "", False
        under, known = paths(page.text, spans), entries(page.text)
        for at, span in enumerate(spans):
            part = within(known, span.start)
            if part and span.start < part.text:
                text = page.text[part.text : _told(page.text, spans, at, part, part.text)]
                if span.end > part.text and _quotable(text):
                    yield Candidate(number, text, at == 0, part.term, True, part.term)
                opens, above = True, part.term
                continue
            text = _shown(_standing(page.text, spans, at))
            if part and span.start == part.text:
                text = page.text[span.start : _told(page.text, spans, at, part, span.start)]
            if _quotable(text):
                term = part.term if part else ""
                yield Candidate(number, text, at == 0, above, opens, under[at] or term)
            opens = heading(span.text)
            above = span.text if opens else above


def document(title: str) -> str:
    """Return the title of the whole document; a part of one is titled "document — part"."""
    return title.partition(" — ")[0]


def place(quote: Quote, pages: Sequence[Page]) -> tuple[str, str]:
    """Return the title of the passage that a quote is from, and its text."""
    page = next((one for one in pages if one.id == quote.source and quote.text in one.text), None)
    return (page.title, page.text) if page else ("", quote.text)


def _quotable(text: str) -> bool:
    """Tell whether a text may be quoted: no heading, no address, and more than a word."""
    if len(words(text)) < 2 or any(one.search(text) for one in _NEVER):
        return False
    return entry(text) or not _CAPITALS.fullmatch(text)


def _shown(text: str) -> str:
    """Return a sentence without the mark of a list or a comment, or the comma after a setting."""
    mark = _MARK.match(text)
    bare = _COMMENT.sub("", text[mark.end() :] if mark else text)
    return bare.rstrip(" ,") if entry(bare) else bare


def _whole(text: str) -> list[Span]:
    """Return the sentences of a text, those that a Chinese semicolon cut put together again."""
    whole: list[Span] = []
    run: list[Span] = []
    for span in sentences(text):
        run.append(span)
        if not span.text.endswith("；"):
            whole += _joined(text, run)
            run = []
    return whole + _joined(text, run)


def _joined(text: str, run: Sequence[Span]) -> list[Span]:
    if len(run) < 2 or run[-1].end - run[0].start > WHOLE:
        return list(run)
    joined = text[run[0].start : run[-1].end]
    return list(run) if "\n" in joined else [Span(run[0].start, run[-1].end, joined)]


def _standing(text: str, spans: Sequence[Span], at: int) -> str:
    """Return a sentence, joined to those before it as long as each points back to the last."""
    start, end = spans[at].start, spans[at].end
    while at and _points_back(spans[at].text):
        before = spans[at - 1]
        apart = "\n" in text[before.end : start] or heading(before.text)
        if apart or end - before.start > (LONGEST if end == spans[at].end else CHAIN):
            break
        at, start = at - 1, before.start
    return text[start:end]


def _told(text: str, spans: Sequence[Span], at: int, part: Entry, start: int) -> int:
    """Return where what is first said of a term ends: behind the next sentence after a mere name.

    If that leaves it short, the one after it belongs to it, too.
    """
    end = spans[at].end
    if not only_names(part.term, text[start:end]):
        return end
    for after in spans[at + 1 : at + 3]:
        apart = after.end > part.end or "\n\n" in text[end : after.start] or heading(after.text)
        if apart or len(text[start:end].split()) > FEW:
            break
        end = after.end
    return end


def _points_back(sentence: str) -> bool:
    return bool(_OPENS_BACKWARDS.match(sentence) and not _SPEAKS_OF_ITSELF.match(sentence))
