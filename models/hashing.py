"""Make vectors of texts by hashing their words and letters: no file, no network, any language.

Feature hashing of Weinberger et al., ICML 2009. Texts are alike where they share words or parts of
words; nothing is known of meanings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np

from models.bert import Floats, unit
from retrieval.words import words

DIMENSION = 1024

GRAM = 3
"""Parts of words have as many letters."""


def hashed(texts: Sequence[str]) -> Floats:
    """Return the vectors of texts, one row of length 1 for each; zeros for a text without words."""
    vectors = np.zeros((len(texts), DIMENSION), np.float32)
    for row, text in enumerate(texts):
        times = Counter(code for word in words(text) for code in _codes(word))
        codes = np.fromiter(times, np.uint32, len(times))
        weights = np.log1p(np.fromiter(times.values(), np.float32, len(times)))
        # The highest bit is the sign, so that features that collide cancel on average.
        np.add.at(vectors[row], codes % DIMENSION, np.where(codes >> 31, -weights, weights))
    return unit(vectors)


@lru_cache(maxsize=65536)
def _codes(word: str) -> tuple[int, ...]:
    """Return the hashes of a word and of its parts."""
    # A Chinese word is a pair of characters already.
    framed = f"<{word}>" if word.isascii() and len(word) > GRAM else ""
    parts = (framed[at : at + GRAM] for at in range(len(framed) - GRAM + 1))
    return tuple(crc32(feature.encode()) for feature in (word, *parts))
