"""How well a short answer agrees with the right one: F1 and BLEU-1 over words, as in GAM."""

from __future__ import annotations

import math
import re
from collections import Counter

ARTICLES = frozenset(["a", "an", "the"])


def normalised(text: str) -> list[str]:
    """Return the words of an answer: lower case, punctuation as spaces, without articles."""
    plain = re.sub(r"[^\w\s]|_", " ", text.lower())
    return [word for word in plain.split() if word not in ARTICLES]


def f1(answer: str, right: str) -> float:
    """Return the harmonic mean of precision and recall of the words, in 0..1."""
    said, wanted = normalised(answer), normalised(right)
    shared = _shared(said, wanted)
    return 2 * shared / (len(said) + len(wanted)) if shared else 0.0


def bleu1(answer: str, right: str) -> float:
    """Return the precision of the words, less for an answer shorter than the right one, in 0..1.

    Papineni et al., ACL 2002, with single words only.
    """
    said, wanted = normalised(answer), normalised(right)
    shared = _shared(said, wanted)
    if not shared:
        return 0.0
    return shared / len(said) * math.exp(min(0.0, 1 - len(wanted) / len(said)))


def _shared(said: list[str], wanted: list[str]) -> int:
    return (Counter(said) & Counter(wanted)).total()
