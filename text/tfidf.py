"""Tell how alike short texts are, by the weights of the words they share."""

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


def _uniform_weight(word: str) -> float:
    """Let every word count as much as any other."""
    del word
    return 1.0


class TfidfMatrix:
    """Short texts in rows, compared with any other text by the cosine of TF-IDF vectors.

    The weight of a word is (1 + ln tf) * idf with idf = 1 + ln((1 + n) / (1 + df)), on both sides,
    as in scikit-learn's `TfidfVectorizer(sublinear_tf=True)`; a word that is in no row counts
    nothing. However a shelf came about, the cosines are those of its texts.

    A shelf never changes, so any number of threads may read it. Only one at a time may make others
    from it, since they share the numbers of the words.
    """

    def __init__(
        self,
        columns: dict[str, int],
        counts: scipy.sparse.csr_matrix,
        found: RowNumbers,
        size: int,
        settled: scipy.sparse.csc_matrix,
    ) -> None:
        """Make a shelf of its parts; `build_tfidf_matrix` makes one of texts.

        Args:
            columns: The column of each word.
            counts: 1 + ln tf of each word in each row.
            found: In how many texts each word is.
            size: How many texts there are; rows that were taken out are still counted.
            settled: The first rows once more, by column.
        """
        self._columns, self._counts, self._found, self._size = columns, counts, found, size
        self._parts = [settled, counts[settled.shape[0] :].tocsc()]
        rarity = np.where(found > 0, 1 + np.log((1 + size) / (1 + found)), 0)
        squares = scipy.sparse.csr_matrix(
            (counts.data**2, counts.indices, counts.indptr), shape=counts.shape
        )
        lengths = np.sqrt(squares @ rarity**2)
        self._rarity = rarity.astype(np.float32)
        self._lengths = np.where(lengths > 0, lengths, 1).astype(np.float32)

    def with_texts(self, texts: Sequence[str]) -> TfidfMatrix:
        """Return a shelf with more texts, in the rows behind those that are there."""
        new = _counted(texts, self._columns)
        width = new.shape[1]
        counts = scipy.sparse.vstack([_widened(self._counts, width), new], format="csr")
        found = np.bincount(new.indices, minlength=width)
        found[: len(self._found)] += self._found
        return TfidfMatrix(self._columns, counts, found, self._size + len(texts), self._parts[0])

    def without_rows(self, rows: RowNumbers) -> TfidfMatrix:
        """Return a shelf without the texts of some rows; the rows themselves stay."""
        gone = np.bincount(self._counts[rows].indices, minlength=len(self._found))
        size = self._size - len(rows)
        return TfidfMatrix(self._columns, self._counts, self._found - gone, size, self._parts[0])

    def select_rows(self, rows: RowNumbers) -> TfidfMatrix:
        """Return a shelf with some of the rows alone, in that order: the fastest there is."""
        counts = self._counts[rows]
        found = np.bincount(counts.indices, minlength=counts.shape[1])
        kept = np.flatnonzero(found)
        columns = self._columns
        if len(kept) < len(columns):
            places = dict(zip(kept.tolist(), range(len(kept)), strict=True))
            columns = {word: places[at] for word, at in columns.items() if at in places}
            counts = counts[:, kept]
        return TfidfMatrix(columns, counts, found[kept], len(rows), counts.tocsc())

    def similarity(
        self, text: str, worth: Callable[[str], float] = _uniform_weight
    ) -> SimilarityArray | None:
        """Return the cosine of each row with a text; `None` if they have no word in common.

        Args:
            text: The text.
            worth: How much a word that they share counts, in 0..1; those of 0 are not in the text.
        """
        width = len(self._rarity)
        found = {
            column: (times, counts)
            for word, times in _bag(text).items()
            if (column := self._columns.get(word, width)) < width
            and self._found[column]
            and (counts := worth(word)) > 0.0
        }
        if not found:
            return None
        columns = np.array(sorted(found))
        rarity = self._rarity[columns]
        often, weights = zip(*(found[column] for column in columns.tolist()), strict=True)
        vector = _damped(often) * rarity
        vector *= rarity * np.array(weights, dtype=np.float32) / np.linalg.norm(vector)
        products = [_products(part, columns, vector) for part in self._parts if part.shape[0]]
        cosines: SimilarityArray = np.concatenate(products) / self._lengths
        return cosines


