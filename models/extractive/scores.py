"""Score sentences by how much of a question they cover, and by the kind of thing it asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from models.extractive.blocks import Page, Quote
from models.extractive.candidates import LONGEST, Candidate, candidates, document
from models.extractive.kinds import answers
from models.extractive.manual import begins, explains, purpose
from models.extractive.meaning import Thing, defines, thing
from models.extractive.rows import cells
from models.extractive.sections import asked_for
from models.extractive.theses import opposed, thesis
from models.extractive.topic import Topic, named, share
from models.extractive.wording import among
from retrieval.keyword import words
from retrieval.regex import regex
from retrieval.text import heading

AROUND = 0.5
"""A sentence is worth this much of what its passage is worth, besides what it is worth itself."""

IN_TITLE = 0.75
"""A term counts this much for a sentence when only the title of its page or the heading has it."""

TITLED = 1.0
"""It counts this much where the title is a name that the question says: nobody repeats it."""

MEANT = 0.5
"""A name counts this much for a sentence when only the passage around it says it."""

NAMED_TITLE = 0.3
"""A page is worth this much more when the question names its whole title."""

KIND = 0.2
"""What it is worth to hold the kind of thing that is asked for."""

MEANING = 1.0
"""What it is worth to say what the thing is, if that is asked."""

THESIS = 1.5
"""What it is worth to state a thesis, if a disagreement is asked for."""

SETTING = 0.5
"""What it is worth to be the setting whose key is asked for."""

FIRST = 0.05
"""What it is worth to be the first sentence of a passage."""

HEADING = 0.4
"""A heading, a question and what is too long for a sentence are worth this part of it."""

ROW = 0.6
"""A row of a table is worth this part of it where it is asked how or why something is so."""


HANGING = 0.85
"""What is left of a sentence that begins with "it" where nobody can tell what "it" is."""

_HOW = regex(
    r"^\W*(?:why|how (?!many|much|long|far|tall|high|big|large|often|fast|heavy|deep|wide|old))\b"
    r"|怎[么麼样樣]|如何|[为為]什[么麼]|[为為]何",
    re.IGNORECASE,
)
_ASIDE = regex(r"\s*[(（].*|\.\w{2,4}$")


class Scored(NamedTuple):
    """A sentence of a page and its score."""

    score: float
    candidate: Candidate
    page: Page
    own: float
    """What it is worth by its own words and the title of its page."""

    @property
    def quote(self) -> Quote:
        """The sentence as a quote of its source."""
        return Quote(self.page.id, self.candidate.text, self.candidate.under)


class _Asked(NamedTuple):
    """What is asked, and what can be told of it before a sentence is read."""

    about: Topic
    question: str
    names: set[str]
    thing: Thing | None
    purpose: str
    opposed: bool


def scored(about: Topic, question: str, pages: Sequence[Page]) -> list[Scored]:
    """Return every sentence of the pages that has a term of the topic, best first."""
    asked = _Asked(
        about, question, named(question), thing(question), purpose(question), opposed(question)
    )
    around = [worth(about, question, page) for page in pages]
    found = (_scored(asked, pages[one.page], one, around[one.page]) for one in candidates(pages))
    return sorted((one for one in found if one.score), key=lambda one: -one.score)


def worth(about: Topic, question: str, page: Page) -> float:
    """Return how much of a topic a page and its title cover."""
    title = words(_ASIDE.sub("", page.title))
    named = bool(title) and f" {' '.join(title)} " in f" {' '.join(words(question))} "
    named_weight = min(1.0, sum(about.terms.get(word, 0.0) for word in title)) if named else 0.0
    return share(about, words(f"{page.title}\n{page.text}")) + NAMED_TITLE * named_weight


def _scored(asked: _Asked, page: Page, one: Candidate, around: float) -> Scored:
    said, given = words(one.text), words(f"{page.title}\n{one.above}\n{one.under}")
    found = [*said, *_otherwise(asked, said)]
    own, known = share(asked.about, found), share(asked.about, [*given, *found])
    below = one.above if one.opens else ""
    meaning = defines(asked.thing, one.text, page.title, below) if asked.thing else 0.0
    if one.under and begins(one.under, one.text, page.text):
        meaning = max(meaning, float(explains(one.under, asked.purpose, page.title)))
    stated = thesis(one.text, one.above) if asked.opposed else 0.0
    if not own and not (known and (stated or meaning)):
        return Scored(0.0, one, page, 0.0)
    told = (
        own
        + (TITLED if _is_about(asked, page) else IN_TITLE) * (known - own)
        + MEANING * meaning
        + THESIS * stated
    )
    told += MEANT * _meant(asked, page, {*found, *given})
    told += SETTING * asked_for(asked.about, one.text, one.under)
    score = told + AROUND * around + FIRST * one.first + KIND * answers(asked.question, one.text)
    score *= _saying(asked.question, one.text) * (HANGING if one.hangs else 1.0)
    return Scored(score, one, page, told)


def _otherwise(asked: _Asked, said: Sequence[str]) -> list[str]:
    """Return the terms of a topic that a sentence has in other words: starred, played."""
    there = set(said)
    return [one for one in asked.about.terms if one not in there and among(one, there)]


def _is_about(asked: _Asked, page: Page) -> bool:
    """Tell whether a page is about something that the question names, by its whole title."""
    title = words(_ASIDE.sub("", document(page.title)))
    return bool(title) and asked.names.issuperset(title)


def _saying(question: str, text: str) -> float:
    """Return how much a text says for its words: a heading, a question, an endless list little."""
    if heading(text) or len(text) > LONGEST or text.endswith(("?", "？")):
        return HEADING
    return ROW if _HOW.search(question) and cells(text) else 1.0


def _meant(asked: _Asked, page: Page, said: set[str]) -> float:
    """Return what part of a topic are names that only the passage around a sentence says."""
    names = asked.names.intersection(words(page.text)) - said
    weights = (asked.about.terms.get(name, 0.0) for name in names)
    return sum(weights) / asked.about.whole if names else 0.0
