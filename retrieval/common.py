"""Tell words that say much from words found in any text."""

from __future__ import annotations

import math
from functools import cache, lru_cache
from pathlib import Path

from retrieval.words import QUESTION_WORDS, words

LEAST = 0.2
"""What the most common word weighs; a word that is not in the list weighs 1."""


ENDING = 5
"""The longest ending that is added to a stem, in letters."""

FRAME = frozenset(
    stem
    for word in [
        *QUESTION_WORDS,
        *("use", "like", "prefer", "enjoy", "love", "hate", "work", "make", "get", "good"),
        *("thing", "way", "lot", "new", "user", "always"),
    ]
    for stem in words(word)
)
"""The words, as `retrieval.words` cuts them, that say of whom or what for, and not about what."""

GRAMMAR = frozenset(
    "的了是在和与與及或被把由从從对對于於以為为而也都又就還还很其这這那並并但且若則则使让讓给給向到等曾才只"
)
"""Chinese characters that mostly join words, so that a pair with one of them is seldom a word."""


@lru_cache(maxsize=65_536)
def weight(word: str) -> float:
    """Return how much a word of `retrieval.words` says about the topic of a text, in 0..1.

    In the few pages of one search the topic itself is the most common word, so its rarity there
    says nothing; its rank in other text does. By Zipf's law the share of texts with the word of
    rank r falls like 1 / r, so its inverse document frequency grows like ln r.
    """
    if len(word) == 2 and not GRAMMAR.isdisjoint(word):
        return LEAST
    rank, listed = _ranks().get(word, (1, 0))
    return LEAST + (1 - LEAST) * (math.log(rank) / math.log(listed)) if listed else 1.0


@cache
def topical(word: str) -> float:
    """Return how much a word of `retrieval.words` counts that two short texts share, in 0..1.

    A common word says little of what they are about, and one in which requests and notes on people
    are worded ("uses", "likes", "wants to know") says nothing.
    """
    return 0.0 if word in FRAME else weight(word) ** 2


def is_common(word: str) -> bool:
    """Say whether an English word begins with a stem of the list and goes on with an ending."""
    lower = word.lower()
    if lower[-1:] == "y":
        lower = f"{lower[:-1]}i"
    most = ENDING if len(lower) > ENDING else 2
    shortest = max(len(lower) - most, 3)
    ranks = _ranks()
    while len(lower) >= shortest:
        if lower in ranks:
            return True
        lower = lower[:-1]
    return False


@cache
def _ranks() -> dict[str, tuple[int, int]]:
    """Return the rank of each listed word, and the length of its list.

    The list has the words of most encyclopedia paragraphs, an English and a Chinese part (pairs
    of characters), each most common first; the word counts are of HotpotQA, MuSiQue, 2Wiki, CMRC
    2018 and DRCD.
    """
    text = Path(__file__).with_name("common_words.txt").read_text(encoding="utf-8")
    parts = [part.split() for part in text.split("\n\n") if part.strip()]
    return {word: (rank, len(part)) for part in parts for rank, word in enumerate(part, start=1)}
