"""Choose the passages of several pages that a prompt has room for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from retrieval.keyword import Likeness
from retrieval.passages import together
from retrieval.text import Span
from retrieval.tokens import count

UNLIKE = 0.2
"""How much a passage loses that has the same words as a chosen one."""

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
