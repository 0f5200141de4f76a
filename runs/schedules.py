"""When a watch is due: cron expressions in a time zone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError
from tzlocal import get_localzone_name

from config.errors import ErrorCode, Problem

NAMED_SCHEDULES = {
    "hourly": "0 * * * *",
    "daily": "0 7 * * *",
    "weekly": "0 7 * * 1",
    "monthly": "0 7 1 * *",
}
"""The cron expressions that have a name of their own."""

_HINT = 'hourly, daily, weekly, monthly, or a cron expression such as "0 7 * * 1"'


class Schedule(NamedTuple):
    """A cron expression, and the IANA time zone in which it is meant."""

    cron: str
    zone: str

    def find_next_time(self, after: float) -> float:
        """Return the first time later than another, both in seconds since 1970.

        It may read the file of the time zone, so it is not called in the event loop.

        A time that a change of clocks skips is moved behind the gap, and one that occurs twice
        counts once.
        """
        start = datetime.fromtimestamp(after, UTC).astimezone(ZoneInfo(self.zone))
        return next(CronSim(self.cron, start)).timestamp()


def parse_schedule(every: str, zone: str = "") -> Schedule:
    """Return a schedule from a name or a cron expression of five fields.

    Args:
        every: What was written.
        zone: An IANA time zone; that of this machine if empty.

    Raises:
        Problem: `bad_schedule`, also for one that never comes.
    """
    written = " ".join(every.split())
    cron, named = NAMED_SCHEDULES.get(written.lower(), written), zone or local_zone()
    try:
        ZoneInfo(named)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        what, hint = "there is no such time zone", "such as Europe/Berlin or UTC"
        raise Problem(ErrorCode.BAD_SCHEDULE, what, where=named, hint=hint) from error
    try:
        if len(cron.split()) != 5:
            msg = "a cron expression has five fields"
            raise CronSimError(msg)
        next(CronSim(cron, datetime.now(UTC)))
    except (CronSimError, StopIteration) as error:
        what = str(error) or "this time never comes"
        raise Problem(ErrorCode.BAD_SCHEDULE, what, where=written, hint=_HINT) from error
    return Schedule(cron, named)


def local_zone() -> str:
    """Return the IANA time zone of this machine; UTC where it has none."""
    try:
        return get_localzone_name() or "UTC"
    except (ValueError, OSError, LookupError):
        return "UTC"
