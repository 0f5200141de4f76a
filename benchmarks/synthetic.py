"""Pages and questions of made-up words, as common as words are in English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice, product

import numpy as np

from library.page_rows import NewPage
from text.words import STOPWORDS

SYLLABLES = re.findall("..", "bakolimunerasotivazedofegahujalopiquru")

VOCABULARY = 100_000
"""How many words there are; by Zipf's law the word of rank r comes up in proportion to 1 / r."""


def _vocabulary() -> list[str]:
    """Return the words, the most common first; those are the ones that no search looks for."""
    made = ("".join(parts) for size in (2, 3, 4) for parts in product(SYLLABLES, repeat=size))
    return list(islice(chain(sorted(STOPWORDS), made), VOCABULARY))


def make_texts(count: int, words: int = 200, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Yield the titles, of four words, and the texts of so many pages."""
    chance = np.random.default_rng(seed)
    known = np.array(_vocabulary())
    share = np.cumsum(1 / np.arange(1, VOCABULARY + 1))
    for _ in range(count):
        drawn = np.searchsorted(share, chance.random(words + 4) * share[-1])
        page = known[drawn]
        yield " ".join(page[:4]).title(), " ".join(page[4:])


def make_pages(count: int, words: int = 200, seed: int = 1) -> Iterator[NewPage]:
    """Yield so many pages."""
    for number, (title, text) in enumerate(make_texts(count, words, seed), start=1):
        yield NewPage(title=title, place=f"page={number}", text=text)


def make_question(text: str, seed: int) -> str:
    """Return six words of a text: three drawn as they come, three drawn from the different ones."""
    chance = np.random.default_rng(seed)
    said = [word for word in text.split() if word not in STOPWORDS]
    different = sorted(set(said))
    return " ".join([*chance.choice(said, 3), *chance.choice(different, 3)])
