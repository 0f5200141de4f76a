"""Choose the sentences of some pages that answer a question best, or none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from models.extractive.asking import beyond_quoting
from models.extractive.blocks import Page, Quote
from models.extractive.candidates import document
from models.extractive.kinds import asks_list, asks_why, asks_why_too, gives_cause
from models.extractive.lists import best_list, completed
from models.extractive.rows import cells, extreme
from models.extractive.scores import FIRST, Scored, scored, worth
from models.extractive.terms import gives_default
from models.extractive.theses import documents_asked, opposed
from models.extractive.topic import Topic, named, share, topic
from retrieval.keyword import spread
from retrieval.text import language
from retrieval.words import words

LEAST = {"en": 0.62, "zh": 0.5}
"""The least share of a topic that one source must have to answer it, by language.

Measured by `evals/extractive.py`. In Chinese a pair of characters may lie across two words, and
is then in no text that says the same in another order.
"""

NAMES = 0.4
"""The least share of the names and numbers of a question that one source must have."""

MANY = 12
"""A topic of more terms than this is covered by chance less often, so less of it is asked for."""

FAR = 0.3
"""A source that covers less than this part of what the best one covers is not quoted."""

REASON = 0.7
"""A reason comes before a sentence that gives none if it is worth this part of it."""

NEAR = 0.25
"""A reason is one for the answer if it has this share of its subject and the topic."""

WEAK = 0.25
"""A sentence is left out if its own words are worth less than this part of the best one's."""

CUT = 0.5
"""A sentence is left out if it is worth less than this part of the best one."""


def answerable(question: str, pages: Sequence[Page]) -> bool:
    """Tell whether a source covers enough of a question to answer it.

    The least share falls with the root of the number of terms, as does the spread of what
    pages about something else cover by chance.
    """
    about = topic(question)
    if beyond_quoting(question) or not _names_known(question, about, pages):
        return False
    chance = min(1.0, math.sqrt(MANY / max(len(about.terms), 1)))
    return reach(about, question, pages) >= LEAST[language(question)] * chance


def _names_known(question: str, about: Topic, pages: Sequence[Page]) -> bool:
    """Tell whether a source has enough of the names and numbers of a question, if it has any."""
    asked = {term: about.terms[term] for term in named(question) if term in about.terms}
    bags: dict[str, set[str]] = {}
    for page in pages:
        bags.setdefault(page.id, set()).update(words(f"{page.title}\n{page.text}"))
    known = (sum(asked[term] for term in asked if term in bag) for bag in bags.values())
    return not asked or max(known, default=0.0) >= NAMES * sum(asked.values())


def reach(about: Topic, question: str, pages: Sequence[Page]) -> float:
    """Return how much of a topic the best source covers with all of its passages together."""
    return max(_worths(about, question, pages).values(), default=0.0)


def _near(about: Topic, question: str, pages: Sequence[Page]) -> list[Page]:
    """Return the passages of the sources that are not far off the topic."""
    worths = _worths(about, question, pages)
    least = FAR * max(worths.values(), default=0.0)
    return [page for page in pages if worths[page.id] >= least]


def _worths(about: Topic, question: str, pages: Sequence[Page]) -> dict[str, float]:
    """Return how much of a topic each source covers with all of its passages together."""
    sources: dict[str, list[str]] = {}
    for page in pages:
        sources.setdefault(page.id, [page.title]).append(page.text)
    return {
        name: worth(about, question, Page(name, texts[0], "", "\n".join(texts[1:])))
        for name, texts in sources.items()
    }


def best(about: Topic, question: str, pages: Sequence[Page], limit: int = 6) -> list[Quote]:
    """Return up to `limit` sentences of `pages` that answer `question` best, best first.

    Query-focused extraction: a sentence scores by the share of the topic it covers, by that of
    the passage around it, and for holding the kind of thing that is asked for (a date for "when",
    a number for "how many"). The choice is spread by maximal marginal relevance. Where documents
    disagree, each has the same number of quotes; where a reason is asked for too, it comes second;
    where a list is asked for, one that is about it comes first, whole.
    """
    pages = _near(about, question, pages)
    found = _with_extreme(question, scored(about, question, pages))
    found = _with_default(question, found, pages)
    if opposed(question.split("\n")[0]):
        return [one.quote for one in _balanced(found, documents_asked(question), limit)]
    chosen = _apart(_with_reason(question, found), limit)
    if chosen and asks_why_too(question):
        chosen = _with_cause(question, chosen, found)[:limit]
    quotes = [completed(one.quote, pages) for one in _of_subject(question, chosen)]
    return _with_list(question, quotes, pages)[:limit]


