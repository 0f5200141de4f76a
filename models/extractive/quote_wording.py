"""What the wording of a quote says.

Other words for a term, clauses that say all of a question, and what disqualifies a quote as an
answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

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

_FAMILIES = (
    "write wrote written compose composer author",
    "found founded founder establish start create form formed set begin began",
    "release publish out premiere broadcast debut issue appear launch",
    "own owner belong owned part property",
    "born birth",
    "die died death",
    "direct director",
    "make made develop produce manufacture build built construct create design maker",
    "contain hold held include consist comprise capacity",
    "locate situate base lie stand site",
    "name call known",
    "play star portray role",
    "win won winner champion",
    "lead led head chair leader manage manager coach",
    "study educate attend graduate school",
    "live reside",
    "marry married wife husband spouse",
    "remove delete drop clear",
    "show print display list output",
    "stand short abbreviation",
    "hold held take took place occur happen",
    "acquire acquisition buy bought purchase",
    "job profession occupation living",
)
"""Verbs that are often asked with, and the words that answer them."""


def stated_words(question: str, text: str) -> list[str]:
    """Return the words of a text and those that it says without them: years of life, a people."""
    more = (said for given, said in _implied(question) if given.search(text))
    return search_words(" ".join([text, *more]))


_IMPLIED = tuple(
    (regex(asked, re.IGNORECASE), regex(given), told)
    for asked, given, told in (
        (
            r"\bwhen\b|\bwhat (?:year|date|day)\b",
            r"\([^()]*\d{3,4}[^()\d]{1,4}[^()]*\d{3,4}[^()]*\)",
            "born died",
        ),
        (
            r"\b(?:nationality|citizenship)\b",
            r"\b(?:is|was) an? (?:[a-z]+[- ])?[A-Z][a-z]+(?:an|ese|ish|ch|i)\b",
            "nationality citizenship",
        ),
    )
)
"""What is asked, what a sentence looks like, and the words that it thereby needs no more."""


def _variants_by_word() -> dict[str, frozenset[str]]:
    families = [frozenset(search_words(line)) for line in _FAMILIES]
    every = frozenset[str]().union(*families)
    return {one: frozenset().union(*(some for some in families if one in some)) for one in every}


_VARIANTS = _variants_by_word()


def word_variants(term: str) -> frozenset[str]:
    """Return a term and the terms that say the same."""
    return _VARIANTS.get(term, frozenset()) | {term}


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
    return [(given, said) for asked, given, said in _IMPLIED if asked.search(question)]


SPREAD = 3
"""All that is asked stands among so many times as many words of a clause."""

CLAUSE_BOUNDARY = regex(
    r"[;:]\s|\.\s+(?=[A-Z])"
    r"|,? \b(?:but|which|who|because|although|though|whereas|unless|so that|rather than"
    r"|instead of)\b"
)
"""What parts a sentence into what is said of one thing and of another."""
BACK_REFERENCE = regex(
    r"^\W*(?:it|its|they|their|this|these|those|that|such|he|she|his|her|then|otherwise|also)\b",
    re.IGNORECASE,
)
"""What begins with something that was named before."""
_DONE = regex(r"\b(?:is|are|was|were|be|been) .*?\b(?P<verb>[a-z]{2,}ed)\W*$")
"""A question for what is done to something."""
_NO_COUNT = regex(r"\bone\b|(?<=\w)\(\d\w?\)", re.IGNORECASE)
"""A number that counts nothing: "one", the section of a manual."""
_CALLED = regex(r"^\W*(?:(?:in|on|at|by|to|from|for|of|since) )?(?:which|what|how) ([\w-]+)")
"""The word for the kind of thing that is asked for."""


def has_answering_clause(question: str, quote: SourceQuote, title: str) -> bool:
    """Tell whether one clause says all of a question and has the kind of thing asked for.

    Only names may stand in the title instead.
    """
    done, called = _DONE.search(question), _CALLED.findall(question.lower())
    if BACK_REFERENCE.search(quote.text) or (
        done and not re.search(rf"\b{done['verb']}\b", quote.text)
    ):
        return False
    left = {*search_words(" ".join(called))} if asks_answer_type(question) else set()
    above = named_terms(question) & set(search_words(title))
    rest = [one for one in key_terms(question) if one not in left]
    for clause in CLAUSE_BOUNDARY.split(f"{quote.section} {quote.text}".strip()):
        said = stated_words(question, clause)
        if has_all_variants(rest, {*said, *above}) and _together(rest, search_words(clause)):
            return not asks_answer_type(question) or _gives(
                question, rest, quote.text if asks_why(question) else clause
            )
    return False


def _gives(question: str, rest: Sequence[str], clause: str) -> bool:
    """Tell whether a clause has the number or the kind of thing that is asked for, near by."""
    if "how many" in question.lower():
        return bool(has_asked_count(question, _NO_COUNT.sub("", clause)))
    return has_answer_type_near(
        question, clause, [form for one in rest for form in word_variants(one)]
    )


def _together(terms: Sequence[str], statements: Sequence[str]) -> bool:
    """Tell whether the terms that a clause has stand close together in it."""
    there = [one for one in terms if has_variant(one, statements)]
    most = SPREAD * len(there)
    runs = (statements[at : at + most] for at in range(max(1, len(statements) - most + 1)))
    return bool(there) and any(has_all_variants(there, run) for run in runs)


FEW = 4
"""A quote with fewer words that the question has not says nothing."""
_WANTING = regex(r"^\W*if you (?:want|need|wish|would like|like)\b", re.IGNORECASE)
"""A condition that names what somebody wants to do, as a way does."""
_ASKS_OPTION = regex(r"\b(?:which|what)(?: [\w-]+){0,2} (?:option|flag|switch)\b", re.IGNORECASE)
_OPTION = regex(r"(?<![\w-])--?[A-Za-z]|(?<![/\w])[A-Z]{2,}_[A-Z]|\w=")
"""What an option looks like."""
_DOES = regex(r"^\W*what do(?:es)?\b", re.IGNORECASE)
"""What asks for what something does, which is not what one of its options does."""
_CODE = (
    r"(?<![\w-])(?:\$\W?\w*|\w*[\w)][_/.:(-]+[\w)][\w./:()-]*|[A-Z]{2,}\w*|[a-z]+[A-Z]\w*"
    r"|[`\"'“‘][^\s]+)|\w\(\d?\)"
)
_INSTANCES = tuple(
    (
        regex(
            rf"\b(?:which|what)(?: (?!(?:is|are|was|does|do)\b)[\w-]+){{0,2}} (?:{asked})\b",
            re.IGNORECASE,
        ),
        regex(given),
    )
    for asked, given in (
        (r"ports?|versions?|sizes?|numbers?|value|mode|level", r"\d|[A-Z]{2,}|[\"'“‘`]|\w=\w"),
        (
            "keys?|keystrokes?|shortcuts?",
            r"\b(?:F\d|[CM]-\S|(?i:ctrl|control|alt|shift|esc|enter|tab|space|return|arrow)\b)"
            r"|[\"'“‘`]|(?<![\w'’-])[b-zB-HJ-Z?^](?![\w'’-])",
        ),
        (
            "commands?|variables?|functions?|modules?|files?|director(?:y|ies)|paths?|signals?"
            "|methods?|parameters?|directives?|settings?|packages?|programs?|tools?|class(?:es)?",
            _CODE,
        ),
    )
)
"""What asks for one of some things that have a name of a certain look, and that look."""
_PARENT = regex(r"\b(?:father|mother|parents?)\b", re.IGNORECASE)
_SPOUSE = regex(r"\b(?:spouse|wife|husband|married|marry)\b", re.IGNORECASE)
_CHILD_OF = r"\b(?:sons?|daughters?|child|children) of (?:[\w.]+ ){0,2}"

OPENING_CONDITION = regex(
    r"^\W*(?:if|unless|although|though|while|when|whenever|before|after|because|since|for programs"
    r"|note|in case|however)\b|^如果|^当|^若",
    re.IGNORECASE,
)
NEGATION_WORDS = regex(
    r"\b(?:not|never|no longer|cannot|without|neither|nor|\w+n['’]t)\b|[不没沒未非无無]",
    re.IGNORECASE,
)
_LABEL = regex(r"^\W*[\w .-]{1,30}(?::|\(|=)[^.!?]{1,40}\W*$|^[A-Z][A-Z_]+=\S+$")
"""What only names something, as an entry of an index and a setting do."""
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
        or (_LABEL.search(first) and not _says_more(question, first) and not _value(lead[0]))
        or not _stands_for(question, first)
        or not find_options(question) <= find_options(f"{lead[0].section} {first}")
        or (_DOES.search(question) and find_options(lead[0].section) and not find_options(question))
        or (_ASKS_OPTION.search(question) and not _OPTION.search(f"{lead[0].section} {first}"))
        or _no_instance(question, lead)
        or any(_ANNOUNCES.search(one.text) for one in lead if not one.items)
    )


def _no_way(question: str, quote: str) -> bool:
    """Tell whether a way of doing something is asked for that a quote does not tell."""
    line = strip_request_phrases(question)
    if not _PATTERNS.way.search(line):
        return False
    conditional = OPENING_CONDITION.search(quote) and not _WANTING.search(quote)
    undone = _PATTERNS.act.search(line) and not _PATTERNS.doing.search(quote)
    return bool(conditional or undone) or not _PATTERNS.step.search(quote)


def _no_instance(question: str, lead: Sequence[SourceQuote]) -> bool:
    """Tell whether a port, a key, a command or the like is asked for that quotes do not name."""
    look = next((given for asked, given in _INSTANCES if asked.search(question)), None)
    if look is None or any(one.section for one in lead):
        return False
    said = question.lower()
    found = (each[0] for one in lead for each in look.finditer(one.text))
    return not any(each.lower() not in said for each in found)


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
    name = re.escape(found["name"])
    return bool(
        re.search(
            rf"\b{name}\W{{0,3}}(?:stands for|is short for|is an? (?:acronym|abbreviation))"
            rf"|\({name}\)|\b{name} ?\([A-Z]",
            quote,
            re.IGNORECASE,
        )
    )


def _of_other_kin(question: str, quote: str) -> bool:
    """Tell whether a quote names children where parents are asked for, or parents as a couple."""
    if _SPOUSE.search(question):
        return bool(_PATTERNS.of_parents.search(quote))
    inverse = (rf"{_CHILD_OF}{re.escape(name)}" for name in extract_names(question))
    return bool(_PARENT.search(question)) and any(re.search(one, quote) for one in inverse)
