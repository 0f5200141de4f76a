"""The sentences of a report that cite given documents, with the passages they may rest on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from graph.records import Source
from report.markdown.markers import MARKER
from report.rendering.markdown_report import render_plain_text
from report.verify.all_checks import VerifiedFile
from report.verify.cited_report import parse_report
from report.verify.given_documents import GivenDocument, match_documents
from text.keyword_ranking import rank_texts
from text.passage_splitting import split_passages

PASSAGES_PER_DOCUMENT = 3
"""How many passages of a document are shown for a claim."""

WHOLE_CHARS = 1_500
"""A document of at most so many characters is shown whole."""


class DocumentPassage(NamedTuple):
    """A passage of a cited document."""

    source: str
    start: int
    text: str


class CitedClaim(NamedTuple):
    """A sentence or row of a report that cites something."""

    number: int
    line: int
    text: str
    cited: tuple[str, ...]
    """The ids of its references."""
    labels: tuple[str, ...]
    """The same as its readers know them."""
    passages: tuple[DocumentPassage, ...]
    """Where its documents are about it; empty if none of them was given."""


class CitedClaims(NamedTuple):
    """All claims of a report, and the documents that they cite."""

    claims: list[CitedClaim]
    sources: dict[str, Source]
    """The given documents by the ids of their references."""


def list_cited_claims(
    file: VerifiedFile, documents: Sequence[GivenDocument], canonicalise: Callable[[str], str]
) -> CitedClaims:
    """Return the claims of a report that cite something.

    Args:
        file: The report.
        documents: What its sources may be.
        canonicalise: Returns the one form of a web address.
    """
    report = parse_report(file.text, canonicalise)
    matched = match_documents(report.references, documents, canonicalise)
    labels = {one.id: one.label or one.address for one in report.references}
    pieces = {name: _split(one.text) for name, one in matched.items()}
    claims: list[CitedClaim] = []
    for one in report.statements:
        if not one.cited or not any(map(str.isalnum, MARKER.sub("", one.text))):
            continue
        text = " ".join(render_plain_text(MARKER.sub("", one.text)).split())
        passages = [
            DocumentPassage(name, start, piece)
            for name in one.cited
            for start, piece in _choose(text, pieces.get(name, []))
        ]
        named = tuple(labels.get(name, name) for name in one.cited)
        claims.append(
            CitedClaim(len(claims) + 1, one.line, text, one.cited, named, tuple(passages))
        )
    return CitedClaims(claims, {name: _to_source(name, one) for name, one in matched.items()})


def _split(text: str) -> list[tuple[int, str]]:
    if len(text) <= WHOLE_CHARS:
        return [(0, text)] if text.strip() else []
    return [(one.start, one.text) for one in split_passages(text)]


def _choose(claim: str, pieces: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the passages that share most with a claim, in their order; else the first ones."""
    ranked = [at for at, _ in rank_texts(claim, [text for _, text in pieces])]
    best = ranked[:PASSAGES_PER_DOCUMENT] or [*range(len(pieces))][:PASSAGES_PER_DOCUMENT]
    return [pieces[at] for at in sorted(best)]


def _to_source(name: str, document: GivenDocument) -> Source:
    return Source(
        id=name,
        page="",
        title=document.title or document.name,
        location=document.name,
        kind="file",
    )
