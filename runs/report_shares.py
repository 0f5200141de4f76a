"""Links by which a report is shown to whoever has its address, until they expire."""

from __future__ import annotations

import hashlib
import secrets
import time
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, func, insert, select

from config.errors import ErrorCode, Problem
from runs.lifecycle import RunRecord, find_run
from runs.tables import report_shares
from storage.engine import read_rows, run_write
from storage.events import lock_owner

MAX_SHARES = 50
"""The most links of one report at the same time."""

TOKEN_BYTES = 32
"""The random bytes in the address of a link: nobody guesses one."""


class ReportShare(NamedTuple):
    """A link by which a report is shared."""

    id: str
    run: str
    created: float
    expires: float
    """When it stops showing the report, in seconds since 1970."""


async def create_share(run: RunRecord, seconds: float) -> tuple[ReportShare, str]:
    """Share the report of a run; return the link and its token, which is stored nowhere.

    Args:
        run: The run.
        seconds: How long the report is shown.

    Raises:
        Problem: `too_many_shares`.
    """
    now, token = time.time(), secrets.token_urlsafe(TOKEN_BYTES)
    share = ReportShare(secrets.token_hex(8), run.id, now, now + seconds)
    row = {**share._asdict(), "owner": run.owner, "token": _hash(token)}
    await run_write(partial(_add, row=row))
    return share, token


def _add(connection: Connection, row: dict[str, Any]) -> None:
    lock_owner(connection, row["owner"])
    its = (report_shares.c.owner == row["owner"], report_shares.c.run == row["run"])
    connection.execute(delete(report_shares).where(*its, report_shares.c.expires <= time.time()))
    count = connection.execute(select(func.count()).select_from(report_shares).where(*its)).scalar()
    if (count or 0) >= MAX_SHARES:
        what, hint = f"the report is shared by {count} links", "revoke one of them"
        raise Problem(ErrorCode.TOO_MANY_SHARES, what, hint=hint)
    connection.execute(insert(report_shares), row)


async def list_shares(run: RunRecord) -> list[ReportShare]:
    """Return the links that show the report of a run now, the newest first."""
    columns = [report_shares.c[name] for name in ReportShare._fields]
    its = (report_shares.c.owner == run.owner, report_shares.c.run == run.id)
    live = select(*columns).where(*its, report_shares.c.expires > time.time())
    rows = await read_rows(live.order_by(report_shares.c.created.desc()))
    return [ReportShare._make(row) for row in rows]


async def revoke_share(run: RunRecord, id: str) -> None:
    """Let a link show its report no more.

    Raises:
        Problem: `share_not_found`.
    """
    its = (report_shares.c.owner == run.owner, report_shares.c.run == run.id)
    gone = delete(report_shares).where(*its, report_shares.c.id == id)
    count = await run_write(lambda connection: connection.execute(gone).rowcount)
    if not count:
        raise share_not_found()


async def revoke_all_shares(run: RunRecord) -> None:
    """Let no link show the report of a run any more."""
    its = (report_shares.c.owner == run.owner, report_shares.c.run == run.id)
    await run_write(lambda connection: connection.execute(delete(report_shares).where(*its)))


async def delete_expired_shares() -> int:
    """Delete the shares of everybody that are valid no longer; return how many they were."""
    over = delete(report_shares).where(report_shares.c.expires <= time.time())
    return await run_write(lambda connection: connection.execute(over).rowcount)


async def find_shared_run(token: str) -> RunRecord:
    """Return the run whose report a link shows.

    Raises:
        Problem: `share_not_found` for a link that has expired, was revoked or never was.
    """
    columns = (report_shares.c.owner, report_shares.c.run)
    live = select(*columns).where(
        report_shares.c.token == _hash(token), report_shares.c.expires > time.time()
    )
    row = (await read_rows(live)).first()
    if row is None:
        raise share_not_found()
    try:
        return await find_run(row.owner, row.run)
    except Problem as problem:
        raise share_not_found() from problem


def share_not_found() -> Problem:
    """Return the problem of a link that shows nothing, which does not say why."""
    what = "this link shows nothing: it has expired, was revoked, or never was"
    return Problem(ErrorCode.SHARE_NOT_FOUND, what, hint="ask for a new one")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
