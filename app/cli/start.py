"""Start the command, end it on signals as on Ctrl-C, and import without collecting garbage."""

from __future__ import annotations

import gc
import importlib
import os
import signal
from types import FrameType, ModuleType

from config.garbage_collection import spare_loaded_objects


def main() -> None:
    """Run the command line."""
    # For its plugins, pydantic reads a file of every package that is installed.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    import_frozen("app.cli.main").main()


def import_frozen(name: str) -> ModuleType:
    """Import a module without garbage collection, and keep it from the collector for good."""
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        spare_loaded_objects()
        gc.enable()


SIGNALS = (signal.SIGTERM, signal.SIGHUP)
"""Sent to end a program, and when its terminal is closed."""

INTERRUPTED = 128 + signal.SIGINT
"""The exit status after Ctrl-C, as in a shell."""

_received: list[int] = []


def handle_signals() -> None:
    """Make these signals act like Ctrl-C, unless the parent process ignores them."""
    for one in SIGNALS:
        if signal.getsignal(one) is signal.SIG_DFL:
            signal.signal(one, _stop)


def exit_status(usual: int) -> int:
    """Return the exit status of a command; after a signal it is 128 plus its number."""
    return 128 + _received[0] if usual == INTERRUPTED and _received else usual


def _stop(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    interrupt = signal.getsignal(signal.SIGINT)
    if not callable(interrupt):  # Ctrl-C is ignored in the background, and while an editor is open.
        raise KeyboardInterrupt
    interrupt(signal.SIGINT, frame)
