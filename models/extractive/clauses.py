"""Tell whether one clause of a sentence says all of a question, and what is asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from models.extractive.blocks import Quote
from models.extractive.counts import counted
from models.extractive.kinds import asks_kind, asks_why, holds
from models.extractive.topic import key_terms, named
from models.extractive.wording import among, forms, has, told
from retrieval.regex import regex
from retrieval.words import words

SPREAD = 3
"""All that is asked stands among so many times as many words of a clause."""

CLAUSE = regex(
    r"[;:]\s|\.\s+(?=[A-Z])"
    r"|,? \b(?:but|which|who|because|although|though|whereas|unless|so that|rather than"
    r"|instead of)\b"
)
"""What parts a sentence into what is said of one thing and of another."""
BACK = regex(
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


def states(question: str, quote: Quote, title: str) -> bool:
    """Tell whether one clause says all of a question and has the kind of thing asked for.

    Only names may stand in the title instead.
    """
    done, called = _DONE.search(question), _CALLED.findall(question.lower())
    if BACK.search(quote.text) or (done and not re.search(rf"\b{done['verb']}\b", quote.text)):
        return False
    left = {*words(" ".join(called))} if asks_kind(question) else set()
    above = named(question) & set(words(title))
    rest = [one for one in key_terms(question) if one not in left]
    for clause in CLAUSE.split(f"{quote.under} {quote.text}".strip()):
        said = told(question, clause)
        if has(rest, {*said, *above}) and _together(rest, words(clause)):
            return not asks_kind(question) or _gives(
                question, rest, quote.text if asks_why(question) else clause
            )
    return False


def _gives(question: str, rest: Sequence[str], clause: str) -> bool:
    """Tell whether a clause has the number or the kind of thing that is asked for, near by."""
    if "how many" in question.lower():
        return bool(counted(question, _NO_COUNT.sub("", clause)))
    return holds(question, clause, [form for one in rest for form in forms(one)])


def _together(terms: Sequence[str], said: Sequence[str]) -> bool:
    """Tell whether the terms that a clause has stand close together in it."""
    there = [one for one in terms if among(one, said)]
    most = SPREAD * len(there)
    runs = (said[at : at + most] for at in range(max(1, len(said) - most + 1)))
    return bool(there) and any(has(there, run) for run in runs)
