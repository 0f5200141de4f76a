"""A wall clock that a test sets, and processes that know nothing of what it showed before."""

from __future__ import annotations

import time

import pytest
from langgraph.checkpoint.base import id as ids

TIME, TIME_NS = time.time, time.time_ns


class Clock:
    """The wall clock of a computer; what runs on without it, such as `monotonic`, is left alone."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead = 0.0
        monkeypatch.setattr(time, "time", lambda: TIME() + self.ahead)
        monkeypatch.setattr(time, "time_ns", lambda: TIME_NS() + int(self.ahead * 1e9))
        monkeypatch.setattr(ids, "_last_v6_timestamp", None)

    def step(self, seconds: float) -> None:
        """Set the clock by so many seconds while a process is at work."""
        self.ahead += seconds

    def restart(self, seconds: float) -> None:
        """Set the clock by so many seconds between one process and the next."""
        self.step(seconds)
        ids._last_v6_timestamp = None
