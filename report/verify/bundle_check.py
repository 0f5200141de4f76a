"""Verify a bundle: its document against its evidence, and both against their hashes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from library.page_rows import hash_text
from report.exports.bundle import ParsedBundle, invalid_bundle, name_generator
from report.rendering.html_report import render_html
from report.rendering.markdown_report import render_markdown
from report.verify.check_results import CheckResult
from report.verify.given_documents import GivenDocument, build_cited_documents

_RENDERERS = {"report.md": render_markdown, "report.html": render_html}


class VerifiableBundle(NamedTuple):
    """What is verified of a bundle."""

    text: str
    """The report in Markdown."""
    language: str
    documents: list[GivenDocument]
    same_again: CheckResult
    """Whether its parts fit each other (C19)."""


def prepare_bundle(bundle: ParsedBundle, canonicalise: Callable[[str], str]) -> VerifiableBundle:
    """Return the report of a bundle with its evidence as documents.

    Args:
        bundle: The bundle.
        canonicalise: Returns the one form of a web address.

    Raises:
        Problem: `export_invalid` if it has not the shape of a bundle.
    """
    document = bundle.document
    try:
        sources = {one["id"]: one for one in document["sources"]}
        documents = build_cited_documents(sources, document["texts"], bundle.altered, canonicalise)
        checked = _check_parts(bundle)
        return VerifiableBundle(render_markdown(document), document["language"], documents, checked)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise invalid_bundle("a part of it is missing or has another form") from error


def _check_parts(bundle: ParsedBundle) -> CheckResult:
    """Check that the files are what the document renders to, and the citations what pages say."""
    result, texts = CheckResult("C19"), bundle.document["texts"]
    if bundle.generator == name_generator():
        for name, render in _RENDERERS.items():
            result.checked += 1
            if hash_text(render(bundle.document)) != bundle.files.get(name):
                result.add(0, f"{name} has another hash than its document")
    else:
        result.skip(f"its files were rendered by {bundle.generator or 'an unknown program'}")
    for citation in bundle.citations:
        for passage in citation["passages"]:
            result.checked += 1
            words = texts.get(passage["source"], "")[passage["start"] : passage["end"]]
            if words != passage["words"]:
                what = f"{passage['source']} has other words where the bundle cites it"
                result.add(0, what, str(passage["words"])[:200])
    return result