def build_tfidf_matrix(texts: Sequence[str]) -> TfidfMatrix:
    """Return a shelf of texts."""
    nothing = scipy.sparse.csr_matrix((0, 0), dtype=np.float32)
    empty = TfidfMatrix({}, nothing, np.zeros(0, dtype=np.int64), 0, nothing.tocsc())
    return empty.with_texts(texts).select_rows(np.arange(len(texts))) if texts else empty


def group_similar_texts(texts: Sequence[str], least: float) -> list[list[int]]:
    """Return the places of texts in nearly the same words, two or more in each group.

    Average-linkage clustering of TF-IDF vectors: the mean cosine between the texts of two groups
    that are joined is at least `least`. The first of a group is the first of the texts.
    """
    # scikit-learn takes 100 MB and half a second to import; only work behind a report groups texts.
    from sklearn.cluster import AgglomerativeClustering  # noqa: PLC0415
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415

    places = [place for place, text in enumerate(texts) if search_words(text)]
    if len(places) < 2:
        return []
    vectorizer = TfidfVectorizer(analyzer=search_words, sublinear_tf=True)
    vectors = vectorizer.fit_transform([texts[place] for place in places]).toarray()
    clustering = AgglomerativeClustering(
        n_clusters=None, metric="cosine", linkage="average", distance_threshold=1 - least
    )
    groups = defaultdict[int, list[int]](list)
    for place, label in zip(places, clustering.fit_predict(vectors).tolist(), strict=True):
        groups[label].append(place)
    return [group for group in groups.values() if len(group) > 1]


def best_rows(scores: SimilarityArray, many: int) -> RowNumbers:
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


def _at_least(scores: SimilarityArray, many: int) -> float:
    """Return a score that as many as are wanted have, or more; it need not be the highest such.

    The best of each column are different ones, so that many of them are no better than the best.
    """
    columns = 4 * many
    if len(scores) < 2 * columns:
        return float("-inf")
    tops = scores[: len(scores) // columns * columns].reshape(-1, columns).max(axis=0)
    return float(np.partition(tops, -many)[-many])


def _products(
    part: scipy.sparse.csc_matrix, columns: RowNumbers, vector: SimilarityArray
) -> SimilarityArray:
    """Return the product of each row with a vector of some columns, in ascending order."""
    inside = np.searchsorted(columns, part.shape[1])
    products: SimilarityArray = part[:, columns[:inside]] @ vector[:inside]
    return products


@lru_cache(maxsize=64)
def _bag(text: str) -> Mapping[str, int]:
    return Counter(search_words(text))


def _damped(times: Sequence[int]) -> SimilarityArray:
    return 1 + np.log(np.array(times, dtype=np.float32))


def _counted(texts: Sequence[str], columns: dict[str, int]) -> scipy.sparse.csr_matrix:
    """Count the words of texts, and give a column to each that has none."""
    places: list[int] = []
    times: list[int] = []
    ends = [0]
    for text in texts:
        bag = Counter(search_words(text))
        places += [columns.setdefault(word, len(columns)) for word in bag]
        times += bag.values()
        ends.append(len(places))
    shape = (len(texts), len(columns))
    return scipy.sparse.csr_matrix((_damped(times), places, ends), shape=shape, dtype=np.float32)


def _widened(counts: scipy.sparse.csr_matrix, columns: int) -> scipy.sparse.csr_matrix:
    shape = (counts.shape[0], columns)
    return scipy.sparse.csr_matrix((counts.data, counts.indices, counts.indptr), shape=shape)
