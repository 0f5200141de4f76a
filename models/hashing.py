"""Make vectors of texts by hashing their words and letters: no file, no network, any language.

Feature hashing of Weinberger et al., ICML 2009. Texts are alike where they share words or parts of
words; nothing is known of meanings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
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
        for feature, times in Counter(_features(text)).items():
            code = crc32(feature.encode())
            weight = np.log1p(np.float32(times))
            # The highest bit is the sign, so that features that collide cancel on average.
            vectors[row, code % DIMENSION] += -weight if code >> 31 else weight
    return unit(vectors)


def _features(text: str) -> Iterator[str]:
    for word in words(text):
        yield word
        # A Chinese word is a pair of characters already.
        if word.isascii() and len(word) > GRAM:
            framed = f"<{word}>"
            yield from (framed[at : at + GRAM] for at in range(len(framed) - GRAM + 1))
