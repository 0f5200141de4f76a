"""dossier memory export, import, import-runs, graph: memory as files that are written and read."""

from __future__ import annotations

from pathlib import Path

from app.cli.dispatch import Invocation
from app.cli.output import print_json, print_notice
from config.errors import ErrorKind
from config.user_files import write_user_file
from memory.agents_md.memory import unreadable_files
from memory.experience import graph_page
from memory.experience.run_log import import_logged_run, read_run_log
from privacy.exporter import export_memory
from privacy.importer import import_exported_memory, read_export_file
from text.pluralization import pluralize
from text.secret_masking import SECRET_MARK


async def write_experience_page(
    *, out: Path, force: bool, limit: int, invocation: Invocation
) -> None:
    """Draw how past runs went, and what they teach, as a page.

    Raises:
        Problem: `output_exists` or `output_not_writable`.
    """
    drawn = await graph_page.load_experience_graph(invocation.owner, limit)
    page = _write(out, graph_page.render_graph_page(drawn), force=force)
    counts = {"runs": len(drawn.runs), "insights": len(drawn.insights)}
    invocation.print_result({"page": page, **counts}, page)


def _write(file: Path, text: str, *, force: bool) -> str:
    """Write a file; return its whole path."""
    write_user_file(file, text, force=force)
    return str(file.absolute())


async def import_run_logs(*, file: Path, vouch: bool, invocation: Invocation) -> None:
    """Learn from a log of what agents did, one run as JSON on a line.

    Raises:
        Problem: What `memory.experience.run_log.read_run_log` tells of; nothing is kept then.
    """
    # A mistake in the last line must not leave half of the log behind.
    logs = [log for _, log in read_run_log(file)]
    new = [await import_logged_run(invocation.owner, log, vouched=vouch) for log in logs]
    imported, known = sum(new), len(new) - sum(new)
    line = f"{pluralize(imported, 'run')} imported, {known:,} known already."
    invocation.print_result({"imported": imported, "known": known}, line)


PARTS = {
    "files": "memory files",
    "events": "the log",
    "insights": "insights in your words (they are listed as not told)",
}
"""How parts of the document are called that are not called as they are named."""


async def export_to_file(*, file: Path | None, force: bool, invocation: Invocation) -> int:
    """Write everything that is remembered to one JSON file.

    Raises:
        Problem: `output_exists` or `output_not_writable`.
    """
    exported = await export_memory(invocation.owner)
    unread = await unreadable_files(invocation.owner)
    for problem in unread:
        print_notice(f"left out: {problem}")
    if file is None:
        print_json(exported.model_dump(mode="json"))
    else:
        path = _write(file, exported.model_dump_json(indent=1) + "\n", force=force)
        counts = exported.count_parts()
        left = [problem.as_dict() for problem in unread]
        parts = ", ".join(_count(name, count) for name, count in counts.items())
        invocation.print_result({"file": path, **counts, "unread": left}, f"{parts}: {path}")
    return ErrorKind.PARTIAL.exit_status if unread else 0


async def import_from_file(*, file: Path, vouch: bool, invocation: Invocation) -> None:
    """Add what another home has exported; what is known already is left as it is.

    Raises:
        Problem: `file_unreadable`, `export_invalid`, or what
            `privacy.importer.import_exported_memory` tells of.
    """
    exported = read_export_file(file)
    result = await import_exported_memory(invocation.owner, exported, vouched=vouch)
    lists = ("left", "unvouched")
    counts = {
        name: count for name, count in result._asdict().items() if name not in lists and count
    }
    added = ", ".join(
        name if count is True else _count(name, count) for name, count in counts.items()
    )
    rest = "Everything else" if result.unvouched else "Everything"
    summary = f"New: {added}." if added else f"{rest} is known already."
    invocation.print_result(result._asdict(), summary)
    if invocation.as_json:
        return
    if secrets := len(SECRET_MARK.findall(exported.model_dump_json())):
        print_notice(f"Passwords, keys or cards taken out: {secrets}.")
    if result.watches:
        print_notice("Watches are paused until you say: dossier watch resume NAME")
    for name in result.left:
        print_notice(
            f"{name}: this memory file is another here, or has no folder; it is as it was."
        )
    if result.unvouched:
        named = ", ".join(PARTS.get(name, name) for name in result.unvouched)
        print_notice(
            f"Not used, since they would speak for you: {named}. If the file is yours, say --vouch."
        )


def _count(part: str, count: int) -> str:
    """Return how many there are of a part, such as `1 fact`."""
    if part == "watches":
        return pluralize(count, "watch", part)
    return pluralize(count, part[:-1])
