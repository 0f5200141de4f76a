"""dossier export: the report of a run as a file in one of several formats."""

from __future__ import annotations

import asyncio
from pathlib import Path

from app.cli.dispatch import Invocation
from config.errors import ErrorCode, Problem
from config.user_files import check_new_file, write_user_file
from nodes.finished_report import load_exported_report
from report.exports.export_formats import (
    EXPORT_FORMATS,
    check_export_style,
    find_format,
    find_format_of_file,
)
from runs.lifecycle import find_run


async def export_run(
    *, run: str, format: str, style: str, out: Path | None, force: bool, invocation: Invocation
) -> None:
    """Write the report of a run to a file.

    Raises:
        Problem: `unknown_format`, `bad_choice`, `usage`, `run_not_found`, `report_not_found`,
            `output_exists`, `output_not_writable`, or what the format needs (`pdf_unavailable`,
            `no_tables`).
    """
    name = format.lower() or _guess_format(out)
    chosen, cited = find_format(name), check_export_style(name, style)
    found = await find_run(invocation.owner, run)
    file = (out or Path(f"{found.id}.{chosen.suffix}")).absolute()
    check_new_file(file, force=force)
    report = (await load_exported_report(found))._replace(style=cited)
    content = await asyncio.to_thread(chosen.load(file.name), report)
    write_user_file(file, content, force=force)
    told = {"run": found.id, "format": name, "file": str(file), "bytes": len(content)}
    invocation.print_result(told, str(file))


def _guess_format(out: Path | None) -> str:
    """Return the format that the name of a file says.

    Raises:
        Problem: `usage` if it says none.
    """
    if out and (found := find_format_of_file(out.name)):
        return found
    hint = f"--format {'|'.join(EXPORT_FORMATS)}"
    raise Problem(ErrorCode.USAGE, "no format is given", hint=hint)
