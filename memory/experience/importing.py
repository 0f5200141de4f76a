"""Read a log of what agents did, in JSON Lines, so that it teaches from the first day."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)
from sqlalchemy import Connection

from config.errors import Problem
from config.named_files import read_text
from config.validation import first_error
from memory.experience.insights import TRUSTED, Wording, add_in, vouch_in
from memory.experience.outcome import Signs
from memory.experience.runs import Ending, close_in, found_in
from memory.experience.utterances import PERSON, Utterance
from retrieval.secrets import masked_within
from runs.ledger import storable
from storage.engine import write
from storage.events import hold

LONGEST = 50_000_000
"""The longest log, in bytes."""

SOMEONE = "someone"
"""Who speaks where a log that nobody vouches for says that the person does."""

RESULTS = {"resolved": 1.0, "partial": 0.5, "failed": 0.0}


def _clean(value: object) -> object:
    return storable(value).strip() if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(_clean)]

Role = Literal["planner", "researcher", "coder", "reflector", "reporter"]


class Step(BaseModel):
    """A step of a run: who did what, and what came of it."""

    model_config = ConfigDict(extra="forbid")

    who: Text = Field(min_length=1, max_length=32)
    action: Text
    observation: Text = ""
    step: Text = Field(default="", max_length=32)
    builds_on: list[int] = Field(default=[], max_length=100)
    """The places, from 1, of the earlier steps that it builds on."""


class Taught(BaseModel):
    """Something that was learnt of a run; for every role where none is named."""

    model_config = ConfigDict(extra="forbid")

    content: Text = Field(min_length=1, max_length=400)
    roles: list[Role] = []


class Log(BaseModel):
    """One line: a run."""

    model_config = ConfigDict(extra="forbid")

    question: Text = Field(min_length=1, max_length=20_000)
    result: Literal["resolved", "partial", "failed"]
    steps: list[Step] = Field(default=[], max_length=2_000)
    reason: Text = Field(default="", max_length=2_000)
    run: Text = Field(default="", max_length=80)
    insights: list[Taught] = Field(default=[], max_length=20)


def read_log(file: Path) -> Iterator[tuple[int, Log]]:
    """Yield the runs of a log with the numbers of their lines.

    Raises:
        Problem: `file_not_found`, `file_unreadable`, `file_too_large` or `log_invalid`, with the
            line.
    """
    try:
        if file.stat().st_size > LONGEST:
            what = f"it is longer than {LONGEST:,} bytes"
            raise Problem("file_too_large", what, where=str(file), hint="split it")
        lines = read_text(file, most=LONGEST).split("\n")
    except FileNotFoundError as error:
        what = "there is no such file"
        raise Problem("file_not_found", what, where=str(file), hint="check the path") from error
    except (OSError, UnicodeDecodeError) as error:
        what = getattr(error, "strerror", "") or "it is no text in UTF-8"
        hint = "name a text file that you may read"
        raise Problem("file_unreadable", what, where=str(file), hint=hint) from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, _read(line, f"{file}:{number}")


async def import_run(owner: str, log: Log, *, vouched: bool = False) -> bool:
    """Keep a run of a log, once and whole; return whether it is new.

    Vouching counts for the insights of a known run as well, not for its steps, which may be those
    of another log.

    Args:
        owner: Whose.
        log: The run.
        vouched: Whether the person vouches for its insights, and for what it says that the person
            has said; else that is somebody's. The words of a log may be
            those of any page, so without that only sentences of methods are told to later runs,
            each to the role it is for.

    Raises:
        Problem: `log_invalid` if the run of this name asked something else.
    """
    run = log.run or f"log-{hashlib.sha256(log.model_dump_json().encode()).hexdigest()[:16]}"
    value = RESULTS[log.result]
    said = [
        Utterance(
            _speaker(one, vouched),
            one.action,
            one.observation,
            step=one.step,
            builds_on=_on(one, at),
        )
        for at, one in enumerate(log.steps)
    ]
    ending = Ending(log.question, Signs(value, value, value, value), log.reason, said)

    def work(connection: Connection) -> bool:
        hold(connection, owner)
        known = found_in(connection, owner, run)
        if known is not None and known.question != log.question:
            hint = "give the run another name"
            raise Problem(
                "log_invalid", "a run of this name asked something else", where=run, hint=hint
            )
        if known is None:
            close_in(connection, owner, run, ending)
        for one in log.insights:
            worded = _worded(one, run, vouched)
            if known is None:
                add_in(connection, owner, worded, [run])
            else:
                vouch_in(connection, owner, worded)
        return known is None

    return await write(work)


def _worded(one: Taught, run: str, vouched: bool) -> Wording:
    told = dict.fromkeys(one.roles or get_args(Role), one.content)
    return Wording(one.content, told, TRUSTED if vouched else "tool", f"imported with {run}", run)


def _speaker(one: Step, vouched: bool) -> str:
    return SOMEONE if one.who == PERSON and not vouched else one.who


def _on(one: Step, at: int) -> tuple[int, ...]:
    return tuple(place for place in one.builds_on if 1 <= place <= at)


def _read(line: str, where: str) -> Log:
    try:
        return Log.model_validate(masked_within(json.loads(line)))
    except ValidationError as error:
        place, what = first_error(error)
        hint = "see dossier memory import-runs --help"
        raise Problem(
            "log_invalid", f"{place or 'the line'}: {what}", where=where, hint=hint
        ) from error
    except (ValueError, RecursionError) as error:
        hint = "one JSON object on each line: dossier memory import-runs --help"
        raise Problem("log_invalid", "it is no JSON object", where=where, hint=hint) from error
