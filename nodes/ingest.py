"""Read a chat in JSON Lines into memory: a page for each turn, an abstract for each session."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import anyio
from langchain_core.messages import HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel

from calls.gateway import ask
from calls.replies import VisibleText
from calls.run_budget import end_session
from config.errors import ErrorCode, Problem
from config.user_files import open_user_file
from graph.context import Context
from graph.state import CallSiteState
from library import store as pages
from library.memorizer import AbstractWriter, store_with_abstracts
from library.page_rows import NewPage, strip_unstorable
from library.page_sizing import split_page
from models.chat_models import built_in
from models.extractive.memory_tasks import abstract_page
from models.extractive.schema_answers import extractive_answer
from prompts.data_blocks import join_prompt_blocks, render_block, wrap_blocks
from prompts.loader import render_prompt
from runs.call_site import call_site, resolve_owner
from text.dates import to_iso_timestamp
from text.normalization import normalize_text
from text.script import detect_language
from text.secret_masking import mask_secrets

ROLE = "memorizer"

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
        what, hint = "there is no such file", "check the path"
        raise Problem(ErrorCode.CHAT_NOT_FOUND, what, where=str(file), hint=hint) from error
    except (OSError, ValueError) as error:
        what = f"it cannot be read: {getattr(error, 'strerror', None) or error}"
        raise Problem(ErrorCode.CHAT_UNREADABLE, what, where=str(file)) from error
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


@extractive_answer(abstract_page)
class Abstract(BaseModel):
    """What a page is about."""

    abstract: VisibleText


class IngestState(CallSiteState, total=False):
    """A chat to read."""

    file: str
    """Its path. Written by the caller."""
    conversation: dict[str, Any]
    """The result, as an `IngestedChat`. Written by ingest."""


async def ingest(state: IngestState, runtime: Runtime[Context]) -> IngestState:
    """Read a chat, with an event for each session that is done.

    Reads `file`; writes `conversation`.
    """

    def progress(name: str) -> None:
        runtime.stream_writer({"event": "memorized", "session": name})

    writer = _abstracter(state, runtime)
    done = await ingest_chat(resolve_owner(runtime), Path(state["file"]), progress, writer)
    end_session(call_site(state, runtime))
    skipped = [line._asdict() for line in done.skipped]
    return IngestState(conversation={**done._asdict(), "skipped": skipped})


def _abstracter(state: Mapping[str, Any], runtime: Runtime[Context]) -> AbstractWriter | None:
    """Return a function that asks the memorizer for abstracts; None without a model."""
    if built_in(ROLE, runtime.context):
        return None

    async def write(page: NewPage, earlier: Sequence[str]) -> str:
        """Let the model write an abstract; it is empty if no answer can be used."""
        pages = [render_block("page", page["text"], id="P1", title=page["title"])]
        abstracts = [render_block("abstract", abstract) for abstract in earlier]
        data = join_prompt_blocks(wrap_blocks("pages", pages), wrap_blocks("earlier", abstracts))
        system = render_prompt("memorize", language=detect_language(page["text"]))
        messages, default = [HumanMessage(data)], Abstract(abstract="")
        answer = await ask(
            state, runtime, ROLE, system, messages, Abstract, default=default, repairs=1
        )
        return answer.abstract

    return write


@cache
def make_ingest_graph() -> CompiledStateGraph[Any, Context, Any, Any]:
    """Return the graph that reads a chat; repeated in the same thread, no call is paid twice."""
    graph = StateGraph(IngestState, context_schema=Context)
    graph.add_node(ingest)
    graph.add_edge(START, "ingest")
    graph.add_edge("ingest", END)
    return graph.compile(name="ingest")
