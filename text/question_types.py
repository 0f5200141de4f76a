"""Find the type of answer that a question asks for, such as a date, and sentences that have it."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal, NamedTuple

from text.pattern_files import PatternFile
from text.script import HAN
from text.sentences import split_sentences
from text.topics import strip_request_phrases
from text.words import query_terms, search_words

PLURAL_PATTERN = r"(?!\w*(?:ss|us|is)\b|(?:does|has|was|this|yes)\b)\w+s"
"""A word that may be an English plural."""

_PATTERNS = PatternFile("text", "question_types.toml", plural=PLURAL_PATTERN)

_UNITS = ("weight", "amount", "share", "frequency", "duration", "distance", "price", "temperature")
"""What is asked for in a unit, with patterns for the question and for numbers in that unit."""


def _has_asked_unit(question: str, sentence: str) -> bool | None:
    """Tell whether a sentence has the unit that is asked for, or `None` if none is."""
    if re.search(f"[{HAN}]", question):
        return None
    units = _list_asked_units(question)
    return _PATTERNS.any_found(sentence, *units) if units else None


def _list_asked_units(question: str) -> list[str]:
    return [f"{unit}_given" for unit in _UNITS if _PATTERNS.get(f"{unit}_asked").search(question)]


def has_asked_count(question: str, sentence: str) -> bool:
    """Tell whether a number in `sentence` has the unit or counts the things that are asked for."""
    if _PATTERNS.any_found(sentence, *_list_asked_units(question)):
        return True
    found = _PATTERNS.counted.search(question)
    if found and found["zh"]:
        counted = _PATTERNS.get_text("number_given")
        return bool(re.search(rf"(?:{counted})\s*[多余餘]?{found['zh'][0]}", sentence))
    things = set(query_terms(found["en"])) if found else set()
    following = (
        sentence[one.end() : one.end() + 40] for one in _PATTERNS.number_given.finditer(sentence)
    )
    return bool(things) and any(things & set(search_words(after)[:3]) for after in following)


NEAR = 40
"""The most characters between an answer and the words it must be near."""


class _AnswerType(NamedTuple):
    """Questions for a type of answer, and what such an answer looks like."""

    name: str
    new: bool = True
    """Whether the answer must not be in the question."""

    @property
    def asked(self) -> re.Pattern[str]:
        """Return the pattern of the questions."""
        return _PATTERNS.get(f"{self.name}_asked")

    @property
    def given(self) -> re.Pattern[str]:
        """Return the pattern of the answers."""
        return _PATTERNS.get(f"{self.name}_given")


_LIST = _AnswerType("list", new=False)
_NUMBER = _AnswerType("number")
_PERSON = _AnswerType("person")
_CAUSE = _AnswerType("cause", new=False)
_PLACE = _AnswerType("place")
_MEANING = _AnswerType("meaning", new=False)
_ANSWER_TYPES = (
    _AnswerType("default", new=False),
    # What happens now or regularly may have a condition for its time.
    _AnswerType("occasion"),
    _AnswerType("date"),
    *(_LIST, _NUMBER, _PERSON, _CAUSE, _PLACE),
    _AnswerType("decision", new=False),
    _MEANING,
)


def score_answer_type(question: str, sentence: str) -> float:
    """Return how well `sentence` has what `question` asks for, such as a date, in 0..1.5.

    A name, a place, a date or a number counts if the question does not contain it; a number of the
    things or in the unit that is asked for is worth more. A question that asks for none of the
    types scores 0. Of several lines the first that asks decides.
    """
    for line in map(strip_request_phrases, question.splitlines()):
        if kind := _find_asked_type(line):
            spans = (match[0] for match in kind.given.finditer(sentence))
            has_type = any(not kind.new or _is_new(span, line.lower()) for span in spans)
            counts = kind is _NUMBER and has_type and has_asked_count(line, sentence)
            return has_type + 0.5 * counts
    return 0.0


def _find_asked_type(line: str) -> _AnswerType | None:
    return next((kind for kind in _ANSWER_TYPES if kind.asked.search(line)), None)


def _first_line(question: str) -> str:
    return strip_request_phrases(question.split("\n")[0])


def has_answer_type_near(question: str, sentence: str, beside: Collection[str]) -> bool:
    """Tell whether a sentence has the type of answer that a question asks for, if it asks for one.

    It must be near one of the words `beside`, if the sentence has one. Almost any sentence may say
    what something means (`definitions.py` scores how well).
    """
    line = _first_line(question)
    kind = _find_asked_type(line) or _MEANING
    if kind is _MEANING:
        return True
    if kind is _NUMBER and _has_asked_unit(line, sentence) is False:
        return False
    other = _PATTERNS.title if kind is _PERSON else _PATTERNS.no_number if kind is _NUMBER else None
    text = other.sub(lambda match: " " * len(match[0]), sentence) if other else sentence
    answers = [
        match
        for match in kind.given.finditer(text)
        if (not kind.new or _is_new(match[0], line.lower())) and not _is_other(kind, text, match)
    ]
    around = (sentence[max(0, one.start() - NEAR) : one.end() + NEAR] for one in answers)
    near = any(not {*search_words(piece)}.isdisjoint(beside) for piece in around)
    return bool(answers) and (near or {*search_words(sentence)}.isdisjoint(beside))


def has_answer_type(question: str, sentence: str) -> bool:
    """Tell whether a sentence has the type of answer that a question asks for anywhere."""
    return has_answer_type_near(question, sentence, ())


def _is_new(span: str, question: str) -> bool:
    """Tell whether a question in lower case has none of the names and numbers of a span.

    A path is new if any part of it is.
    """
    words = re.findall(r"[^\W_]+", span)
    if "/" in span:
        return any(word.lower() not in question for word in words)
    names = [word for word in words if not word.islower() and search_words(word)] or words
    return not any(word.lower() in question for word in names)


def _is_other(kind: _AnswerType, sentence: str, match: re.Match[str]) -> bool:
    """Tell whether a match is not a person ("an English poet", "Enable LSB") or not a count."""
    if kind is _PERSON:
        before = sentence[: match.start()]
        return bool(_PATTERNS.article.search(before) or _PATTERNS.acronym.search(match[0]))
    return kind is _NUMBER and bool(_PATTERNS.one_of.match(sentence, match.start()))


def asks_answer_type(question: str) -> bool:
    """Tell whether a question asks for a type of answer that a sentence may lack."""
    return _find_asked_type(_first_line(question)) not in (None, _MEANING)


def asks_meaning(question: str) -> bool:
    """Tell whether a question asks what something is or means, and for nothing more specific."""
    return _find_asked_type(_first_line(question)) is _MEANING


def asks_list(question: str) -> bool:
    """Tell whether a question asks for several things: a list, the steps of something."""
    return _find_asked_type(_first_line(question)) is _LIST


def asks_where(question: str) -> bool:
    """Tell whether a question asks for a place first."""
    return _find_asked_type(_first_line(question)) is _PLACE


def asks_why(question: str) -> bool:
    """Tell whether a question asks for a reason."""
    return bool(_CAUSE.asked.search(question.split("\n")[0]))


def asks_why_too(question: str) -> bool:
    """Tell whether a question asks for a reason besides something else."""
    return bool(_PATTERNS.why_too.search(question))


def gives_cause(sentence: str) -> bool:
    """Tell whether a sentence says why something is so."""
    return bool(_CAUSE.given.search(sentence))


def classify_unquotable(question: str, text: str) -> Literal["judging", "counting", ""]:
    """Return what a question asks for that quotes cannot give; "" where they may answer it.

    A number of the counted things in the quoted `text` is an answer.
    """
    line = _first_line(question)
    if _PATTERNS.judging.search(line) and not _PATTERNS.factual.search(line):
        return "judging"
    if _PATTERNS.mentions.search(line):
        return "counting"
    if not _PATTERNS.counting_question.search(line):
        return ""
    has_count = any(has_asked_count(line, span.text) for span in split_sentences(text))
    return "" if has_count else "counting"
