"""A report as the files that a run writes, with citations in any style."""

from __future__ import annotations

import re

from report.exports.author_labels import end_label
from report.exports.cited_uses import CITED_GROUP, CITED_USE, CitedUses, join_author_citations
from report.exports.export_formats import AUTHOR_YEAR, FOOTNOTES, ExportedReport
from report.exports.styled_page import render_styled_page
from report.labels import get_label
from report.markdown.sanitizer import escape_markdown, unescape_markdown
from report.rendering.markdown_report import render_cited_markdown, render_markdown
from report.rendering.numbering import FIRST_USE_MARK, PRIVATE_MARK
from text.regex import regex

_ENTRY = regex(r"\[(\d+)\] ")


def export_markdown(report: ExportedReport) -> bytes:
    """Return a report as Markdown."""
    if report.style not in (AUTHOR_YEAR, FOOTNOTES):
        return render_markdown(report.document).encode()
    uses = CitedUses(report)
    is_noted = report.style == FOOTNOTES

    def write(group: re.Match[str]) -> str:
        """Return the citations that stand side by side."""
        found = CITED_USE.finditer(group[0])
        cited = [uses.add(ord(one[2]) - FIRST_USE_MARK, unescape_markdown(one[1])) for one in found]
        if is_noted:
            return "".join(f"[^{one.number}]" for one in cited)
        return join_author_citations(uses, cited, lambda _, words: escape_markdown(words))

    text = PRIVATE_MARK.sub("", CITED_GROUP.sub(write, render_cited_markdown(report.document)))
    if not is_noted:
        return _label_sources(text, uses).encode()
    notes = (
        f"[^{one.number}]: [{one.source}] {escape_markdown(one.describe(uses.language))}"
        for one in uses.notes
    )
    return "\n\n".join([text.rstrip("\n"), *notes, ""]).encode()


def _label_sources(text: str, uses: CitedUses) -> str:
    """Return a report whose list of sources has labels for numbers, in their order."""
    heading = f"\n\n## {get_label('sources', uses.language)}\n\n"
    before, found, after = text.rpartition(heading)
    blocks = after.split("\n\n")
    listed = blocks[: uses.count_sources()]
    entries = [
        (label, _ENTRY.sub("", one, 1)) for label, one in zip(uses.labels, listed, strict=True)
    ]
    lines = (
        f"- **{escape_markdown(end_label(label))}** {entry.rstrip()}"
        for label, entry in sorted(entries, key=lambda one: one[0].casefold())
    )
    rest = blocks[uses.count_sources() :]
    return before + found + "\n\n".join(["\n".join(lines), *rest])


def export_html(report: ExportedReport) -> bytes:
    """Return a report as one page of HTML."""
    return render_styled_page(report).encode()
