"""Pay once: every model, search, fetch and sandbox result is kept before it is used."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, insert, select
from sqlalchemy.exc import IntegrityError

from runs.place import Here
from storage.engine import read_rows
from storage.journal import Statement, commit, perform
from storage.tables import calls, utterances

LONGEST = 2_000
"""How many characters of what was said or done are kept for whoever learns of it."""

RECORDED = select(calls.c.result).where(calls.c.key == bindparam("wanted"))


@dataclass(frozen=True)
class Call:
    """One paid call; `request` is what is asked, as plain data."""

    here: Here
    kind: Literal["model", "search", "fetch", "sandbox"]
    role: str
    request: Any

    @property
    def key(self) -> str:
        """Name the call by owner, thread, turn, step, repetition and the hash of its request."""
        here = self.here
        words = [
            here.owner,
            here.run,
            here.step,
            here.repetition,
            self.kind,
            self.role,
            self.request,
        ]
        text = json.dumps(words, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Cost:
    """What a call used: tokens read, tokens written, US dollars; and in which session of the run.

    A session is the time from a start or a resume to the next pause or crash.
    """

    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float = 0.0
    session: str = ""


@dataclass(frozen=True)
class Said:
    """What a call comes down to, for whoever reads later how the run went."""

    action: str
    observation: str = ""
    step: str = ""


async def recorded(call: Call) -> Any | None:
    """Return the kept result of a call, or `None` if it was never made."""
    result = (await read_rows(RECORDED, {"wanted": call.key})).scalar()
    return None if result is None else json.loads(result)


async def record(
    call: Call,
    result: Any,
    started: float,
    cost: Cost | None = None,
    said: Said | None = None,
    also: Sequence[Statement] = (),
) -> None:
    """Keep the result of a call; it is on the disk when this returns.

    Args:
        call: The call that was made.
        result: What came back, as plain data.
        started: When it was made, in seconds since 1970.
        cost: What it used; nothing for calls that are free.
        said: What it comes down to; it is kept in the same moment.
        also: What else is written in that moment.
    """
    cost = cost or Cost()
    row = {
        "key": call.key,
        "run": call.here.run,
        "session": cost.session,
        "kind": call.kind,
        "role": call.role,
        "step": call.here.step,
        "model": cost.model,
        # A lone surrogate, which a model may write, is nothing a database holds but as an escape.
        "result": json.dumps(result),
        "tokens_in": cost.tokens_in,
        "tokens_out": cost.tokens_out,
        "cost": cost.dollars,
        "started": started,
        "ended": time.time(),
    }
    try:
        await commit((insert(calls), row), *_uttered(call, said), *also)
    except IntegrityError:
        # Two equal requests at one point ran side by side; either result will do.
        await commit(*also)


async def once(
    call: Call, make: Callable[[], Awaitable[Any]], tell: Callable[[Any], Said] | None = None
) -> Any:
    """Return the kept result of a call, or make it and keep what comes back.

    Args:
        call: The call.
        make: Makes it.
        tell: Says what it comes down to, by its result.
    """
    known = await recorded(call)
    if known is not None:
        return known
    started = time.time()
    result = await make()
    await record(call, result, started, said=tell(result) if tell else None)
    return result


def hits_in(result: Any) -> list[dict[str, Any]]:
    """Return what a web search found, by its recorded result.

    Older versions recorded the hits alone, without the query as it was sent.
    """
    hits: list[dict[str, Any]] = result["hits"] if isinstance(result, dict) else result
    return hits


async def note(here: Here, who: str, kind: str, done: Sequence[Said]) -> None:
    """Keep what was done without being paid for; doing the same again in a step keeps it once."""

    def keep(connection: Connection) -> None:
        for said in done:
            row = _row(here, who, kind, said)
            same = (utterances.c[name] == row[name] for name in ("owner", "run", "step", "who"))
            known = select(utterances.c.id).where(*same, utterances.c.action == row["action"])
            if connection.execute(known.limit(1)).first() is None:
                connection.execute(insert(utterances), row)

    await perform(keep)


def _uttered(call: Call, said: Said | None) -> list[Statement]:
    """Return the statement that keeps what was said; nothing where nothing was."""
    if said is None:
        return []
    return [(insert(utterances), _row(call.here, call.role, call.kind, said))]


def _row(here: Here, who: str, kind: str, said: Said) -> dict[str, Any]:
    return {
        "owner": here.owner,
        "run": here.run,
        "step": said.step or here.step,
        "who": who,
        "kind": kind,
        "action": clipped(said.action),
        "observation": clipped(said.observation),
        "builds_on": "[]",
        "main": 0,
        "at": time.time(),
    }


def clipped(text: str) -> str:
    """Return a text as it is kept: of a long one the beginning and the end."""
    kept, half = storable(text), LONGEST // 2
    return kept if len(kept) <= LONGEST else f"{kept[:half]} … {kept[-half:]}"


def storable(text: str) -> str:
    """Return a text without what no database holds: lone surrogates and null characters."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "")
