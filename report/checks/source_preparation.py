"""Prepare sources for comparison, once for each text, while a model still writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from report.checks import contrast, entailment  # noqa: F401 (they add to DERIVATIONS)
from report.checks.quantities import SourceNumbers, extract_source_numbers
from report.checks.source_text import DERIVATIONS, SourceText, index_source

MAX_CACHED_CHARS = 50_000
"""A longer text is prepared anew for each check."""

# The findings of a run and its report are checked against the same pages.
_cached_source = lru_cache(maxsize=256)(index_source)
_cached_numbers = lru_cache(maxsize=256)(extract_source_numbers)


def prepare_sources(texts: Iterable[str], stopped: Callable[[], bool]) -> None:
    """Derive what the checks need of some sources before there are statements to check.

    Args:
        texts: The full texts of the sources; long ones are skipped.
        stopped: Tells whether the statements are there.
    """
    for text in (one for one in texts if len(one) <= MAX_CACHED_CHARS):
        if stopped():
            return
        load_source_numbers(text)
        source = load_source(text)
        for derive in DERIVATIONS:
            derive(source)


def load_source(text: str) -> SourceText:
    """Return a source as statements are compared with it."""
    return _cached_source(text) if len(text) <= MAX_CACHED_CHARS else index_source(text)


def load_source_numbers(text: str) -> SourceNumbers:
    """Return the numbers and dates of a source."""
    if len(text) > MAX_CACHED_CHARS:
        return extract_source_numbers(text)
    return _cached_numbers(text)
