"""Write the files of reports again of which something is forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from config.errors import Problem
from graph.state import State
from memory.forgetting.checkpoints import Told
from memory.forgetting.pruned import kept
from report.document import document, shows_removed
from report.export import same, write
from report.render import Document
from runs.lifecycle import NAMES, Run, folders, found
from tools.evidence import cited_texts


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
        shown, places = await _drawn(owner, one)
        for folder in places:
            await write(shown, folder, force=True)
            _sweep(folder)
            count += 1
    return count


async def undrawn(owner: str, told: Sequence[Told]) -> list[Told]:
    """Return those reports that change, and those whose files still say what they said before."""
    left = []
    for one in told:
        shown, places = await _drawn(owner, one)
        if one.changed or not all(same(shown, folder) for folder in places):
            left.append(one)
    return left


async def rewritten(owner: str, told: Sequence[Told]) -> list[str]:
    """Return the files of some reports, as they lie on the disk."""
    places = [folder for one in told for folder in (await _drawn(owner, one))[1]]
    files = (folder / name for folder in places for name in NAMES.values())
    return [str(file) for file in files if file.exists()]


async def _drawn(owner: str, told: Told) -> tuple[Document, list[Path]]:
    """Return what is left of a report, and the folders in which its files lie."""
    state = cast("State", told.after)
    try:
        run: Run | None = await found(owner, told.run)
    except Problem:
        run = await kept(owner, told.run)
    if run is None:
        return document(state, state["report"], state["status"], ""), []
    day = datetime.fromtimestamp(run.updated, UTC).date().isoformat()
    cited = await cited_texts(owner, state)
    shown = document(state, state["report"], state["status"], day, cited)
    shown["command"] = shows_removed(told.run)
    places = [Path(folder) for folder in await folders(run)]
    names = NAMES.values()
    return shown, [one for one in places if any((one / name).exists() for name in names)]


def _sweep(folder: Path) -> None:
    """Remove what a killed process has left half written."""
    for name in NAMES.values():
        for part in folder.glob(f".{name}.*.part"):
            part.unlink(missing_ok=True)
