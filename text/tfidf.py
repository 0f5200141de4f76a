"""Compare short texts by TF-IDF, and group those in nearly the same words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np
import scipy  # It imports `scipy.sparse` when that is used.
from numpy.typing import NDArray

from text.words import search_words

SimilarityArray = NDArray[np.float32]
RowNumbers = NDArray[np.int64]


class TfidfMatrix:
    """Short texts in rows, compared with any other text by the cosine of TF-IDF vectors.

    The weight of a word is (1 + ln tf) * idf with idf = 1 + ln((1 + n) / (1 + df)), on both sides,
    as in scikit-learn's `TfidfVectorizer(sublinear_tf=True)`; a word that is in no row weighs
    nothing. The cosines depend on the texts alone, and not on the order of additions.

    A matrix is immutable, so any number of threads may read it. Only one thread at a time may
    derive others from it, since they share the mapping of words to columns.
    """

    def __init__(
        self,
        columns: dict[str, int],
        counts: scipy.sparse.csr_matrix,
        frequencies: RowNumbers,
        size: int,
        base: scipy.sparse.csc_matrix,
    ) -> None:
        """Assemble a matrix of its parts; `build_tfidf_matrix` makes one of texts.

        Args:
            columns: The column of each word.
            counts: 1 + ln tf of each word in each row.
            frequencies: The number of texts with each word.
            size: The number of texts, without those of removed rows.
            base: The first rows of `counts`, by column.
        """
        self._columns, self._counts, self._size = columns, counts, size
        self._frequencies = frequencies
        self._parts = [base, counts[base.shape[0] :].tocsc()]
        idf = np.where(frequencies > 0, 1 + np.log((1 + size) / (1 + frequencies)), 0)
        squares = scipy.sparse.csr_matrix(
            (counts.data**2, counts.indices, counts.indptr), shape=counts.shape
        )
        lengths = np.sqrt(squares @ idf**2)
        self._idf = idf.astype(np.float32)
        self._lengths = np.where(lengths > 0, lengths, 1).astype(np.float32)

    def with_texts(self, texts: Sequence[str]) -> TfidfMatrix:
        """Return a matrix with more texts, in rows after the present ones."""
        new = _count_words(texts, self._columns)
        width = new.shape[1]
        counts = scipy.sparse.vstack([_widen(self._counts, width), new], format="csr")
        frequencies = np.bincount(new.indices, minlength=width)
        frequencies[: len(self._frequencies)] += self._frequencies
        size = self._size + len(texts)
        return TfidfMatrix(self._columns, counts, frequencies, size, self._parts[0])

    def without_rows(self, rows: RowNumbers) -> TfidfMatrix:
        """Return a matrix without the texts of some rows; the rows themselves stay."""
        removed = np.bincount(self._counts[rows].indices, minlength=len(self._frequencies))
        frequencies, size = self._frequencies - removed, self._size - len(rows)
        return TfidfMatrix(self._columns, self._counts, frequencies, size, self._parts[0])

    def select_rows(self, rows: RowNumbers) -> TfidfMatrix:
        """Return a matrix of some of the rows alone, in that order: the fastest to search."""
        counts = self._counts[rows]
        frequencies = np.bincount(counts.indices, minlength=counts.shape[1])
        used = np.flatnonzero(frequencies)
        columns = self._columns
        if len(used) < len(columns):
            renumbered = {old: new for new, old in enumerate(used.tolist())}
            columns = {word: renumbered[n] for word, n in columns.items() if n in renumbered}
            counts = counts[:, used]
        return TfidfMatrix(columns, counts, frequencies[used], len(rows), counts.tocsc())

    def similarity(
        self, text: str, worth: Callable[[str], float] = lambda _: 1.0
    ) -> SimilarityArray | None:
        """Return the cosine of each row with a text; `None` if they have no word in common.

        Args:
            text: The text.
            worth: The weight of a shared word, in 0..1; words of weight 0 are ignored.
        """
        width = len(self._idf)
        shared = {
            column: (times, weight)
            for word, times in _bag(text).items()
            if (column := self._columns.get(word, width)) < width
            and self._frequencies[column]
            and (weight := worth(word)) > 0.0
        }
        if not shared:
            return None
        columns = np.array(sorted(shared))
        idf = self._idf[columns]
        times, weights = zip(*(shared[column] for column in columns.tolist()), strict=True)
        vector = _damp(times) * idf
        vector *= idf * np.array(weights, dtype=np.float32) / np.linalg.norm(vector)
        products = [_multiply(part, columns, vector) for part in self._parts if part.shape[0]]
        cosines: SimilarityArray = np.concatenate(products) / self._lengths
        return cosines


def build_tfidf_matrix(texts: Sequence[str]) -> TfidfMatrix:
    """Return a matrix of texts."""
    nothing = scipy.sparse.csr_matrix((0, 0), dtype=np.float32)
    empty = TfidfMatrix({}, nothing, np.zeros(0, dtype=np.int64), 0, nothing.tocsc())
    return empty.with_texts(texts).select_rows(np.arange(len(texts))) if texts else empty


def group_similar_texts(texts: Sequence[str], least: float) -> list[list[int]]:
    """Return the places of texts in nearly the same words, two or more in each group.

    Average-linkage clustering of TF-IDF vectors: the mean cosine between the texts of two groups
    that are joined is at least `least`. The first of a group is the first of the texts.
    """
    places = [place for place, text in enumerate(texts) if search_words(text)]
    if len(places) < 2:
        return []
    # scikit-learn takes 100 MB and half a second to import; only work behind a report groups texts.
    from sklearn.cluster import AgglomerativeClustering  # noqa: PLC0415
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415

    vectorizer = TfidfVectorizer(analyzer=search_words, sublinear_tf=True)
    vectors = vectorizer.fit_transform([texts[place] for place in places]).toarray()
    clustering = AgglomerativeClustering(
        n_clusters=None, metric="cosine", linkage="average", distance_threshold=1 - least
    )
    groups = defaultdict[int, list[int]](list)
    for place, label in zip(places, clustering.fit_predict(vectors).tolist(), strict=True):
        groups[label].append(place)
    return [group for group in groups.values() if len(group) > 1]


def best_rows(scores: SimilarityArray, limit: int) -> RowNumbers:
    """Return the places of the highest scores, best first; of equal scores the last come first.

    Scores of minus infinity are left out.
    """
    least = _lower_bound(scores, limit)
    places = np.flatnonzero((scores >= least) & (scores > -np.inf))
    if len(places) > limit:
        edge = np.partition(scores[places], -limit)[-limit]
        above, equal = places[scores[places] > edge], places[scores[places] == edge]
        places = np.concatenate([above, equal[len(equal) - (limit - len(above)) :]])
    return places[np.lexsort((-places, -scores[places]))]


def _lower_bound(scores: SimilarityArray, limit: int) -> float:
    """Return a score that at least `limit` rows reach, not necessarily the highest such score.

    The maxima of columns belong to different rows, so the `limit` best maxima are reached by as
    many rows.
    """
    columns = 4 * limit
    if len(scores) < 2 * columns:
        return float("-inf")
    maxima = scores[: len(scores) // columns * columns].reshape(-1, columns).max(axis=0)
    return float(np.partition(maxima, -limit)[-limit])


def _multiply(
    part: scipy.sparse.csc_matrix, columns: RowNumbers, vector: SimilarityArray
) -> SimilarityArray:
    """Return the product of each row with a vector of some columns, in ascending order."""
    inside = np.searchsorted(columns, part.shape[1])
    products: SimilarityArray = part[:, columns[:inside]] @ vector[:inside]
    return products


@lru_cache(maxsize=64)
def _bag(text: str) -> Mapping[str, int]:
    return Counter(search_words(text))


def _damp(times: Sequence[int]) -> SimilarityArray:
    return 1 + np.log(np.array(times, dtype=np.float32))


def _count_words(texts: Sequence[str], columns: dict[str, int]) -> scipy.sparse.csr_matrix:
    """Count the words of texts, and assign a column to each new one."""
    indices: list[int] = []
    times: list[int] = []
    row_ends = [0]
    for text in texts:
        bag = Counter(search_words(text))
        indices += [columns.setdefault(word, len(columns)) for word in bag]
        times += bag.values()
        row_ends.append(len(indices))
    data, shape = (_damp(times), indices, row_ends), (len(texts), len(columns))
    return scipy.sparse.csr_matrix(data, shape=shape, dtype=np.float32)


def _widen(counts: scipy.sparse.csr_matrix, columns: int) -> scipy.sparse.csr_matrix:
    shape = (counts.shape[0], columns)
    return scipy.sparse.csr_matrix((counts.data, counts.indices, counts.indptr), shape=shape)
