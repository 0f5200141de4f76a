"""Find quotations in long pages, whole or in pieces.

Only the necessary part of a page is normalized.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, islice, pairwise, takewhile
from typing import NamedTuple

from text.normalization import find_quote
from text.regex import regex
from text.script import CJK, simplify_chinese

_WORD_LETTER = f"[^\\W_{CJK}]"
_MINUS = "(?<![\\w.,%)])(?<!\\d )[-\u2212](?=\\d)"
_WORD = regex(
    f"(?:{_MINUS})?\\d+(?:[.,]\\d+)+|{_MINUS}\\d+|{_WORD_LETTER}(?:{_WORD_LETTER}|[\u0300-\u036f])*|[{CJK}]|[%‰$€£¥°]"
    "|(?P<stop>[。！？]|[.!?](?=[\"'”’»）)\\]]*\\s))"
)
_THOUSANDS = regex(r"(?<=\d),(?=\d{3}(?!\d))")


class _BareText(NamedTuple):
    """A text in lower case without spaces and punctuation, and the positions of its words."""

    text: str
    starts: list[int]
    ends: list[int]
    """Where each word begins and ends in `text`."""
    origins: Sequence[tuple[int, int]]
    """The position of each word in the original text."""

    def find(self, words: str, start: int = 0) -> Iterator[tuple[int, int]]:
        """Yield the positions in the original text where bare words occur as whole words.

        Args:
            words: The words, as `_to_bare_words` returns them.
            start: Where the search begins in the original text.
        """
        first = bisect_left(self.origins, (start, start))
        at = self.text.find(words, *self.starts[first : first + 1]) if words else -1
        while at >= 0 and first < len(self.starts):
            end = at + len(words)
            one, last = bisect_left(self.starts, at), bisect_left(self.ends, end)
            if self.starts[one : one + 1] == [at] and self.ends[last : last + 1] == [end]:
                yield self.origins[one][0], self.origins[last][1]
            at = self.text.find(words, at + 1)


def _to_bare_text(text: str) -> _BareText:
    """Return a text reduced to its words; numbers are separated, and sentences end with a dot."""
    pieces, starts, ends, origins = list[str](), list[int](), list[int](), list[tuple[int, int]]()
    length = 0
    for found in _WORD.finditer(text):
        word = _bare(found)
        if word[:1].isdigit() and pieces and pieces[-1][-1:].isdigit():
            pieces.append(" ")
            length += 1
        pieces.append(word)
        origins.append(found.span())
        starts.append(length)
        length += len(word)
        ends.append(length)
    return _BareText("".join(pieces), starts, ends, origins)


def _to_bare_words(words: str) -> str:
    """Return words in the form of a bare text, without a dot at either end."""
    return _to_bare_text(words).text.strip(".")


def _bare(found: re.Match[str]) -> str:
    if found["stop"]:
        return "."
    word = simplify_chinese(unicodedata.normalize("NFKC", found[0]).lower())
    return _THOUSANDS.sub("", word).replace("\u2212", "-")


_STRETCH_CHARS = 8_000  # folded at once
MAX_MATCHES = 20
"""How many matches in one stretch are tried if they begin or end inside a word."""

_MAX_LEFT_OUT_CHARS = 600  # at one place of a quotation
_STOP = regex(r"[.!?。！？]\s*")
_TYPOGRAPHY = (
    "'\"`´-*_\u00ad\u200b\u200c\u200d\u2060\ufeff\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2018"
    "\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2032\u2033«»「」『』\u301d\u301e\u301f"
)
_UNSPACED = f"{CJK}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_LETTER = f"[^\\W_{_UNSPACED}]"
_STARTS_INSIDE = regex(f"(?:{_LETTER}{_LETTER}|\\d[.,]\\d)$")
_ENDS_INSIDE = regex(f"{_LETTER}{_LETTER}|\\d(?:[.,]\\d|\\s?[%％‰万亿兆千百])")
_ASIAN = f"[{CJK}\u3000-\u303f\uff00-\uffef]"
_WRAP_IN_WORD = regex("[-\u2010\u00ad][^\\S\n]*\n")
_WRAP_IN_CHINESE = regex(f"(?<={_ASIAN})(?<!\\s)[^\\S\n]*+\n\\s*+(?={_ASIAN})")
_UNSEEN = regex("[\u00ad\u200b-\u200d\u2060\ufeff]")


class PageSkeleton(NamedTuple):
    """The characters of a page that folding does not change, and where its stretches begin."""

    letters: str
    starts: list[int]
    """Where each stretch begins in `letters`."""
    origins: list[int]
    """Where each stretch begins in the page."""


def _fold_letters(text: str) -> str:
    """Return a text without white space and typography; it is equal if the folded texts are equal.

    This is much faster than folding, and rules out pages that do not have a quotation.
    """
    text = "".join(
        unicodedata.normalize("NFKC", simplify_chinese(text.replace("´", ""))).lower().split()
    )
    for character in _TYPOGRAPHY:
        text = text.replace(character, "")
    return text


def build_skeleton(page: str) -> PageSkeleton:
    """Return the skeleton of a page."""
    origins = list(_origins(page))
    pieces = [_fold_letters(page[start:end]) for start, end in pairwise([*origins, len(page)])]
    starts = [0, *accumulate(map(len, pieces[:-1]))]
    return PageSkeleton("".join(pieces), starts, origins)


class QuotablePages:
    """The pages that may be quoted, each prepared for searching at most once."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self._skeleton = cache(lambda source: build_skeleton(texts[source]))
        self._bare = cache(lambda source: _to_bare_text(texts[source]))

    def find(self, readings: Sequence[str], named: Sequence[str]) -> tuple[str, str] | None:
        """Return a source that contains one of `readings`, and its own words, or None.

        The sources in `named` are searched first, then all others. Both sides are folded for the
        comparison. A match must not begin or end inside a word or a number.

        Args:
            readings: The readings of the quotation; the last has the fewest letters.
            named: The ids of sources that should have it.
        """
        for source in self._order(named):
            if source in named or _fold_letters(readings[-1]) in self._skeleton(source).letters:
                found = filter(None, (self._words(reading, source) for reading in readings))
                words = next(found, "")
                if words:
                    return source, words
        return None

    def find_pieces(
        self, pieces: Sequence[QuotationPiece], named: Sequence[str]
    ) -> tuple[str, list[str]] | None:
        """Return a source that has the pieces of a quotation in order, and its words for them.

        Only words and numbers are compared, without the punctuation and spaces between them. The
        text omitted between two pieces is short and has no negation.
        """
        wanted = [_to_bare_words(piece.words) for piece in pieces if piece.words]
        words = (_bare(one) for piece in pieces for one in _WORD.finditer(piece.words))
        rare = {word for word in words if word.isalpha()}
        for source in self._order(named):
            may = all(word in self._skeleton(source).letters for word in rare)
            bare = self._bare(source) if may else None
            for first in islice(bare.find(wanted[0]), MAX_MATCHES) if bare else ():
                spans = self._chain(pieces, wanted, source, first)
                if spans:
                    found = (self.texts[source][slice(*span)] for span in spans)
                    return source, [_to_line(_WRAP_IN_WORD.sub("", words)) for words in found]
        return None

    def _order(self, named: Sequence[str]) -> list[str]:
        """Return the sources with the named ones first."""
        return [name for name in dict.fromkeys([*named, *self.texts]) if name in self.texts]

    def _chain(
        self,
        pieces: Sequence[QuotationPiece],
        wanted: Sequence[str],
        source: str,
        first: tuple[int, int],
    ) -> list[tuple[int, int]]:
        """Return the positions of the pieces of a quotation that follow its first one, or []."""
        spans, page = [first], self.texts[source]
        for piece, words in zip(pieces[1:], wanted[1:], strict=False):
            end = spans[-1][1]
            found = takewhile(
                lambda one: one[0] - end <= _MAX_LEFT_OUT_CHARS,  # noqa: B023 (it is used up at once)
                self._bare(source).find(words, end),
            )
            after = next((one for one in found if _may_leave(page[end : one[0]], piece)), None)
            if after is None:
                return []
            spans.append(after)
        return spans if all(is_whole_span(page, *span) for span in spans) else []

    def _words(self, quote: str, source: str) -> str:
        page = self.texts[source]
        found = next(_verbatim(quote, page), None) or next(self._folded(quote, source), None)
        words = page[slice(*found)] if found else ""
        # If the page breaks a word over two lines, the spelling of the quotation is used.
        return _to_line(quote if _WRAP_IN_WORD.search(words) else words)

    def _folded(self, quote: str, source: str) -> Iterator[tuple[int, int]]:
        page, bones, wanted = self.texts[source], self._skeleton(source), _fold_letters(quote)
        at = bones.letters.find(wanted) if wanted else -1
        while at >= 0:
            first = bisect_right(bones.starts, at) - 1
            last = bisect_left(bones.starts, at + len(wanted)) + 1
            end = bones.origins[last] if last < len(bones.origins) else len(page)
            yield from _in_stretch(quote, page, bones.origins[first], end)
            following = bones.starts[first + 1 : first + 2]
            at = bones.letters.find(wanted, following[0]) if following else -1


