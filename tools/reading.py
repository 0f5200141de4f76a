"""Read web pages: from the store what was read before, from the web what was not."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from functools import partial
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from sqlalchemy import or_, select

from config.errors import Problem
from config.settings import settings
from memory.pages import store as pages
from memory.pages.recollection import named
from memory.pages.sizing import sized
from memory.pages.store import NewPage, Page
from runs.ledger import Call, Said, once
from runs.place import Here, anywhere
from runs.trace import trace
from storage.engine import read_rows
from storage.tables import calls, runs
from storage.tables import pages as stored
from tools.apart import WorkerLost, run_apart
from tools.fetch import canonical, fetch
from tools.files.reading import SLOWEST
from tools.web.address import shown

_at_work: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Task[list[str]]]]
_at_work = WeakKeyDictionary()

SECONDS = 30.0
"""The longest time to prepare a short page for the store, including a new process."""

RUNS = 100
"""In so many runs it is looked whether they have read a page, the newest."""


async def read_all(here: Here, urls: Sequence[str], problems: list[Problem]) -> list[Page]:
    """Return the pages at some addresses; what cannot be read is told, never raised.

    What this thread has read is not fetched again, nor what another of the same owner has read in
    the last `fetch_hours`; what has been forgotten or has changed since is.

    Args:
        here: The point of the run.
        urls: The addresses, in canonical form.
        problems: What could not be read is added here.
    """
    different = list(dict.fromkeys(urls))
    before = await _read_before(here, different)
    reads = (_read(here, url, before.get(url, []), problems) for url in different)
    return [page for some in await asyncio.gather(*reads) for page in some]


async def _read(here: Here, url: str, before: list[str], problems: list[Problem]) -> list[Page]:
    if before:
        await trace(here, "fetch", "web", "stored", url=url)
        return await named(here.owner, before)
    try:
        ids = await _together(here, url)
    except Problem as problem:
        problems.append(problem)
        await trace(here, "fetch", "web", problem.code, url=url)
        return []
    await trace(here, "fetch", "web", "ok", url=url)
    return await named(here.owner, ids)


async def _together(here: Here, url: str) -> list[str]:
    """Fetch a page once for all branches of a run that want it at the same moment."""
    at_work = _at_work.setdefault(asyncio.get_running_loop(), {})
    call = _call(here, url)
    if call.key not in at_work:
        said = Said(url, step=here.step)
        task = asyncio.create_task(once(call, lambda: _fetched(here, url), lambda _: said))
        at_work[call.key] = task
        task.add_done_callback(lambda _: at_work.pop(call.key))
    # One branch that is given up takes the page from no other.
    ids: list[str] = await asyncio.shield(at_work[call.key])
    return ids


def _call(here: Here, url: str) -> Call:
    return Call(anywhere(here), "fetch", "web", url)


async def _fetched(here: Here, url: str) -> list[str]:
    got = await fetch(url, allow_private=settings().allow_private_fetch)
    page = NewPage(title=got["title"] or url, place="", text=got["text"])
    made = await _sized(page, url)
    address = canonical(got["url"])
    site = urlsplit(address).hostname or ""
    return await pages.keep(here.owner, "web", address, made, group=site, run=here.run)


async def _sized(page: NewPage, url: str) -> list[NewPage]:
    """Split a fetched page in a process that is killed if it takes too long."""
    try:
        return await run_apart(partial(sized, [page]), SECONDS + len(page["text"]) / SLOWEST)
    except (TimeoutError, WorkerLost) as error:
        what = "its text could not be split into pages in time"
        hint = "use another source of the same text"
        raise Problem("page_timeout", what, where=shown(url), hint=hint) from error


async def _read_before(here: Here, urls: Sequence[str]) -> dict[str, list[str]]:
    """Return the pages by their addresses that need not be fetched, as they were read last.

    The ledger knows what each run has read, also where an address led to another one.
    """
    now, fresh = time.time(), settings().fetch_hours * 3600
    recent = await _runs(here, now - fresh)
    keys = {_call(here._replace(run=run), url).key: url for run in recent for url in urls}
    wanted = select(calls.c.key, calls.c.run, calls.c.result, calls.c.started)
    rows = await read_rows(wanted.where(calls.c.key.in_(keys)).order_by(calls.c.started))
    found: dict[str, list[str]] = {
        keys[row.key]: json.loads(row.result)
        for row in rows
        # After a clock was set back, some times are in the future.
        if abs(now - row.started) <= fresh or recent[row.run] == here.thread
    }
    true = await _true(here.owner, [one for ids in found.values() for one in ids])
    return {url: ids for url, ids in found.items() if true.issuperset(ids)}


async def _runs(here: Here, since: float) -> dict[str, str]:
    """Return the threads of the runs whose readings may count: this thread's, and the newest."""
    mine = select(runs.c.id, runs.c.thread).where(
        runs.c.owner == here.owner, or_(runs.c.thread == here.thread, runs.c.updated >= since)
    )
    rows = await read_rows(mine.order_by(runs.c.created.desc()).limit(RUNS))
    return {row.id: row.thread for row in rows}


async def _true(owner: str, ids: Sequence[str]) -> set[str]:
    """Return those of some pages that still say what stands at their address."""
    wanted = select(stored.c.id).where(
        stored.c.owner == owner, stored.c.id.in_(ids), stored.c.indexed >= 0
    )
    return set((await read_rows(wanted)).scalars()) if ids else set()
