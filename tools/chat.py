"""Keep a chat as pages: one for each turn, and one with an abstract for each session."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import anyio

from memory.pages import store as pages
from memory.pages.memorizer import Abstracter, memorize
from memory.pages.rows import storable
from memory.pages.sizing import parts
from memory.pages.store import NewPage
from tools.messages import BadLine as BadLine
from tools.messages import Message, messages


class Conversation(NamedTuple):
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


class Session(NamedTuple):
    """Messages that belong together; `origin` names them among all that their owner keeps."""

    conversation: str
    name: str
    origin: str
    messages: list[Message]


async def ingest_chat(
    owner: str,
    file: Path,
    progress: Callable[[str], None],
    abstracter: Abstracter | None = None,
) -> Conversation:
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
    said, bad = await anyio.to_thread.run_sync(messages, path)
    sessions = _sessions(path, said)
    added = 0
    for session in sessions:
        added += await _keep(owner, session)
        page = NewPage(title=_title(session), place="", text=_text(session), said=_said(session))
        await memorize(
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
    return Conversation(", ".join(names), len(sessions), len(said), added, bad, masked)


def _real(file: Path) -> Path:
    # Those of Path raise on a link that leads to itself, and on a home that nobody has.
    return Path(os.path.realpath(os.path.expanduser(file)))


def _sessions(file: Path, said: Sequence[Message]) -> list[Session]:
    """Put messages of one session together, in the order in which the sessions begin."""
    together: dict[tuple[str, str], list[Message]] = {}
    for (conversation, session), some in groupby(said, lambda one: (one.conversation, one.session)):
        together.setdefault((conversation, session), []).extend(some)
    return [
        # Two files of the same name are two chats; a conversation with a name may be in several.
        Session(named or file.stem, name, f"{named or file}?session={name}", some)
        for (named, name), some in together.items()
    ]


async def _keep(owner: str, session: Session) -> int:
    """Keep the turns that are not kept yet; return how many there are."""
    turns = [part for turn in _turns(session) for part in parts(turn)]
    for position, turn in enumerate(turns):
        turn["position"] = position
    known = await pages.kept(owner, "chat", session.origin)
    texts = await pages.texts(owner, known)
    before = [texts[one] for one in known]
    goes_on = before == [storable(turn["text"]) for turn in turns[: len(before)]]
    new = turns[len(before) :] if goes_on else turns
    if new:
        await pages.keep(
            owner, "chat", session.origin, new, group=session.conversation, part=goes_on
        )
    return len(new)


def _turns(session: Session) -> list[NewPage]:
    return [
        NewPage(
            title=f"{one.speaker}, {one.date}" if one.date else one.speaker,
            place=one.id or f"turn={number}",
            text=one.text,
            session=session.origin,
            speaker=one.speaker,
            said=one.said,
        )
        for number, one in enumerate(session.messages, start=1)
    ]


def _title(session: Session) -> str:
    """Return `Session 3, 8 May 2023`, or as much of it as is known."""
    name = f"Session {session.name}" if session.name.isdecimal() else session.name
    first = session.messages[0]
    dates = [first.date] if first.date and first.said[:10] != session.name else []
    return ", ".join([name or session.conversation, *dates])


def _text(session: Session) -> str:
    return "\n".join(f"{one.speaker}: {one.text}" for one in session.messages)


def _said(session: Session) -> str:
    return next((one.said for one in session.messages if one.said), "")
