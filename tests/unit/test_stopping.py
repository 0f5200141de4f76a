"""What tells a command to end is taken for Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator

import pytest

from app.cli import start


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    usual = {one: signal.getsignal(one) for one in (*start.SIGNALS, signal.SIGINT)}
    monkeypatch.setattr(start, "_received", [])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for one in start.SIGNALS:
        signal.signal(one, signal.SIG_DFL)
    yield
    for one, before in usual.items():
        signal.signal(one, before)


@pytest.mark.parametrize("sent", start.SIGNALS)
def test_a_run_is_cancelled_and_may_still_save_how_it_stands(sent: signal.Signals):
    saved = []

    async def work() -> None:
        try:
            asyncio.get_running_loop().call_soon(os.kill, os.getpid(), sent)
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            saved.append("paused")
            raise

    start.handle_signals()
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(work())

    assert saved == ["paused"]
    assert start.exit_status(130) == 128 + sent
    assert start.exit_status(0) == 0


def test_a_command_whose_ctrl_c_is_ignored_ends_too():
    start.handle_signals()
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)


def test_what_whoever_started_the_command_ignores_stays_ignored():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    start.handle_signals()

    signal.raise_signal(signal.SIGHUP)

    assert start.exit_status(130) == 130
