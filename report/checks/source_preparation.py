"""Make what statements are compared with of the sources, before there are statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from report.checks.contrast import PER_SOURCE
from report.checks.overlap import SHORT, load_source
from report.checks.quantities import SourceNumbers, extract_source_numbers


def prepare_sources(texts: Iterable[str], stopped: Callable[[], bool]) -> None:
    """Make what statements are compared with of some sources, before there are statements.

    Long sources are left: what is made of them is not kept.

    Args:
        texts: The full texts of the sources.
        stopped: Tells whether the statements are there.
    """
    for text in (one for one in texts if len(one) <= SHORT):
        if stopped():
            return
        load_source_numbers(text)
        source = load_source(text)
        for work in PER_SOURCE:
            source.memoize(work)


def load_source_numbers(text: str) -> SourceNumbers:
    """Return the numbers and dates of a source; those of short ones are kept."""
    return _figures(text) if len(text) <= SHORT else extract_source_numbers(text)


# The findings of a run and its report are checked against the same pages.
@lru_cache(maxsize=256)
def _figures(text: str) -> SourceNumbers:
    return extract_source_numbers(text)
