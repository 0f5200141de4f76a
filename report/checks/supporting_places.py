"""The places of a page that support a statement, and how much is shown around them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from report.checks.numbers import list_calculations
from report.evidence_spans import CitationUse, list_evidence
from report.markdown.code import extract_code_names, find_similar_code_name
from report.markdown.markers import MARKER
from text.regex import regex
from text.script import detect_language
from text.sentences import Span, list_sentences

_WHOLE_PAGE_CHARS = 6_000
"""How much of a page in another language, or behind a calculation, is shown for a claim: nearly all
pages are shorter."""

_SENTENCE = 600
"""How far a margin may go beyond its size to the end of a sentence, in characters."""

_WINDOW_CHARS = 500  # of a page that shares no words with the statement
_ANCHOR = regex(r"-{0,2}[A-Za-z_][A-Za-z0-9_.-]{2,}|-[A-Za-z0-9]\b|\d[\d.,]*\d|\d")
_CODE = regex(r"`([^`\n]+)`")


@lru_cache(maxsize=512)
def list_supporting_places(text: str, part: str, whole: str, code: bool) -> tuple[Span, ...]:
    """Return the places of a page that support a part of a statement, kept for a second reading.

    Args:
        text: The page.
        part: The part, or all of the statement.
        whole: The statement.
        code: Whether it is a line of code.
    """
    return tuple(_places(text, part, whole, code=code))


def _places(text: str, part: str, whole: str, *, code: bool) -> Iterator[Span]:
    """Yield the places closest to a part of a statement, and the place that has its code."""
    said = MARKER.sub("", part)
    if code:
        yield from _named(text, said)
        return
    if len(text) <= _WHOLE_PAGE_CHARS and list_calculations(said):
        # The numbers of a calculation may stand far from each other.
        yield Span(0, len(text), "")
        return
    near = list_evidence(text, CitationUse(0, (), part, quoted=False, context=whole))
    certain = any(one.certain for one in near)
    if not certain and detect_language(said) != detect_language(text):
        # Names and numbers alone do not tell which sentence in another language says it.
        yield Span(0, min(len(text), _WHOLE_PAGE_CHARS), "")
        return
    found = [Span(one.start, one.end, "") for one in near] or [_anchored(text, said)]
    yield from found
    names = [one.strip() for one in _CODE.findall(said)]
    shown = "\n".join(text[one.start : one.end] for one in found)
    if any(one not in shown and one in text for one in names):
        yield _anchored(text, " ".join(names))


def _named(text: str, code: str) -> Iterator[Span]:
    """Yield where a page mentions the names in a line of code, or similar ones."""
    places = (find_similar_code_name(one.name, text) for one in extract_code_names(code.strip("`")))
    yield from (Span(at, at + 1, "") for at in places if at is not None)


def _anchored(text: str, statement: str) -> Span:
    """Return the part of a page with most of the names and numbers of a statement."""
    wanted = {one[0].lower() for one in _ANCHOR.finditer(statement)}
    windows = _index_anchors(text)
    counted = Counter(chain.from_iterable(windows[one] for one in wanted if one in windows))
    best = max(counted, key=lambda window: (counted[window], -window), default=0)
    return Span(best * _WINDOW_CHARS, min((best + 1) * _WINDOW_CHARS, len(text)), "")


@lru_cache(maxsize=64)
def _index_anchors(text: str) -> Mapping[str, set[int]]:
    """Return the windows of a page by the names and numbers in them, in lower case."""
    windows: dict[str, set[int]] = defaultdict(set)
    for one in _ANCHOR.finditer(text):
        windows[one[0].lower()].add(one.start() // _WINDOW_CHARS)
    return windows


def widen_place(text: str, span: Span, beside: int) -> Span:
    """Return a part of a page widened by a margin, and on to the ends of sentences and lines."""
    least, most = span.start - beside, span.end + beside
    within = [
        (one.start, one.end) for one in list_sentences(text) if one.start < most and least < one.end
    ]
    start = min([span.start, *(start for start, _ in within if least - start < _SENTENCE)])
    end = max([span.end, *(end for _, end in within if end - most < _SENTENCE)])
    return Span(_line(text, start)[0], _line(text, end)[1], "")


def _line(text: str, at: int) -> tuple[int, int]:
    """Return the ends of the line around a place, or the place if it is a long line of prose."""
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at) % (len(text) + 1)
    return (start, end) if end - start < _SENTENCE else (at, at)


def merge_places(wide: Sequence[tuple[str, Span]]) -> list[tuple[str, Span]]:
    """Return sorted parts of pages, merging those that overlap."""
    found: list[tuple[str, Span]] = []
    for name, span in wide:
        if found and found[-1][0] == name and span.start <= found[-1][1].end:
            before = found[-1][1]
            found[-1] = (name, Span(before.start, max(before.end, span.end), ""))
        else:
            found.append((name, span))
    return found
