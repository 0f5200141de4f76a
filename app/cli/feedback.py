"""dossier feedback: say that a run was good or bad, or what was wrong with it."""

from __future__ import annotations

from app.cli.dispatch import Invocation
from app.cli.event_loop import run_and_close
from app.cli.output import print_json
from memory.learning.run_feedback import record_feedback
from runs.lifecycle import find_run


def give_feedback(*, run: str, words: str, invocation: Invocation) -> int:
    """Say that a run was good (up) or bad (down), or what was wrong with it."""
    result = run_and_close(_feed_back(invocation.owner, run, words))
    if invocation.as_json:
        print_json(result)
    elif result["fact"]:
        print("Noted; it is in force from the next call on.")
    else:
        print("Noted.")
    return 0


async def _feed_back(owner: str, name: str, words: str) -> dict[str, str]:
    run = await find_run(owner, name)
    fact = await record_feedback(run, words)
    kind = words.strip().casefold() if fact is None else "text"
    return {"run": run.id, "feedback": kind, "fact": fact.id if fact else ""}
