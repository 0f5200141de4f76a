"""What the wording of a quote says.

Other words for a term, clauses that say all of a question, and what disqualifies a quote as an
answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache, lru_cache

from models.extractive.prompt_parser import SourceQuote
from text.manuals import find_options
from text.pattern_files import PatternFile
from text.question_types import asks_answer_type, asks_why, has_answer_type_near, has_asked_count
from text.regex import regex
from text.topics import extract_names, key_terms, named_terms, strip_request_phrases
from text.words import search_words

_PATTERNS = PatternFile("models.extractive", "quote_wording.toml")


STEM_LENGTH = 6
"""English words that begin with so many equal letters are forms of one: director, directed."""

_IMPLIED = {"years": "born died", "people": "nationality citizenship"}
"""Words that a sentence with years of life or with a people needs no more, if they are asked."""

_INSTANCES = ("value", "key", "name")
"""What is asked for by its kind, and has a certain look: a number, a key, a name of a program."""


def stated_words(question: str, text: str) -> list[str]:
    """Return the words of a text and those that it says without them: years of life, a people."""
    more = (said for given, said in _implied(question) if given.search(text))
    return search_words(" ".join([text, *more]))


@cache
def _word_families() -> list[frozenset[str]]:
    rows = _PATTERNS.get_rows("families")
    return [frozenset(search_words(" ".join(words))) for words in rows]


@lru_cache(maxsize=65_536)
def word_variants(term: str) -> frozenset[str]:
    """Return a term and the terms that say the same."""
    return frozenset([term]).union(*(family for family in _word_families() if term in family))


def all_variants(terms: Iterable[str]) -> list[str]:
    """Return terms and those that say the same."""
    return [variant for term in terms for variant in word_variants(term)]


def has_variant(term: str, found: Collection[str]) -> bool:
    """Tell whether a term or, in English, another word for it is among some words."""
    if not word_variants(term).isdisjoint(found):
        return True
    stem = term[:STEM_LENGTH] if term.isascii() and term.isalpha() else ""
    return len(stem) == STEM_LENGTH and any(one.startswith(stem) for one in found)


def has_all_variants(terms: Iterable[str], statements: Iterable[str]) -> bool:
    """Tell whether all of some terms, or other words for them, are among the words of a text."""
    found = set(statements)
    return all(has_variant(one, found) for one in terms)


@lru_cache(maxsize=64)
def _implied(question: str) -> list[tuple[re.Pattern[str], str]]:
    """Return what may say the words of a question without them, as told for each clause."""
    return [
        (_PATTERNS.get(f"{name}_given"), said)
        for name, said in _IMPLIED.items()
        if _PATTERNS.get(f"{name}_asked").search(question)
    ]


SPREAD = 3
"""All that is asked stands among so many times as many words of a clause."""


def split_clauses(text: str) -> list[str]:
    """Return what a sentence says of one thing and of another."""
    return _PATTERNS.clause_boundary.split(text)


def points_back(text: str) -> bool:
    """Tell whether a text begins with something that was named before."""
    return bool(_PATTERNS.back_reference.search(text))


def opens_with_condition(text: str) -> bool:
    """Tell whether a text begins with a condition or a concession."""
    return bool(_PATTERNS.condition.search(text))


def is_negated(text: str) -> bool:
    """Tell whether a text denies something."""
    return bool(_PATTERNS.negation.search(text))


def has_answering_clause(question: str, quote: SourceQuote, title: str) -> bool:
    """Tell whether one clause says all of a question and has the kind of thing asked for.

    Only names may stand in the title instead.
    """
    done, called = _PATTERNS.done.search(question), _PATTERNS.called.findall(question.lower())
    if points_back(quote.text) or (done and not re.search(rf"\b{done['verb']}\b", quote.text)):
        return False
    left = {*search_words(" ".join(called))} if asks_answer_type(question) else set()
    above = named_terms(question) & set(search_words(title))
    rest = [one for one in key_terms(question) if one not in left]
    for clause in split_clauses(f"{quote.section} {quote.text}".strip()):
        said = stated_words(question, clause)
        if has_all_variants(rest, {*said, *above}) and _together(rest, search_words(clause)):
            return not asks_answer_type(question) or _gives(
                question, rest, quote.text if asks_why(question) else clause
            )
    return False


def _gives(question: str, rest: Sequence[str], clause: str) -> bool:
    """Tell whether a clause has the number or the kind of thing that is asked for, near by."""
    if "how many" in question.lower():
        return bool(has_asked_count(question, _PATTERNS.no_count.sub("", clause)))
    return has_answer_type_near(question, clause, all_variants(rest))


def _together(terms: Sequence[str], statements: Sequence[str]) -> bool:
    """Tell whether the terms that a clause has stand close together in it."""
    there = [one for one in terms if has_variant(one, statements)]
    most = SPREAD * len(there)
    runs = (statements[at : at + most] for at in range(max(1, len(statements) - most + 1)))
    return bool(there) and any(has_all_variants(there, run) for run in runs)


FEW = 4
"""A quote with fewer words that the question has not says nothing."""
_OPTION = regex(r"(?<![\w-])--?[A-Za-z]|(?<![/\w])[A-Z]{2,}_[A-Z]|\w=")
"""What an option looks like."""

_ANNOUNCES = regex(r"(?<!\W)(?>\W*?[:：])\W*$|\[-")
"""What comes before the lines that say something, or shows how a command is called."""


def is_disqualified(question: str, lead: Sequence[SourceQuote]) -> bool:
    """Tell whether the wording of the first quotes alone says that they are no answer.

    So it is with labels and what only announces something, with quotes that tell no way of doing
    what is asked how to do, do not spell out an abbreviation or name no option or another one, with
    those that name no port, key or command where one is asked for, and with those on somebody's
    children where the parents are asked for.
    """
    first = lead[0].text
    return bool(
        _no_way(question, first)
        or _of_other_kin(question, first)
        or (
            _PATTERNS.label.search(first)
            and not _says_more(question, first)
            and not _value(lead[0])
        )
        or not _stands_for(question, first)
        or not find_options(question) <= find_options(f"{lead[0].section} {first}")
        or (
            _PATTERNS.does.search(question)
            and find_options(lead[0].section)
            and not find_options(question)
        )
        or (
            _PATTERNS.asks_option.search(question)
            and not _OPTION.search(f"{lead[0].section} {first}")
        )
        or _no_instance(question, lead)
        or any(_ANNOUNCES.search(one.text) for one in lead if not one.items)
    )


def _no_way(question: str, quote: str) -> bool:
    """Tell whether a way of doing something is asked for that a quote does not tell."""
    line = strip_request_phrases(question)
    if not _PATTERNS.way.search(line):
        return False
    conditional = opens_with_condition(quote) and not _PATTERNS.wanting.search(quote)
    undone = _PATTERNS.act.search(line) and not _PATTERNS.doing.search(quote)
    return bool(conditional or undone) or not _PATTERNS.step.search(quote)


def _no_instance(question: str, lead: Sequence[SourceQuote]) -> bool:
    """Tell whether a port, a key, a command or the like is asked for that quotes do not name."""
    kind = next((one for one in _INSTANCES if _PATTERNS.get(f"{one}_asked").search(question)), None)
    if kind is None or any(one.section for one in lead):
        return False
    instances = (
        each[0] for one in lead for each in _PATTERNS.get(f"{kind}_given").finditer(one.text)
    )
    return all(each.lower() in question.lower() for each in instances)


def _value(quote: SourceQuote) -> bool:
    """Tell whether a quote is the line below a term that gives its default."""
    return bool(quote.section and re.match(r"Default: ?\S", quote.text))


def _says_more(question: str, quote: str) -> bool:
    """Tell whether a quote has enough words that the question has not."""
    return len(set(search_words(quote)) - set(search_words(question))) >= FEW


def _stands_for(question: str, quote: str) -> bool:
    """Tell whether a quote spells an abbreviation out, if that is asked."""
    found = _PATTERNS.abbreviation.search(question)
    if not found:
        return True
    spelt_out = _PATTERNS.get_text("spelt_out").replace("NAME", re.escape(found["name"]))
    return bool(re.search(spelt_out, quote))


def _of_other_kin(question: str, quote: str) -> bool:
    """Tell whether a quote names children where parents are asked for, or parents as a couple."""
    if _PATTERNS.spouse.search(question):
        return bool(_PATTERNS.of_parents.search(quote))
    child_of = _PATTERNS.get_text("child_of")
    inverse = (rf"{child_of}{re.escape(name)}" for name in extract_names(question))
    return bool(_PATTERNS.parent.search(question)) and any(re.search(one, quote) for one in inverse)
