"""What speaks for a page beside its own words.

The dialogue around it, pages that lead to it, its title in the question.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from library import page_scoring as scoring
from library.page_scoring import PageCollection, PageRow, Scores, SignalWeights, WeightedQuery
from text import title_mentions
from text.dates import find_dates, match_dates
from text.words import search_words

SATURATED = 5.0
"""A word that a session holds so often counts half of what it can."""


class DialogueTurns(NamedTuple):
    """Where the turns of dialogues stand among some rows; -1 where there is none."""

    before: list[int]
    after: list[int]
    session: list[int]
    """The number of the session."""
    names: list[str]
    """The sessions by number."""


def find_turns(rows: Sequence[PageRow]) -> DialogueTurns:
    """Return the turns of dialogues among some rows: those with a session and a speaker."""
    at = {(row.session, row.turn): n for n, row in enumerate(rows) if row.session and row.speaker}
    names = list(dict.fromkeys(session for session, _ in at))
    number = {name: n for n, name in enumerate(names)}

    def places(step: int) -> list[int]:
        """Return for each row where the turn so many steps away stands; -1 for none."""
        return [at.get((row.session, row.turn + step), -1) for row in rows]

    sessions = [number[row.session] if row.session and row.speaker else -1 for row in rows]
    return DialogueTurns(places(-1), places(1), sessions, names)


def score_windows(
    asked: WeightedQuery, counted: Sequence[scoring.QueryCounts], turns: DialogueTurns
) -> Scores:
    """Return the BM25 score of each turn, counted twice, with its neighbours; of others their own.

    All lengths are about four times those of a page, and so is the average.
    """
    wide = asked._replace(average=4 * asked.average)
    scores = []
    for at, own in enumerate(counted):
        found = {word: 2.0 * n for word, n in own.times.items()}
        length = 2 * own.length
        for other in (turns.before[at], turns.after[at]):
            if other >= 0:
                length += counted[other].length
                for word, n in counted[other].times.items():
                    found[word] = found.get(word, 0.0) + n
        scores.append(scoring.score_bm25(wide, found, length) if found else 0.0)
    return scores


def score_speaker(question: str, rows: Sequence[PageRow]) -> Scores:
    """Return 1 for the turns of the one speaker whom a question names, else 0."""
    names = {row.speaker for row in rows if row.speaker}
    alone = r"(?<!\w){}(?!\w)"
    asked = [name for name in names if re.search(alone.format(re.escape(name)), question, re.I)]
    only = asked[0] if len(asked) == 1 else None
    return [float(row.speaker == only) for row in rows]


def score_dates(question: str, rows: Sequence[PageRow]) -> Scores:
    """Return how well each page's date fits the dates a question names, in 0..1."""
    asked = find_dates(question)
    return [match_dates(row.said, asked) for row in rows]


def score_turn_context(
    asked: WeightedQuery,
    rows: Sequence[PageRow],
    counted: Sequence[scoring.QueryCounts],
    turns: DialogueTurns,
    base: Scores,
    weights: SignalWeights,
) -> dict[str, Scores]:
    """Return what each turn gains from the turns around it, by the name of the sign.

    Args:
        asked: The words of the question.
        rows: The pages.
        counted: What each holds of the question.
        turns: Where the turns stand among the rows.
        base: What each page is worth so far.
        weights: What each sign is worth.
    """
    # At the end of a text, a space stands for that of a sentence.
    asks = ["? " in f"{row.text.rstrip()} " or "？" in row.text for row in rows]
    asking = [score * asks_too for score, asks_too in zip(base, asks, strict=True)]
    around = zip(_at(base, turns.before), _at(base, turns.after), strict=True)
    beside = [weights.beside * max(both) for both in around]
    reply = scoring.scale_scores(weights.reply, _at(asking, turns.before))
    spoken = [float(session >= 0) for session in turns.session]
    question = [-weights.question * one * said for one, said in zip(asking, spoken, strict=True)]
    return {
        "beside": scoring.add_scores(scoring.add_scores(beside, reply), question),
        "session": _sessions(asked, counted, turns, base, weights),
    }


def _at(values: Scores, places: list[int]) -> Scores:
    return [values[place] if place >= 0 else 0.0 for place in places]


