"""Go from the best pages to those they lead to: by the titles and the names in their texts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from retrieval.bm25 import Asked
from retrieval.names import mentioned, names, possible, title_key
from retrieval.pool import Row, Store
from retrieval.weights import Weights

SEEDS = 5
"""From so many pages."""
READ = 4000
"""So many characters of a page are read for names."""
COMMON = 120
"""A name found in more pages than this leads nowhere."""
SHARE = 0.03
"""Nor does one found in a larger part of the pages than this."""


class Seed(NamedTuple):
    """A page that leads on; its force is 1 for the best page."""

    row: Row
    force: float


def gains(asked: Asked, store: Store, seeds: Sequence[Seed], weights: Weights) -> dict[int, float]:
    """Return what pages gain, by number, from the seeds that lead to them.

    Several signs that lead from one seed to one page add up like independent evidence; of several
    seeds the best counts. Parts of one document hold its title and all lead to each other, which
    says nothing: a page does not lead to those of its own title.
    """
    same = _same(store, seeds)
    mentions = _mentions(store, seeds)
    common = min(COMMON, int(SHARE * store.stats().pages))
    shared = _shared(asked, store, seeds, common)
    best: dict[int, float] = {}
    for row, force in seeds:
        missed: dict[int, float] = {}
        for number, worth in _signs(mentions[row.number], shared[row.number], common, weights):
            missed[number] = missed.get(number, 1.0) * (1 - min(worth, 0.99))
        for number, left in missed.items():
            if number != row.number and number not in same[row.number]:
                best[number] = max(best.get(number, 0.0), force * (1 - left))
    return best


def _same(store: Store, seeds: Sequence[Seed]) -> dict[int, set[int]]:
    """Return for each seed the pages with the very title that it has."""
    pages = store.titled(list({title_key(seed.row.title) for seed in seeds} - {""}))
    alike = [number for numbers in pages.values() if len(numbers) > 1 for number in numbers]
    titles = {row.number: row.title for row in store.rows(alike)} if alike else {}
    return {
        row.number: {number for number, title in titles.items() if title == row.title}
        for row, _ in seeds
    }


def _signs(
    mentions: Mapping[int, float],
    shared: Sequence[Mapping[int, bool]],
    common: int,
    weights: Weights,
) -> Iterator[tuple[int, float]]:
    """Yield each sign that a seed leads to a page: the page's number, and how sure it is."""
    for number, share in mentions.items():
        yield number, weights.mention * share
    for pages in shared:
        sure = weights.name * (1 - math.log(len(pages)) / math.log(common + 1))
        for number, in_title in pages.items():
            yield number, sure * (weights.name_in_title if in_title else 1)


def _mentions(store: Store, seeds: Sequence[Seed]) -> dict[int, dict[int, float]]:
    """Return for each seed the pages whose titles it mentions, with 1 / pages of that title."""
    places = {seed.row.number: possible(seed.row.text[:READ]) for seed in seeds}
    keys = list(dict.fromkeys(key for each in places.values() for key in each))
    pages = store.titled(keys) if keys else {}
    return {
        number: {page: 1 / len(pages[key]) for key in mentioned(each, pages) for page in pages[key]}
        for number, each in places.items()
    }


def _shared(
    asked: Asked, store: Store, seeds: Sequence[Seed], common: int
) -> dict[int, list[Mapping[int, bool]]]:
    """Return for each seed the pages that hold its names, for each name that is rare enough.

    A name that stands in the question leads nowhere new.
    """
    question = f" {' '.join(asked.idf)} "
    found = {
        seed.row.number: [
            name
            for name in names(f"{seed.row.title}\n{seed.row.text[:READ]}")
            if f" {name} " not in question
        ]
        for seed in seeds
    }
    every = list(dict.fromkeys(name for each in found.values() for name in each))
    counts = store.counts(list(dict.fromkeys(word for name in every for word in name.split())))
    rare = [name for name in every if min(counts.get(word, 0) for word in name.split()) > 1]
    held = store.holding(rare, common) if rare and common > 1 else {}
    return {
        number: [held[name] for name in each if len(held.get(name, ())) > 1]
        for number, each in found.items()
    }
