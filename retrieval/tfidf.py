"""Tell how alike short texts are, by the weights of the words they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix, vstack

from retrieval.words import words

Floats = NDArray[np.float32]
Places = NDArray[np.int64]


class Shelf:
    """Short texts in rows, compared with any other text by the cosine of TF-IDF vectors.

    The weight of a word is (1 + ln tf) * idf with idf = 1 + ln((1 + n) / (1 + df)), on both sides,
    as in scikit-learn's `TfidfVectorizer(sublinear_tf=True)`; words that are in no row count
    nothing. How rare words are is found out when a shelf is made by `only`; what `more` adds is
    weighed by that, and a word that is new by what it would be in one row.

    A shelf never changes, so any number of threads may read it. Only one at a time may make others
    from it, since they share the numbers of the words.
    """

    def __init__(
        self,
        columns: dict[str, int] | None = None,
        rarity: Floats | None = None,
        counts: csr_matrix | None = None,
        weighed: csc_matrix | None = None,
    ) -> None:
        """Make a shelf of its parts; an empty one of none.

        Args:
            columns: The column of each word.
            rarity: The idf of each word.
            counts: 1 + ln tf of each word in each row.
            weighed: The vectors of the rows that were there when it was weighed.
        """
        self._columns = {} if columns is None else columns
        self._rarity = np.zeros(0, dtype=np.float32) if rarity is None else rarity
        self._counts = csr_matrix((0, 0), dtype=np.float32) if counts is None else counts
        first = csc_matrix((0, 0), dtype=np.float32) if weighed is None else weighed
        self._parts = [first, _vectors(self._counts[first.shape[0] :], self._rarity)]

    def more(self, texts: Sequence[str]) -> Shelf:
        """Return a shelf with more texts, in the rows behind those that are there."""
        new = _counted(texts, self._columns)
        counts = vstack([_widened(self._counts, new.shape[1]), new], format="csr")
        once = 1 + np.log((1 + self._parts[0].shape[0]) / 2)
        unknown = np.full(new.shape[1] - len(self._rarity), max(once, 1), dtype=np.float32)
        rarity = np.append(self._rarity, unknown)
        return Shelf(self._columns, rarity, counts, self._parts[0])

    def only(self, rows: Places) -> Shelf:
        """Return a shelf with some of the rows, in that order, with the weights they have now."""
        counts = self._counts[rows]
        found = np.bincount(counts.indices, minlength=counts.shape[1])
        kept = np.flatnonzero(found)
        columns = self._columns
        if len(kept) < len(found):
            places = dict(zip(kept.tolist(), range(len(kept)), strict=True))
            columns = {word: places[at] for word, at in columns.items() if at in places}
            counts = counts[:, kept]
        rarity = 1 + np.log((1 + len(rows)) / (1 + found[kept])).astype(np.float32)
        return Shelf(columns, rarity, counts, _vectors(counts, rarity))

    def likeness(self, text: str) -> Floats | None:
        """Return the cosine of each row with a text; `None` if they have no word in common."""
        known = len(self._rarity)
        found = {
            column: times
            for word, times in _bag(text).items()
            if (column := self._columns.get(word, known)) < known
        }
        if not found:
            return None
        columns = np.array(sorted(found))
        vector = _damped([found[column] for column in columns.tolist()]) * self._rarity[columns]
        vector = (vector / np.linalg.norm(vector)).astype(np.float32)
        cosines = [_products(part, columns, vector) for part in self._parts if part.shape[0]]
        return np.concatenate(cosines)


def best(scores: Floats, many: int) -> Places:
    """Return the places of the highest scores, best first; of equals the last come first.

    Scores of minus infinity are left out.
    """
    least = _at_least(scores, many)
    places = np.flatnonzero((scores >= least) & (scores > -np.inf))
    if len(places) > many:
        edge = np.partition(scores[places], -many)[-many]
        above, equal = places[scores[places] > edge], places[scores[places] == edge]
        places = np.concatenate([above, equal[len(equal) - (many - len(above)) :]])
    return places[np.lexsort((-places, -scores[places]))]


def _at_least(scores: Floats, many: int) -> float:
    """Return a score that as many as are wanted have, or more; it need not be the highest such.

    The best of each column are different ones, so that many of them are no better than the best.
    """
    columns = 4 * many
    if len(scores) < 2 * columns:
        return float("-inf")
    tops = scores[: len(scores) // columns * columns].reshape(-1, columns).max(axis=0)
    return float(np.partition(tops, -many)[-many])


def _products(part: csc_matrix, columns: Places, vector: Floats) -> Floats:
    """Return the product of each row with a vector of some columns, in ascending order."""
    inside = np.searchsorted(columns, part.shape[1])
    products: Floats = part[:, columns[:inside]] @ vector[:inside]
    return products


@lru_cache(maxsize=64)
def _bag(text: str) -> Mapping[str, int]:
    return Counter(words(text))


def _damped(times: Sequence[int]) -> Floats:
    return 1 + np.log(np.array(times, dtype=np.float32))


def _counted(texts: Sequence[str], columns: dict[str, int]) -> csr_matrix:
    """Count the words of texts, and give a column to each that has none."""
    places: list[int] = []
    times: list[int] = []
    ends = [0]
    for text in texts:
        bag = Counter(words(text))
        places += [columns.setdefault(word, len(columns)) for word in bag]
        times += bag.values()
        ends.append(len(places))
    shape = (len(texts), len(columns))
    return csr_matrix((_damped(times), places, ends), shape=shape, dtype=np.float32)


def _widened(counts: csr_matrix, columns: int) -> csr_matrix:
    shape = (counts.shape[0], columns)
    return csr_matrix((counts.data, counts.indices, counts.indptr), shape=shape)


def _vectors(counts: csr_matrix, rarity: Floats) -> csc_matrix:
    """Return the rows weighed by the rarity of their words, each of length 1."""
    lengths = np.diff(counts.indptr)
    weights = counts.data * rarity[counts.indices]
    rows = np.repeat(np.arange(len(lengths)), lengths)
    norms = np.sqrt(np.bincount(rows, weights.astype(np.float64) ** 2, minlength=len(lengths)))
    unit = (weights / np.repeat(norms, lengths)).astype(np.float32)
    return csr_matrix((unit, counts.indices, counts.indptr), shape=counts.shape).tocsc()
