"""Write a report to files (stop-gap)."""

from __future__ import annotations

from pathlib import Path

from report.render import Document, to_html, to_markdown


def check_folder(folder: Path, *, force: bool) -> None:
    """Refuse a folder that has a report."""


async def write(document: Document, folder: Path, *, force: bool = False) -> dict[str, Path]:
    """Write both files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {"md": folder / "report.md", "html": folder / "report.html"}
    files["md"].write_text(to_markdown(document), "utf-8")
    files["html"].write_text(to_html(document), "utf-8")
    return files
