"""Keep what a person says about a finished run: good, bad, or what was wrong with it."""

from __future__ import annotations

from config.errors import Problem
from memory.experience.runs import judge
from memory.facts.store import Fact, NewFact, add
from memory.learning.gate import LONGEST, unfit
from memory.learning.portrait import of_statements
from memory.learning.rules import SURE, stated
from memory.learning.turns import Said
from memory.learning.voice import clean
from memory.profile.store import learn
from runs.lifecycle import Run
from storage.engine import write
from storage.events import Event, log

VERDICTS = ("up", "down")

WHY = {
    "too_long": f"it has more than {LONGEST} characters",
    "secret": "it looks as if it held a password or a key",
}


async def feed_back(run: Run, words: str) -> Fact | None:
    """Write down what a person says about a run; words are in force from the next call on.

    What the run was told of earlier ones is judged by it too (`memory.experience.runs.judge`).

    Args:
        run: The run.
        words: `up`, `down`, or what was wrong.

    Returns:
        The correction that the words became.

    Raises:
        Problem: `feedback_empty`, or `feedback_refused` for what must not be kept.
    """
    text = " ".join(clean(words).split())
    if not text:
        raise Problem("feedback_empty", "there are no words", hint='up, down or "what was wrong"')
    verdict = text.casefold()
    if verdict in VERDICTS:
        await _log(run, verdict, {})
        await judge(run.owner, run.id, good=verdict == "up")
        return None
    fact = await _correct(run, text)
    await _log(run, "text", {"text": text, "fact": fact.id})
    await judge(run.owner, run.id, good=False, why=text)
    return fact


async def _correct(run: Run, text: str) -> Fact:
    reason = WHY.get(unfit(text), "")
    if reason:
        raise Problem("feedback_refused", reason, hint="say it in other words")
    new = NewFact(
        content=text,
        category="correction",
        confidence=SURE,
        quote=text,
        thread=run.thread,
        run=run.id,
    )
    fact = await add(run.owner, new, why=f"feedback on {run.id}", run=run.id)
    told = of_statements(stated(text), Said(run.thread, run.id, "", text))
    await learn(run.owner, told, run=run.id, why=f"feedback on {run.id}")
    return fact


async def _log(run: Run, kind: str, after: dict[str, str]) -> None:
    event = Event(run.owner, f"feedback.{kind}", item=run.id, after=after, run=run.id)
    await write(lambda connection: log(connection, event))
