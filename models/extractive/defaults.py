"""Tell whether a sentence gives the default of what is asked for."""

from __future__ import annotations

import re

from models.extractive.blocks import Quote
from models.extractive.clauses import BACK, CLAUSE, has
from models.extractive.kinds import has_kind
from models.extractive.owner import about
from models.extractive.topic import key_terms
from models.extractive.wording import among
from retrieval.words import words

DEFAULT = re.compile(r"\bdefaults?\b", re.IGNORECASE)
_WHOSE = re.compile(
    r"\bdefaults?(?P<whose>(?: [\"'`“‘]?[\w.-]+[\"'`”’]?){0,8}?) (?:is|are|was|of (?=\W?\d))\b",
    re.IGNORECASE,
)
"""What a default is said to be of."""
_VALUE = re.compile(r"[=\[<(|:].*?(?=,|$)")
"""What stands behind a term: "port: <number>"."""
_GIVEN = re.compile(
    rf"{_WHOSE.pattern}|\bdefaults? (?:to|= ?)|\bdefault(?: value)?: |\b(?:is|are) the default\b"
    r"|\bby default\b|[(,] ?default:? (?=\W?\d)|\(default:? [^)]+\)",
    re.IGNORECASE,
)
"""What gives a default, and does not only speak of one."""
_NO_VALUE = re.compile(
    r"\bdefaults?\b(?: [\w-]+){0,8}? (?:is|are|was) (?:\w+ly )?(?:not|never|used|chosen|determined"
    r"|described|defined|derived|overridden|changed|ignored|applied|selected|specified|shown|listed"
    r"|documented|the same|different|dependent|platform|system|implementation|compile)\b"
    r"|\bdepend(?:s|ing)? (?:up)?on\b"
    r"|\b(?:changes?|overrid(?:e|es|ing)|sets?|setting|restores?|uses?|using)"
    r" (?:(?:the|this|its|their|an?) )?defaults?\b",
    re.IGNORECASE,
)
"""What speaks of a default and says that it is another, or that something changes it."""
_ITS = frozenset(words("value setting location behaviour for of the"))
_BY_DEFAULT = re.compile(r"^\W*by default,? ", re.IGNORECASE)
_BY_DEFAULT_TOO = re.compile(r"\bby default\b", re.IGNORECASE)


def is_default(question: str, quote: Quote, title: str) -> bool:
    """Tell whether a clause gives the default of just the thing that is asked for."""
    asked = [one for one in key_terms(question) if one not in {*words("default value"), *_ITS}]
    rest = [one for one in asked if not among(one, about(question, title))]
    if not rest or _more_special(quote, asked):
        return False
    clause = next((one for one in CLAUSE.split(quote.text) if _gives(one, quote, asked, rest)), "")
    told = _BY_DEFAULT.match(clause) and not _BY_DEFAULT_TOO.search(question)
    if told and set(words(" ".join(clause.split()[2:4]))).isdisjoint(rest):
        return False
    return bool(clause) and has_kind(question, clause)


def _more_special(quote: Quote, asked: list[str]) -> bool:
    """Tell whether a quote is below a setting with a longer name: "control-port" and no port."""
    heads = {part.split()[0] for part in re.split(r",\s*", _VALUE.sub("", quote.under)) if part}
    head = {one for one in words(" ".join(heads)) if len(one) > 1}
    return bool(head & set(asked) and head - set(asked))


def _gives(clause: str, quote: Quote, asked: list[str], rest: list[str]) -> bool:
    """Tell whether a clause gives a default, and of nothing else than what is asked for."""
    if BACK.search(_BY_DEFAULT.sub("", clause)) and not has(asked, words(quote.under)):
        return False
    whose = _WHOSE.search(clause)
    if whose and set(words(whose["whose"])) - _ITS - set(asked):
        return False
    given = _GIVEN.search(clause) and not _NO_VALUE.search(clause)
    return bool(given) and has(rest, words(f"{quote.under} {clause}"))
