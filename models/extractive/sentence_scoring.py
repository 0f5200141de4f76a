"""The sentences of pages that could be quoted, and a score of how well each answers a question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from models.extractive.lists_and_tables import parse_row
from models.extractive.prompt_parser import SourceQuote
from models.extractive.quote_wording import has_variant
from text.answerability import TITLE_ASIDE, SourcePassage, document_title, passage_coverage
from text.definitions import DefinedTerm, find_defined_term, score_definition
from text.keyword_ranking import cached_search_words
from text.manuals import (
    ManualEntry,
    begins_entry,
    find_asked_purpose,
    find_entry_at,
    find_manual_entries,
    is_entry_of,
    is_only_name,
    list_section_paths,
    setting_coverage,
)
from text.pattern_files import PatternFile
from text.question_types import score_answer_type
from text.regex import regex
from text.sentences import Span, is_entry, is_heading, split_sentences
from text.topics import Topic, named_terms, topic_coverage
from text.words import search_words

_PATTERNS = PatternFile("models.extractive", "sentence_scoring.toml")


_COUNTS = {"three": 3, "four": 4, "三": 3, "四": 4}


def asks_disagreement(question: str) -> bool:
    """Tell whether a question asks in what documents or people disagree.

    Files that differ and changes that conflict are no documents that disagree.
    """
    if _PATTERNS.opposed.search(question):
        return True
    speak = _PATTERNS.people.search(question) or _PATTERNS.speaking.search(question)
    return bool(_PATTERNS.apart.search(question) and speak)


def count_asked_documents(question: str) -> int:
    """Return how many documents are to be set against each other: two, if it is not said."""
    found = _PATTERNS.documents.search(question)
    said = (found["count"] or found["zh"] or "") if found else ""
    return _COUNTS.get(said.lower(), 2)


def score_thesis(sentence: str, above: str) -> float:
    """Return how much a sentence reads like a thesis, in 0..1; `above` is the heading above it."""
    cues = min(len(_PATTERNS.cues.findall(sentence)), 2)
    own = 0.5 if _PATTERNS.own.search(sentence) else 0.0
    return min(1.0, own + 0.2 * cues + (0.3 if _PATTERNS.place.search(above) else 0.0))


LONGEST_SENTENCE = 600
"""A longer sentence, in characters, is rather a table or a list that was not recognised."""

CHAIN = 300
"""More than two sentences stand together only up to so many characters."""

FEW = 6
"""What is said of a term in so few words goes on with the next sentence, after a mere name."""

WHOLE = 120
"""Clauses between Chinese semicolons are one sentence if it has at most so many characters."""

_CAPITALS = regex(r"[A-Z][^a-z\u0080-\U0010ffff]{8,}")
_COMMENT = regex(r"^(?:#|//|--(?=\s)|\"\"\"|''')\s*(?=.*[.!?。！？]\W*$)|\s*(?:\"\"\"|''')$")
"""What makes a comment of a sentence in a program."""


class SentenceCandidate(NamedTuple):
    """A sentence, with the one before it where it cannot stand alone."""

    passage_index: int
    """The number of its passage."""
    text: str
    is_first: bool
    """Whether it is the first sentence of its passage."""
    heading: str
    """The nearest heading above it in its passage."""
    follows_heading: bool
    """Whether no other sentence stands between it and that heading."""
    section: str = ""
    """The sections of a configuration that it stands in, or the entry of a manual."""

    @property
    def is_dangling(self) -> bool:
        """Whether it begins with what was said before, and that could not be put before it."""
        return _points_back(self.text) and not self.section


def list_candidates(pages: Sequence[SourcePassage]) -> Iterator[SentenceCandidate]:
    """Yield what could be quoted, passage by passage; headings are among it."""
    for number, page in enumerate(pages):
        spans, above, opens = _whole(page.text), "", False
        under, known = list_section_paths(page.text, spans), find_manual_entries(page.text)
        for at, span in enumerate(spans):
            part = find_entry_at(known, span.start)
            if part and span.start < part.body_start:
                text = _entry_text(page.text, spans[at : at + 3], part, part.body_start)
                if span.end > part.body_start and _quotable(text):
                    yield SentenceCandidate(number, text, at == 0, part.term, True, part.term)
                opens, above = True, part.term
                continue
            text = _without_marks(_standing(page.text, spans, at))
            if part and span.start == part.body_start:
                text = _entry_text(page.text, spans[at : at + 3], part, span.start)
            if _quotable(text):
                term = part.term if part else ""
                yield SentenceCandidate(number, text, at == 0, above, opens, under[at] or term)
            opens = is_heading(span.text)
            above = span.text if opens else above


def locate_quote(quote: SourceQuote, pages: Sequence[SourcePassage]) -> tuple[str, str]:
    """Return the title of the passage that a quote is from, and its text."""
    page = next((one for one in pages if one.id == quote.source and quote.text in one.text), None)
    return (page.title, page.text) if page else ("", quote.text)


def _quotable(text: str) -> bool:
    """Tell whether a text may be quoted: no heading, no address, and more than a word."""
    if len(search_words(text)) < 2:
        return False
    if _PATTERNS.any_found(text, "unquotable", "record", "furniture"):
        return False
    return is_entry(text) or not _CAPITALS.fullmatch(text)


def _without_marks(text: str) -> str:
    """Return a sentence without the mark of a list or a comment, or the comma after a setting."""
    mark = _PATTERNS.mark.match(text)
    bare = _COMMENT.sub("", text[mark.end() :] if mark else text)
    return bare.rstrip(" ,") if is_entry(bare) else bare


def _whole(text: str) -> list[Span]:
    """Return the sentences of a text, those that a Chinese semicolon cut put together again.

    The label of an item of a list belongs to the sentence behind it.
    """
    whole: list[Span] = []
    run: list[Span] = []
    for span in _with_labels(text, split_sentences(text)):
        run.append(span)
        if not span.text.endswith("；"):
            whole += _joined(text, run)
            run = []
    return whole + _joined(text, run)


def _with_labels(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Yield sentences, a label such as "1. Costs." as the beginning of the one that follows it."""
    label: Span | None = None
    for span in spans:
        if label and "\n" not in text[label.end : span.start]:
            yield Span(label.start, span.end, text[label.start : span.end])
            label = None
            continue
        if label:
            yield label
        label = span if _PATTERNS.label.fullmatch(span.text) else None
        if not label:
            yield span
    if label:
        yield label


