"""Write the files of reports again of which something is forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from config.errors import Problem
from graph.state import State
from memory.forgetting.checkpoints import Told
from report.document import document
from report.export import NAMES, write
from runs.lifecycle import folders, found


async def redraw(owner: str, told: Sequence[Told]) -> int:
    """Write what is left of some reports wherever they lie; return how many folders there were.

    A folder in which by now another report lies, or none, is left alone.

    Args:
        owner: Whose reports.
        told: The states in which their runs left them.

    Raises:
        Problem: `output_not_writable`.
    """
    count = 0
    for one in told:
        try:
            run = await found(owner, one.run)
        except Problem:
            continue
        state = cast("State", one.after)
        day = datetime.fromtimestamp(run.updated, UTC).date().isoformat()
        shown = document(state, state["report"], state["status"], day)
        for folder in map(Path, await folders(run)):
            if any((folder / name).exists() for name in NAMES.values()):
                await write(shown, folder, force=True)
                _sweep(folder)
                count += 1
    return count


def _sweep(folder: Path) -> None:
    """Remove what a killed process has left half written."""
    for name in NAMES.values():
        for part in folder.glob(f".{name}.*.part"):
            part.unlink(missing_ok=True)
