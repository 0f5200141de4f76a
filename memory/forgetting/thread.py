"""Take a thread away: its runs, what they recorded, their reports, uploads, traces and lock.

What was learnt in it of the person and of research stays, as it does after a chat that was closed:
that is forgotten by `dossier memory forget`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from sqlalchemy import delete, select

from memory.pages.forgetting import forget
from memory.pages.uploads import discard_uploads
from runs.lock import taken
from runs.retention import Old, delete_records, unlink
from storage.engine import read_rows
from storage.journal import commit, perform
from storage.tables import pages, runs, utterances


async def forget_thread(thread: str) -> None:
    """Take away what a thread has left beside its checkpoints.

    Raises:
        Problem: `run_in_progress` while a process works on it.
    """
    lock = await asyncio.to_thread(taken, thread, 0)
    try:
        old = await _forget_runs(thread)
    finally:
        await asyncio.to_thread(lock.release)
    await asyncio.to_thread(unlink, old)


async def _forget_runs(thread: str) -> Old:
    its = select(runs.c.id, runs.c.owner).where(runs.c.thread == thread)
    rows = (await read_rows(its)).all()
    old = Old(thread, tuple(row.id for row in rows), 0.0)
    for owner in {row.owner for row in rows}:
        await _forget_reports(owner, old.runs)
        await discard_uploads(owner, thread)
    await commit((delete(utterances).where(utterances.c.run.in_(old.runs)), None))
    # The runs go last, so that a kill leaves something to begin again with.
    await perform(partial(delete_records, old=old))
    return old


async def _forget_reports(owner: str, names: Sequence[str]) -> None:
    its = (pages.c.owner == owner, pages.c.kind == "report", pages.c.origin.in_(names))
    await forget(owner, list((await read_rows(select(pages.c.id).where(*its))).scalars()))
