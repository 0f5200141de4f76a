"""dossier memory export, import: everything that is remembered, as one JSON document."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from app.cli.files import write_file
from app.cli.memories import finished
from app.cli.output import one_line, print_json
from config.counted import counted
from config.errors import EXIT, Problem
from config.settings import settings
from memory.files.reading import unreadable
from memory.moving.arriving import imported, read_document
from memory.moving.leaving import exported
from memory.moving.shape import Moved
from retrieval.secrets import MARK
from runs.place import owned

PARTS = {
    "files": "memory files",
    "events": "the log",
    "insights": "insights in your words (they are listed as not told)",
}
"""How parts of the document are called that are not called as they are named."""


def exporting(*, file: Path | None, force: bool, project: str, as_json: bool) -> int:
    """Write everything that is remembered; return the exit status.

    It is partial where a memory file cannot be read.

    Raises:
        Problem: `output_exists` or `output_not_writable`.
    """
    moved, unread = finished(_exported(owned(settings().user, project)))
    for problem in unread:
        print(one_line(f"left out: {problem}"), file=sys.stderr)
    if file is None:
        print_json(moved.model_dump(mode="json"))
    else:
        write_file(file, moved.model_dump_json(indent=1) + "\n", force=force)
        _tell(file, moved, unread, as_json=as_json)
    return EXIT["partial"] if unread else 0


async def _exported(owner: str) -> tuple[Moved, list[Problem]]:
    return await exported(owner), await unreadable(owner)


def _tell(file: Path, moved: Moved, unread: Sequence[Problem], *, as_json: bool) -> None:
    if as_json:
        left = [problem.as_dict() for problem in unread]
        print_json({"file": str(file.absolute()), **moved.counts(), "unread": left})
    else:
        told = ", ".join(counted(count, name[:-1]) for name, count in moved.counts().items())
        print(f"{told}: {file.absolute()}")


def importing(*, file: Path, vouch: bool, project: str, as_json: bool) -> int:
    """Add what another home has exported; return the exit status.

    Raises:
        Problem: `file_unreadable`, `export_invalid`, or what `memory.moving.arriving.imported`
            tells of.
    """
    moved = read_document(file)
    came = finished(imported(owned(settings().user, project), moved, vouched=vouch))
    if as_json:
        print_json(came._asdict())
        return 0
    lists = ("left", "unvouched")
    counts = {name: count for name, count in came._asdict().items() if name not in lists and count}
    told = ", ".join(
        name if count is True else counted(count, name[:-1]) for name, count in counts.items()
    )
    rest = "Everything else" if came.unvouched else "Everything"
    print(f"New: {told}." if told else f"{rest} is known already.")
    if told_secrets := len(MARK.findall(moved.model_dump_json())):
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
