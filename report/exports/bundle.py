"""A report as one JSON document with all its evidence, which another machine can check.

The format is described in docs/exports.md. Readers accept the versions that they know.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any, NamedTuple, cast

from config.errors import ErrorCode, Problem
from library.page_rows import hash_text
from report.document import ReportDocument
from report.evidence_paragraphs import list_use_paragraphs
from report.exports.export_formats import ExportedReport
from report.rendering.html_report import render_html
from report.rendering.markdown_report import render_markdown, render_plain_text
from report.rendering.numbering import number_document

BUNDLE_FORMAT, BUNDLE_VERSION = "dossier-report", 1
"""What a bundle says that it is."""


def export_bundle(report: ExportedReport) -> bytes:
    """Return a report with the texts of its pages, their hashes, and where each citation leads."""
    document = report.document
    files = {"md": render_markdown(document), "html": render_html(document)}
    bundle = {
        "format": BUNDLE_FORMAT,
        "version": BUNDLE_VERSION,
        "generator": name_generator(),
        "run": report.run,
        "thread": report.thread,
        "document": {name: value for name, value in document.items() if name != "texts"},
        "evidence": list(_list_evidence(report)),
        "citations": list(_list_citations(document)),
        "files": {f"report.{kind}": hash_text(text) for kind, text in files.items()},
    }
    return (json.dumps(bundle, ensure_ascii=False, indent=1) + "\n").encode()


class ParsedBundle(NamedTuple):
    """A bundle as it was read; nothing of it is trusted."""

    document: ReportDocument
    altered: frozenset[str]
    """The ids of the sources whose text is not that of its hash."""
    generator: str
    files: dict[str, str]
    """The SHA-256 of its files as they were rendered, by name."""
    citations: list[dict[str, Any]]


def read_bundle(data: bytes) -> ReportDocument:
    """Return the document of a bundle, as `render_markdown` and the checks take it.

    Raises:
        Problem: `export_invalid` if it is no bundle of a known version, or if the text of a page
            is not that of its hash.
    """
    bundle = parse_bundle(data)
    if bundle.altered:
        what = f"the text of {min(bundle.altered)} is not that of its hash"
        raise invalid_bundle(what)
    return bundle.document


def parse_bundle(data: bytes) -> ParsedBundle:
    """Return what a bundle has, also where a text is not that of its hash.

    Raises:
        Problem: `export_invalid` if it is no bundle of a known version.
    """
    try:
        bundle = json.loads(data)
        kind = bundle["format"], bundle["version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise invalid_bundle("it is no JSON document with a format and a version") from error
    if kind != (BUNDLE_FORMAT, BUNDLE_VERSION):
        what = f"it is {kind[0]!r}, version {kind[1]!r}"
        raise invalid_bundle(what)
    try:
        texts = {one["source"]: one["text"] for one in bundle["evidence"]}
        altered = [
            one["source"] for one in bundle["evidence"] if hash_text(one["text"]) != one["sha256"]
        ]
        return ParsedBundle(
            cast("ReportDocument", {**bundle["document"], "texts": texts}),
            frozenset(altered),
            str(bundle.get("generator", "")),
            {**bundle.get("files", {})},
            [*bundle.get("citations", [])],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise invalid_bundle("a part of it is missing") from error


def name_generator() -> str:
    """Return the name and the version of this program, as a bundle has it."""
    return f"dossier {version('dossier')}"


def _list_evidence(report: ExportedReport) -> Iterator[dict[str, Any]]:
    """Yield each cited page with its whole text and its hash."""
    sources = {one["id"]: one for one in report.document["sources"]}
    for name, text in report.document["texts"].items():
        page = sources[name]["page"] if name in sources else ""
        day = report.read.get(name, "")
        yield {"source": name, "page": page, "read": day, "sha256": hash_text(text), "text": text}


def _list_citations(document: ReportDocument) -> Iterator[dict[str, Any]]:
    """Yield each citation: the sentence, its sources, and the passages that it rests on."""
    shown, _ = number_document(document)
    passages = list_use_paragraphs(
        document["sources"], document["texts"], shown.uses, document["language"]
    )
    for at, use in enumerate(shown.uses):
        found = [
            {
                "source": passage.source,
                "place": passage.place,
                "start": part.start,
                "end": part.end,
                "certain": part.certain,
                "words": document["texts"][passage.source][part.start : part.end],
            }
            for passage in passages.get(at, [])
            for part in passage.parts
        ]
        yield {
            "number": use.number,
            "sources": list(use.sources),
            "sentence": render_plain_text(use.sentence).strip(),
            "quoted": use.quoted,
            "passages": found,
        }


def invalid_bundle(what: str) -> Problem:
    """Return the problem that a file is no bundle that can be read."""
    hint = "give a file that `dossier export --format json` wrote"
    return Problem(ErrorCode.EXPORT_INVALID, f"it cannot be read as a report: {what}", hint=hint)
