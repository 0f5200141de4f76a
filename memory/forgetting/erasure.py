"""Take every sentence out of a text that says again what is forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from memory.forgetting.wording import SEPARATOR, Token, gists, joined, shared, tokens
from prompts.marks import INSIDE
from retrieval.regex import regex
from retrieval.text import Span, sentences
from retrieval.words import words

MARK = "[forgotten]"
"""What stands in the place of a sentence that was forgotten."""

KEPT = 20_000
"""Of so many texts it is remembered what is left of them; checkpoints hold the same ones again."""

_LEAD = regex(r"\s*(?:(?:[-*+>]|\d+[.)]|#{1,6})\s+)*")
_QUOTE = regex(rf"<q\b[^<>]*>{INSIDE}</q>")
_CITED = regex(r"\[(S\d+)\]|<q\b[^>]*\bs=\"(S\d+)\"")

Empty: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Erasure:
    """What is to be found nowhere any more, in the forms in which it is recognised."""

    phrases: frozenset[str] = Empty
    """Runs of words: a sentence with any part of one goes."""
    lines: frozenset[str] = Empty
    """Runs of words that are forgotten where they are a whole sentence."""
    shared: frozenset[str] = Empty
    """Runs of five words or twelve Chinese characters."""
    gists: frozenset[str] = Empty
    """Runs of three search words."""
    terms: frozenset[str] = Empty
    """Search words that nothing else has."""
    cited: frozenset[str] = Empty
    """The ids by which a thread cites it, such as `S3`."""
    pages: frozenset[str] = Empty
    """The ids of the pages, whose titles and places go wherever a page is named."""
    known: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    def __bool__(self) -> bool:
        """Say whether anything is to be forgotten."""
        parts = (self.phrases, self.lines, self.shared, self.gists, self.terms)
        return any((*parts, self.cited, self.pages))

    def __or__(self, other: Erasure) -> Erasure:
        """Return what forgets what either of two forgets."""
        return Erasure(
            self.phrases | other.phrases,
            self.lines | other.lines,
            self.shared | other.shared,
            self.gists | other.gists,
            self.terms | other.terms,
            self.cited | other.cited,
            self.pages | other.pages,
        )

    def left(self, text: str) -> str:
        """Return a text with a mark in the place of each sentence that is forgotten."""
        if text not in self.known:
            if len(self.known) >= KEPT:
                self.known.clear()
            self.known[text] = _without(text, self._spans(text)) if text.strip() else text
        return self.known[text]

    def citing(self, text: str) -> list[str]:
        """Return the sentences of a text that cite what is forgotten."""
        units = [one.text for one in sentences(text)] + [one[0] for one in _QUOTE.finditer(text)]
        return [one for one in units if self._cites(one)]

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Return the ends of the sentences that are forgotten; no quotation is torn in two."""
        some, said = tokens(text), sentences(text)
        hits = [*self._runs(some), *((one.start, one.end) for one in said if self._says(one))]
        units = [(one.start, one.end) for one in said]
        quotes = [one.span() for one in _QUOTE.finditer(text)]
        hits += [one for one in quotes if self._cites(text[slice(*one)])]
        spans: list[tuple[int, int]] = []
        while hits:
            start, end = hits.pop()
            touched = [one for one in (*units, *quotes) if one[0] < end and start < one[1]]
            start, end = (
                min([start, *(a for a, _ in touched)]),
                max([end, *(b for _, b in touched)]),
            )
            grown = any(a < start or b > end for a, b in touched)
            wider = [one for one in (*units, *quotes) if one[0] < end and start < one[1]]
            if grown or len(wider) > len(touched):
                hits.append((start, end))
            else:
                spans.append((start, end))
        return spans

    def _runs(self, some: list[Token]) -> Iterator[tuple[int, int]]:
        """Yield where runs of words stand that are forgotten."""
        if self.phrases and some:
            whole = joined([token.word for token in some])
            for phrase in self.phrases:
                yield from _places(phrase, whole, some)
        if self.shared:
            for words_, start, end in shared(some):
                if words_ in self.shared:
                    yield start, end

    def _says(self, sentence: Span) -> bool:
        if self._cites(sentence.text):
            return True
        cut = [token.word for token in tokens(sentence.text)]
        if not cut:
            return False
        if joined(cut) in self.lines:
            return True
        if self.terms and not self.terms.isdisjoint(words(sentence.text)):
            return True
        return bool(self.gists) and not self.gists.isdisjoint(gists(sentence.text))

    def _cites(self, text: str) -> bool:
        return bool(self.cited) and any(
            (mark[1] or mark[2]) in self.cited for mark in _CITED.finditer(text)
        )


def _places(phrase: str, whole: str, some: list[Token]) -> Iterator[tuple[int, int]]:
    """Yield where a run of words stands in a text, by the places of its words."""
    at = whole.find(phrase)
    while at >= 0:
        first = whole.count(SEPARATOR, 0, at)
        last = first + phrase.count(SEPARATOR) - 2
        yield some[first].start, some[last].end
        at = whole.find(phrase, at + 1)


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text with a mark in the place of each span, one for those side by side."""
    parts: list[str] = []
    done, marked = 0, False
    for start, end in sorted(set(spans)):
        if end <= done:
            continue
        start = max(start, done)
        between, piece = text[done:start], text[start:end]
        beside = marked and not between.strip() and "\n" not in between
        parts += [] if beside else [between, _marked(piece)]
        done, marked = end, True
    return "".join([*parts, text[done:]]) if parts else text


def _marked(piece: str) -> str:
    """Return the mark for a sentence; a list item stays one, a row of a table keeps its cells."""
    if piece.startswith("|"):
        return f"| {MARK} |" + " |" * max(0, piece.rstrip().rstrip("|").count("|") - 1)
    lead = _LEAD.match(piece)
    return (lead[0] if lead else "") + MARK
