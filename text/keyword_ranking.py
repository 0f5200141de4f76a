"""Rank short texts by the words of a query, and choose the best that differ from each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Plus

from text.passage_splitting import merge_passages
from text.sentences import Span
from text.tokens import estimate_tokens
from text.words import query_terms, search_words

SAME = 0.9
"""Texts that share this much of their words (Jaccard) say the same, if their numbers agree too."""

PART = 0.4
"""The share of a text's score that comes from the query line that it fits best."""


@lru_cache(maxsize=4096)
def cached_search_words(text: str) -> list[str]:
    """Return the search words of a text, cached since each query of a run has the same passages."""
    return search_words(text)


class _KeywordIndex:
    """Texts as BM25 scores them; what a word adds to each is computed once, for all queries.

    `BM25Okapi` of rank-bm25 gives a word found in more than half of the texts a negative weight,
    and in a set of ten texts the topic itself is such a word; the weight of `BM25Plus`,
    ln((N + 1) / n), is always positive. Its lower bound `delta` is added even to texts without the
    word, so it is 0 here: a text without any word scores 0.
    """

    def __init__(self, bags: Sequence[Sequence[str]]) -> None:
        self._index = BM25Plus(bags, k1=1.2, b=0.75, delta=0)
        self._scores: dict[str, NDArray[np.float64]] = {}

    def score(self, words: Iterable[str]) -> NDArray[np.float64]:
        """Return the score of each text for some words."""
        scores = np.zeros(self._index.corpus_size)
        for word in words:
            if word not in self._scores:
                self._scores[word] = self._index.get_scores([word])
            scores += self._scores[word]
        return scores


def rank_texts(query: str, texts: Sequence[str]) -> list[tuple[int, float]]:
    """Return the index and BM25 score of each text that shares a word with `query`, best first.

    The set is indexed for this one query.
    """
    return _rank(query, _index_words(texts))


def _index_words(texts: Sequence[str]) -> _KeywordIndex | None:
    """Return the index of some texts, or None if they have no words."""
    bags = [cached_search_words(text) for text in texts]
    return _KeywordIndex(bags) if any(bags) else None


def _rank(query: str, index: _KeywordIndex | None) -> list[tuple[int, float]]:
    wanted = query_terms(query)
    if not wanted or index is None:
        return []
    scores = index.score(wanted)
    places = np.flatnonzero(scores > 0)
    found = zip(places.tolist(), scores[places].tolist(), strict=True)
    return sorted(found, key=lambda entry: (-entry[1], entry[0]))


def score_texts(wanted: Sequence[str], texts: Sequence[str]) -> list[tuple[int, float]]:
    """Return the index and score in 0..1 of each text that shares a word with the queries.

    A text is scored by all lines of the queries together and by the line that it fits best, so that
    a text which answers one part does not rank below those that touch on each.
    """
    lines = [line for text in wanted for line in text.split("\n") if line.strip()]
    best: dict[int, float] = {}
    index = _index_words(texts)
    for line in dict.fromkeys(lines):
        for number, score in _shares(_rank(line, index)):
            best[number] = max(best.get(number, 0.0), score)
    together = _shares(_rank("\n".join(lines), index))
    found = [(n, (1 - PART) * score + PART * best.get(n, 0.0)) for n, score in together]
    return sorted(found, key=lambda entry: (-entry[1], entry[0]))


def find_best_texts(queries: Sequence[str], texts: Sequence[str], each: int) -> list[int]:
    """Return the indexes of the `each` best texts for every query, those of the first at first."""
    index = _index_words(texts)
    ranked = (_rank(query, index)[:each] for query in dict.fromkeys(queries))
    return list(dict.fromkeys(number for found in ranked for number, _ in found))


