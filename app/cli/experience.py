"""dossier memory graph, insights and import-runs: what past runs teach."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.table import Column
from rich.text import Text

from app.cli.files import write_file
from app.cli.memories import finished
from app.cli.output import one_line, print_json
from app.cli.table import show, table
from config.counted import counted
from config.settings import settings
from memory.experience import drawing
from memory.experience.importing import import_run, read_log
from memory.experience.insights import Insight, guides, listed, supporters
from memory.kept.experience import UNTOLD
from runs.place import owned

OWN_WORDS = "Use dossier memory edit ID TEXT to supply your own wording."

Told = tuple[Insight, list[tuple[str, int]]]


def graph(*, out: Path, force: bool, limit: int, project: str, as_json: bool) -> int:
    """Write the three tiers as a page; return the exit status.

    Raises:
        Problem: `output_exists` or `output_not_writable`.
    """
    drawn = finished(drawing.graph(owned(settings().user, project), limit))
    write_file(out, drawing.page(drawn), force=force)
    if as_json:
        told = {"runs": len(drawn.runs), "insights": len(drawn.insights)}
        print_json({"page": str(out.absolute()), **told})
    else:
        print(out.absolute())
    return 0


def insights(*, project: str, as_json: bool) -> int:
    """List what was learnt, the best first; return the exit status."""
    known = finished(_known(owned(settings().user, project)))
    if as_json:
        print_json([_plain(one, runs) for one, runs in known])
        return 0
    rows = table("insight", "worth", "won", "runs", Column("what to do"))
    for one, runs in known:
        signs = [sign for _, sign in runs]
        spoken = f"+{signs.count(1)} −{signs.count(-1)}"
        state = "" if guides(one) else f"({UNTOLD}) "
        words = Text(state + one_line(one.content), overflow="fold")
        rows.add_row(one.id[:8], f"{one.score:.2f}", f"{one.wins}/{one.uses}", spoken, words)
    show(rows if known else "No insights yet: they come with runs.")
    if not all(guides(one) for one, _ in known):
        print(f"({UNTOLD}): nobody has vouched for these words. {OWN_WORDS}")
    return 0


def import_runs(*, file: Path, vouch: bool, project: str, as_json: bool) -> int:
    """Read runs from a log; return the exit status.

    Raises:
        Problem: What `memory.experience.importing.read_log` tells of; nothing is kept then.
    """
    new, known = finished(_imported(owned(settings().user, project), file, vouch))
    if as_json:
        print_json({"imported": new, "known": known})
    else:
        print(f"{counted(new, 'run')} imported, {known:,} known already.")
    return 0


async def _known(owner: str) -> list[Told]:
    known, runs = await listed(owner), await supporters(owner)
    return [(one, runs.get(one.id, [])) for one in known]


async def _imported(owner: str, file: Path, vouch: bool) -> tuple[int, int]:
    # A mistake in the last line must not leave half of the log behind.
    logs = [log for _, log in read_log(file)]
    new = [await import_run(owner, log, vouched=vouch) for log in logs]
    return sum(new), len(new) - sum(new)


def _plain(one: Insight, runs: list[tuple[str, int]]) -> dict[str, Any]:
    said = {"id": one.id, "content": one.content, "projections": dict(one.projections)}
    record = {"worth": one.score, "wins": one.wins, "uses": one.uses, "created": one.created}
    return {
        **said,
        "told": guides(one),
        **record,
        "runs": [{"run": run, "sign": sign} for run, sign in runs],
    }
