"""Tell how many words of a statement its sources have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain

from report.caveats import is_own, not_found
from report.contrast import Text, indexed
from report.numbers import FILE
from report.openers import without_transition
from report.subjects import RARE
from retrieval.common import weight
from retrieval.regex import regex
from retrieval.text import language
from retrieval.words import words

STRANGE = {"en": 0.25, "zh": 0.2}
"""A sentence is doubted if the whole of its sources has no more of its words."""

FEWEST = {"en": 5, "zh": 8}
"""From how many words on a sentence can be strange to its sources."""

UNUSUAL = {"en": 2, "zh": 0}
"""So many words that are in few texts a strange sentence has at least that its sources have not.

Where the whole of a sentence counts it has one more.
"""

SHORT = 50_000
"""The longest text, in characters, whose words are kept for the next check."""

CLAUSES = regex(
    r"(?:,(?!\d)|(?<!\d),|[;，；]|[：:](?!\d))\s*(?:(?:and|while|but|whereas|which|并且|而且|而|但)\s*)?|\s(?:and|while|but"
    r"|whereas)\s"
)
"""Where the clauses of a sentence are cut."""


def is_strange(said: str, sources: Sequence[Text], about: str, *, whole: bool = False) -> bool:
    """Tell whether sources have hardly a word of what is said, or of one of its clauses.

    A clause that says what was not found, or what is the writer's own, is let be; where only the
    `whole` counts, so are all of them.
    """
    tongue = language(said)
    bare = FILE.sub(" ", without_transition(said))
    named = set(words(about))
    parts = () if whole else CLAUSES.split(bare)
    for part in (bare, *(one for one in parts if not (not_found(one) or is_own(one)))):
        wanted = {word for word in words(part) if not word[:1].isdigit()} - named
        missing = {word for word in wanted if not any(word in one.places for one in sources)}
        unusual = sum(weight(word) >= RARE for word in missing) - whole
        few = len(wanted) - len(missing) <= STRANGE[tongue] * len(wanted)
        if len(wanted) >= FEWEST[tongue] and few and unusual >= UNUSUAL[tongue]:
            return True
    return False


def share(wanted: set[str], places: Mapping[str, Sequence[int]]) -> float:
    """Return how many of some words stand in the best two neighbouring sentences, as a part."""
    found = [places[word] for word in wanted if word in places]
    pairs = Counter(chain.from_iterable({*at, *(one - 1 for one in at)} for at in found))
    return max(pairs.values(), default=0) / max(len(wanted), 1)


def compared(text: str) -> Text:
    """Return a source as statements are compared with it; short ones are kept."""
    return _kept(text) if len(text) <= SHORT else indexed(text)


# The findings of a run and its report are checked against the same pages.
@lru_cache(maxsize=256)
def _kept(text: str) -> Text:
    return indexed(text)
