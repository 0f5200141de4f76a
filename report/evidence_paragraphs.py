"""Collect the passages of sources on which a report rests, each in its paragraph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from graph.records import Source
from report.citations import (
    FALLBACK_EXCERPT_CHARS,
    ExcerptPart,
    build_excerpt,
    describe_place,
    group_spans,
    narrow_place,
)
from report.evidence_spans import CitationUse, EvidenceSpan, find_evidence
from report.labels import format_place
from text.text_blocks import find_headings_above


class EvidenceParagraph(NamedTuple):
    """A paragraph of a source with its cited parts, and the uses that cite each part."""

    number: int
    """The number of the document in the report."""
    source: str
    """The id of the cited page."""
    place: str
    """The place in the document in words; may be empty."""
    excerpt: list[ExcerptPart]
    parts: list[EvidenceSpan]
    uses: list[list[int]]
    """For each part the places of its uses in the list of all uses."""

    @property
    def is_certain(self) -> bool:
        """Whether any part certainly supports what cites it."""
        return any(part.certain for part in self.parts)


_Found = tuple[int, str, EvidenceSpan]  # the place of a use, the id of a page, and its cited part


def list_evidence_paragraphs(
    sources: Sequence[Source],
    texts: Mapping[str, str],
    uses: Sequence[CitationUse],
    language: str,
) -> list[EvidenceParagraph]:
    """Return the passages that support the uses, in the order of their documents, each once.

    A document in which no supporting part is found is shown by the beginning of its cited pages.

    Args:
        sources: The sources of the thread.
        texts: The texts of the cited pages, by the ids of their sources.
        uses: The uses of the documents, as `number_citations` returns them.
        language: The language of the report.
    """
    by_page: dict[tuple[int, str], dict[int, EvidenceSpan]] = {}
    for at, name, span in _find_spans(texts, uses):
        by_page.setdefault((uses[at].number, name), {})[at] = span
    named = {source["id"]: source for source in sources}
    return [
        _build_passage(number, named[name], texts[name], group, spans, language)
        for (number, name), spans in sorted(by_page.items(), key=lambda item: item[0][0])
        for group in group_spans(texts[name], list(spans.values()))
    ]


def list_use_paragraphs(
    sources: Sequence[Source],
    texts: Mapping[str, str],
    uses: Sequence[CitationUse],
    language: str,
) -> dict[int, list[EvidenceParagraph]]:
    """Return for each use the passages that support it alone, by its place in the list of uses.

    Takes what `list_evidence_paragraphs` takes. A use without a passage is missing.
    """
    named = {source["id"]: source for source in sources}
    passages: dict[int, list[EvidenceParagraph]] = {}
    for at, name, span in _find_spans(texts, uses):
        number, text = uses[at].number, texts[name]
        alone = _build_passage(number, named[name], text, [span], {at: span}, language)
        passages.setdefault(at, []).append(alone)
    return passages


def count_passages(passages: Sequence[EvidenceParagraph]) -> dict[int, int]:
    """Return how many cited parts each document has, by its number."""
    counts: dict[int, int] = {}
    for one in passages:
        certain = sum(part.certain for part in one.parts)
        counts[one.number] = counts.get(one.number, 0) + (certain or 1)
    return counts


def _find_spans(texts: Mapping[str, str], uses: Sequence[CitationUse]) -> list[_Found]:
    """Return the cited part of each page that a use names, as far as it is found.

    Where no part of a document is found for any use, each use gets the beginning of its pages.
    """
    found: list[_Found] = []
    missed: list[_Found] = []
    fallback = EvidenceSpan(0, FALLBACK_EXCERPT_CHARS, certain=False)
    for at, use in enumerate(uses):
        for name in use.sources:
            if not texts.get(name, "").strip():
                continue
            span = find_evidence(texts[name], use)
            (found if span else missed).append((at, name, span or fallback))
    known = {uses[at].number for at, *_ in found}
    return found + [one for one in missed if uses[one[0]].number not in known]


def _build_passage(
    number: int,
    source: Source,
    text: str,
    group: list[EvidenceSpan],
    spans: Mapping[int, EvidenceSpan],
    language: str,
) -> EvidenceParagraph:
    return EvidenceParagraph(
        number,
        source["id"],
        _describe_passage_place(source, text, group, language),
        build_excerpt(text, group),
        group,
        [[at for at, span in spans.items() if span == part] for part in group],
    )


def _describe_passage_place(
    source: Source, text: str, group: Sequence[EvidenceSpan], language: str
) -> str:
    """Return the place of a passage in its document, with the heading above it."""
    whole = EvidenceSpan(group[0].start, max(part.end for part in group))
    place = describe_place(narrow_place(source, text, whole), language)
    above = [one for one in find_headings_above(text, whole.start) if not one.startswith("-")]
    if not above or "“" in place or not whole.start:
        return place
    return ", ".join(filter(None, (place, format_place("section", above[-1], language))))
