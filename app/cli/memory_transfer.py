"""dossier memory export, import, import-runs, graph: memory as files that are written and read."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from app.cli.dispatch import Invocation
from app.cli.event_loop import run_and_close
from app.cli.output import one_line, print_json
from config.errors import ErrorKind, Problem
from config.user_files import write_user_file
from memory.agents_md.memory import unreadable_files
from memory.experience import graph_page
from memory.experience.run_log import import_logged_run, read_run_log
from privacy.exporter import ExportDocument, export_memory
from privacy.importer import import_exported_memory, read_export_file
from text.pluralization import pluralize
from text.secret_masking import SECRET_MARK


def write_experience_page(
    *,
    out: Path,
    force: bool,
    limit: int,
    invocation: Invocation,
) -> int:
    """Draw how past runs went, and what they teach, as a page.

    Raises:
        Problem: `output_exists` or `output_not_writable`.
    """
    drawn = run_and_close(graph_page.load_experience_graph(invocation.owner, limit))
    write_user_file(out, graph_page.render_graph_page(drawn), force=force)
    if invocation.as_json:
        counts = {"runs": len(drawn.runs), "insights": len(drawn.insights)}
        print_json({"page": str(out.absolute()), **counts})
    else:
        print(out.absolute())
    return 0


def import_run_logs(*, file: Path, vouch: bool, invocation: Invocation) -> int:
    """Learn from a log of what agents did, one run as JSON on a line.

    Raises:
        Problem: What `memory.experience.run_log.read_run_log` tells of; nothing is kept then.
    """
    new, known = run_and_close(_imported(invocation.owner, file, vouch))
    if invocation.as_json:
        print_json({"imported": new, "known": known})
    else:
        print(f"{pluralize(new, 'run')} imported, {known:,} known already.")
    return 0


async def _imported(owner: str, file: Path, vouch: bool) -> tuple[int, int]:
    # A mistake in the last line must not leave half of the log behind.
    logs = [log for _, log in read_run_log(file)]
    new = [await import_logged_run(owner, log, vouched=vouch) for log in logs]
    return sum(new), len(new) - sum(new)


PARTS = {
    "files": "memory files",
    "events": "the log",
    "insights": "insights in your words (they are listed as not told)",
}
"""How parts of the document are called that are not called as they are named."""


def export_to_file(*, file: Path | None, force: bool, invocation: Invocation) -> int:
    """Write everything that is remembered to one JSON file.

    Raises:
        Problem: `output_exists` or `output_not_writable`.
    """
    moved, unread = run_and_close(_exported(invocation.owner))
    for problem in unread:
        print(one_line(f"left out: {problem}"), file=sys.stderr)
    if file is None:
        print_json(moved.model_dump(mode="json"))
    else:
        write_user_file(file, moved.model_dump_json(indent=1) + "\n", force=force)
        _print_export(file, moved, unread, as_json=invocation.as_json)
    return ErrorKind.PARTIAL.exit_status if unread else 0


async def _exported(owner: str) -> tuple[ExportDocument, list[Problem]]:
    return await export_memory(owner), await unreadable_files(owner)


def _print_export(
    file: Path, moved: ExportDocument, unread: Sequence[Problem], *, as_json: bool
) -> None:
    if as_json:
        left = [problem.as_dict() for problem in unread]
        print_json({"file": str(file.absolute()), **moved.count_parts(), "unread": left})
    else:
        counts = ", ".join(
            pluralize(count, name[:-1]) for name, count in moved.count_parts().items()
        )
        print(f"{counts}: {file.absolute()}")


def import_from_file(*, file: Path, vouch: bool, invocation: Invocation) -> int:
    """Add what another home has exported; what is known already is left as it is.

    Raises:
        Problem: `file_unreadable`, `export_invalid`, or what
            `privacy.importer.import_exported_memory` tells of.
    """
    moved = read_export_file(file)
    came = run_and_close(import_exported_memory(invocation.owner, moved, vouched=vouch))
    if invocation.as_json:
        print_json(came._asdict())
        return 0
    lists = ("left", "unvouched")
    counts = {name: count for name, count in came._asdict().items() if name not in lists and count}
    added = ", ".join(
        name if count is True else pluralize(count, name[:-1]) for name, count in counts.items()
    )
    rest = "Everything else" if came.unvouched else "Everything"
    print(f"New: {added}." if added else f"{rest} is known already.")
    if told_secrets := len(SECRET_MARK.findall(moved.model_dump_json())):
        print(f"Passwords, keys or cards taken out: {told_secrets}.", file=sys.stderr)
    for name in came.left:
        line = f"{name}: this memory file is another here, or has no folder; it is as it was."
        print(line, file=sys.stderr)
    if came.unvouched:
        print(_unvouched(came.unvouched), file=sys.stderr)
    return 0


def _unvouched(parts: Sequence[str]) -> str:
    named = ", ".join(PARTS.get(name, name) for name in parts)
    return f"Not used, since they would speak for you: {named}. If the file is yours, say --vouch."
