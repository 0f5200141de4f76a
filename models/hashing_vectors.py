"""Vectors of texts.

Their types and length, and vectors that are made by hashing words and letters (feature hashing of
Weinberger et al., ICML 2009).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from text.words import search_words

HASHING_DIMENSION = 1024

GRAM = 3
"""Parts of words have as many letters."""


def hash_texts(texts: Sequence[str]) -> FloatMatrix:
    """Return the vectors of texts, one row of length 1 for each; zeros for a text without words."""
    vectors = np.zeros((len(texts), HASHING_DIMENSION), np.float32)
    for row, text in enumerate(texts):
        times = Counter(chain.from_iterable(map(_codes, search_words(text))))
        codes = np.fromiter(times, np.uint32, len(times))
        weights = np.log1p(np.fromiter(times.values(), np.float32, len(times)))
        # The highest bit is the sign, so that features that collide cancel on average.
        np.add.at(vectors[row], codes % HASHING_DIMENSION, np.where(codes >> 31, -weights, weights))
    return normalize_rows(vectors)


@lru_cache(maxsize=65536)
def _codes(word: str) -> tuple[int, ...]:
    """Return the hashes of a word and of its parts."""
    # A Chinese word is a pair of characters already.
    framed = f"<{word}>" if word.isascii() and len(word) > GRAM else ""
    parts = (framed[at : at + GRAM] for at in range(len(framed) - GRAM + 1))
    return tuple(crc32(feature.encode()) for feature in (word, *parts))


FloatMatrix = NDArray[np.float32]
TokenIds = NDArray[np.int64]


def normalize_rows(vectors: FloatMatrix) -> FloatMatrix:
    """Return vectors, one in each row, with a length of 1; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    divided: FloatMatrix = vectors / lengths
    return divided
