"""Choose the sentences of some pages that answer a question best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from models.extractive.lists_and_tables import (
    add_list_items,
    find_asked_list,
    find_extreme_row,
    parse_row,
)
from models.extractive.manual_answers import entry_gives_default
from models.extractive.prompt_parser import SourceQuote
from models.extractive.sentence_scoring import (
    FIRST_SENTENCE_BONUS,
    ScoredSentence,
    asks_disagreement,
    count_asked_documents,
    score_sentences,
)
from text.answerability import SourcePassage, coverage_by_source, document_title
from text.keyword_ranking import select_diverse
from text.question_types import asks_list, asks_why, asks_why_too, gives_cause
from text.topics import Topic, extract_topic, named_terms, topic_coverage
from text.words import search_words

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


def _near(about: Topic, question: str, pages: Sequence[SourcePassage]) -> list[SourcePassage]:
    """Return the passages of the sources that are not far off the topic."""
    worths = coverage_by_source(about, question, pages)
    least = FAR * max(worths.values(), default=0.0)
    return [page for page in pages if worths[page.id] >= least]


def select_quotes(
    about: Topic, question: str, pages: Sequence[SourcePassage], limit: int = 6
) -> list[SourceQuote]:
    """Return up to `limit` sentences of `pages` that answer `question` best, best first.

    Query-focused extraction: a sentence scores by the share of the topic it covers, by that of
    the passage around it, and for holding the kind of thing that is asked for (a date for "when",
    a number for "how many"). The choice is spread by maximal marginal relevance. Where documents
    disagree, each has the same number of quotes; where a reason is asked for too, it comes second;
    where a list is asked for, one that is about it comes first, whole.
    """
    pages = _near(about, question, pages)
    found = _with_extreme(question, score_sentences(about, question, pages))
    found = _with_default(question, found, pages)
    if asks_disagreement(question.split("\n")[0]):
        return [one.quote for one in _balanced(found, count_asked_documents(question), limit)]
    chosen = _select_diverse(_with_reason(question, found), limit)
    if chosen and asks_why_too(question):
        chosen = _with_cause(question, chosen, found)[:limit]
    quotes = [add_list_items(one.quote, pages) for one in _of_subject(question, chosen)]
    return _with_list(question, quotes, pages)[:limit]


def _with_list(
    question: str, quotes: list[SourceQuote], pages: Sequence[SourcePassage]
) -> list[SourceQuote]:
    """Put the list that is asked for first, without quotes of single items of it."""
    found = find_asked_list(question, pages) if asks_list(question) else None
    if found is None:
        return quotes
    listed = "\n".join(found.quote.parts)
    return [found.quote, *(one for one in quotes if one.text not in listed)]


def _of_subject(question: str, chosen: Sequence[ScoredSentence]) -> Sequence[ScoredSentence]:
    """Return sentences without those of passages that name nothing the question names."""
    asked = named_terms(question.split("\n")[0])
    kept = [
        one
        for one in chosen
        if not asked.isdisjoint(
            search_words(f"{one.page.title}\n{one.candidate.section}\n{one.page.text}")
        )
    ]
    return kept or chosen


def _select_diverse(found: Sequence[ScoredSentence], limit: int) -> list[ScoredSentence]:
    """Return the best sentences, each unlike those before it."""
    good = [one for one in found if one.score > CUT * found[0].score][:40]
    good = [one for one in good if one.own_score > WEAK * good[0].own_score]
    texts = [one.candidate.text for one in good]
    order = select_diverse(_falling(good), texts, 2 * limit)
    chosen: list[ScoredSentence] = []
    for at, _ in order:
        if not _within(good[at], chosen):
            chosen.append(good[at])
    return chosen[:limit]


def _falling(good: Sequence[ScoredSentence]) -> list[tuple[int, float]]:
    """Return the scores, the first one at least as high as any."""
    top = max((one.score for one in good), default=0.0)
    return [(at, one.score if at else top + FIRST_SENTENCE_BONUS) for at, one in enumerate(good)]


def _within(one: ScoredSentence, others: Iterable[ScoredSentence]) -> bool:
    """Tell whether a sentence holds another one or is held by it."""
    text = one.candidate.text
    return any(text in other.candidate.text or other.candidate.text in text for other in others)


def _balanced(found: Sequence[ScoredSentence], count: int, limit: int) -> list[ScoredSentence]:
    """Return as many sentences of each of the `count` documents that have the best ones."""
    titles = list(dict.fromkeys(document_title(one.page.title) for one in found))[:count]
    each = max(limit // max(len(titles), 1), 1)
    shares = [[one for one in found if document_title(one.page.title) == title] for title in titles]
    return [one for part in shares for one in _select_diverse(part, each)]


def _with_extreme(question: str, found: list[ScoredSentence]) -> list[ScoredSentence]:
    """Put the row that a superlative asks for first, without the other rows of its table."""
    tables: dict[tuple[str, str], list[ScoredSentence]] = {}
    for one in found:
        headers = list(parse_row(one.candidate.text))
        if headers:
            tables.setdefault((document_title(one.page.title), headers[0]), []).append(one)
    for rows in tables.values():
        at = find_extreme_row(question, [row.candidate.text for row in rows])
        if at is not None:
            first = rows[at]
            return [first, *(one for one in found if one not in rows)]
    return found


def _with_default(
    question: str, found: list[ScoredSentence], pages: Sequence[SourcePassage]
) -> list[ScoredSentence]:
    """Put the default first that the entry of the very term gives, if a default is asked for."""
    line = question.split("\n")[0]
    first = next((one for one in found if entry_gives_default(line, one.quote, pages)), None)
    if first is None:
        return found
    top = first._replace(
        score=max(first.score, found[0].score), own_score=max(first.own_score, found[0].own_score)
    )
    return [top, *(one for one in found if one is not first)]


def _with_reason(question: str, found: list[ScoredSentence]) -> list[ScoredSentence]:
    """Put the best sentence that gives a reason first, if only a reason is asked for."""
    if not asks_why(question) or asks_why_too(question):
        return found
    reasons = (one for one in found if gives_cause(one.candidate.text))
    first = next((one for one in reasons if one.score > REASON * found[0].score), None)
    if first is None:
        return found
    return [first, *(one for one in found if one is not first)]


def _with_cause(
    question: str, chosen: list[ScoredSentence], found: Sequence[ScoredSentence]
) -> list[ScoredSentence]:
    """Put the reason that is nearest to the answer and its topic second, if one is given."""
    answer = chosen[0].candidate.text
    if gives_cause(answer) and not parse_row(answer):
        return chosen
    about = extract_topic(f"{row_subject(answer)} {question}")
    near = {
        one: topic_coverage(about, search_words(one.candidate.text))
        for one in found
        if _is_cause(one, chosen)
    }
    cause = max(near, key=near.__getitem__, default=None)
    if cause is None or (near[cause] < NEAR and cause.score < REASON * chosen[0].score):
        return chosen
    return [chosen[0], cause, *(one for one in chosen[1:] if not _within(one, [cause]))]


def _is_cause(one: ScoredSentence, chosen: Sequence[ScoredSentence]) -> bool:
    text = one.candidate.text
    return gives_cause(text) and not parse_row(text) and not _within(one, chosen[:1])


def row_subject(answer: str) -> str:
    """Return what a row is about, which is in its first cell; of another sentence nothing."""
    return next(iter(parse_row(answer).values()), "")