def _sessions(
    asked: WeightedQuery,
    counted: Sequence[scoring.QueryCounts],
    turns: DialogueTurns,
    base: Scores,
    weights: SignalWeights,
) -> Scores:
    held = [Counter[str]() for _ in turns.names]
    best = [0.0] * len(turns.names)
    for at, session in enumerate(turns.session):
        if session >= 0:
            held[session].update(counted[at].times)
            best[session] = max(best[session], base[at])
    words = [sum(asked.idf[w] * n / (n + SATURATED) for w, n in each.items()) for each in held]
    worth = scoring.add_scores(
        scoring.scale_scores(weights.session, scoring.normalize_scores(words)),
        scoring.scale_scores(weights.best_turn, scoring.normalize_scores(best)),
    )
    return _at(worth, turns.session)


SEED_COUNT = 5
"""From so many pages."""
READ = 4000
"""So many characters of a page are read for names."""
COMMON = 120
"""A name found in more pages than this leads nowhere."""
SHARE = 0.03
"""Nor does one found in a larger part of the pages than this."""


class Seed(NamedTuple):
    """A page that leads on; its force is 1 for the best page."""

    row: PageRow
    force: float


def score_mentions(
    asked: WeightedQuery, store: PageCollection, seeds: Sequence[Seed], weights: SignalWeights
) -> dict[int, float]:
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


def _same(store: PageCollection, seeds: Sequence[Seed]) -> dict[int, set[int]]:
    """Return for each seed the pages with the very title that it has."""
    pages = store.titled(list({title_mentions.title_key(seed.row.title) for seed in seeds} - {""}))
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
    weights: SignalWeights,
) -> Iterator[tuple[int, float]]:
    """Yield each sign that a seed leads to a page: the page's number, and how sure it is."""
    for number, share in mentions.items():
        yield number, weights.mention * share
    for pages in shared:
        sure = weights.name * (1 - math.log(len(pages)) / math.log(common + 1))
        for number, in_title in pages.items():
            yield number, sure * (weights.name_in_title if in_title else 1)


def _mentions(store: PageCollection, seeds: Sequence[Seed]) -> dict[int, dict[int, float]]:
    """Return for each seed the pages whose titles it mentions, with 1 / pages of that title."""
    places = {
        seed.row.number: title_mentions.find_possible_titles(seed.row.text[:READ]) for seed in seeds
    }
    keys = list(dict.fromkeys(key for each in places.values() for key in each))
    pages = store.titled(keys) if keys else {}
    return {
        number: {
            page: 1 / len(pages[key])
            for key in title_mentions.select_mentioned_titles(each, pages)
            for page in pages[key]
        }
        for number, each in places.items()
    }


def _shared(
    asked: WeightedQuery, store: PageCollection, seeds: Sequence[Seed], common: int
) -> dict[int, list[Mapping[int, bool]]]:
    """Return for each seed the pages that hold its names, for each name that is rare enough.

    A name that stands in the question leads nowhere new.
    """
    question = f" {' '.join(asked.idf)} "
    found = {
        seed.row.number: [
            name
            for name in title_mentions.find_capitalized_names(
                f"{seed.row.title}\n{seed.row.text[:READ]}"
            )
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


class NamedPages(NamedTuple):
    """The pages a question names."""

    pages: dict[int, float]
    """By number, how surely each is meant, in 0..1."""
    words: frozenset[str]
    """The search words of the names: the pages named answer them, other pages need not."""


def find_named_pages(question: str, store: PageCollection, namesake: float) -> NamedPages:
    """Return the pages whose titles a question names.

    Several pages may share a title, but for what stands in a closing parenthesis; those whose
    title is the longest that the question holds whole are meant, the others are namesakes, worth
    `namesake` of that. A page is the less surely meant the more pages share its title.
    """
    places = title_mentions.find_possible_titles(question)
    titled = store.titled(list(places)) if places else {}
    asked = frozenset(search_words(question))
    pages: dict[int, float] = {}
    said: set[str] = set()
    for key in title_mentions.select_mentioned_titles(places, titled):
        rows = store.rows(titled[key])
        meant = _meant(rows, asked)
        said.update(search_words(key))
        for row in rows:
            alike, part = (meant, 1.0) if row.number in meant else (rows, namesake)
            pages[row.number] = (part if meant else 1.0) / math.sqrt(len(alike))
    return NamedPages(pages, frozenset(said))


def _meant(rows: Sequence[PageRow], asked: frozenset[str]) -> set[int]:
    titles = {row.number: frozenset(row.title_words.split()) for row in rows}
    whole = {number: len(title) for number, title in titles.items() if title <= asked}
    longest = max(whole.values(), default=0)
    return {number for number, size in whole.items() if size == longest}
