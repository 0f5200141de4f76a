"""dossier runs show RUN --source N: what the report of a run uses of one source, word for word."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

from rich.text import Text

from app.cli.dispatch import Invocation
from app.cli.output import one_line
from config.errors import ErrorCode, Problem
from graph.records import Source
from nodes.finished_report import load_report_document
from report.citations import describe_location, describe_origin
from report.document import ReportDocument
from report.evidence_paragraphs import EvidenceParagraph, list_evidence_paragraphs
from report.evidence_spans import CitationUse
from report.labels import get_label
from report.rendering.markdown_report import render_plain_text
from report.rendering.numbering import number_document
from runs.lifecycle import RunRecord
from text.pluralization import pluralize

_KNOWN = ("site", "author", "published", "genre")


class SourceEvidence(NamedTuple):
    """What a report uses of one of its sources, and the uses of all of them."""

    number: int
    document: Source
    passages: list[EvidenceParagraph]
    uses: list[CitationUse]
    texts: dict[str, str]
    """The texts of cited pages, by the ids of their sources."""

    def describe_source(self) -> dict[str, Any]:
        """Return the source as plain data."""
        source = cast("dict[str, Any]", self.document)
        ids = (page for use in self.uses if use.number == self.number for page in use.sources)
        fields = {name: source[name] for name in ("title", "location", "kind")}
        known = {name: source[name] for name in _KNOWN if source.get(name)}
        return {"number": self.number, "ids": list(dict.fromkeys(ids)), **fields, **known}

    def describe_passages(self) -> list[dict[str, Any]]:
        """Return its passages in their paragraphs as plain data."""
        return [_passage_as_dict(one, self.uses, self.texts) for one in self.passages]


async def show_cited_source(run: RunRecord, named: str, invocation: Invocation) -> None:
    """Show the passages of a source that a report uses, and the sentences that cite them.

    Args:
        run: The run of the report.
        named: The number of the source in the report, or its id.
        invocation: How the command is called.

    Raises:
        Problem: `report_not_found` or `source_not_found`.
    """
    document = await load_report_document(run)
    found = find_source_evidence(document, named)
    about = {"source": found.describe_source(), "passages": found.describe_passages()}
    invocation.print_result(
        {"run": run.id, "thread": run.thread, **about}, *_render(found, document["language"])
    )


def list_cited_sources(document: ReportDocument) -> list[SourceEvidence]:
    """Return the sources that a report cites, by number, without their passages."""
    shown, _ = number_document(document)
    return [
        SourceEvidence(number, one, [], shown.uses, document["texts"])
        for number, one in enumerate(shown.documents, start=1)
    ]


def find_source_evidence(document: ReportDocument, named: str) -> SourceEvidence:
    """Return what a report uses of the source of a number or an id.

    Raises:
        Problem: `source_not_found`.
    """
    shown, _ = number_document(document)
    pages: dict[int, list[str]] = {}
    for use in shown.uses:
        pages.setdefault(use.number, []).extend(use.sources)
    name = named.strip().strip("[]").upper()
    numbers = {str(number): number for number in pages}
    numbers |= {page: number for number, ids in pages.items() for page in ids}
    if name not in numbers:
        raise _not_found(named, pages)
    number = numbers[name]
    passages = list_evidence_paragraphs(
        document["sources"], document["texts"], shown.uses, document["language"]
    )
    own = [one for one in passages if one.number == number and name in (str(number), one.source)]
    return SourceEvidence(number, shown.documents[number - 1], own, shown.uses, document["texts"])


def _not_found(named: str, pages: dict[int, list[str]]) -> Problem:
    if not pages:
        hint = "see `dossier runs show RUN` for what the run did"
        return Problem(ErrorCode.SOURCE_NOT_FOUND, "the report cites no source", hint=hint)
    ids = ", ".join(dict.fromkeys(page for number in sorted(pages) for page in pages[number]))
    what = f"the report has no source {one_line(named)!r}"
    numbers = "1" if len(pages) == 1 else f"1 to {len(pages)}"
    return Problem(ErrorCode.SOURCE_NOT_FOUND, what, hint=f"it has {numbers}, or by id {ids}")


def _passage_as_dict(
    passage: EvidenceParagraph, uses: Sequence[CitationUse], texts: dict[str, str]
) -> dict[str, Any]:
    text = texts[passage.source]
    cited = [
        {
            "words": text[part.start : part.end] if part.certain else "",
            "sentences": _list_sentences(uses, which),
        }
        for part, which in zip(passage.parts, passage.uses, strict=True)
    ]
    paragraph = "".join(one.text for one in passage.excerpt)
    return {"id": passage.source, "place": passage.place, "paragraph": paragraph, "cited": cited}


def _list_sentences(uses: Sequence[CitationUse], which: Sequence[int]) -> list[str]:
    """Return the sentences of some uses in plain text, each once."""
    return list(dict.fromkeys(render_plain_text(uses[at].sentence).strip() for at in which))


def _render(found: SourceEvidence, language: str) -> Iterator[Text]:
    """Yield the source and its passages as lines for a terminal."""
    source = found.document
    yield Text(f"[{found.number}] {one_line(source['title'])}", "bold")
    yield from (
        Text(one_line(line))
        for line in (describe_origin(source, language), describe_location(source))
        if line
    )
    sentences = {
        sentence
        for passage in found.passages
        for which in passage.uses
        for sentence in _list_sentences(found.uses, which)
    }
    counts = pluralize(len(found.passages), "paragraph"), pluralize(len(sentences), "sentence")
    yield Text(
        f"{counts[0]}, cited by {counts[1]}" if found.passages else "Its text is not stored."
    )
    for passage in found.passages:
        yield from _render_passage(passage, found.uses, language)


def _render_passage(
    passage: EvidenceParagraph, uses: Sequence[CitationUse], language: str
) -> Iterator[Text]:
    near = "" if passage.is_certain else get_label("near", language)
    where = ", ".join(filter(None, (passage.source, passage.place, near)))
    yield Text(f"\n{one_line(where)}", "cyan")
    yield _mark_words(passage)
    for which in passage.uses:
        yield from (Text(f"  - {one_line(one)}", "dim") for one in _list_sentences(uses, which))


def _mark_words(passage: EvidenceParagraph) -> Text:
    """Return a paragraph with its cited words marked: by a colour, or by asterisks without one."""
    colored, shown = sys.stdout.isatty(), Text()
    for piece in passage.excerpt:
        line = "\n".join(
            "".join(one for one in part if one.isprintable()) for part in piece.text.split("\n")
        )
        if not piece.cited:
            shown.append(line)
        elif colored:
            shown.append(line, "bold yellow")
        else:
            shown.append(f"**{line}**")
    return shown
