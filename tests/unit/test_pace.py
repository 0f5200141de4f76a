"""Servers are asked no more often than they allow."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from config.errors import Problem
from tools.web import pace as paces
from tools.web.pace import Pace, host_turn, take_turn


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_turns_come_as_often_as_the_rate_allows():
    pace = Pace(2.0, now=Clock())

    assert [pace.reserve(10) for _ in range(4)] == [0.0, 0.5, 1.0, 1.5]


def test_a_quiet_time_earns_a_few_turns_at_once_and_no_more():
    clock = Clock()
    pace = Pace(1.0, together=3, now=clock)

    assert [pace.reserve(10) for _ in range(4)] == [0.0, 0.0, 0.0, 1.0]
    clock.now += 100
    assert [pace.reserve(10) for _ in range(4)] == [0.0, 0.0, 0.0, 1.0]


def test_a_turn_that_is_too_far_away_is_refused_and_not_taken():
    clock = Clock()
    pace = Pace(0.1, now=clock)
    pace.reserve(1)

    for _ in range(3):
        with pytest.raises(Problem, match="again in 10 seconds") as problem:
            pace.reserve(5)
    clock.now += 10

    assert problem.value.code == "site_busy"
    assert pace.reserve(0) == 0.0


def test_a_pause_holds_for_everybody_and_never_for_ever():
    clock = Clock()
    pace = Pace(10.0, now=clock)
    pace.pause(3)
    pace.pause(1)
    assert pace.reserve(5) == 3.0

    pace.pause(10**9)
    clock.now += paces.LONGEST_PAUSE

    assert pace.reserve(5) < 5


def test_a_longer_interval_is_kept_from_then_on():
    pace = Pace(10.0, together=5, now=Clock())
    pace.slow_down(2.0)
    pace.slow_down(0.5)

    assert [pace.reserve(10) for _ in range(3)] == [0.0, 2.0, 4.0]


async def test_no_more_requests_are_under_way_than_a_server_has_places():
    pace, under_way, most = Pace(1_000.0, together=100), 0, 0

    async def ask() -> None:
        nonlocal under_way, most
        async with take_turn("bees", pace, 2, 5.0):
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0.01)
            under_way -= 1

    await asyncio.gather(*(ask() for _ in range(8)))

    assert most == 2


async def test_a_host_of_a_private_network_may_be_asked_at_once(monkeypatch):
    monkeypatch.setattr(paces, "take_turn", None)

    for host in ("127.0.0.1", "localhost", "10.1.2.3", "::1", "[::1]", "a.localhost"):
        async with host_turn(host):
            pass


async def test_branches_of_a_process_share_the_turns_of_a_host(monkeypatch):
    waits: list[float] = []
    own = SimpleNamespace(**{**vars(asyncio), "sleep": lambda wait: _note(waits, wait)})
    monkeypatch.setattr(paces, "asyncio", own)

    async def ask() -> None:
        async with host_turn("bees.example"):
            pass

    await asyncio.gather(*(ask() for _ in range(9)))

    assert sum(wait > 0 for wait in waits) == 3


async def _note(waits: list[float], wait: float) -> None:
    waits.append(wait)
