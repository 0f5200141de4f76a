"""dossier runs show --report: the report of a run as it is stored, and what became of it since."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.markdown import Markdown

from app.cli.dispatch import Invocation
from nodes.finished_report import load_exported_report
from report.rendering.markdown_report import render_markdown
from runs.lifecycle import RunRecord


async def show_stored_report(run: RunRecord, invocation: Invocation) -> None:
    """Show the report of a run.

    Raises:
        Problem: `report_not_found`.
    """
    document = (await load_exported_report(run)).document
    text = render_markdown(document)
    if not invocation.as_json and sys.stdout.isatty():
        Console().print(Markdown(text))
        return
    data = {"run": run.id, "later": document.get("later", []), "report": text}
    invocation.print_result(data, text.rstrip("\n"))
