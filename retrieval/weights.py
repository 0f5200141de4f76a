"""What each sign that a page fits is worth: one set of numbers for every store."""

from __future__ import annotations

from typing import NamedTuple

UNKNOWN = 0.5
"""How far vectors are trusted of which nothing is known."""


class Weights(NamedTuple):
    """The best page by words alone has 1 point; the other signs add to that.

    Chosen on the questions of `evals/retrieval.py`'s sets together, and flat around these values.
    """

    in_order: float = 0.4
    """Words follow each other as in the question."""
    together: float = 0.3
    """Words of the question stand close to each other."""
    meaning: float = 0.4
    """The share of vectors in fusion with words, where they are to be trusted."""
    titled: float = 0.8
    """The question names the page's title."""
    namesake: float = 0.6
    """The part of that for a page whose title says more than the question does."""
    answered: float = 0.4
    """What the words of a title that the question names are worth in all other pages."""
    leading: float = 0.6
    """The part that a page loses that only leads to others: a redirect, an index."""
    mention: float = 0.7
    """A good page mentions the page's title."""
    name: float = 0.5
    """A good page and this one share a name that is found nowhere else."""
    name_in_title: float = 1.6
    """How many times more that is when the name stands in the title."""
    window: float = 0.7
    """The words of a turn and its neighbours, against those of the turn alone."""
    speaker: float = 0.25
    """The question names the speaker, and nobody else who speaks."""
    beside: float = 0.15
    """The turn before or after is good."""
    reply: float = 0.4
    """The turn before is good and a question."""
    question: float = 0.15
    """The turn is itself a question; this is subtracted."""
    session: float = 0.1
    """The session as a whole holds the words."""
    best_turn: float = 0.3
    """The session has a good turn."""
    date: float = 0.2
    """It was said when the question says."""


WEIGHTS = Weights()