def _joined(text: str, run: Sequence[Span]) -> list[Span]:
    if len(run) < 2 or run[-1].end - run[0].start > WHOLE:
        return list(run)
    joined = text[run[0].start : run[-1].end]
    return list(run) if "\n" in joined else [Span(run[0].start, run[-1].end, joined)]


def _standing(text: str, spans: Sequence[Span], at: int) -> str:
    """Return a sentence, joined to those before it as long as each points back to the last."""
    start, end = spans[at].start, spans[at].end
    while at and _points_back(spans[at].text):
        before = spans[at - 1]
        apart = "\n" in text[before.end : start] or is_heading(before.text)
        if apart or end - before.start > (LONGEST_SENTENCE if end == spans[at].end else CHAIN):
            break
        at, start = at - 1, before.start
    return text[start:end]


def _entry_text(text: str, spans: Sequence[Span], part: ManualEntry, start: int) -> str:
    """Return what is first said of a term: it goes on in the next sentence after a mere name.

    If that leaves it short, the one after it belongs to it, too.
    """
    end = spans[0].end
    for after in spans[1:3] if is_only_name(part.term, text[start:end]) else ():
        apart = after.end > part.end or "\n\n" in text[end : after.start] or is_heading(after.text)
        if apart or len(text[start:end].split()) > FEW:
            break
        end = after.end
    return text[start:end]


def _points_back(sentence: str) -> bool:
    opens_backwards = _PATTERNS.opens_backwards.match(sentence)
    return bool(opens_backwards) and not _PATTERNS.speaks_of_itself.match(sentence)


AROUND = 0.5
"""A sentence is worth this much of what its passage is worth, besides what it is worth itself."""

IN_TITLE = 0.75
"""A term counts this much for a sentence when only the title of its page or the heading has it."""

TITLED = 1.0
"""It counts this much where the title is a name that the question says: nobody repeats it."""

PASSAGE_NAME_WEIGHT = 0.5
"""A name counts this much for a sentence when only the passage around it says it."""

ANSWER_TYPE_BONUS = 0.2
"""What it is worth to hold the kind of thing that is asked for."""

MEANING = 1.0
"""What it is worth to say what the thing is, if that is asked."""

THESIS = 1.5
"""What it is worth to state a thesis, if a disagreement is asked for."""

SETTING = 0.5
"""What it is worth to be the setting whose key is asked for."""

