"""Keep what a person says about a finished run: good, bad, or what was wrong with it."""

from __future__ import annotations

from config.errors import Problem
from memory.experience.runs import judge
from memory.facts.store import Fact, NewFact
from memory.learning.gate import LONGEST, unfit
from memory.learning.keeping import tell
from memory.learning.rules import END, LIKING, SURE, noted
from memory.learning.voice import clean
from retrieval.regex import regex
from retrieval.script import CJK
from retrieval.text import blank
from runs.lifecycle import Run
from storage.engine import write
from storage.events import Event, feedback_reason, log

VERDICTS = ("up", "down")

_ONE_WORD = regex(rf"^(?:[^\s{CJK}]+|[^\w\s]*[{CJK}]{{1,2}}[^\w\s]*)$")
"""What can be no correction: a word, in Chinese one or two characters."""

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
        Problem: `feedback_empty`, `feedback_unclear`, or `feedback_refused` for what must not be
            kept.
    """
    text = " ".join(clean(words).split())
    if blank(text):
        raise Problem("feedback_empty", "there are no words", hint='up, down or "what was wrong"')
    verdict = END.sub("", text).casefold()
    if verdict in VERDICTS:
        await _log(run, verdict, {})
        await judge(run.owner, run.id, good=verdict == "up")
        return None
    if _ONE_WORD.match(text):
        what, hint = (
            f"one word says too little: {text!r}",
            'up, down, or a sentence: "what was wrong"',
        )
        raise Problem("feedback_unclear", what, hint=hint)
    fact = await _correct(run, text)
    await _log(run, "text", {"text": text, "fact": fact.id})
    await judge(run.owner, run.id, good=False, why=text)
    return fact


async def _correct(run: Run, text: str) -> Fact:
    reason = WHY.get(unfit(text), "")
    if reason:
        raise Problem("feedback_refused", reason, hint="say it in other words")
    liking = [one.kind in LIKING for one in noted(text)]
    new = NewFact(
        content=text,
        category="preference" if liking and all(liking) else "correction",
        confidence=SURE,
        quote=text,
        thread=run.thread,
        run=run.id,
    )
    return await tell(run.owner, new, feedback_reason(run.id))


async def _log(run: Run, kind: str, after: dict[str, str]) -> None:
    event = Event(run.owner, f"feedback.{kind}", item=run.id, after=after, run=run.id)
    await write(lambda connection: log(connection, event))
