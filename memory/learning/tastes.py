"""Read how somebody likes their answers: how long, how deep, in which form."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memory.learning.patterns import ANSWERS, NEGATED, TASTES

NONE: Mapping[str, str] = MappingProxyType({})


def tastes(text: str) -> Mapping[str, str]:
    """Return how answers are liked, by field of a profile, as far as a text says it plainly.

    What stands behind a "not" is not liked.
    """
    if not ANSWERS.search(text):
        return NONE
    found = _named(_halves(text)[0])
    return {field: values[0] for field, values in found.items() if len(values) == 1}


def unwanted(text: str) -> Mapping[str, list[str]]:
    """Return how answers are not liked, by field of a profile, where a text is plain about it."""
    found = _named(_halves(text)[1]) if ANSWERS.search(text) else {}
    return found if len(found) == 1 and len(NEGATED.findall(text)) == 1 else {}


def _halves(text: str) -> tuple[str, str]:
    negation = NEGATED.search(text)
    if negation is None:
        return text, ""
    return text[: negation.start()], text[negation.end() :]


def _named(text: str) -> dict[str, list[str]]:
    named = {
        field: [value for value, pattern in values.items() if pattern.search(text)]
        for field, values in TASTES.items()
    }
    return {field: values for field, values in named.items() if values}