FIRST_SENTENCE_BONUS = 0.05
"""What it is worth to be the first sentence of a passage."""

HEADING = 0.4
"""A heading, a question and what is too long for a sentence are worth this part of it."""

ROW = 0.6
"""A row of a table is worth this part of it where it is asked how or why something is so."""

HANGING = 0.85
"""What is left of a sentence that begins with "it" where nobody can tell what "it" is."""


class ScoredSentence(NamedTuple):
    """A sentence of a page and its score."""

    score: float
    candidate: SentenceCandidate
    page: SourcePassage
    own_score: float
    """What it is worth by its own words and the title of its page."""

    @property
    def quote(self) -> SourceQuote:
        """The sentence as a quote of its source."""
        return SourceQuote(self.page.id, self.candidate.text, self.candidate.section)


class _QuestionFeatures(NamedTuple):
    """What is asked, and what can be told of it before a sentence is read."""

    about: Topic
    question: str
    names: set[str]
    thing: DefinedTerm | None
    purpose: str
    opposed: bool


def score_sentences(
    about: Topic, question: str, pages: Sequence[SourcePassage]
) -> list[ScoredSentence]:
    """Return every sentence of the pages that has a term of the topic, best first."""
    asked = _QuestionFeatures(
        about,
        question,
        named_terms(question),
        find_defined_term(question),
        find_asked_purpose(question),
        asks_disagreement(question),
    )
    around = [passage_coverage(about, question, page) for page in pages]
    found = (
        _score_sentence(asked, pages[one.passage_index], one, around[one.passage_index])
        for one in list_candidates(pages)
    )
    return sorted((one for one in found if one.score), key=lambda one: -one.score)


def _score_sentence(
    asked: _QuestionFeatures, page: SourcePassage, one: SentenceCandidate, around: float
) -> ScoredSentence:
    said = cached_search_words(one.text)
    given = cached_search_words(f"{page.title}\n{one.heading}\n{one.section}")
    found = [*said, *_otherwise(asked, said)]
    own, known = topic_coverage(asked.about, found), topic_coverage(asked.about, [*given, *found])
    below = one.heading if one.follows_heading else ""
    meaning = score_definition(asked.thing, one.text, page.title, below) if asked.thing else 0.0
    if one.section and begins_entry(one.section, one.text, page.text):
        meaning = max(meaning, float(is_entry_of(one.section, asked.purpose, page.title)))
    stated = score_thesis(one.text, one.heading) if asked.opposed else 0.0
    if not own and not (known and (stated or meaning)):
        return ScoredSentence(0.0, one, page, 0.0)
    titled = TITLED if _is_about(asked, page) else IN_TITLE
    told = own + titled * (known - own) + MEANING * meaning + THESIS * stated
    told += PASSAGE_NAME_WEIGHT * _meant(asked, page, {*found, *given})
    told += SETTING * setting_coverage(asked.about, one.text, one.section)
    score = told + AROUND * around + FIRST_SENTENCE_BONUS * one.is_first
    score += ANSWER_TYPE_BONUS * score_answer_type(asked.question, one.text)
    score *= _saying(asked.question, one.text) * (HANGING if one.is_dangling else 1.0)
    return ScoredSentence(score, one, page, told)


def _otherwise(asked: _QuestionFeatures, statements: Sequence[str]) -> list[str]:
    """Return the terms of a topic that a sentence has in other words: starred, played."""
    there = set(statements)
    return [one for one in asked.about.terms if one not in there and has_variant(one, there)]


def _is_about(asked: _QuestionFeatures, page: SourcePassage) -> bool:
    """Tell whether a page is about something that the question names, by its whole title."""
    title = cached_search_words(TITLE_ASIDE.sub("", document_title(page.title)))
    return bool(title) and asked.names.issuperset(title)


def _saying(question: str, text: str) -> float:
    """Return how much a text says for its words: a heading, a question, an endless list little."""
    if is_heading(text) or len(text) > LONGEST_SENTENCE or text.endswith(("?", "？")):
        return HEADING
    return ROW if _PATTERNS.how.search(question) and parse_row(text) else 1.0


def _meant(asked: _QuestionFeatures, page: SourcePassage, said: set[str]) -> float:
    """Return what part of a topic are names that only the passage around a sentence says."""
    names = asked.names.intersection(cached_search_words(page.text)) - said
    weights = (asked.about.terms.get(name, 0.0) for name in names)
    return sum(weights) / asked.about.total_weight if names else 0.0
