"""Tell whether a quote has the very form of an answer to what is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from models.extractive.manual_answers import (
    DEFAULT_WORD,
    gives_default_value,
    has_asked_owner,
    is_about_other_option,
    is_entry_answer,
    is_from_other_manual,
    is_manual_page,
)
from models.extractive.prompt_parser import SourceQuote
from models.extractive.quote_wording import (
    has_answering_clause,
    has_variant,
    is_negated,
    opens_with_condition,
    split_clauses,
)
from models.extractive.sentence_scoring import locate_quote
from text.answerability import SourcePassage
from text.definitions import find_defined_term, score_definition
from text.manuals import find_asked_purpose, is_entry_of
from text.pattern_files import PatternFile
from text.question_types import asks_list, asks_meaning
from text.regex import regex
from text.topics import key_terms, named_terms, strip_request_phrases
from text.words import search_words

_USES = ("used", "meant", "good", "there", "designed", "intended")
"""What something is … for."""

_PATTERNS = PatternFile("models.extractive", "exact_answers.toml", uses="|".join(_USES))

AnswerForm = Literal["entry", "reply", "default", "deed", "meaning", "clause"]
"""How an answer is said."""

WHOLE = 1.0
"""What a sentence is worth (`text/definitions.py`) that begins with a thing and says what it is."""

SAME_QUESTION = 0.8
"""The share of the words that two questions have in common, at least, to be the same."""

_ABOVE = regex(r"(?:^|[\n.!:])(?P<asked>[^\n.!:]*(?:\n[^\n.!:]+)?\?)[\s\"”*_]*(?:A[:.]\s*)?$")
"""A question right above a quote."""


def find_answer_form(
    question: str, pages: Sequence[SourcePassage], quotes: Sequence[SourceQuote]
) -> AnswerForm | None:
    """Return the form in which the first quote says just what is asked, if it does.

    It is the entry of what is asked for, what follows the same question, its default, a sentence
    that begins with it and says what it does or is, or one clause with all of the question. None
    of them is of another manual than the question names, or affirms what the question denies.
    """
    line, first = strip_request_phrases(question.split("\n")[0]), quotes[0]
    title, text = locate_quote(first, pages)
    if (
        _turned(line, first.text)
        or is_from_other_manual(line, first, title, pages)
        or not has_asked_owner(line, first, title)
    ):
        return None
    if is_entry_of(first.section, find_asked_purpose(line), title):
        return "entry" if is_entry_answer(line, first, pages) else None
    if _replies(line, first, title, text):
        return "reply"
    if opens_with_condition(first.text) or _PATTERNS.here.search(first.text) or asks_list(line):
        return None
    return _said(line, first, title, text)


def _turned(question: str, quote: str) -> bool:
    """Tell whether one of a question and a quote denies something, and the other does not.

    What a quote denies is an answer to a question for yes or no, or for what something does.
    """
    if is_negated(question):
        return not is_negated(quote)
    clause = split_clauses(quote)[0]
    return bool(_PATTERNS.seeks.search(question)) and is_negated(clause)


def _said(question: str, quote: SourceQuote, title: str, text: str) -> AnswerForm | None:
    """Return the form in which a sentence says just what is asked, by what is asked for."""
    if DEFAULT_WORD.search(question):
        return "default" if gives_default_value(question, quote, title) else None
    if is_about_other_option(question, quote):
        return None
    if found := _PATTERNS.does.search(question) or _PATTERNS.asks_use.search(question):
        does = _does(found["subject"], found["verb"].lower(), quote, title, text)
        return "deed" if does else None
    if _asks_thing(question):
        return "meaning" if _is_thing(question, quote) else None
    return "clause" if has_answering_clause(question, quote, title) else None


def _replies(question: str, quote: SourceQuote, title: str, text: str) -> bool:
    """Tell whether a quote stands right below the same question, as it does in a FAQ."""
    before = text.partition(quote.text)[0]
    found = _ABOVE.search(before)
    above = found["asked"] if found else title if not before.strip() else ""
    if not above.rstrip("¶ ").endswith("?"):
        return False
    asked, same = set(key_terms(question)), set(key_terms(above.rpartition(" — ")[2]))
    return len(asked & same) >= SAME_QUESTION * len(asked | same)


def _asks_thing(question: str) -> bool:
    """Tell whether it is asked what a thing is, or who somebody is."""
    asked = find_defined_term(question)
    is_name = asked and set(search_words(asked.spelling)) <= named_terms(question)
    return bool(is_name) or asks_meaning(question)


def _is_thing(question: str, quote: SourceQuote) -> bool:
    """Tell whether a quote begins with the thing that is asked for and says what it is."""
    asked, part = find_defined_term(question), _PATTERNS.part_of.search(question)
    is_part = part and rf"\W*{_beginning(part['part'])}(?:is|are|was|were)\b"
    if is_part and re.match(is_part, quote.text, re.IGNORECASE):
        return True
    if not asked or f"{asked.spelling}," in question:
        return False
    if _PATTERNS.noted.match(quote.text) or _PATTERNS.instance.match(quote.text):
        return False
    return score_definition(asked, quote.text, "") >= WHOLE


def _does(subject: str, verb: str, quote: SourceQuote, title: str, text: str) -> bool:
    """Tell whether a quote begins with something and says what it does."""
    if verb == "mean":
        return _is_thing(f"what does {subject} mean", quote)
    start = _beginning(subject)
    verb_after = _PATTERNS.get_text("verb_after")
    found = re.match(rf"\W*{start}{verb_after}", quote.text, re.IGNORECASE)
    if not found or _PATTERNS.revokes.search(quote.text):
        return False
    if verb not in ("do", *_USES):
        return any(has_variant(one, search_words(found["said"])) for one in search_words(verb)[:1])
    before = text.partition(quote.text)[0]
    described = " " in subject or not is_manual_page(title) or _PATTERNS.describes.search(before)
    return bool(described) and _serves(start, quote.text, before, found)


def _serves(start: str, quote: str, before: str, found: re.Match[str]) -> bool:
    """Tell whether the first sentence that begins with something says what it is there for."""
    earlier = re.search(rf"(?:^|[.!?]\s|\n)\s*{start}[a-z]", before, re.IGNORECASE)
    if earlier or _PATTERNS.points.match(quote, found.end()):
        return False
    if tool := re.match(rf"\W*{start}(?:is|are) (?=an? )", quote, re.IGNORECASE):
        return bool(_PATTERNS.tool.match(quote, tool.end()))
    return not _PATTERNS.no_deed.match(found["said"])


def _beginning(subject: str) -> str:
    """Return a pattern for a sentence that begins with a thing, up to its verb."""
    spelt = r"[\W_]+".join(map(re.escape, re.findall(r"[^\W_]+", subject)))
    named = _PATTERNS.get_text("named")
    return rf"(?:the |an? )?[\"'“‘`]?{spelt}{named}"
