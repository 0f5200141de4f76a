"""Find what runs have read of the web before, so that it need not be fetched again."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, bindparam, or_, select

from calls.ledger import LedgerCall
from config.settings import settings
from library.tables import pages
from memory.tables import utterances
from runs.call_site import CallSite, run_site
from runs.tables import calls, runs
from storage.batches import split_batches
from storage.engine import read_rows, run_read
from text.normalization import clip_long_text

RUNS = 100
"""How many runs are searched for earlier readings of a page, the newest first."""

_RECENT = (
    select(runs.c.id, runs.c.thread)
    .where(
        runs.c.owner == bindparam("its_owner"),
        or_(runs.c.thread == bindparam("its_thread"), runs.c.updated >= bindparam("since")),
    )
    .order_by(runs.c.created.desc())
    .limit(RUNS)
)
_READINGS = (
    select(calls.c.key, calls.c.run, calls.c.result, calls.c.started)
    .where(calls.c.key.in_(bindparam("keys", expanding=True)))
    .order_by(calls.c.started)
)
_CURRENT = select(pages.c.id).where(
    pages.c.owner == bindparam("its_owner"),
    pages.c.id.in_(bindparam("ids", expanding=True)),
    pages.c.indexed >= 0,
)


def page_call(here: CallSite, url: str) -> LedgerCall:
    """Return the call that fetches a page: one for all steps of a run."""
    return LedgerCall(run_site(here), "fetch", "web", url)


async def find_earlier_readings(
    here: CallSite, urls: Sequence[str], *, own_thread: bool
) -> dict[str, list[str]]:
    """Return the pages by their addresses that need not be fetched, as they were read last.

    The ledger knows what each run has read, also where an address led to another one.

    Args:
        here: The point of the run.
        urls: The addresses.
        own_thread: Whether what this thread has read is used however old it is.
    """
    return await run_read(partial(_find_earlier, here=here, urls=urls, own_thread=own_thread))


def _find_earlier(
    connection: Connection, here: CallSite, urls: Sequence[str], *, own_thread: bool
) -> dict[str, list[str]]:
    now, fresh = time.time(), settings().fetch_hours * 3600
    recent = _recent_runs(connection, here, now - fresh)
    own = {run for run, thread in recent.items() if own_thread and thread == here.thread}
    found: dict[str, list[str]] = {
        url: json.loads(row.result)
        for url, row in _list_readings(connection, here, recent, urls)
        # After a clock was set back, some times are in the future.
        if abs(now - row.started) <= fresh or row.run in own
    }
    current = _list_current(connection, here.owner, [one for ids in found.values() for one in ids])
    return {url: ids for url, ids in found.items() if current.issuperset(ids)}


async def list_reading_times(here: CallSite, urls: Sequence[str]) -> dict[str, float]:
    """Return when addresses were read last by the newest runs, in seconds since 1970."""

    def read(connection: Connection) -> dict[str, float]:
        recent = _recent_runs(connection, here, 0.0)
        readings = _list_readings(connection, here, recent, urls)
        return {url: row.started for url, row in readings}

    return await run_read(read)


def _list_readings(
    connection: Connection, here: CallSite, by: Iterable[str], urls: Sequence[str]
) -> list[tuple[str, Any]]:
    """Return the addresses that some runs have read, each with its recorded call, oldest first."""
    keys = {page_call(here._replace(run=run), url).key: url for run in by for url in urls}
    rows = connection.execute(_READINGS, {"keys": list(keys)})
    return [(keys[row.key], row) for row in rows]


def _recent_runs(connection: Connection, here: CallSite, since: float) -> dict[str, str]:
    """Return the threads of the runs whose readings may be used: this thread's, and the newest."""
    values = {"its_owner": here.owner, "its_thread": here.thread, "since": since}
    return {row.id: row.thread for row in connection.execute(_RECENT, values)}


def _list_current(connection: Connection, owner: str, ids: Sequence[str]) -> set[str]:
    """Return those of some pages that are the newest version of their address."""
    if not ids:
        return set()
    return set(connection.execute(_CURRENT, {"its_owner": owner, "ids": list(ids)}).scalars())


async def list_addresses_read(here: CallSite, runs: Sequence[str], urls: Sequence[str]) -> set[str]:
    """Return those of some addresses that some runs have read.

    Args:
        here: The point of a run; what this run has read itself does not count.
        runs: The ids of the runs.
        urls: The addresses.
    """
    read = utterances.c
    wanted = {clip_long_text(url): url for url in urls}
    found: set[str] = set()
    for batch in split_batches(list(wanted)):
        its = select(read.action).where(
            read.owner == here.owner,
            read.run.in_([run for run in runs if run != here.run]),
            read.kind == "fetch",
            read.action.in_(batch),
        )
        found |= {wanted[action] for action in (await read_rows(its)).scalars()}
    return found
