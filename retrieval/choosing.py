"""Choose the passages of several pages that a prompt has room for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval.keyword import Likeness
from retrieval.passages import together
from retrieval.text import Span
from retrieval.tokens import count

Floats = NDArray[np.float32]

UNLIKE = 0.2
"""How much a passage loses that has the same words as a chosen one."""

MEANT = 0.6
"""How much of what a passage is worth is what it means, where that is known; the rest its words."""

CLOSE = 40
"""So many passages, the best by words, are compared by what they mean."""

LEAST = 1e-6
"""No difference is smaller."""

MISFITS = 6
"""So many passages in a row that do not fit into the room end the choice."""


class Cut(NamedTuple):
    """A passage of a page: the page's place among all, and what the passage is worth."""

    page: int
    span: Span
    text: str
    """What it is compared by: its words, and those of its title."""
    worth: float
    """1 for the best passage."""
    factor: float = 1.0
    """How much more or less it is worth than its words and its meaning say."""


class Choice:
    """The passages chosen so far, by page, and the tokens that they take."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.spans: dict[int, list[Span]] = {}
        self.used = 0

    def add(self, cut: Cut, room: int) -> bool:
        """Add a passage whole, if there is room for it; the first one of all always fits."""
        before = self.spans.get(cut.page, [])
        after = together(self.texts[cut.page], [*before, cut.span])
        more = _tokens(after) - _tokens(before)
        if self.spans and self.used + more > room:
            return False
        self.spans[cut.page] = after
        self.used += more
        return True


def choose(
    texts: Sequence[str],
    cuts: Sequence[Cut],
    room: int,
    first: Collection[int] = (),
    each: Collection[int] = (),
) -> Mapping[int, Sequence[Span]]:
    """Return the best spans of the pages within a room of tokens, the page of the best one first.

    What a passage is worth falls with the words that it shares with chosen ones, so that room goes
    to what is new (maximal marginal relevance; Carbonell and Goldstein, SIGIR 1998).

    Args:
        texts: The pages.
        cuts: Their passages.
        room: How many tokens the spans may take together.
        first: The pages that half of the room belongs to.
        each: The pages of which something is shown in any case, as far as there is room.
    """
    choice = Choice(texts)
    for page in each:
        _fill(choice, sorted(_of(cuts, {page}), key=_worth)[:1], room)
    _fill(choice, _of(cuts, first), room // 2)
    _fill(choice, cuts, room)
    return choice.spans


def by_meaning(cuts: Sequence[Cut], likeness: Floats) -> list[Cut]:
    """Return passages, worth what they mean beside their words, the best first.

    Args:
        cuts: The passages, the best by words first.
        likeness: How like the first of them are to each thing that is wanted.
    """
    low, high = likeness.min(axis=0), likeness.max(axis=0)
    scaled = (likeness - low) / np.maximum(high - low, LEAST)
    meant = (scaled.max(axis=1) + scaled.mean(axis=1)) / 2
    meant = (meant / max(float(meant.max()), LEAST)).tolist()
    near = [
        cut._replace(worth=(1 - MEANT) * cut.worth + MEANT * worth * cut.factor)
        for cut, worth in zip(cuts, meant, strict=False)
    ]
    far = [cut._replace(worth=(1 - MEANT) * cut.worth / 2) for cut in cuts[len(near) :]]
    return sorted([*near, *far], key=_worth)


def _of(cuts: Sequence[Cut], pages: Collection[int]) -> list[Cut]:
    return [cut for cut in cuts if cut.page in pages]


def _worth(cut: Cut) -> float:
    return -cut.worth


def _fill(choice: Choice, cuts: Sequence[Cut], room: int) -> None:
    """Add passages to a choice until nothing more fits."""
    like = Likeness([cut.text for cut in cuts])
    left = set(range(len(cuts)))
    misfits = 0

    def gain(at: int) -> tuple[float, int]:
        return (1 - UNLIKE) * cuts[at].worth - UNLIKE * like.most[at], -at

    while left and misfits < MISFITS:
        best = max(left, key=gain)
        left.remove(best)
        if choice.add(cuts[best], room):
            left -= like.add(best, left)
            misfits = 0
        else:
            misfits += 1


def _tokens(spans: Sequence[Span]) -> int:
    return sum(count(span.text) for span in spans)
