"""Take the question of a person: the words of the command, or standard input."""

from __future__ import annotations

import codecs
import sys

from config.errors import Problem

LARGEST = 100_000
"""The most bytes that are read; it may be a device without an end."""


def given(question: str) -> str:
    """Return the question; `-`, or none at all where something is piped in, reads standard input.

    Raises:
        Problem: `usage` when what comes in cannot be read or is not UTF-8.
    """
    if question != "-" and (question or sys.stdin.isatty()):
        return question
    try:
        read = sys.stdin.buffer.read(LARGEST)
        # What is longer may end within a character, and is too long for a question anyway.
        return codecs.getincrementaldecoder("utf-8-sig")().decode(read, len(read) < LARGEST)
    except OSError as error:
        what = f"standard input cannot be read: {error.strerror}"
        raise Problem("usage", what, hint="put the question in quotes") from error
    except UnicodeDecodeError as error:
        hint = "pipe in a question as text in UTF-8"
        raise Problem("usage", "what comes in on standard input is not UTF-8", hint=hint) from error
