"""Recognize remarks on what the sources lack, and a writer's own inferences."""

from __future__ import annotations

import re
from functools import lru_cache

from text.pattern_files import PatternFile
from text.script import HAN

_PATTERNS = PatternFile("report.checks", "caveats.toml")

_MIN_CLAIM_WORDS = 3  # or twice as many Chinese characters


@lru_cache(maxsize=1024)
def is_absence_remark(statement: str) -> bool:
    """Tell whether a statement says that the sources lack something."""
    kinds = ("not_found", "zh_not_found", "silent", "zh_silent", "none_found")
    return _PATTERNS.any_found(statement, *kinds)


def strip_none_cell(cell: str) -> str:
    """Return a cell of a table without the words that say that there is nothing: "none set"."""
    return _PATTERNS.none_cell.sub("", cell, count=1)


def list_carried_claims(statement: str) -> list[str]:
    """Return the claims in a statement beside its remark that something was not found.

    "No source names a price, so it is free" has one; a clause about next steps is not a claim.
    """
    parts = [one.strip(" ,，。.") for one in _PATTERNS.behind.split(statement)]
    if len(parts) < 2 or not is_absence_remark(statement) or is_own_inference(statement):
        return []
    parts = [_PATTERNS.zh_link.sub("", one, count=1) if at else one for at, one in enumerate(parts)]
    return [one for one in parts if _claims(one)]


def _claims(clause: str) -> bool:
    words, signs = len(clause.split()), len(re.findall(f"[{HAN}]", clause))
    return max(words, signs // 2) >= _MIN_CLAIM_WORDS and not (
        is_absence_remark(clause) or is_own_inference(clause) or _PATTERNS.next.search(clause)
    )


@lru_cache(maxsize=1024)
def is_stated_computation(statement: str) -> bool:
    """Tell whether a statement says that its writer computed a number in it."""
    return bool(_PATTERNS.computed.search(statement))


@lru_cache(maxsize=1024)
def is_own_inference(statement: str) -> bool:
    """Tell whether a statement calls itself its writer's inference, judgement or arithmetic."""
    own = _PATTERNS.any_found(statement, "own", "zh_own", "mine", "scope", "sure", "zh_sure")
    return own or is_stated_computation(statement)


def is_suggestion(lead: str) -> bool:
    """Tell whether the introduction to a block of code calls it an example or a suggestion."""
    return bool(_PATTERNS.suggests.search(lead)) or is_own_inference(lead)


def asks_for_settings(question: str) -> bool:
    """Tell whether a question asks for settings, so that values in its answer are advice."""
    return bool(_PATTERNS.wants_settings.search(question))


def is_labelled_computed(heading: str) -> bool:
    """Tell whether the head of a column or the introduction to a table says it is computed."""
    return is_stated_computation(heading) or bool(_PATTERNS.reckoned.search(heading))
