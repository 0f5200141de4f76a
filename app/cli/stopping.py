"""Take what tells a program to end, or that its terminal is gone, for Ctrl-C."""

from __future__ import annotations

import signal
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGHUP)
"""What a system sends to a program that is to end, and a terminal that is closed."""

INTERRUPTED = 128 + signal.SIGINT
"""The exit status after Ctrl-C, as shells tell it."""

_received: list[int] = []


def heed() -> None:
    """Let these signals do what Ctrl-C does, unless whoever started the command ignores them."""
    for one in SIGNALS:
        if signal.getsignal(one) is signal.SIG_DFL:
            signal.signal(one, _stop)


def status(usual: int) -> int:
    """Return the exit status of a command: after a signal it names the signal, as in a shell."""
    return 128 + _received[0] if usual == INTERRUPTED and _received else usual


def _stop(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    interrupt = signal.getsignal(signal.SIGINT)
    if not callable(interrupt):  # Ctrl-C is ignored in the background, and while an editor is open.
        raise KeyboardInterrupt
    interrupt(signal.SIGINT, frame)
