"""Take the question of a person: the words of the command, or standard input."""

from __future__ import annotations

import sys

from config.errors import Problem

LARGEST = 100_000
"""The most bytes that are read; it may be a device without an end."""


def given(question: str) -> str:
    """Return the question; `-`, or none at all where something is piped in, reads standard input.

    Raises:
        Problem: `usage` when what comes in is not UTF-8, or nothing comes in after `-`.
    """
    if question != "-" and (question or sys.stdin.isatty()):
        return question
    try:
        read = sys.stdin.buffer.read(LARGEST).decode("utf-8-sig")
    except OSError as error:
        raise Problem("usage", f"standard input cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        hint = "pipe in a question as text in UTF-8"
        raise Problem("usage", "what comes in on standard input is not UTF-8", hint=hint) from error
    return read
