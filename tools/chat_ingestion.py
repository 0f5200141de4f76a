"""Read a chat in JSON Lines; store a page for each turn and an abstract for each session."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
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
"""The longest line, in bytes; longer lines are skipped."""

SHOWN = 300
"""The longest name or date, in characters."""


class ChatMessage(NamedTuple):
    """A message of a chat."""

    speaker: str
    text: str
    date: str
    """The date as written in the file."""
    said_at: str
    """The ISO timestamp; empty if unknown."""
    session: str
    """The number or name of its session, else its day, else empty."""
    id: str
    conversation: str
    secrets: int = 0
    """The number of kinds of secrets that were masked."""


class BadLine(NamedTuple):
    """A line that is no message, with the reason; the first line is number 1."""

    number: int
    reason: str


def read_chat_messages(file: Path) -> tuple[list[ChatMessage], list[BadLine]]:
    """Return the messages of a file, and the lines that are no messages.

    Raises:
        Problem: `chat_not_found`, `chat_unreadable`, or `chat_empty` when there is no message.
    """
    messages: list[ChatMessage] = []
    bad: list[BadLine] = []
    try:
        for number, line in enumerate(_lines(file), start=1):
            try:
                if line.strip():
                    messages.append(_message(_object(line)))
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
    if not messages:
        what = f"line {bad[0].number}: {bad[0].reason}" if bad else "there is no line in it"
        hint = 'every line is a JSON object such as {"speaker": "Ann", "text": "Hello"}'
        raise Problem(ErrorCode.CHAT_EMPTY, f"no message in it; {what}", where=str(file), hint=hint)
    return messages, bad


def _lines(file: Path) -> Iterator[bytes]:
    """Yield the lines; lines that are too long are cut."""
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
        data = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ValueError("it is no text in UTF-8") from None
    except (ValueError, RecursionError):
        raise ValueError("it is no JSON") from None
    if not isinstance(data, dict):
        raise ValueError("it is no JSON object")
    return data


def _message(data: dict[str, Any]) -> ChatMessage:
    speaker = _field(data, "speaker", "name", "role")
    text = normalize_text(_message_text(data.get("text", data.get("content")))).strip()
    text, kinds = mask_secrets(text)
    if not speaker:
        raise ValueError("it has no speaker")
    if not text:
        raise ValueError("it has no text")
    date = _field(data, "date", "timestamp")
    said_at = to_iso_timestamp(date)
    session = _field(data, "session") or said_at[:10]
    id, conversation = _field(data, "id"), _field(data, "conversation")
    return ChatMessage(speaker, text, date, said_at, session, id, conversation, len(kinds))


def _field(data: dict[str, Any], *names: str) -> str:
    """Return the first of the named fields that is not empty, on one line."""
    for name in names:
        value = data.get(name)
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            line = " ".join(normalize_text(str(value)).split())
            if line:
                return line[:SHOWN]
    return ""


def _message_text(content: Any) -> str:
    """Return the text of a message; its parts are joined."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str))


class IngestedChat(NamedTuple):
    """The outcome of ingesting a chat."""

    name: str
    """The group of its pages; several names if it has several conversations."""
    sessions: int
    messages: int
    added: int
    """The number of new pages of turns."""
    skipped: list[BadLine]
    masked: int = 0
    """The number of messages in which secrets were masked."""


class ChatSession(NamedTuple):
    """The messages of a session; `origin` identifies it among the owner's pages."""

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
    """Read a chat and store its new messages.

    Searches find the turns. The page of a session, of kind `session`, appears in outlines of the
    memory, and in searches that ask for this kind.

    Args:
        owner: The owner of the pages.
        file: JSON Lines with `speaker` and `text`, and optionally `date`, `session`, `id` and
            `conversation`; or with `role` and `content`.
        progress: Called with the name of each session that is done.
        abstracter: Writes the abstracts of sessions; by default they quote sentences.

    Raises:
        Problem: `chat_not_found`, `chat_unreadable` or `chat_empty`.
    """
    path = await anyio.to_thread.run_sync(_real, file)
    messages, bad = await anyio.to_thread.run_sync(read_chat_messages, path)
    sessions = _sessions(path, messages)
    added = 0
    for session in sessions:
        added += await _store_turns(owner, session)
        text = "\n".join(f"{message.speaker}: {message.text}" for message in session.messages)
        said = next((message.said_at for message in session.messages if message.said_at), "")
        page = NewPage(title=_title(session), place="", text=text, said=said)
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
    masked = sum(bool(message.secrets) for message in messages)
    return IngestedChat(", ".join(names), len(sessions), len(messages), added, bad, masked)


def _real(file: Path) -> Path:
    # The methods of Path raise on a link to itself, and on the home of an unknown user.
    return Path(os.path.realpath(os.path.expanduser(file)))


def _sessions(file: Path, messages: Sequence[ChatMessage]) -> list[ChatSession]:
    """Group messages by session, in the order in which the sessions begin."""
    groups: dict[tuple[str, str], list[ChatMessage]] = {}
    for message in messages:
        groups.setdefault((message.conversation, message.session), []).append(message)
    return [
        # Two files of the same name are two chats; a named conversation may span several files.
        ChatSession(named or file.stem, name, f"{named or file}?session={name}", group)
        for (named, name), group in groups.items()
    ]


async def _store_turns(owner: str, session: ChatSession) -> int:
    """Store the new turns; return the number of their pages."""
    turns = [part for turn in _turns(session) for part in split_page(turn)]
    for position, turn in enumerate(turns):
        turn["position"] = position
    known = await pages.list_page_ids(owner, "chat", session.origin)
    texts = await pages.read_page_texts(owner, known)
    before = [texts[id] for id in known]
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
            title=f"{message.speaker}, {message.date}" if message.date else message.speaker,
            place=message.id or f"turn={number}",
            text=message.text,
            session=session.origin,
            speaker=message.speaker,
            said=message.said_at,
        )
        for number, message in enumerate(session.messages, start=1)
    ]


def _title(session: ChatSession) -> str:
    """Return a title such as `Session 3, 8 May 2023`, without unknown parts."""
    name = f"Session {session.name}" if session.name.isdecimal() else session.name
    first = session.messages[0]
    dates = [first.date] if first.date and first.said_at[:10] != session.name else []
    return ", ".join([name or session.conversation, *dates])
