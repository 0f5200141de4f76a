"""Widen the hits of a search to what is worth reading around them, within a number of tokens."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from text.keyword_ranking import ScoredPassage
from text.passage_splitting import merge_passages
from text.sentences import Span
from text.text_blocks import find_headings, split_blocks
from text.tokens import estimate_tokens

SECTION = 4_000
"""A section of at most this many characters is read whole."""

BESIDE = 700
"""Of a longer section, how many characters are read before a hit, and after it."""

CLOSE = 400
"""Pieces of a page with at most this many characters between them are read as one."""

MISFITS = 12
"""The choice ends after so many hits in a row for which there is no room."""


def widen_hits(
    texts: Sequence[str], hits: Iterable[ScoredPassage], room: int
) -> Mapping[int, Sequence[Span]]:
    """Return what to read of some pages: each hit with its section, the best hits first.

    A hit for which there is no room with its section is read as it is, or left out.

    Args:
        texts: The pages.
        hits: The hits in them, the best first.
        room: How many tokens may be read.

    Returns:
        The spans by the number of their page, in the order of the page, none touching another.
    """
    choice = _Reading(texts)
    misfits = 0
    for hit in hits:
        wide = section_around(texts[hit.page], hit.span)
        if choice.add(hit.page, wide, room) or choice.add(hit.page, hit.span, room):
            misfits = 0
            continue
        misfits += 1
        if misfits == MISFITS:
            break
    return choice.spans


def section_around(text: str, hit: Span) -> Span:
    """Return the section of a hit, or of a long one the paragraphs around the hit."""
    start, end = _section(text, hit.start)
    end = max(end, hit.end)
    if end - start > SECTION:
        blocks = split_blocks(text)
        first, last = _paragraphs_of(blocks, hit)
        start = _first_start(blocks, max(start, first - BESIDE), first)
        end = _last_end(blocks, min(end, last + BESIDE), last)
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return Span(start, start + len(piece.strip()), piece.strip())


def _section(text: str, at: int) -> tuple[int, int]:
    """Return where the section of a place begins, with its heading, and where it ends."""
    starts = _section_starts(text)
    number = bisect_right(starts, at)
    return starts[number - 1], starts[number] if number < len(starts) else len(text)


@lru_cache(maxsize=256)
def _section_starts(text: str) -> tuple[int, ...]:
    return (0, *(one.start for one in find_headings(text) if one.start > 0))


def _paragraphs_of(blocks: Sequence[tuple[int, int]], hit: Span) -> tuple[int, int]:
    """Return where the paragraphs of a hit begin and end, as far as they are not too long."""
    touched = [(start, end) for start, end in blocks if start < hit.end and hit.start < end]
    first = min([hit.start, *(start for start, _ in touched if hit.start - start <= SECTION)])
    return first, max([hit.end, *(end for _, end in touched if end - hit.end <= SECTION)])


def _first_start(blocks: Sequence[tuple[int, int]], least: int, most: int) -> int:
    """Return the first start of a block between two places; the later place without any."""
    return next((start for start, _ in blocks if least <= start <= most), most)


def _last_end(blocks: Sequence[tuple[int, int]], most: int, least: int) -> int:
    """Return the last end of a block between two places; the earlier place without any."""
    return max([least, *(end for _, end in blocks if end <= most)])


class _Reading:
    """The spans chosen so far, by page, and how many tokens they have."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.spans: dict[int, list[Span]] = {}
        self.used = 0

    def add(self, page: int, span: Span, room: int) -> bool:
        """Add a span if there is room for what is new of it; the first one always fits."""
        before = self.spans.get(page, [])
        if any(one.start <= span.start and span.end <= one.end for one in before):
            return True
        after = _joined(self.texts[page], [*before, span])
        more = sum(map(estimate_tokens, _list_new(after, before)))
        if self.spans and self.used + more > room:
            return False
        self.spans[page] = after
        self.used += more
        return True


def _list_new(after: Iterable[Span], before: Sequence[Span]) -> Iterator[str]:
    """Yield the parts of pieces of a text that earlier pieces of it lack, both in its order."""
    for piece in after:
        start = piece.start
        for known in before:
            if piece.start <= known.start and known.end <= piece.end:
                yield piece.text[start - piece.start : known.start - piece.start]
                start = known.end
        yield piece.text[start - piece.start :]


def _joined(text: str, pieces: Iterable[Span]) -> list[Span]:
    """Return pieces of a text in its order, whole, and joined where little is between them."""
    joined: list[tuple[int, int]] = []
    for piece in merge_passages(text, pieces):
        start, end = piece.start, piece.end
        if joined and start - joined[-1][1] <= CLOSE:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return [Span(start, end, text[start:end]) for start, end in joined]
