"""Map which steps of a run rest on which of the documents that its report cites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from report.citations import describe_origin, extract_host, get_document_key
from report.document import ReportDocument
from report.rendering.numbering import NumberedText

MAX_ROWS = 12
"""The most rows; more documents are grouped by their sites, and then counted."""

MAX_STEPS = 12
"""The most steps; the others are counted."""

_MIN_LINKED = 2  # steps and documents, or a map says no more than the list of sources


class SourceRow(NamedTuple):
    """A document, or the documents of a site."""

    label: str
    numbers: tuple[int, ...]
    """Their numbers in the list of sources."""
    steps: tuple[int, ...]
    """The numbers of the steps that rest on them, from 1."""


class SourceMap(NamedTuple):
    """Steps and documents with what links them."""

    steps: list[str]
    """The titles of the steps, in order."""
    rows: list[SourceRow]
    more_steps: int
    """How many further steps there are."""
    more_documents: int
    """How many further cited documents there are."""


def build_source_map(
    document: ReportDocument, shown: NumberedText, language: str
) -> SourceMap | None:
    """Return the map of a report, or None if fewer than two steps rest on what it cites."""
    steps = document.get("steps", [])
    keys = {one["id"]: get_document_key(one) for one in document["sources"]}
    cited = [{keys[name] for name in one["sources"] if name in keys} for one in steps]
    rows = []
    for number, source in enumerate(shown.documents, start=1):
        key = get_document_key(source)
        linked = tuple(at for at, used in enumerate(cited, start=1) if key in used)
        rows.append(SourceRow(source["title"] or source["location"], (number,), linked))
    linked_rows = [row for row in rows if row.steps]
    linked_steps = {step for row in linked_rows for step in row.steps}
    if min(len(linked_rows), len(linked_steps)) < _MIN_LINKED:
        return None
    if len(rows) > MAX_ROWS:
        sites = [
            extract_host(one["location"]) or describe_origin(one, language)
            for one in shown.documents
        ]
        rows = _group_by_site(rows, sites)
    kept = _choose_rows(rows)
    return SourceMap(
        steps=[one["title"] for one in steps[:MAX_STEPS]],
        rows=[row._replace(steps=tuple(at for at in row.steps if at <= MAX_STEPS)) for row in kept],
        more_steps=max(len(steps) - MAX_STEPS, 0),
        more_documents=_count(rows) - _count(kept),
    )


def _group_by_site(rows: Sequence[SourceRow], sites: Sequence[str]) -> list[SourceRow]:
    """Return rows with those of one site as one, at the place of its first."""
    groups: dict[str, list[SourceRow]] = {}
    for row, site in zip(rows, sites, strict=True):
        groups.setdefault(site or row.label, []).append(row)
    return [own[0] if len(own) == 1 else _join(site, own) for site, own in groups.items()]


def _join(site: str, rows: Sequence[SourceRow]) -> SourceRow:
    numbers = tuple(number for row in rows for number in row.numbers)
    return SourceRow(site, numbers, tuple(sorted({step for row in rows for step in row.steps})))


def _choose_rows(rows: Sequence[SourceRow]) -> list[SourceRow]:
    """Return the rows on which most steps rest, in their order."""
    ranked = sorted(rows, key=lambda row: (-len(row.steps), -len(row.numbers)))
    kept = {row.numbers for row in ranked[:MAX_ROWS]}
    return [row for row in rows if row.numbers in kept]


def _count(rows: Iterable[SourceRow]) -> int:
    return sum(len(row.numbers) for row in rows)
