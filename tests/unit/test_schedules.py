"""When a watch is due, in its time zone and across changes of clocks."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from config.errors import Problem
from runs.schedules import Schedule, parse_schedule

BERLIN = "Europe/Berlin"


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def times(schedule: Schedule, after: str, count: int) -> list[str]:
    """Return the next times of a schedule, as a clock on its wall shows them."""
    now, found = at(after), []
    for _ in range(count):
        now = schedule.find_next_time(now)
        found.append(datetime.fromtimestamp(now, ZoneInfo(schedule.zone)).isoformat())
    return found


def test_a_week_stays_at_its_hour_when_the_clocks_change():
    weekly = parse_schedule("weekly", BERLIN)

    assert times(weekly, "2026-03-21T12:00:00+01:00", 2) == [
        "2026-03-23T07:00:00+01:00",
        "2026-03-30T07:00:00+02:00",
    ]


def test_a_time_that_is_skipped_comes_after_the_gap_and_one_that_comes_twice_counts_once():
    nightly = parse_schedule("30 2 * * *", BERLIN)

    assert times(nightly, "2026-03-28T12:00:00+01:00", 2) == [
        "2026-03-29T03:00:00+02:00",
        "2026-03-30T02:30:00+02:00",
    ]
    assert times(nightly, "2026-10-24T12:00:00+02:00", 2) == [
        "2026-10-25T02:30:00+02:00",
        "2026-10-26T02:30:00+01:00",
    ]


@pytest.mark.parametrize(
    ("every", "zone"),
    [
        ("sometimes", ""),
        ("0 7 * *", ""),
        ("* * * * * *", ""),
        ("61 7 * * 1", ""),
        ("0 7 31 2 *", ""),
        ("weekly", "Europe/Atlantis"),
        ("weekly", "../../etc/passwd"),
    ],
)
def test_what_is_no_schedule_is_refused(every: str, zone: str):
    with pytest.raises(Problem) as refused:
        parse_schedule(every, zone)

    assert refused.value.code == "bad_schedule"
