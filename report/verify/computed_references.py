"""References of a report of Dossier that lead to results it computed, and to no document."""

from __future__ import annotations

from typing import NamedTuple

from report.verify.cited_report import Reference
from text.pattern_files import PatternFile

_PATTERNS = PatternFile("report.verify", "computed_references.toml")

_SEPARATOR = " — "
_ROWS = "#rows="


class ComputedReference(NamedTuple):
    """A reference to a computed result."""

    titles: tuple[str, ...]
    """What its title may be; empty for the result of a program, which its place names."""
    path: str
    """The path of the table; empty for the result of a program."""
    place: str
    """Its place, as its stored page has it."""


def parse_computed_reference(reference: Reference) -> ComputedReference | None:
    """Return the computed result to which a reference leads; None if it leads to a document."""
    program = _PATTERNS.computed_by_program.search(reference.text)
    if program:
        return ComputedReference((), "", f"computation={program['digest']}")
    head, mark, rows = reference.text.rpartition(_ROWS)
    found = _PATTERNS.rows.match(rows) if mark else None
    told, _, path = head.rpartition(_SEPARATOR)
    if not found or not _PATTERNS.computed_title.search(told):
        return None
    # The name of a knowledge base may stand behind the title.
    titles = dict.fromkeys(filter(None, (told, told.rpartition(_SEPARATOR)[0])))
    return ComputedReference(tuple(titles), path.strip("*_` "), f"rows={found[0]}")
