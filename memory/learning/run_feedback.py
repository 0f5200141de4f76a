"""Record what a person says about a finished run: good, bad, or what was wrong with it."""

from __future__ import annotations

from config.errors import ErrorCode, Problem
from memory.experience.run_history import rate_past_run
from memory.facts.fact import Fact, NewFact
from memory.learning.claim_checks import MAX_FACT_CHARS, find_unfit_reason
from memory.learning.learner import learn_fact
from memory.learning.own_words import normalize_message
from memory.learning.self_statements import (
    PREFERENCE_KINDS,
    SENTENCE_END_MARKS,
    STATED_CONFIDENCE,
    parse_note,
)
from runs.lifecycle import RunRecord
from storage.engine import run_write
from storage.events import FEEDBACK_STEP, Event, log_event
from text.normalization import is_blank
from text.regex import regex
from text.script import CJK

VERDICTS = ("up", "down")

_ONE_WORD = regex(rf"^(?:[^\s{CJK}]+|[^\w\s]*[{CJK}]{{1,2}}[^\w\s]*)$")
"""Too little for a correction: one word, in Chinese one or two characters."""

REFUSAL_REASONS = {
    "too_long": f"it has more than {MAX_FACT_CHARS} characters",
    "secret": "it looks as if it held a password or a key",
}


async def record_feedback(run: RunRecord, words: str) -> Fact | None:
    """Record what a person says about a run; a correction applies from the next call on.

    It also rates what the run was shown of earlier ones
    (`memory.experience.run_history.rate_past_run`).

    Args:
        run: The run.
        words: `up`, `down`, or what was wrong.

    Returns:
        The correction that the words became.

    Raises:
        Problem: `feedback_empty`, `feedback_unclear`, or `feedback_refused` for what must not be
            stored.
    """
    text = " ".join(normalize_message(words).split())
    if is_blank(text):
        hint = 'up, down or "what was wrong"'
        raise Problem(ErrorCode.FEEDBACK_EMPTY, "there are no words", hint=hint)
    verdict = SENTENCE_END_MARKS.sub("", text).casefold()
    if verdict in VERDICTS:
        await _log(run, verdict, {})
        await rate_past_run(run.owner, run.id, good=verdict == "up")
        return None
    if _ONE_WORD.match(text):
        what = f"one word says too little: {text!r}"
        hint = 'up, down, or a sentence: "what was wrong"'
        raise Problem(ErrorCode.FEEDBACK_UNCLEAR, what, hint=hint)
    fact = await _correct(run, text)
    await _log(run, "text", {"text": text, "fact": fact.id})
    await rate_past_run(run.owner, run.id, good=False, why=text)
    return fact


async def _correct(run: RunRecord, text: str) -> Fact:
    if reason := REFUSAL_REASONS.get(find_unfit_reason(text)):
        raise Problem(ErrorCode.FEEDBACK_REFUSED, reason, hint="say it in other words")
    kinds = {one.kind for one in parse_note(text)}
    category = "preference" if kinds and kinds <= {*PREFERENCE_KINDS} else "correction"
    new = NewFact(text, category, STATED_CONFIDENCE, text, run.thread, run.id)
    return await learn_fact(run.owner, new, f"feedback on {run.id}", step=FEEDBACK_STEP)


async def _log(run: RunRecord, kind: str, after: dict[str, str]) -> None:
    event = Event(run.owner, f"feedback.{kind}", item=run.id, after=after, run=run.id)
    await run_write(lambda connection: log_event(connection, event))
