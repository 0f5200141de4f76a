"""Import a log of what agents did, in JSON Lines, so that it teaches from the first day."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from sqlalchemy import Connection

from config.errors import ErrorCode, Problem, first_validation_error
from config.user_files import read_named_file
from memory.experience import insights
from memory.experience.credit_assignment import OutcomeSignals
from memory.experience.run_history import RunEnding, find_past_run_in, record_run_end_in
from memory.experience.utterances import PERSON_SPEAKER, Utterance
from storage.engine import run_write
from storage.events import lock_owner
from text.normalization import drop_unstorable
from text.secret_masking import mask_secrets_within

MAX_LOG_BYTES = 50_000_000
"""The most bytes of a log."""

UNKNOWN_SPEAKER = "someone"
"""Replaces the person as a speaker in a log that nobody vouches for."""

RESULTS = {"resolved": 1.0, "partial": 0.5, "failed": 0.0}


def _clean(value: object) -> object:
    return drop_unstorable(value).strip() if isinstance(value, str) else value


_CleanText = Annotated[str, BeforeValidator(_clean)]

InsightRole = Literal["planner", "researcher", "coder", "reflector", "reporter"]


class LoggedStep(BaseModel):
    """A step of a run: who did what, and the result."""

    model_config = ConfigDict(extra="forbid")

    who: _CleanText = Field(min_length=1, max_length=32)
    action: _CleanText
    observation: _CleanText = ""
    step: _CleanText = Field(default="", max_length=32)
    builds_on: list[int] = Field(default=[], max_length=100)
    """The positions, from 1, of the earlier steps that it builds on."""


class LoggedInsight(BaseModel):
    """An insight from a run; for every role if none is named."""

    model_config = ConfigDict(extra="forbid")

    content: _CleanText = Field(min_length=1, max_length=400)
    roles: list[InsightRole] = []


class LoggedRun(BaseModel):
    """A run: one line of the log."""

    model_config = ConfigDict(extra="forbid")

    question: _CleanText = Field(min_length=1, max_length=20_000)
    result: Literal["resolved", "partial", "failed"]
    steps: list[LoggedStep] = Field(default=[], max_length=2_000)
    reason: _CleanText = Field(default="", max_length=2_000)
    run: _CleanText = Field(default="", max_length=80)
    insights: list[LoggedInsight] = Field(default=[], max_length=20)


def read_run_log(file: Path) -> Iterator[tuple[int, LoggedRun]]:
    """Yield the runs of a log with the numbers of their lines.

    Raises:
        Problem: `file_not_found`, `file_unreadable`, `file_too_large` or `log_invalid`, with the
            line.
    """
    with suppress(OSError):
        if file.stat().st_size > MAX_LOG_BYTES:
            what = f"it is longer than {MAX_LOG_BYTES:,} bytes"
            raise Problem(ErrorCode.FILE_TOO_LARGE, what, where=str(file), hint="split it")
    lines = read_named_file(file, most=MAX_LOG_BYTES).split("\n")
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, _read(line, f"{file}:{number}")


async def import_logged_run(owner: str, logged: LoggedRun, *, vouched: bool = False) -> bool:
    """Import a run of a log once, in one transaction; return whether it is new.

    Vouching also counts for the insights of a known run, but not for its steps, which may be from
    another log.

    Args:
        owner: Whose.
        logged: The run.
        vouched: Whether the person vouches for its insights, and for what it says the person has
            said. The words of a log may be those of any page, so otherwise later runs are given
            only sentences of methods, each for its role.

    Raises:
        Problem: `log_invalid` if the run of this name asked something else.
    """
    run = logged.run or f"log-{hashlib.sha256(logged.model_dump_json().encode()).hexdigest()[:16]}"
    value = RESULTS[logged.result]
    signs = OutcomeSignals(value, value, value, value)
    steps = [_utterance(one, at, vouched) for at, one in enumerate(logged.steps)]
    ending = RunEnding(logged.question, signs, logged.reason, steps)

    def work(connection: Connection) -> bool:
        """Record a run with its insights; of a known run, only who vouches for them changes."""
        lock_owner(connection, owner)
        known = find_past_run_in(connection, owner, run)
        if known is not None and known.question != logged.question:
            what, hint = "a run of this name asked something else", "give the run another name"
            raise Problem(ErrorCode.LOG_INVALID, what, where=run, hint=hint)
        if known is None:
            record_run_end_in(connection, owner, run, ending)
        for one in logged.insights:
            insight = _insight_text(one, run, vouched)
            if known is None:
                insights.add_insight_in(connection, owner, insight, [run])
            else:
                insights.vouch_insight_in(connection, owner, insight)
        return known is None

    return await run_write(work)


def _insight_text(one: LoggedInsight, run: str, vouched: bool) -> insights.InsightText:
    projections = dict.fromkeys(one.roles or get_args(InsightRole), one.content)
    provenance = insights.VOUCHED_PROVENANCE if vouched else "tool"
    return insights.InsightText(one.content, projections, provenance, f"imported with {run}", run)


def _utterance(one: LoggedStep, at: int, vouched: bool) -> Utterance:
    who = UNKNOWN_SPEAKER if one.who == PERSON_SPEAKER and not vouched else one.who
    builds_on = tuple(place for place in one.builds_on if 1 <= place <= at)
    return Utterance(who, one.action, one.observation, step=one.step, builds_on=builds_on)


def _read(line: str, where: str) -> LoggedRun:
    try:
        return LoggedRun.model_validate(mask_secrets_within(json.loads(line)))
    except ValidationError as error:
        place, what = first_validation_error(error)
        what, hint = f"{place or 'the line'}: {what}", "see dossier memory import-runs --help"
        raise Problem(ErrorCode.LOG_INVALID, what, where=where, hint=hint) from error
    except (ValueError, RecursionError) as error:
        what = "it is no JSON object"
        hint = "one JSON object on each line: dossier memory import-runs --help"
        raise Problem(ErrorCode.LOG_INVALID, what, where=where, hint=hint) from error
