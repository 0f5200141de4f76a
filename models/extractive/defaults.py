"""Tell whether a sentence gives the default of what is asked for."""

from __future__ import annotations

import re

from models.extractive.blocks import Quote
from models.extractive.clauses import BACK, CLAUSE
from models.extractive.kinds import has_kind
from models.extractive.owner import about, heads
from models.extractive.topic import key_terms
from models.extractive.wording import among, has
from retrieval.regex import regex
from retrieval.words import words

DEFAULT = regex(r"\bdefaults?\b", re.IGNORECASE)
_SOME = r"(?: [\"'`“‘]?[\w.-]+[\"'`”’]?){0,8}?"
_IS = r"(?:is|are|was|of (?=\W?\d))\b"
_WHOSE = regex(rf"\bdefaults?(?P<whose>{_SOME}) {_IS}", re.IGNORECASE)
"""What a default is said to be of."""
_NAMED = tuple(
    regex(one, re.IGNORECASE)
    for one in (
        rf"^(?P<of>.*?\bdefaults?{_SOME} {_IS})",
        r"^(?P<of>.*?)\bdefaults? ?(?:to\b|=|:)",
        r"^(?P<of>.*?)[(,] ?(?:the )?default(?: value)?(?: is|:|=)? ?(?=\W?\d|[^()]{1,40}\))",
        r"\b(?:is|are) the default\b(?P<of>.*)$",
        r"^\W*by default,? (?P<of>.+?) (?:is|are)\b",
    )
)
"""What gives a default, with what it is the default of."""
_DECISION = regex(r"^\W*(?:is|are|does|do|can|will|has|have)\b", re.IGNORECASE)
_NO_VALUE = regex(
    r"\bdefaults?\b(?: [\w-]+){0,8}? (?:is|are|was) (?:\w+ly )?(?:not|never|used|chosen|determined"
    r"|described|defined|derived|overridden|changed|ignored|applied|selected|specified|shown|listed"
    r"|documented|the same|different|dependent|platform|system|implementation|compile)\b"
    r"|\bdepend(?:s|ing)? (?:up)?on\b"
    r"|\b(?:changes?|overrid(?:e|es|ing)|sets?|setting|restores?|uses?|using)"
    r" (?:(?:the|this|its|their|an?) )?defaults?\b",
    re.IGNORECASE,
)
"""What speaks of a default and says that it is another, or that something changes it."""
_REFERS = regex(
    r"\bdefaults?\b[^.;]{0,60}?(?:"
    r"\b(?:given|taken|inherited|calculated|computed|obtained|fixed|set|configured|controlled"
    r"|compiled|decided|governed|picked|found|documented|listed|shown|supplied|provided)"
    r" (?:\w+ )?(?:by|in|into|from|at|via|through|with|on|during|when|below|above)\b"
    r"|(?:\b(?:is|are|to|of)|[:=]) (?:as|see|(?:the )?same|uses?|whatever|according|up to|similar"
    r"|un\w+ed|unknown|not|taken|inherited)\b)"
    r"|\bsee\b[^.;]* defaults?\b",
    re.IGNORECASE,
)
"""What says where a default comes from, and not what it is."""
_LINE = regex(r"\W*default(?: value)?: \S", re.IGNORECASE)
_ITS = frozenset(words("value setting location behaviour for of the"))
_OPENS_BY_DEFAULT = regex(r"^\W*by default,? ", re.IGNORECASE)
_BY_DEFAULT = regex(r"\bby default\b", re.IGNORECASE)


def is_default(question: str, quote: Quote, title: str) -> bool:
    """Tell whether a clause gives the default of just the thing that is asked for."""
    asked = [one for one in key_terms(question) if one not in {*words("default value"), *_ITS}]
    rest = [one for one in asked if not among(one, about(question, title))]
    if not rest or _more_special(quote, asked):
        return False
    clause = next(
        (one for one in _clauses(quote.text) if _gives(one, question, quote, asked, rest)), ""
    )
    told = _OPENS_BY_DEFAULT.match(clause) and not _BY_DEFAULT.search(question)
    if told and set(words(" ".join(clause.split()[2:4]))).isdisjoint(rest):
        return False
    return bool(clause) and has_kind(question, clause)


def _clauses(text: str) -> list[str]:
    """Return the clauses of a sentence; a line with a default below a term is one."""
    return [text] if _LINE.match(text) else CLAUSE.split(text)


def _more_special(quote: Quote, asked: list[str]) -> bool:
    """Tell whether a quote is below a setting with a longer name: "control-port" and no port."""
    head = {one for one in words(" ".join(heads(quote.under))) if len(one) > 1}
    return bool(head & set(asked) and head - {*asked, *words("default")})


def _gives(clause: str, question: str, quote: Quote, asked: list[str], rest: list[str]) -> bool:
    """Tell whether a clause gives a default, and of nothing else than what is asked for.

    What is asked for stands in the term above it or in what the default is said to be of, and not
    in the value. A question for yes or no is about all that is so by default.
    """
    if BACK.search(_OPENS_BY_DEFAULT.sub("", clause)) and not has(rest, words(quote.under)):
        return False
    whose = _WHOSE.search(clause)
    if whose and set(words(whose["whose"])) - _ITS - set(asked):
        return False
    of = next((found["of"] for one in _NAMED if (found := one.search(clause))), None)
    if _DECISION.search(question) and _BY_DEFAULT.search(clause):
        of = clause
    given = of is not None and not _NO_VALUE.search(clause) and not _REFERS.search(clause)
    return given and has(rest, words(f"{quote.under} {of}"))
