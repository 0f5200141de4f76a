"""A report as the files that a run writes."""

from __future__ import annotations

from report.exports.export_formats import ExportedReport
from report.rendering.html_report import render_html
from report.rendering.markdown_report import render_markdown


def export_markdown(report: ExportedReport) -> bytes:
    """Return a report as Markdown."""
    return render_markdown(report.document).encode()


def export_html(report: ExportedReport) -> bytes:
    """Return a report as one page of HTML."""
    return render_html(report.document).encode()
