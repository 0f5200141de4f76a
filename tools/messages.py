"""Read the messages of a chat, one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from config.errors import Problem
from config.named_files import opened
from retrieval.secrets import masked
from retrieval.text import normalise
from tools.dates import iso

LONGEST = 4_000_000
"""The longest line, in bytes; what is longer is no message."""

SHOWN = 300
"""How long a name or a date may be."""


class Message(NamedTuple):
    """One thing that somebody said."""

    speaker: str
    text: str
    date: str
    """When, in the words of the file."""
    said: str
    """When, as ISO says it; empty when it is unknown."""
    session: str
    """The number or name of its session; else its day; else empty."""
    id: str
    conversation: str
    secrets: int = 0
    """How many kinds of secrets were taken out of it."""


class BadLine(NamedTuple):
    """A line that is no message, and why; the first line is number 1."""

    number: int
    reason: str


def messages(file: Path) -> tuple[list[Message], list[BadLine]]:
    """Return the messages of a file and the lines that are none.

    Raises:
        Problem: `chat_not_found`, `chat_unreadable`, or `chat_empty` when there is no message.
    """
    said: list[Message] = []
    bad: list[BadLine] = []
    try:
        for number, line in enumerate(_lines(file), start=1):
            try:
                if line.strip():
                    said.append(_message(_object(line)))
            except ValueError as error:
                bad.append(BadLine(number, str(error)))
    except FileNotFoundError as error:
        what = "there is no such file"
        raise Problem("chat_not_found", what, where=str(file), hint="check the path") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise Problem("chat_unreadable", f"it cannot be read: {why}", where=str(file)) from error
    if not said:
        what = f"line {bad[0].number}: {bad[0].reason}" if bad else "there is no line in it"
        hint = 'every line is a JSON object such as {"speaker": "Ann", "text": "Hello"}'
        raise Problem("chat_empty", f"no message in it; {what}", where=str(file), hint=hint)
    return said, bad


def _lines(file: Path) -> Iterator[bytes]:
    """Yield the lines; of one that is too long only its beginning."""
    with opened(file) as stream:
        while line := stream.readline(LONGEST + 1):
            yield line
            while len(line) > LONGEST and not line.endswith(b"\n"):
                line = stream.readline(LONGEST + 1)


def _object(line: bytes) -> dict[str, Any]:
    if len(line) > LONGEST:
        msg = f"it is longer than {LONGEST} bytes"
        raise ValueError(msg)
    try:
        found = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ValueError("it is no text in UTF-8") from None
    except (ValueError, RecursionError):
        raise ValueError("it is no JSON") from None
    if not isinstance(found, dict):
        raise ValueError("it is no JSON object")
    return found


def _message(found: dict[str, Any]) -> Message:
    speaker = _word(found, "speaker", "name", "role")
    text = normalise(_text(found.get("text", found.get("content")))).strip()
    text, kinds = masked(text)
    if not speaker:
        raise ValueError("it has no speaker")
    if not text:
        raise ValueError("it has no text")
    date = _word(found, "date", "timestamp")
    said = iso(date)
    session = _word(found, "session") or said[:10]
    named = _word(found, "id"), _word(found, "conversation")
    return Message(speaker, text, date, said, session, *named, len(kinds))


def _word(found: dict[str, Any], *names: str) -> str:
    """Return the first of some fields that says something, on one line."""
    for name in names:
        value = found.get(name)
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            word = " ".join(normalise(str(value)).split())
            if word:
                return word[:SHOWN]
    return ""


def _text(content: Any) -> str:
    """Return what was said; the parts of a message of several join."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str))
