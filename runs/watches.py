"""Watches: questions that are asked again on a schedule, and what came of it each time."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, delete, func, insert, select, update

from config.errors import ErrorCode, Problem
from runs.call_site import join_owner
from runs.lifecycle import NAME
from runs.schedules import Schedule
from runs.tables import watch_checks, watches
from storage.engine import read_rows, run_write
from storage.events import lock_owner

WatchStatus = Literal["active", "paused"]

CheckStatus = Literal["first", "news", "unchanged", "failed"]
"""The result of a check: a first report, a changed one, an unchanged one, or a failure."""

RETRY_SECONDS = 900.0
"""The wait before a failed check is repeated; it doubles each time."""

MAX_TRIES = 3
"""How often a check is tried before the watch waits for its next time."""

SEND_SECONDS = 60.0
"""The wait before a notice is sent again; it doubles each time."""

MAX_SENDS = 10
"""How often sending is tried, over eight and a half hours."""

KEPT_CHECKS = 200
"""How many checks of a watch are kept."""


class Watch(NamedTuple):
    """A question that is asked again on a schedule."""

    id: str
    owner: str
    name: str
    question: str
    schedule: Schedule
    context: dict[str, Any]
    """The choices of its runs that are not the defaults."""
    notify: list[str]
    """The receivers of notices: `webhook:URL` or `mail:ADDRESS`."""
    always: bool
    """Whether they are notified even if nothing has changed."""
    status: WatchStatus
    due: float
    tries: int
    created: float

    @property
    def thread(self) -> str:
        """The thread in which the question is asked."""
        return f"watch-{self.id}"


class WatchCheck(NamedTuple):
    """One check of a watch."""

    id: str
    watch: str
    run: str
    status: CheckStatus
    code: str
    """The code of the problem; empty if it did not fail."""
    notice: dict[str, Any]
    unsent: list[str]
    """The receivers that have not been notified yet."""
    send_tries: int
    """How often sending has failed."""
    started: float
    ended: float


async def add_watch(
    owner: str,
    name: str,
    question: str,
    schedule: Schedule,
    context: dict[str, Any],
    notify: Sequence[str],
    *,
    always: bool = False,
    most: int | None = None,
) -> Watch:
    """Store a new watch, which is due at once.

    Args:
        owner: Whose it is.
        name: What it is called; one is made up if it is empty.
        question: What is asked.
        schedule: When.
        context: Choices of its runs.
        notify: Who is told.
        always: Whether they are told as well when nothing has changed.
        most: How many watches the user may have in all their projects.

    Raises:
        Problem: `bad_watch_name`, `watch_exists`, or `choice_refused` for one too many.
    """
    new = make_watch(owner, name, question, schedule, context, notify, always=always)
    if not NAME.fullmatch(new.name):
        raise Problem(ErrorCode.BAD_WATCH_NAME, f"{name!r} is not a valid name")
    await run_write(partial(_insert, new=new, most=most))
    return new


def make_watch(
    owner: str,
    name: str,
    question: str,
    schedule: Schedule,
    context: dict[str, Any],
    notify: Sequence[str],
    *,
    always: bool = False,
) -> Watch:
    """Return a new watch that is not stored yet and is due at once; its name defaults to its id."""
    id, now = secrets.token_hex(6), time.time()
    named = name or id
    return Watch(
        id, owner, named, question, schedule, context, [*notify], always, "active", now, 0, now
    )


def put_paused_watches(connection: Connection, found: Sequence[Watch]) -> int:
    """Store watches as paused, except those whose names are taken; return how many were stored.

    The caller must have locked the owner.
    """
    new = [one for one in found if not _is_taken(connection, one)]
    for one in new:
        connection.execute(insert(watches), _row(one._replace(status="paused")))
    return len(new)


def _insert(connection: Connection, new: Watch, most: int | None) -> None:
    user = new.owner.partition("/")[0]
    # All projects of a user share the limit.
    lock_owner(connection, f"{user}/")
    lock_owner(connection, new.owner)
    mine = watches.c.owner.startswith(f"{user}/", autoescape=True)
    known = connection.execute(select(func.count()).select_from(watches).where(mine)).scalar_one()
    if most is not None and known >= most:
        what, hint = f"there are {known} watches already", "remove one, or ask the operator"
        raise Problem(ErrorCode.CHOICE_REFUSED, what, where="watches", hint=hint)
    if _is_taken(connection, new):
        what = f"there is a watch {new.name!r} already"
        raise Problem(ErrorCode.WATCH_EXISTS, what)
    connection.execute(insert(watches), _row(new))


def _is_taken(connection: Connection, watch: Watch) -> bool:
    same = select(watches.c.id).where(watches.c.owner == watch.owner, watches.c.name == watch.name)
    return connection.execute(same).first() is not None


async def pause_watches(user: str) -> int:
    """Pause all watches of a user, in each project; return how many were active."""
    its = watches.c.owner.startswith(join_owner(user, ""), autoescape=True)
    paused = update(watches).where(its, watches.c.status == "active").values(status="paused")
    return await run_write(lambda connection: connection.execute(paused).rowcount)


def _row(watch: Watch) -> dict[str, Any]:
    row = watch._asdict()
    cron, zone = row.pop("schedule")
    texts = {name: json.dumps(row[name], ensure_ascii=False) for name in ("context", "notify")}
    return {**row, **texts, "cron": cron, "zone": zone, "always": int(watch.always)}


def _watch(row: Any) -> Watch:
    data = dict(row._mapping)
    schedule = Schedule(data.pop("cron"), data.pop("zone"))
    read = {name: json.loads(data[name]) for name in ("context", "notify")}
    return Watch(**{**data, **read, "always": bool(data["always"]), "schedule": schedule})


async def list_watches(owner: str) -> list[Watch]:
    """Return the watches of an owner, the oldest first."""
    mine = select(watches).where(watches.c.owner == owner)
    return [_watch(row) for row in await read_rows(mine.order_by(watches.c.created, watches.c.id))]


async def list_due_watches(now: float, owner: str = "") -> list[Watch]:
    """Return the watches that are due, the one that has waited longest first.

    Args:
        now: The time, in seconds since 1970.
        owner: The owner of the watches; everybody's if empty.
    """
    due = select(watches).where(watches.c.status == "active", watches.c.due <= now)
    if owner:
        due = due.where(watches.c.owner == owner)
    return [_watch(row) for row in await read_rows(due.order_by(watches.c.due))]


async def find_watch(owner: str, name: str) -> Watch:
    """Return a watch by its name or its id.

    Raises:
        Problem: `watch_not_found`; another owner's watch is not found either.
    """
    named = (watches.c.name == name) | (watches.c.id == name)
    row = (await read_rows(select(watches).where(watches.c.owner == owner, named))).first()
    if row is None:
        what = f"there is no watch {name!r}"
        raise Problem(ErrorCode.WATCH_NOT_FOUND, what)
    return _watch(row)


async def make_watch_due(watch: Watch) -> None:
    """Make a watch due now, for whichever process checks what is due."""
    its = update(watches).where(watches.c.id == watch.id)
    await run_write(lambda connection: connection.execute(its.values(due=time.time(), tries=0)))


async def set_watch_status(watch: Watch, status: WatchStatus) -> Watch:
    """Pause a watch, or resume it from its next time on."""
    due = await asyncio.to_thread(watch.schedule.find_next_time, time.time())
    changed = {"status": status, "due": due, "tries": 0}
    its = update(watches).where(watches.c.id == watch.id).values(**changed)
    await run_write(lambda connection: connection.execute(its))
    return watch._replace(status=status, due=due, tries=0)


async def remove_watch(watch: Watch) -> None:
    """Remove a watch and its history; its runs and their reports stay."""

    def work(connection: Connection) -> None:
        connection.execute(delete(watch_checks).where(watch_checks.c.watch == watch.id))
        connection.execute(delete(watches).where(watches.c.id == watch.id))

    await run_write(work)


async def record_check(watch: Watch, check: WatchCheck) -> Watch:
    """Store a check, and when the watch is due again.

    A failed check is repeated soon, up to `MAX_TRIES` times in all. Missed times are skipped.
    """
    tries = watch.tries + 1 if check.status == "failed" else 0
    due = await asyncio.to_thread(watch.schedule.find_next_time, check.ended)
    if 0 < tries < MAX_TRIES:
        due = min(due, check.ended + RETRY_SECONDS * 2 ** (tries - 1))
    else:
        tries = 0
    texts = {name: json.dumps(getattr(check, name), ensure_ascii=False) for name in _JSON}
    row = {**check._asdict(), **texts, "owner": watch.owner}

    def work(connection: Connection) -> None:
        changed = update(watches).where(watches.c.id == watch.id)
        if connection.execute(changed.values(due=due, tries=tries)).rowcount:
            connection.execute(insert(watch_checks), row)
            _drop_old_checks(connection, watch.id)

    await run_write(work)
    return watch._replace(due=due, tries=tries)


_JSON = ("notice", "unsent")


def _drop_old_checks(connection: Connection, watch: str) -> None:
    newest = select(watch_checks.c.id).where(watch_checks.c.watch == watch)
    kept = newest.order_by(watch_checks.c.started.desc()).limit(KEPT_CHECKS)
    ids = connection.execute(kept).scalars().all()
    old = delete(watch_checks).where(watch_checks.c.watch == watch, watch_checks.c.id.not_in(ids))
    connection.execute(old)


async def list_checks(watch: Watch, limit: int = 20) -> list[WatchCheck]:
    """Return the newest checks of a watch, the newest first."""
    columns = [watch_checks.c[name] for name in WatchCheck._fields]
    its = select(*columns).where(watch_checks.c.watch == watch.id)
    rows = await read_rows(its.order_by(watch_checks.c.started.desc()).limit(limit))
    return [_check(row) for row in rows]


async def list_unsent_checks(now: float, owner: str = "") -> list[tuple[Watch, WatchCheck]]:
    """Return the checks with notices to send now, the oldest first.

    Args:
        now: The time, in seconds since 1970.
        owner: The owner of the watches; everybody's if empty.
    """
    c = watch_checks.c
    open_ones = select(watch_checks).where(
        c.unsent != "[]", c.send_due <= now, c.send_tries < MAX_SENDS
    )
    if owner:
        open_ones = open_ones.where(watch_checks.c.owner == owner)
    rows = (await read_rows(open_ones.order_by(watch_checks.c.started))).all()
    known = [(await find_watch(row.owner, row.watch), row) for row in rows]
    return [(watch, _check(row)) for watch, row in known]


def _check(row: Any) -> WatchCheck:
    data = {name: getattr(row, name) for name in WatchCheck._fields}
    return WatchCheck(**{**data, **{name: json.loads(data[name]) for name in _JSON}})


async def set_unsent(check: WatchCheck, unsent: Sequence[str]) -> None:
    """Store which receivers have not been notified of a check yet."""
    await _change_check(check, unsent=json.dumps([*unsent], ensure_ascii=False))


async def list_unsent_receivers(check: WatchCheck) -> list[str]:
    """Return the receivers that have not been notified of a check by now."""
    its = select(watch_checks.c.unsent).where(watch_checks.c.id == check.id)
    unsent: list[str] = json.loads((await read_rows(its)).scalar() or "[]")
    return unsent


async def put_off_sending(check: WatchCheck) -> float | None:
    """Store that sending failed for some receivers, and when it is tried again.

    Returns:
        The seconds until the next try; `None` if there will be none.
    """
    wait, tries = SEND_SECONDS * 2**check.send_tries, check.send_tries + 1
    await _change_check(check, send_tries=tries, send_due=time.time() + wait)
    return wait if tries < MAX_SENDS else None


async def _change_check(check: WatchCheck, **values: Any) -> None:
    its = update(watch_checks).where(watch_checks.c.id == check.id).values(**values)
    await run_write(lambda connection: connection.execute(its))
