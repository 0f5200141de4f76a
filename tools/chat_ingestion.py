"""Read a chat of JSON Lines and store it as pages.

One for each turn, and one with an abstract for each session.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import anyio

from config.errors import ErrorCode, Problem
from config.user_files import open_user_file
from library import store as pages
from library.memorizer import AbstractWriter, store_with_abstracts
from library.page_rows import NewPage, strip_unstorable
from library.page_sizing import split_page
from text.dates import to_iso_timestamp
from text.normalization import normalize_text
from text.secret_masking import mask_secrets

LONGEST = 4_000_000
"""The longest line, in bytes; what is longer is no message."""

SHOWN = 300
"""How long a name or a date may be."""


class ChatMessage(NamedTuple):
    """One thing that somebody said."""

    speaker: str
    text: str
    date: str
    """When, in the words of the file."""
    said_at: str
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


def read_chat_messages(file: Path) -> tuple[list[ChatMessage], list[BadLine]]:
    """Return the messages of a file and the lines that are none.

    Raises:
        Problem: `chat_not_found`, `chat_unreadable`, or `chat_empty` when there is no message.
    """
    said: list[ChatMessage] = []
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
        raise Problem(
            ErrorCode.CHAT_NOT_FOUND, what, where=str(file), hint="check the path"
        ) from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise Problem(
            ErrorCode.CHAT_UNREADABLE, f"it cannot be read: {why}", where=str(file)
        ) from error
    if not said:
        what = f"line {bad[0].number}: {bad[0].reason}" if bad else "there is no line in it"
        hint = 'every line is a JSON object such as {"speaker": "Ann", "text": "Hello"}'
        raise Problem(ErrorCode.CHAT_EMPTY, f"no message in it; {what}", where=str(file), hint=hint)
    return said, bad


def _lines(file: Path) -> Iterator[bytes]:
    """Yield the lines; of one that is too long only its beginning."""
    with open_user_file(file) as stream:
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


def _message(found: dict[str, Any]) -> ChatMessage:
    speaker = _word(found, "speaker", "name", "role")
    text = normalize_text(_message_text(found.get("text", found.get("content")))).strip()
    text, kinds = mask_secrets(text)
    if not speaker:
        raise ValueError("it has no speaker")
    if not text:
        raise ValueError("it has no text")
    date = _word(found, "date", "timestamp")
    said = to_iso_timestamp(date)
    session = _word(found, "session") or said[:10]
    named = _word(found, "id"), _word(found, "conversation")
    return ChatMessage(speaker, text, date, said, session, *named, len(kinds))


def _word(found: dict[str, Any], *names: str) -> str:
    """Return the first of some fields that says something, on one line."""
    for name in names:
        value = found.get(name)
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            word = " ".join(normalize_text(str(value)).split())
            if word:
                return word[:SHOWN]
    return ""


def _message_text(content: Any) -> str:
    """Return what was said; the parts of a message of several join."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str))


class IngestedChat(NamedTuple):
    """What is known of a chat after it was read."""

    name: str
    """The group its pages are in; several names if its messages name several conversations."""
    sessions: int
    messages: int
    added: int
    """How many pages of turns are new."""
    skipped: list[BadLine]
    masked: int = 0
    """Out of how many messages what looked like a secret was taken."""


class ChatSession(NamedTuple):
    """Messages that belong together; `origin` names them among all that their owner keeps."""

    conversation: str
    name: str
    origin: str
    messages: list[ChatMessage]


async def ingest_chat(
    owner: str,
    file: Path,
    progress: Callable[[str], None],
    abstracter: AbstractWriter | None = None,
) -> IngestedChat:
    """Read a chat and keep what is new in it.

    A turn is found by a search; the page of its session, of the kind `session`, is what an outline
    of the memory shows, and is searched only where that kind is asked for.

    Args:
        owner: Who the pages belong to.
        file: JSON Lines with `speaker` and `text`, and where known `date`, `session`, `id` and
            `conversation`; or with `role` and `content`.
        progress: Is told the name of every session when it is done.
        abstracter: Writes the abstracts of the sessions; else they are made of their sentences.

    Raises:
        Problem: `chat_not_found`, `chat_unreadable` or `chat_empty`.
    """
    path = await anyio.to_thread.run_sync(_real, file)
    said, bad = await anyio.to_thread.run_sync(read_chat_messages, path)
    sessions = _sessions(path, said)
    added = 0
    for session in sessions:
        added += await _keep(owner, session)
        page = NewPage(title=_title(session), place="", text=_text(session), said=_said(session))
        await store_with_abstracts(
            owner,
            "session",
            session.origin,
            [page],
            group=session.conversation,
            provenance="user",
            abstracter=abstracter,
        )
        progress(f"{session.conversation}: {page['title']}")
    names = dict.fromkeys(session.conversation for session in sessions)
    masked = sum(bool(one.secrets) for one in said)
    return IngestedChat(", ".join(names), len(sessions), len(said), added, bad, masked)


def _real(file: Path) -> Path:
    # Those of Path raise on a link that leads to itself, and on a home that nobody has.
    return Path(os.path.realpath(os.path.expanduser(file)))


def _sessions(file: Path, said: Sequence[ChatMessage]) -> list[ChatSession]:
    """Put messages of one session together, in the order in which the sessions begin."""
    together: dict[tuple[str, str], list[ChatMessage]] = {}
    for (conversation, session), some in groupby(said, lambda one: (one.conversation, one.session)):
        together.setdefault((conversation, session), []).extend(some)
    return [
        # Two files of the same name are two chats; a conversation with a name may be in several.
        ChatSession(named or file.stem, name, f"{named or file}?session={name}", some)
        for (named, name), some in together.items()
    ]


async def _keep(owner: str, session: ChatSession) -> int:
    """Keep the turns that are not kept yet; return how many there are."""
    turns = [part for turn in _turns(session) for part in split_page(turn)]
    for position, turn in enumerate(turns):
        turn["position"] = position
    known = await pages.list_page_ids(owner, "chat", session.origin)
    texts = await pages.read_page_texts(owner, known)
    before = [texts[one] for one in known]
    goes_on = before == [strip_unstorable(turn["text"]) for turn in turns[: len(before)]]
    new = turns[len(before) :] if goes_on else turns
    if new:
        await pages.store_pages(
            owner, "chat", session.origin, new, group=session.conversation, part=goes_on
        )
    return len(new)


def _turns(session: ChatSession) -> list[NewPage]:
    return [
        NewPage(
            title=f"{one.speaker}, {one.date}" if one.date else one.speaker,
            place=one.id or f"turn={number}",
            text=one.text,
            session=session.origin,
            speaker=one.speaker,
            said=one.said_at,
        )
        for number, one in enumerate(session.messages, start=1)
    ]


def _title(session: ChatSession) -> str:
    """Return `Session 3, 8 May 2023`, or as much of it as is known."""
    name = f"Session {session.name}" if session.name.isdecimal() else session.name
    first = session.messages[0]
    dates = [first.date] if first.date and first.said_at[:10] != session.name else []
    return ", ".join([name or session.conversation, *dates])


def _text(session: ChatSession) -> str:
    return "\n".join(f"{one.speaker}: {one.text}" for one in session.messages)


def _said(session: ChatSession) -> str:
    return next((one.said_at for one in session.messages if one.said_at), "")
