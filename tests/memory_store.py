"""A namespace of pages held in memory, as the scorer sees it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix

from library.page_scoring import PageCounts, PageRow, Vector
from text.title_mentions import title_key
from text.words import search_words

TITLE = 3.0
"""How often a word of the title counts in the rank of `MemoryStore.matching`."""


def _row(
    number: int,
    title: str,
    text: str,
    *,
    name: str = "",
    session: str = "",
    turn: int = 0,
    speaker: str = "",
    said: str = "",
) -> PageRow:
    """Return a page with its words cut."""
    cut = " ".join(search_words(text)), " ".join(search_words(title))
    return PageRow(number, name or str(number), title, text, *cut, session, turn, speaker, said)


class MemoryStore:
    """Pages with a matrix of BM25 weights, as a `library.page_scoring.PageCollection`."""

    def __init__(self, rows: Iterable[PageRow]) -> None:
        self._rows = {each.number: each for each in rows}
        self._numbers = np.array(list(self._rows), dtype=np.int64)
        self._titles: dict[str, list[int]] = defaultdict(list)
        self._turns: dict[tuple[str, int], list[int]] = defaultdict(list)
        for each in self._rows.values():
            self._titles[title_key(each.title)].append(each.number)
            if each.session:
                self._turns[each.session, each.turn].append(each.number)
        self._vocabulary: dict[str, int] = {}
        self._counts, self._weights = self._matrices()

    def _matrices(self) -> tuple[NDArray[np.int64], csc_matrix]:
        entries: list[tuple[int, int, float]] = []
        for at, each in enumerate(self._rows.values()):
            bag = Counter(each.words.split())
            for word in each.title_words.split():
                bag[word] += int(TITLE)
            for word, times in bag.items():
                term = self._vocabulary.setdefault(word, len(self._vocabulary))
                entries.append((at, term, times))
        shape = (len(self._rows), len(self._vocabulary))
        if not entries:
            return np.zeros(0, dtype=np.int64), csc_matrix(shape)
        pages, terms, counted = (np.array(column) for column in zip(*entries, strict=True))
        matrix = csc_matrix((counted, (pages, terms)), shape=shape)
        counts = np.diff(matrix.indptr)
        lengths = np.asarray(matrix.sum(axis=1)).ravel()
        damped = 1.2 * (0.5 + 0.5 * lengths / lengths.mean())
        idf = np.log(1 + (shape[0] - counts + 0.5) / (counts + 0.5))
        matrix.data = matrix.data * 2.2 / (matrix.data + damped[matrix.indices])
        matrix.data *= np.repeat(idf, counts)
        return counts, matrix

    def stats(self) -> PageCounts:
        """Return the number of pages and the average lengths."""
        return self._stats()

    @lru_cache(maxsize=1)  # noqa: B019
    def _stats(self) -> PageCounts:
        pages = list(self._rows.values())
        text = sum(each.words.count(" ") + 1 for each in pages if each.words)
        title = sum(each.title_words.count(" ") + 1 for each in pages if each.title_words)
        return PageCounts(len(pages), text / max(len(pages), 1), title / max(len(pages), 1))

    def counts(self, terms: Sequence[str]) -> Mapping[str, int]:
        """Return how many pages hold each word."""
        known = {term: self._vocabulary[term] for term in terms if term in self._vocabulary}
        return {term: int(self._counts[column]) for term, column in known.items()}

    def scores(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """Return the BM25 score of every page, in the order of the rows."""
        total = np.zeros(len(self._rows))
        for term in terms:
            column = self._vocabulary.get(term)
            if column is not None:
                ends = slice(self._weights.indptr[column], self._weights.indptr[column + 1])
                total[self._weights.indices[ends]] += self._weights.data[ends]
        return total

    def sample(self, limit: int) -> list[PageRow]:
        """Return pages evenly over their order."""
        rows = list(self._rows.values())
        return rows[:: max(len(rows) // max(limit, 1), 1)][:limit]

    def matching(self, terms: Sequence[str], limit: int) -> list[int]:
        """Return the best pages by BM25, best first."""
        scores = self.scores(terms)
        best = np.argsort(-scores, kind="stable")[:limit]
        return [int(number) for number in self._numbers[best[scores[best] > 0]]]

    def rows(self, numbers: Sequence[int]) -> list[PageRow]:
        """Return pages by their numbers."""
        return [self._rows[number] for number in numbers if number in self._rows]

    def beside(self, numbers: Sequence[int], reach: int = 1) -> list[PageRow]:
        """Return the neighbours in the same session."""
        found: dict[int, PageRow] = {}
        for each in self.rows(numbers):
            for turn in range(each.turn - reach, each.turn + reach + 1) if each.session else ():
                found |= {
                    other: self._rows[other] for other in self._turns.get((each.session, turn), ())
                }
        return [each for number, each in found.items() if number not in set(numbers)]

    def holding(self, names: Sequence[str], limit: int) -> Mapping[str, Mapping[int, bool]]:
        """Return the pages that hold the words of a name next to each other."""
        found = {name: self._holding(name) for name in names}
        return {name: pages for name, pages in found.items() if 0 < len(pages) <= limit}

    @lru_cache(maxsize=65536)  # noqa: B019
    def _holding(self, name: str) -> Mapping[int, bool]:
        names = name.split()
        if not self._vocabulary.keys() >= set(names):
            return {}
        columns = [self._vocabulary[word] for word in names]
        m = self._weights
        pages = sorted((m.indices[m.indptr[c] : m.indptr[c + 1]] for c in columns), key=len)
        both = set(pages[0].tolist()).intersection(*(set(p.tolist()) for p in pages[1:]))
        found = {}
        for at in sorted(both):
            row = self._rows[int(self._numbers[at])]
            in_title = f" {name} " in f" {row.title_words} "
            if in_title or f" {name} " in f" {row.words} ":
                found[row.number] = in_title
        return found

    def titled(self, keys: Sequence[str]) -> Mapping[str, Sequence[int]]:
        """Return the pages by the keys of their titles."""
        return {key: self._titles[key] for key in keys if key and key in self._titles}


class MemoryVectors:
    """The vectors of some pages; every method is that of `library.page_scoring.VectorCollection`.

    A page may have several vectors, one for each of its passages; the best of them counts.
    """

    def __init__(self, numbers: Sequence[int], vectors: NDArray[np.float32]) -> None:
        order = np.argsort(np.array(numbers, dtype=np.int64), kind="stable")
        self._numbers, self._firsts = np.unique(np.array(numbers)[order], return_index=True)
        self._vectors = vectors[order]
        self._asked: NDArray[np.float32] | None = None
        self._found = np.zeros(0, dtype=np.float32)

    def _cosines(self, vector: Vector) -> NDArray[np.float32]:
        asked = np.asarray(vector, dtype=np.float32)
        if self._asked is None or not np.array_equal(asked, self._asked):
            self._asked = asked
            self._found = np.maximum.reduceat(self._vectors @ asked, self._firsts)
        return self._found

    def nearest(self, vector: Vector, limit: int) -> Mapping[int, float]:
        """Return the cosines of the nearest pages."""
        cosines = self._cosines(vector)
        best = np.argsort(-cosines, kind="stable")[:limit]
        return dict(zip(self._numbers[best].tolist(), cosines[best].tolist(), strict=True))

    def likeness(self, vector: Vector, numbers: Sequence[int]) -> Mapping[int, float]:
        """Return the cosines of given pages."""
        cosines = self._cosines(vector)
        places = np.searchsorted(self._numbers, numbers)
        return {
            number: float(cosines[place])
            for number, place in zip(numbers, places.tolist(), strict=True)
            if place < len(self._numbers) and self._numbers[place] == number
        }
