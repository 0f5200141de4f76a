"""Render what a version of a report changes, as lines for Markdown and HTML alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from graph.records import VersionChanges
from report.document import ReportDocument
from report.labels import get_label

SHOWN = 30
"""How many changes a report lists at most; the command shows all."""


def list_changes(document: ReportDocument, escape: Callable[[str], str]) -> list[str]:
    """Return a line for each change, at most `SHOWN`, and one that counts the others.

    Args:
        document: The document of the report.
        escape: Escapes a sentence for the format that is rendered.
    """
    changes = document.get("changes")
    if not changes:
        return []
    lines = list(_lines(changes, document["language"], escape))
    rest = len(lines) - SHOWN
    more = [get_label("more_changes", document["language"]).format(rest)] if rest > 0 else []
    return [*lines[:SHOWN], *more]


def _lines(changes: VersionChanges, language: str, escape: Callable[[str], str]) -> Iterator[str]:
    """Yield what is gone, what is said in other words, and then what is new, which is most."""

    def told(name: str, sentences: Iterable[str]) -> Iterator[str]:
        """Yield a line for each of some sentences."""
        label = get_label(f"change_{name}", language)
        yield from (label.format(escape(sentence)) for sentence in sentences)

    yield from told("removed", changes["removed"])
    reworded = get_label("change_reworded", language)
    yield from (reworded.format(escape(old), escape(new)) for old, new in changes["changed"])
    yield from told("added", changes["added"])
