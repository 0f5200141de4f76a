"""What a dialogue tells of a turn: its neighbours, its session, who speaks, and when."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from retrieval.bm25 import Asked, Counted, bm25
from retrieval.dates import dates, fits
from retrieval.fusion import Scores, plus, times, top
from retrieval.pool import Row
from retrieval.weights import Weights

SATURATED = 5.0
"""A word that a session holds so often counts half of what it can."""


class Turns(NamedTuple):
    """Where the turns of dialogues stand among some rows; -1 where there is none."""

    before: list[int]
    after: list[int]
    session: list[int]
    """The number of the session."""
    names: list[str]
    """The sessions by number."""


def turns(rows: Sequence[Row]) -> Turns:
    """Return the turns of dialogues among some rows: those with a session and a speaker."""
    spoken = [bool(row.session and row.speaker) for row in rows]
    at = {(row.session, row.turn): n for n, row in enumerate(rows) if spoken[n]}
    names = list(dict.fromkeys(row.session for row, said in zip(rows, spoken, strict=True) if said))
    number = {name: n for n, name in enumerate(names)}

    def places(step: int) -> list[int]:
        return [at.get((row.session, row.turn + step), -1) for row in rows]

    sessions = [number[row.session] if said else -1 for row, said in zip(rows, spoken, strict=True)]
    return Turns(places(-1), places(1), sessions, names)


def windows(asked: Asked, counted: Sequence[Counted], turns: Turns) -> Scores:
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
        scores.append(bm25(wide, found, length) if found else 0.0)
    return scores


def speaker(question: str, rows: Sequence[Row]) -> Scores:
    """Return 1 for the turns of the one speaker whom a question names, else 0."""
    names = {row.speaker for row in rows if row.speaker}
    asked = [
        name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question, re.I)
    ]
    only = asked[0] if len(asked) == 1 else None
    return [float(row.speaker == only) for row in rows]


def dated(question: str, rows: Sequence[Row]) -> Scores:
    """Return how well each page's date fits the dates a question names, in 0..1."""
    asked = dates(question)
    return [fits(row.said, asked) for row in rows]


def context(
    asked: Asked,
    rows: Sequence[Row],
    counted: Sequence[Counted],
    turns: Turns,
    base: Scores,
    weights: Weights,
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
    asks = [
        float(row.text.rstrip().endswith(("?", "？")) or "? " in row.text or "？" in row.text)
        for row in rows
    ]
    asking = [score * asks_too for score, asks_too in zip(base, asks, strict=True)]
    around = zip(_at(base, turns.before), _at(base, turns.after), strict=True)
    beside = [weights.beside * max(both) for both in around]
    reply = times(weights.reply, _at(asking, turns.before))
    spoken = [float(session >= 0) for session in turns.session]
    question = [-weights.question * one * said for one, said in zip(asking, spoken, strict=True)]
    return {
        "beside": plus(plus(beside, reply), question),
        "session": _sessions(asked, counted, turns, base, weights),
    }


def _at(values: Scores, places: list[int]) -> Scores:
    return [values[place] if place >= 0 else 0.0 for place in places]


def _sessions(
    asked: Asked, counted: Sequence[Counted], turns: Turns, base: Scores, weights: Weights
) -> Scores:
    held = [Counter[str]() for _ in turns.names]
    best = [0.0] * len(turns.names)
    for at, session in enumerate(turns.session):
        if session >= 0:
            held[session].update(counted[at].times)
            best[session] = max(best[session], base[at])
    words = [sum(asked.idf[w] * n / (n + SATURATED) for w, n in each.items()) for each in held]
    worth = plus(times(weights.session, top(words)), times(weights.best_turn, top(best)))
    return _at(worth, turns.session)
