"""The ledger.

Every result of a model, search, fetch or sandbox call is recorded before it is used.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, insert, select
from sqlalchemy.exc import IntegrityError

from memory.tables import utterances
from runs.call_site import CallSite
from runs.tables import calls
from storage.engine import (
    SqlStatement,
    read_rows,
    write_in_group,
    write_with_next_group,
)
from storage.events import NEWEST_EVENT
from text.normalization import clip_long_text

RECORDED = select(calls.c.result).where(calls.c.key == bindparam("wanted"))

_ALL_RECORDED = select(calls.c.key, calls.c.result).where(
    calls.c.key.in_(bindparam("keys", expanding=True))
)

_KNOWN = select(
    RECORDED.scalar_subquery().label("result"), NEWEST_EVENT.scalar_subquery().label("revision")
)


# Building a statement takes as long as executing it.
_NEW_CALL, _NEW_SUMMARY = insert(calls), insert(utterances)

_IDENTITY = ("owner", "run", "step", "who", "action")
"""The columns that identify an action: one that is repeated is not recorded again."""

_ACTION_COLUMNS = (*_IDENTITY, "kind", "observation", "builds_on", "main", "at")

_NEW_ACTION = insert(utterances).from_select(
    _ACTION_COLUMNS,
    select(*(bindparam(name, type_=utterances.c[name].type) for name in _ACTION_COLUMNS)).where(
        ~select(utterances.c.id)
        .where(*(utterances.c[name] == bindparam(name) for name in _IDENTITY))
        .exists()
    ),
)
"""Inserts an action unless it is recorded."""


@dataclass(frozen=True)
class LedgerCall:
    """One paid call; `request` is what is asked, as plain data."""

    site: CallSite
    kind: Literal["model", "search", "fetch", "sandbox", "tool", "knowledge", "pause"]
    role: str
    request: Any

    @cached_property
    def key(self) -> str:
        """Name the call by owner, thread, turn, step, repetition and the hash of its request."""
        here = self.site
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
class CallCost:
    """What a call used: tokens read, tokens written, US dollars; and in which session of the run.

    A session is the time from a start or a resume to the next pause or crash.
    """

    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float = 0.0
    session: str = ""


@dataclass(frozen=True)
class ActionRecord:
    """The summary of a call, for later readers of the run."""

    action: str
    observation: str = ""
    step: str = ""


async def find_recorded(call: LedgerCall) -> Any | None:
    """Return the recorded result of a call, or `None` if it was never made."""
    return await load_recorded(call.key)


async def load_recorded(key: str) -> Any | None:
    """Return what is recorded under the key of a call, or `None` if it was deleted."""
    result = (await read_rows(RECORDED, {"wanted": key})).scalar()
    return None if result is None else json.loads(result)


async def find_all_recorded(made: Sequence[LedgerCall]) -> dict[str, Any]:
    """Return the recorded results of some calls by their keys; those never made are left out."""
    rows = await read_rows(_ALL_RECORDED, {"keys": [call.key for call in made]})
    return {row.key: json.loads(row.result) for row in rows}


async def find_recorded_with_revision(call: LedgerCall) -> tuple[Any | None, int]:
    """Return the recorded result of a call, and the number of its owner's newest event.

    One statement reads both for each call of a model: memories are read at that number.
    """
    values = {"wanted": call.key, "its_owner": call.site.owner}
    row = (await read_rows(_KNOWN, values)).one()
    return (None if row.result is None else json.loads(row.result)), row.revision or 0


async def record_call(
    call: LedgerCall,
    result: Any,
    started: float,
    cost: CallCost | None = None,
    said: ActionRecord | None = None,
    also: Sequence[SqlStatement] = (),
    write: Callable[[Connection], object] = lambda _: None,
) -> None:
    """Record the result of a call; it is on the disk when this returns.

    Args:
        call: The call that was made.
        result: What came back, as plain data.
        started: When it was made, in seconds since 1970.
        cost: What it used; `None` for calls that are free.
        said: Its summary, which is written in the same transaction.
        also: What else is written in that transaction.
        write: Writes what the result refers to, in that transaction too.
    """
    cost = cost or CallCost()
    row = {
        "key": call.key,
        "run": call.site.run,
        "session": cost.session,
        "kind": call.kind,
        "role": call.role,
        "step": call.site.step,
        "model": cost.model,
        # A database stores a lone surrogate, which a model may write, only as an escape.
        "result": json.dumps(result),
        "tokens_in": cost.tokens_in,
        "tokens_out": cost.tokens_out,
        "cost": cost.dollars,
        "started": started,
        "ended": time.time(),
    }
    statements = [(_NEW_CALL, row), *_action_statements(call, said), *also]
    try:
        await write_in_group(partial(_record, write, statements))
    except IntegrityError:
        # Two equal requests at one point ran at once; either result will do.
        await write_in_group(partial(_record, write, also))


def _record(
    write: Callable[[Connection], object],
    statements: Sequence[SqlStatement],
    connection: Connection,
) -> None:
    write(connection)
    for statement, values in statements:
        connection.execute(statement, values)


async def call_once(
    call: LedgerCall,
    make: Callable[[], Awaitable[Any]],
    tell: Callable[[Any], ActionRecord] | None = None,
) -> Any:
    """Return the recorded result of a call, or make the call and record its result.

    Args:
        call: The call.
        make: Makes it.
        tell: Summarises it by its result.
    """
    known = await find_recorded(call)
    if known is not None:
        return known
    started = time.time()
    result = await make()
    await record_call(call, result, started, said=tell(result) if tell else None)
    return result


def recorded_hits(result: Any) -> list[dict[str, Any]]:
    """Return the hits in the recorded result of a web search.

    Older versions recorded the hits alone, without the query as it was sent.
    """
    hits: list[dict[str, Any]] = result["hits"] if isinstance(result, dict) else result
    return hits


async def record_actions(site: CallSite, who: str, kind: str, done: Sequence[ActionRecord]) -> None:
    """Record actions that cost nothing; one that is repeated in a step is recorded once."""
    await write_in_group(_new_actions(site, who, kind, done))


def defer_actions(site: CallSite, who: str, kind: str, done: Sequence[ActionRecord]) -> None:
    """Do what `record_actions` does with the next write of this process, without waiting for it."""
    write_with_next_group(_new_actions(site, who, kind, done))


def _new_actions(
    site: CallSite, who: str, kind: str, done: Sequence[ActionRecord]
) -> Callable[[Connection], None]:
    rows = [_action_row(site, who, kind, said) for said in done]

    def keep(connection: Connection) -> None:
        for row in rows:
            connection.execute(_NEW_ACTION, row)

    return keep


def _action_statements(call: LedgerCall, said: ActionRecord | None) -> list[SqlStatement]:
    """Return the statement that records the summary of a call; none without a summary."""
    if said is None:
        return []
    return [(_NEW_SUMMARY, _action_row(call.site, call.role, call.kind, said))]


def _action_row(here: CallSite, who: str, kind: str, said: ActionRecord) -> dict[str, Any]:
    return {
        "owner": here.owner,
        "run": here.run,
        "step": said.step or here.step,
        "who": who,
        "kind": kind,
        "action": clip_long_text(said.action),
        "observation": clip_long_text(said.observation),
        "builds_on": "[]",
        "main": 0,
        "at": time.time(),
    }
