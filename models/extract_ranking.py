"""Choose the sentences of some pages that answer a question best, or none."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from models.blocks import Page, Quote
from models.extract_kinds import answers
from models.extract_topic import Topic, share, topic
from retrieval.keyword import spread
from retrieval.text import Span, heading, language, sentences
from retrieval.words import words

LEAST = {"en": 0.62, "zh": 0.5}
"""The least share of a topic that one source must have to answer it, by language.

Measured by `evals/extractive.py`. In Chinese a pair of characters may lie across two words, and
is then in no text that says the same in another order.
"""

MANY = 12
"""A topic of more terms than this is covered by chance less often, so less of it is asked for."""

AROUND = 0.5
"""A sentence is worth this much of what its passage is worth, besides what it is worth itself."""

IN_TITLE = 0.5
"""A term counts this much for a sentence when only the title of its page has it."""

NAMED_TITLE = 0.3
"""A page is worth this much more when the question names its whole title."""

CUT = 0.5
"""A sentence is left out if it is worth less than this part of the best one."""

KIND = 0.15
"""What it is worth to hold the kind of thing that is asked for."""

FIRST = 0.05
"""What it is worth to be the first sentence of a passage."""

HEADING = 0.4
"""A heading, and what is too long for a sentence, is worth this part of what it would be."""

LONGEST = 600
"""A longer sentence, in characters, is rather a table or a list that was not recognised."""

_UNQUOTABLE = re.compile(r"^#|\[S\d+\]|https?://|www\.")
_ASIDE = re.compile(r"\s*[(（].*|\.\w{2,4}$")
_OPENS_BACKWARDS = re.compile(
    r"(?:he|she|it|they|his|her|its|their|this|these|those|that|such|however|therefore|thus|hence"
    r"|moreover|furthermore|also|but|and|so|then|consequently|instead|both|the (?:former|latter))\b"
    r"|[他她它][们們]?|[这這那该該此其]|因此|所以|但是?|然而|不[过過]|而且|同[时時]|另外|此外|[于於]是|[并並]且?|[后後][来來者]",
    re.IGNORECASE,
)


class _Candidate(NamedTuple):
    """A sentence, with the one before it where it cannot stand alone, and its passage's number."""

    page: int
    text: str
    first: bool


def answerable(question: str, pages: Sequence[Page]) -> bool:
    """Tell whether a source covers enough of a question to answer it.

    The least share falls with the root of the number of terms, as does the spread of what
    pages about something else cover by chance.
    """
    about = topic(question)
    chance = min(1.0, math.sqrt(MANY / max(len(about.terms), 1)))
    return reach(about, question, pages) >= LEAST[language(question)] * chance


def best(about: Topic, question: str, pages: Sequence[Page], limit: int = 6) -> list[Quote]:
    """Return up to `limit` sentences of `pages` that answer `question` best, best first.

    Query-focused extraction: a sentence scores by the share of the topic it covers, by that of
    the passage around it, and for holding the kind of thing that is asked for (a date for "when",
    a number for "how many"). The choice is spread by maximal marginal relevance.
    """
    worth = [_worth(about, question, page) for page in pages]
    candidates = list(_candidates(pages))
    scores = [
        (number, _score(about, question, pages[one.page].title, one, worth[one.page]))
        for number, one in enumerate(candidates)
    ]
    ranked = sorted(scores, key=lambda entry: (-entry[1], entry[0]))
    good = [entry for entry in ranked if entry[1] > CUT * ranked[0][1]][:40]
    chosen = [candidates[n] for n, _ in spread(good, [one.text for one in candidates], 2 * limit)]
    apart = [one for at, one in enumerate(chosen) if not _within(one, chosen[:at])]
    return [Quote(pages[one.page].id, one.text) for one in apart[:limit]]


def reach(about: Topic, question: str, pages: Sequence[Page]) -> float:
    """Return how much of a topic the best source covers with all of its passages together."""
    sources: dict[str, list[str]] = {}
    for page in pages:
        sources.setdefault(page.id, [page.title]).append(page.text)
    joined = [Page(name, texts[0], "", "\n".join(texts[1:])) for name, texts in sources.items()]
    return max((_worth(about, question, page) for page in joined), default=0.0)


def _worth(about: Topic, question: str, page: Page) -> float:
    title = words(_ASIDE.sub("", page.title))
    named = bool(title) and f" {' '.join(title)} " in f" {' '.join(words(question))} "
    named_weight = min(1.0, sum(about.terms.get(word, 0.0) for word in title)) if named else 0.0
    return share(about, words(f"{page.title}\n{page.text}")) + NAMED_TITLE * named_weight


def _within(one: _Candidate, others: Sequence[_Candidate]) -> bool:
    """Tell whether a sentence holds another one or is held by it."""
    return any(one.text in other.text or other.text in one.text for other in others)


def _candidates(pages: Sequence[Page]) -> Iterator[_Candidate]:
    for number, page in enumerate(pages):
        spans = sentences(page.text)
        for at in range(len(spans)):
            text = _standing(page.text, spans, at)
            if len(words(text)) > 1 and not _UNQUOTABLE.search(text):
                yield _Candidate(number, text, at == 0)


def _standing(text: str, spans: Sequence[Span], at: int) -> str:
    """Return a sentence, joined to the one before it if it points back to that one."""
    span = spans[at]
    if at and _OPENS_BACKWARDS.match(span.text):
        before = spans[at - 1]
        near = "\n" not in text[before.end : span.start] and not heading(before.text)
        if near and span.end - before.start <= LONGEST:
            return text[before.start : span.end]
    return span.text


def _score(about: Topic, question: str, title: str, one: _Candidate, around: float) -> float:
    found = words(one.text)
    own = share(about, found)
    if not own:
        return 0.0
    named = share(about, [*words(title), *found])
    score = own + IN_TITLE * (named - own) + AROUND * around
    score += KIND * answers(question, one.text) + FIRST * one.first
    if heading(one.text) or len(one.text) > LONGEST:
        score *= HEADING
    return score
