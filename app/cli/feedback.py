"""dossier feedback: say that a run was good or bad, or what was wrong with it."""

from __future__ import annotations

from app.cli.dispatch import Invocation
from memory.learning.run_feedback import record_feedback
from runs.lifecycle import find_run


async def give_feedback(*, run: str, words: str, invocation: Invocation) -> None:
    """Say that a run was good (up) or bad (down), or what was wrong with it."""
    rated = await find_run(invocation.owner, run)
    fact = await record_feedback(rated, words)
    kind = "text" if fact else words.strip().casefold()
    result = {"run": rated.id, "feedback": kind, "fact": fact.id if fact else ""}
    invocation.print_result(
        result, "Noted; it is in force from the next call on." if fact else "Noted."
    )
