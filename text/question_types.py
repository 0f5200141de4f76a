"""Find the type of answer that a question asks for, such as a date, and sentences that have it."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

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


# What happens now or regularly ("occasion") may have a condition for its time.
_ANSWER_TYPES = (
    *("default", "occasion", "date", "list", "number", "person", "cause", "place"),
    *("decision", "meaning"),
)
"""Types of answers, by the names of the patterns of questions for them and of such answers."""

_MAY_BE_ASKED = frozenset({"default", "list", "cause", "decision", "meaning"})
"""The types of answers that may be in the question already."""


def score_answer_type(question: str, sentence: str) -> float:
    """Return how well `sentence` has what `question` asks for, such as a date, in 0..1.5.

    A name, a place, a date or a number counts if the question does not contain it; a number of the
    things or in the unit that is asked for is worth more. A question that asks for none of the
    types scores 0. Of several lines the first that asks decides.
    """
    for line in map(strip_request_phrases, question.splitlines()):
        if kind := _find_asked_type(line):
            spans = (match[0] for match in _PATTERNS.get(f"{kind}_given").finditer(sentence))
            has_type = any(kind in _MAY_BE_ASKED or _is_new(span, line.lower()) for span in spans)
            counts = kind == "number" and has_type and has_asked_count(line, sentence)
            return has_type + 0.5 * counts
    return 0.0


def _find_asked_type(line: str) -> str | None:
    return next((one for one in _ANSWER_TYPES if _PATTERNS.get(f"{one}_asked").search(line)), None)


def _first_line(question: str) -> str:
    return strip_request_phrases(question.split("\n")[0])


def has_answer_type_near(question: str, sentence: str, beside: Collection[str]) -> bool:
    """Tell whether a sentence has the type of answer that a question asks for, if it asks for one.

    It must be near one of the words `beside`, if the sentence has one. Almost any sentence may say
    what something means (`definitions.py` scores how well).
    """
    line = _first_line(question)
    kind = _find_asked_type(line) or "meaning"
    if kind == "meaning":
        return True
    if kind == "number" and _has_asked_unit(line, sentence) is False:
        return False
    other = {"person": "title", "number": "no_number"}.get(kind)
    text = _PATTERNS.get(other).sub(_to_spaces, sentence) if other else sentence
    matches = _PATTERNS.get(f"{kind}_given").finditer(text)
    new = (one for one in matches if kind in _MAY_BE_ASKED or _is_new(one[0], line.lower()))
    answers = [one for one in new if not _is_other(kind, text, one)]
    around = (sentence[max(0, one.start() - NEAR) : one.end() + NEAR] for one in answers)
    near = any(not {*search_words(piece)}.isdisjoint(beside) for piece in around)
    return bool(answers) and (near or {*search_words(sentence)}.isdisjoint(beside))


def _to_spaces(match: re.Match[str]) -> str:
    return " " * len(match[0])


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


def _is_other(kind: str, sentence: str, match: re.Match[str]) -> bool:
    """Tell whether a match is not a person ("an English poet", "Enable LSB") or not a count."""
    if kind == "person":
        before = sentence[: match.start()]
        return bool(_PATTERNS.article.search(before) or _PATTERNS.acronym.search(match[0]))
    return kind == "number" and bool(_PATTERNS.one_of.match(sentence, match.start()))


def asks_answer_type(question: str) -> bool:
    """Tell whether a question asks for a type of answer that a sentence may lack."""
    return _find_asked_type(_first_line(question)) not in (None, "meaning")


def asks_meaning(question: str) -> bool:
    """Tell whether a question asks what something is or means, and for nothing more specific."""
    return _find_asked_type(_first_line(question)) == "meaning"


def asks_list(question: str) -> bool:
    """Tell whether a question asks for several things: a list, the steps of something."""
    return _find_asked_type(_first_line(question)) == "list"


def asks_where(question: str) -> bool:
    """Tell whether a question asks for a place first."""
    return _find_asked_type(_first_line(question)) == "place"


def asks_why(question: str) -> bool:
    """Tell whether a question asks for a reason."""
    return bool(_PATTERNS.cause_asked.search(question.split("\n")[0]))


def asks_why_too(question: str) -> bool:
    """Tell whether a question asks for a reason besides something else."""
    return bool(_PATTERNS.why_too.search(question))


def gives_cause(sentence: str) -> bool:
    """Tell whether a sentence says why something is so."""
    return bool(_PATTERNS.cause_given.search(sentence))


def classify_unquotable(question: str, text: str) -> Literal["drawing", "judging", "counting", ""]:
    """Return what a question asks for that quotes cannot give; "" where they may answer it.

    A number of the counted things in the quoted `text` is an answer.
    """
    line = _first_line(question)
    if _PATTERNS.drawing.search(strip_request_phrases(line)):
        return "drawing"
    if _PATTERNS.judging.search(line) and not _PATTERNS.factual.search(line):
        return "judging"
    if _PATTERNS.mentions.search(line):
        return "counting"
    if not _PATTERNS.counting_question.search(line):
        return ""
    has_count = any(has_asked_count(line, span.text) for span in split_sentences(text))
    return "" if has_count else "counting"


def asks_recommendation(question: str) -> bool:
    """Tell whether a question asks its answer to choose or to advise, anywhere in it."""
    return any(
        _PATTERNS.recommending.search(part) and not _PATTERNS.recommended.search(part)
        for line in question.splitlines()
        for part in _PATTERNS.part.findall(line)
    )


def asks_judgement(question: str) -> bool:
    """Tell whether a question asks for a recommendation, an opinion or an assessment."""
    line = _first_line(question)
    judging = _PATTERNS.judging.search(line) and not _PATTERNS.factual.search(line)
    return bool(judging or _PATTERNS.assessing.search(question)) or asks_recommendation(question)
