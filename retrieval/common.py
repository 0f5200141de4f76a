"""Tell words that say much from words found in any text."""

from __future__ import annotations

import math
from functools import cache
from importlib import resources

LEAST = 0.2
"""What the most common word weighs; a word that is not in the list weighs 1."""


GRAMMAR = frozenset(
    "的了是在和与與及或被把由从從对對于於以為为而也都又就還还很其这這那並并但且若則则使让讓给給向到等曾才只"
)
"""Chinese characters that mostly join words, so that a pair with one of them is seldom a word."""


def weight(word: str) -> float:
    """Return how much a word of `retrieval.words` says about the topic of a text, in 0..1.

    In the few pages of one search the topic itself is the most common word, so its rarity there
    says nothing; its rank in other text does. By Zipf's law the share of texts with the word of
    rank r falls like 1 / r, so its inverse document frequency grows like ln r.
    """
    ranks = _ranks()
    if len(word) == 2 and not GRAMMAR.isdisjoint(word):
        return LEAST
    if word not in ranks:
        return 1.0
    return LEAST + (1 - LEAST) * ranks[word]


@cache
def _ranks() -> dict[str, float]:
    """Return ln(rank) / ln(length of the list) for each listed word.

    The list has the words of most encyclopedia paragraphs, an English and a Chinese part (pairs
    of characters), each most common first; the word counts are of HotpotQA, MuSiQue, 2Wiki, CMRC
    2018 and DRCD.
    """
    text = resources.files("retrieval").joinpath("common_words.txt").read_text(encoding="utf-8")
    parts = [part.split() for part in text.split("\n\n") if part.strip()]
    return {
        word: math.log(rank) / math.log(len(part))
        for part in parts
        for rank, word in enumerate(part, start=1)
    }