def _shares(ranked: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return scores as shares of the best one."""
    return [(number, score / ranked[0][1]) for number, score in ranked]


def select_diverse(
    ranked: Iterable[tuple[int, float]], texts: Sequence[str], limit: int, weight: float = 0.7
) -> list[tuple[int, float]]:
    """Return up to `limit` of the ranked texts, each good and unlike those before it.

    Maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998): `weight` times the score,
    as a part of the best one, less `1 - weight` times the share of words that a chosen text has.
    A text that says the same as a chosen one is left out.
    """
    return list(islice(iterate_diverse(ranked, texts, weight), limit))


def iterate_diverse(
    ranked: Iterable[tuple[int, float]], texts: Sequence[str], weight: float = 0.7
) -> Iterator[tuple[int, float]]:
    """Yield what `select_diverse` returns, as long as more is wanted."""
    left = dict(ranked)
    at = {number: place for place, number in enumerate(left)}
    like = _WordOverlap([texts[number] for number in left])
    worth = _scaled(list(left.items()))
    while left:
        best = max(left, key=lambda n: weight * worth[n] - (1 - weight) * like.most[at[n]])
        yield best, left.pop(best)
        same = like.add(at[best], {at[number] for number in left})
        left = {number: score for number, score in left.items() if at[number] not in same}


def find_distinct_texts(texts: Sequence[str]) -> list[int]:
    """Return the indexes of the texts that say nothing an earlier one says in nearly its words."""
    like = _WordOverlap(texts)
    repeated: set[int] = set()
    for at in range(len(texts)):
        if at not in repeated:
            repeated |= like.add(at, range(at + 1, len(texts)))
    return [at for at in range(len(texts)) if at not in repeated]


class _WordOverlap:
    """The largest share of its words that each text has in common with an added one."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.bags = [frozenset(cached_search_words(text)) for text in texts]
        self.most = [0.0] * len(texts)

    def add(self, one: int, others: Iterable[int]) -> set[int]:
        """Compare a text with others, and return those that say the same."""
        same = set()
        for other in others:
            shared = len(self.bags[one] & self.bags[other])
            if shared:
                part = shared / min(len(self.bags[one]), len(self.bags[other]))
                self.most[other] = max(self.most[other], part)
            if other != one and self._same(one, other, shared):
                same.add(other)
        return same

    def _same(self, one: int, other: int, shared: int) -> bool:
        together = len(self.bags[one]) + len(self.bags[other]) - shared
        if shared >= SAME * together > 0:
            return _numbers(self.texts[one]) == _numbers(self.texts[other])
        return self.texts[one] == self.texts[other]


def _scaled(ranked: Sequence[tuple[int, float]]) -> dict[int, float]:
    low = min(0.0, *(score for _, score in ranked)) if ranked else 0.0
    high = max((score for _, score in ranked), default=0.0)
    return {n: (score - low) / (high - low) if high > low else 1.0 for n, score in ranked}


def _numbers(text: str) -> list[str]:
    return sorted(re.findall(r"\d+", text))


Floats = NDArray[np.float32]

UNLIKE = 0.2
"""How much worth a passage loses if a chosen one has the same words."""

MEANT = 0.6
"""The weight of meaning, if it is known, in the worth of a passage; words have the rest."""

COMPARED_PASSAGES = 40
"""How many passages, the best by words, are compared by meaning."""

LEAST = 1e-6
"""The smallest divisor, which avoids divisions by zero."""

MISFITS = 6
"""The choice ends after this many consecutive passages that do not fit."""


class ScoredPassage(NamedTuple):
    """A passage of a page: the page's place among all, and what the passage is worth."""

    page: int
    span: Span
    text: str
    """What it is compared by: its words, and those of its title."""
    worth: float
    """1 for the best passage."""
    factor: float = 1.0
    """A factor on its worth by words and meaning."""