def _with_list(question: str, quotes: list[Quote], pages: Sequence[Page]) -> list[Quote]:
    """Put the list that is asked for first, without quotes of single items of it."""
    found = best_list(question, pages) if asks_list(question) else None
    if found is None:
        return quotes
    listed = "\n".join(found.quote.parts)
    return [found.quote, *(one for one in quotes if one.text not in listed)]


def _of_subject(question: str, chosen: Sequence[Scored]) -> Sequence[Scored]:
    """Return sentences without those of passages that name nothing the question names."""
    asked = named(question.split("\n")[0])
    kept = [
        one
        for one in chosen
        if not asked.isdisjoint(words(f"{one.page.title}\n{one.candidate.under}\n{one.page.text}"))
    ]
    return kept or chosen


def _apart(found: Sequence[Scored], limit: int) -> list[Scored]:
    """Return the best sentences, each unlike those before it."""
    good = [one for one in found if one.score > CUT * found[0].score][:40]
    good = [one for one in good if one.own > WEAK * good[0].own]
    texts = [one.candidate.text for one in good]
    order = spread(_falling(good), texts, 2 * limit)
    chosen: list[Scored] = []
    for at, _ in order:
        if not _within(good[at], chosen):
            chosen.append(good[at])
    return chosen[:limit]


def _falling(good: Sequence[Scored]) -> list[tuple[int, float]]:
    """Return the scores, the first one at least as high as any."""
    top = max((one.score for one in good), default=0.0)
    return [(at, one.score if at else top + FIRST) for at, one in enumerate(good)]


def _within(one: Scored, others: Iterable[Scored]) -> bool:
    """Tell whether a sentence holds another one or is held by it."""
    text = one.candidate.text
    return any(text in other.candidate.text or other.candidate.text in text for other in others)


def _balanced(found: Sequence[Scored], count: int, limit: int) -> list[Scored]:
    """Return as many sentences of each of the `count` documents that have the best ones."""
    titles = list(dict.fromkeys(document(one.page.title) for one in found))[:count]
    each = max(limit // max(len(titles), 1), 1)
    shares = [[one for one in found if document(one.page.title) == title] for title in titles]
    return [one for part in shares for one in _apart(part, each)]


def _with_extreme(question: str, found: list[Scored]) -> list[Scored]:
    """Put the row that a superlative asks for first, without the other rows of its table."""
    tables: dict[tuple[str, str], list[Scored]] = {}
    for one in found:
        headers = list(cells(one.candidate.text))
        if headers:
            tables.setdefault((document(one.page.title), headers[0]), []).append(one)
    for rows in tables.values():
        at = extreme(question, [row.candidate.text for row in rows])
        if at is not None:
            first = rows[at]
            return [first, *(one for one in found if one not in rows)]
    return found


def _with_default(question: str, found: list[Scored], pages: Sequence[Page]) -> list[Scored]:
    """Put the default first that the entry of the very term gives, if a default is asked for."""
    line = question.split("\n")[0]
    first = next((one for one in found if gives_default(line, one.quote, pages)), None)
    if first is None:
        return found
    top = first._replace(score=max(first.score, found[0].score), own=max(first.own, found[0].own))
    return [top, *(one for one in found if one is not first)]


def _with_reason(question: str, found: list[Scored]) -> list[Scored]:
    """Put the best sentence that gives a reason first, if only a reason is asked for."""
    if not asks_why(question) or asks_why_too(question):
        return found
    reasons = (one for one in found if gives_cause(one.candidate.text))
    first = next((one for one in reasons if one.score > REASON * found[0].score), None)
    if first is None:
        return found
    return [first, *(one for one in found if one is not first)]


def _with_cause(question: str, chosen: list[Scored], found: Sequence[Scored]) -> list[Scored]:
    """Put the reason that is nearest to the answer and its topic second, if one is given."""
    answer = chosen[0].candidate.text
    if gives_cause(answer) and not cells(answer):
        return chosen
    about = topic(f"{subject(answer)} {question}")
    near = {one: share(about, words(one.candidate.text)) for one in found if _is_cause(one, chosen)}
    cause = max(near, key=near.__getitem__, default=None)
    if cause is None or (near[cause] < NEAR and cause.score < REASON * chosen[0].score):
        return chosen
    return [chosen[0], cause, *(one for one in chosen[1:] if not _within(one, [cause]))]


def _is_cause(one: Scored, chosen: Sequence[Scored]) -> bool:
    text = one.candidate.text
    return gives_cause(text) and not cells(text) and not _within(one, chosen[:1])


def subject(answer: str) -> str:
    """Return what a row is about, which is in its first cell; of another sentence nothing."""
    return next(iter(cells(answer).values()), "")
