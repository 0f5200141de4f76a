"""What a worker process runs.

It answers calls from its parent until the pipe is closed; started by its path, it imports only the
standard library before the parent has sent its `sys.path`.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from typing import Any, BinaryIO


def answer_calls() -> None:
    """Take the parent's `sys.path`, then answer each call with what it returns or raises."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    calls, answers = sys.stdin.buffer, _own_output()
    sys.path[:] = pickle.load(calls)  # noqa: S301
    while True:
        try:
            call = pickle.load(calls)  # noqa: S301
        except EOFError:
            return
        answers.write(_answer(call))
        answers.flush()


def _own_output() -> BinaryIO:
    """Return the pipe to the parent, and let what libraries print go nowhere."""
    pipe = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return pipe


def _answer(call: Any) -> bytes:
    try:
        return pickle.dumps((True, call()))
    except BaseException as error:  # noqa: BLE001
        return _failure(error)


def _failure(error: BaseException) -> bytes:
    try:
        told = pickle.dumps((False, error))
        # An exception with arguments of its own may be written and not read again.
        pickle.loads(told)  # noqa: S301
    except (pickle.PicklingError, TypeError, AttributeError, ValueError, LookupError):
        return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))
    return told


if __name__ == "__main__":
    answer_calls()