class _PassageChoice:
    """The passages chosen so far, by page, and the tokens that they take."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.spans: dict[int, list[Span]] = {}
        self.used = 0

    def add(self, cut: ScoredPassage, room: int) -> bool:
        """Add a whole passage if there is room for it; the first one always fits."""
        before = self.spans.get(cut.page, [])
        after = merge_passages(self.texts[cut.page], [*before, cut.span])
        more = _tokens(after) - _tokens(before)
        if self.spans and self.used + more > room:
            return False
        self.spans[cut.page] = after
        self.used += more
        return True


def select_passages(
    texts: Sequence[str],
    cuts: Sequence[ScoredPassage],
    room: int,
    first: Collection[int] = (),
    each: Collection[int] = (),
) -> Mapping[int, Sequence[Span]]:
    """Return the best spans of the pages within a number of tokens, the page of the best first.

    A passage loses worth with the words it shares with chosen ones, so that new content is
    preferred (maximal marginal relevance; Carbonell and Goldstein, SIGIR 1998).

    Args:
        texts: The pages.
        cuts: Their passages.
        room: How many tokens the spans may take together.
        first: The pages to which half of the room is reserved.
        each: The pages of which something is shown in any case, as far as there is room.
    """
    choice = _PassageChoice(texts)
    for page in each:
        _fill(choice, sorted(_of(cuts, {page}), key=_worth)[:1], room)
    _fill(choice, _of(cuts, first), room // 2)
    _fill(choice, cuts, room)
    return choice.spans


def rescore_by_meaning(cuts: Sequence[ScoredPassage], likeness: Floats) -> list[ScoredPassage]:
    """Return passages scored by meaning as well as words, the best first.

    Args:
        cuts: The passages, the best by words first.
        likeness: The similarity of the first passages (rows) to each query (columns).
    """
    low, high = likeness.min(axis=0), likeness.max(axis=0)
    scaled = (likeness - low) / np.maximum(high - low, LEAST)
    meant = (scaled.max(axis=1) + scaled.mean(axis=1)) / 2
    meant = (meant / max(float(meant.max()), LEAST)).tolist()
    near = [
        cut._replace(worth=(1 - MEANT) * cut.worth + MEANT * worth * cut.factor)
        for cut, worth in zip(cuts, meant, strict=False)
    ]
    far = [cut._replace(worth=(1 - MEANT) * cut.worth / 2) for cut in cuts[len(near) :]]
    return sorted([*near, *far], key=_worth)


def limit_by_document(
    cuts: Sequence[ScoredPassage], documents: Sequence[str], most: int
) -> list[ScoredPassage]:
    """Return the best passages, at most some of each document if there are several documents.

    Args:
        cuts: The passages, the best first.
        documents: The document of each page.
        most: How many passages of a document are kept.
    """
    if len({documents[cut.page] for cut in cuts}) < 2:
        return [*cuts]
    counts = Counter[str]()
    kept: list[ScoredPassage] = []
    for cut in cuts:
        counts[documents[cut.page]] += 1
        if counts[documents[cut.page]] <= most:
            kept.append(cut)
    return kept


def _of(cuts: Sequence[ScoredPassage], pages: Collection[int]) -> list[ScoredPassage]:
    return [cut for cut in cuts if cut.page in pages]


def _worth(cut: ScoredPassage) -> float:
    return -cut.worth


def _fill(choice: _PassageChoice, cuts: Sequence[ScoredPassage], room: int) -> None:
    """Add passages to a choice until nothing more fits."""
    like = _WordOverlap([cut.text for cut in cuts])
    left = set(range(len(cuts)))
    misfits = 0

    def gain(at: int) -> tuple[float, int]:
        """Return the worth of a passage less its likeness to chosen ones; ties go by rank."""
        return (1 - UNLIKE) * cuts[at].worth - UNLIKE * like.most[at], -at

    while left and misfits < MISFITS:
        best = max(left, key=gain)
        left.remove(best)
        if choice.add(cuts[best], room):
            left -= like.add(best, left)
            misfits = 0
        else:
            misfits += 1


def _tokens(spans: Sequence[Span]) -> int:
    return sum(estimate_tokens(span.text) for span in spans)