def _to_line(words: str) -> str:
    """Return words in one line, without invisible characters and breaks inside Chinese."""
    return " ".join(_WRAP_IN_CHINESE.sub("", _UNSEEN.sub("", words)).split())


def _origins(page: str) -> Iterator[int]:
    yield 0
    at = _STRETCH_CHARS
    while at < len(page):
        space = page.find(" ", at, at + 200)
        start = space + 1 if space >= 0 else at
        yield start
        at = start + _STRETCH_CHARS


def _may_leave(between: str, piece: QuotationPiece) -> bool:
    """Tell whether words between two pieces of a quotation may be left out of it."""
    if piece.reach == 0:
        return not any(map(str.isalnum, between))
    short = len(between) <= (piece.reach or _MAX_LEFT_OUT_CHARS)
    return short and not QUOTE_NEGATION.search(_STOP.split(between)[-1])


def _verbatim(quote: str, page: str) -> Iterator[tuple[int, int]]:
    at = page.find(quote)
    while at >= 0:
        if is_whole_span(page, at, at + len(quote)):
            yield at, at + len(quote)
        at = page.find(quote, at + 1)


def _in_stretch(quote: str, page: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for _ in range(MAX_MATCHES):
        span = find_quote(quote, page[start:end])
        if span is None:
            return
        if is_whole_span(page, start + span.start, start + span.end):
            yield start + span.start, start + span.end
        start += span.start + 1


def is_whole_span(page: str, start: int, end: int) -> bool:
    """Tell whether a span neither begins nor ends inside a word or a number."""
    before, after = page[max(0, start - 2) : start + 1], page[end - 1 : end + 2]
    return not (_STARTS_INSIDE.search(before) or _ENDS_INSIDE.match(after))


QUOTE_NEGATION = regex(
    r"\b(?:not|never|no|none|nor|neither|cannot|without|unless|if|hardly|rarely)\b|n['’]t\b"
    r"|[不没沒未无無非别勿]|[否如]|若",
    re.IGNORECASE,
)
"""Negations, which must not be omitted from a quotation or inserted into it."""


class QuotationPiece(NamedTuple):
    """A verbatim part of a quotation, and what precedes it in the quotation."""

    words: str
    """Empty for what the writer added after the last part."""
    joint: str = ""
    """What the writer put before it: an ellipsis, words in brackets, or a remark."""
    reach: int | None = None
    """The most characters of the source that `joint` replaces; None for an ellipsis."""
