"""Split questions into sub-questions, compared sides and listed items, and resolve follow-ups."""

from __future__ import annotations

import re
from typing import NamedTuple

from text.definitions import find_defined_term
from text.pattern_files import PatternFile
from text.script import detect_language
from text.sentences import split_sentences
from text.topics import extract_names, key_phrase, key_terms, strip_format_requests

_PATTERNS = PatternFile("text", "question_parts.toml")

_SIDES = (
    *("sides_between", "sides_agree", "sides_choice", "sides_versus"),
    *("sides_zh_first", "sides_zh_last"),
)
"""Patterns of comparisons."""


STANDALONE_TERMS = 4
"""A question with a name and so many terms is understood without the one before it."""


class ComparedSides(NamedTuple):
    """The two sides that a question compares, and in what respect."""

    names: list[str]
    about: str


def split_question(question: str) -> list[str]:
    """Return the sub-questions of a question; one that has none is its only part.

    Sentences that only give background are left out where others ask.
    """
    question = strip_format_requests(question)
    sentences = [span.text for span in split_sentences(question)]
    asking = [text for text in sentences if _PATTERNS.asks_something.search(text)] or sentences
    clauses = (
        clause.strip(" ,，、。.") for text in asking for clause in _PATTERNS.clause.split(text)
    )
    least = 6 if detect_language(question) == "zh" else 12
    parts = [
        clause.strip("?？ ")
        for clause in clauses
        if _PATTERNS.asks_something.search(clause) and key_terms(clause) and len(clause) >= least
    ]
    return parts if len(parts) > 1 else [question.strip()]


def is_subquestion(text: str, question: str) -> bool:
    """Tell whether a text asks for a part of what a question asks, and for nothing else."""
    terms = set(key_terms(text))
    is_part = bool(terms) and terms <= set(key_terms(question)) and len(text) < len(question)
    return is_part and bool(_PATTERNS.asks_something.search(text))


def find_comparison(question: str) -> ComparedSides | None:
    """Return the two sides of a comparison and what they are compared in, if it is one."""
    for name in _SIDES:
        found = _PATTERNS.get(name).search(question.strip())
        if found:
            names = [_bare(found["a"]), _bare(found["b"])]
            about = (found["about"] or "").strip(" ,，")
            sound = all(key_terms(name) and not _PATTERNS.empty.match(name) for name in names)
            return ComparedSides(names, about) if sound else None
    return None


def list_named_aspects(question: str) -> list[str]:
    """Return the things a question lists, if it lists three or more."""
    language, most = ("chinese", 15) if detect_language(question) == "zh" else ("english", 60)
    lists: list[list[str]] = [[]]
    for found in _PATTERNS.get(f"{language}_list").finditer(question):
        items = _PATTERNS.get(f"{language}_mark").split(found["items"] or found["names"])
        lists.append([_item(item) for item in items if key_terms(_item(item))])
    longest = max(lists, key=len)
    return longest if len(longest) > 2 and max(map(len, longest)) <= most else []


def _item(text: str) -> str:
    """Return an item of a list without the words before the first and after the last."""
    return _PATTERNS.before_item.sub("", _PATTERNS.around_item.sub("", text).strip(" ,.'\""))


def is_simple_question(question: str) -> bool:
    """Tell whether a question asks for one fact or one thing, so that one step answers it."""
    if find_comparison(question) or list_named_aspects(question) or split_question(question)[1:]:
        return False
    short = 25 if detect_language(question) == "zh" else 80
    return bool(_PATTERNS.fact.search(question)) or len(question) <= short


def _bare(name: str) -> str:
    """Return the side of a comparison without the words that only introduce it."""
    bare = _PATTERNS.before_side.sub("", name.strip())
    return bare if detect_language(name) == "en" else (key_phrase(bare) or bare)


def is_follow_up(text: str) -> bool:
    """Tell whether a message after a question asks for more about it and is no small talk."""
    return bool(_PATTERNS.asks_more.search(text)) and not _PATTERNS.social.search(text)


def is_context_dependent(question: str) -> bool:
    """Tell whether a question cannot be understood without the one before it.

    A pronoun in its second half refers to its first half, and "And" before a question that names
    things of its own only goes on talking.
    """
    question = _without_opening(question)
    first = _PATTERNS.next.split(question.strip(), maxsplit=1)[0]
    if first != question.strip() and (extract_names(first) or len(key_terms(first)) > 1):
        return bool(_PATTERNS.points_back.search(first))
    return bool(_PATTERNS.points_back.search(question)) or _is_elliptical(question)


def _without_opening(question: str) -> str:
    """Return a question without "And" or "But" before it, if what is left says enough to stand."""
    rest = _PATTERNS.goes_on.sub("", question.strip(), count=1)
    says_enough = extract_names(rest) and len(key_terms(rest)) >= STANDALONE_TERMS
    return rest if says_enough else question


def _is_elliptical(question: str) -> bool:
    """Tell whether a question is only a word or two, as in "Winter?"."""
    if not key_terms(question):
        return True
    bare = question.strip(" ?？!！.。")
    return len(bare) <= 4 if detect_language(question) == "zh" else len(bare.split()) < 3


def find_question_subject(question: str) -> str:
    """Return the one thing that a question is about, as it is spelt there, or ""."""
    asked = find_defined_term(question)
    named = [asked.spelling] if asked else extract_names(question)
    if len(named) != 1 or _PATTERNS.pronoun.search(named[0]):
        return ""
    name = re.escape(named[0])
    # "Did Sunday opening pay off?" is about the opening; behind "is", such a word is a verb.
    if done := re.match(rf"\W*(?:do|does|did)\b.*?\b({name} [a-z]+ing)\b", question, re.IGNORECASE):
        return done[1]
    # "The lighthouse at Cape Merrin" is about the lighthouse.
    within = r"(?:[\w'’-]+ ){1,2}(?:at|in|near|on) (?:the )?"
    whole = re.search(rf"\b(?:the|an?) (?:{within})?{name}\b", question, re.IGNORECASE)
    return re.sub(r"^an? ", "the ", whole[0], flags=re.IGNORECASE) if whole else named[0]


def resolve_pronoun(question: str, subject: str) -> str:
    """Return a question with its first pronoun replaced by what it refers to."""
    found = _PATTERNS.pronoun.search(question)
    if not found or not subject:
        return question
    if found["zh"]:
        new = f"{subject}的" if found["zh"] == "其" else subject
    else:
        owned = found["own"] or (found["her"] and question[found.end() :][:2].strip(" ?.!"))
        new = f"{subject}'s" if owned else subject
    return question[: found.start()] + new + question[found.end() :]
