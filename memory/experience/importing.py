"""Read a log of what agents did, in JSON Lines, so that it teaches from the first day."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from config.errors import Problem
from memory.experience.insights import add
from memory.experience.outcome import Signs
from memory.experience.runs import close, found
from memory.experience.utterances import Utterance

LONGEST = 50_000_000
"""The longest log, in bytes."""

RESULTS = {"resolved": 1.0, "partial": 0.5, "failed": 0.0}


class Said(BaseModel):
    """A step of a run: who did what, and what came of it."""

    model_config = ConfigDict(extra="forbid")

    who: str = Field(min_length=1, max_length=32)
    action: str
    observation: str = ""
    step: str = Field(default="", max_length=32)
    builds_on: list[int] = []
    """The places, from 1, of the earlier steps that it builds on."""


class Lesson(BaseModel):
    """Something that was learnt of a run; for every role where none is named."""

    model_config = ConfigDict(extra="forbid")

    content: str = Field(min_length=1, max_length=400)
    roles: list[str] = []


class Log(BaseModel):
    """One line: a run."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1)
    result: Literal["resolved", "partial", "failed"]
    steps: list[Said] = []
    reason: str = ""
    run: str = Field(default="", max_length=80)
    insights: list[Lesson] = []


def read_log(file: Path) -> Iterator[tuple[int, Log]]:
    """Yield the runs of a log with the numbers of their lines.

    Raises:
        Problem: `file_unreadable`, `file_too_large` or `log_invalid`, with the line.
    """
    try:
        if file.stat().st_size > LONGEST:
            what = f"it is longer than {LONGEST:,} bytes"
            raise Problem("file_too_large", what, where=str(file), hint="split it")
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        what = getattr(error, "strerror", "") or "it is no text in UTF-8"
        raise Problem("file_unreadable", what, where=str(file)) from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, _read(line, f"{file}:{number}")


async def import_run(owner: str, log: Log) -> bool:
    """Keep a run of a log, once; return whether it is new."""
    run = log.run or f"log-{hashlib.sha256(log.model_dump_json().encode()).hexdigest()[:16]}"
    if await found(owner, run) is not None:
        return False
    value = RESULTS[log.result]
    said = [
        Utterance(one.who, one.action, one.observation, step=one.step, builds_on=_on(one, at))
        for at, one in enumerate(log.steps)
    ]
    signs = Signs(value, value, value, value)
    await close(owner, run, log.question, signs, reason=log.reason, said=said)
    for lesson in log.insights:
        roles = lesson.roles or ["planner", "researcher", "coder", "reflector", "reporter"]
        told = dict.fromkeys(roles, lesson.content)
        await add(owner, lesson.content, told, [run], provenance="tool", why=f"imported with {run}")
    return True


def _on(one: Said, at: int) -> tuple[int, ...]:
    return tuple(place for place in one.builds_on if 1 <= place <= at)


def _read(line: str, where: str) -> Log:
    try:
        return Log.model_validate(json.loads(line))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise Problem("log_invalid", f"{name}: {first['msg']}", where=where) from error
    except ValueError as error:
        hint = "one JSON object on each line; see the README"
        raise Problem("log_invalid", "it is no JSON object", where=where, hint=hint) from error
