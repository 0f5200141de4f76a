"""Find out whether what is saved of a thread is what its graph writes, when a run has failed."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, Literal, NotRequired, cast

from langchain_core.messages import RemoveMessage, convert_to_messages
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from config.errors import ErrorCode, Problem
from config.settings import settings
from graph.records import Plan
from runs.call_site import REPEATS
from runs.checkpoint_store import UNREADABLE_ERRORS
from runs.checkpointer import open_checkpointer
from runs.thread_saver import ThreadSaver, checkpoints_place
from text.regex import regex

Graph = CompiledStateGraph[Any, Any, Any, Any]

DAMAGE_ERRORS = (
    *UNREADABLE_ERRORS,
    ArithmeticError,
    AssertionError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    ExceptionGroup,
)
"""What goes wrong in a node that is handed something else than what was saved."""

TASKS = "__pregel_tasks"
"""Where LangGraph saves what was sent to branches."""

START = "__start__"
"""Where LangGraph saves what a caller asked."""

INTERRUPT = "__interrupt__"
"""Where LangGraph saves what a person is shown."""

COUNTS = ("turn", "fork", "again", "revisions", "rounds", *REPEATS, "number", "count")
"""The numbers of a state, all of which count something."""

MOST = 1_000_000
"""What no thread has counted to."""

LATEST = 100
"""How many checkpoints of a thread are looked at, the newest first."""

NAME = regex(r"^[A-Za-z0-9_-]{1,200}$")
"""What the name of a run looks like."""

KEY = regex(r"^\d{1,6}(/.*)?$", re.DOTALL)
"""What the keys of a table look like that holds entries of several turns."""

TABLES = ("background", "findings", "answers", "unsearched", "pauses", "consulted")

VERSION = regex(r"^\d+(\.\d[\d.e-]*)?$")
"""A count, and a random number that Python may write with an exponent."""

Version = str | int | float

FAILURES = {
    "SQLITE_BUSY": ErrorCode.STORAGE_BUSY,
    "SQLITE_LOCKED": ErrorCode.STORAGE_BUSY,
    "SQLITE_FULL": ErrorCode.STORAGE_FULL,
    "SQLITE_CORRUPT": ErrorCode.STORAGE_CORRUPT,
    "SQLITE_NOTADB": ErrorCode.STORAGE_CORRUPT,
}
"""The codes of a database of checkpoints that fails; it is `storage_unavailable` otherwise."""


class _ReviewRequest(TypedDict):
    """What a person is shown at the review, as far as it is read again."""

    action_requests: list[dict[str, Any]]
    review_configs: list[dict[str, Any]]
    plan: NotRequired[Plan]
    revision: NotRequired[int]
    note: str


class _CheckpointFrame(TypedDict):
    """What LangGraph saves around the values of the channels."""

    v: NotRequired[int]
    id: str
    ts: str
    channel_values: dict[str, Any]
    channel_versions: dict[str, Version]
    versions_seen: dict[str, dict[str, Version]]
    updated_channels: NotRequired[list[str] | None]


class _CheckpointMetadata(TypedDict):
    """What LangGraph says of a checkpoint and reads again."""

    source: Literal["input", "loop", "update", "fork"]
    step: int


@asynccontextmanager
async def guard_thread(graph: Graph, thread: str) -> AsyncIterator[None]:
    """Raise what goes wrong over a damaged thread, or over its file, as a problem.

    Raises:
        Problem: `storage_corrupt`, or what `checkpoint_file_problem` returns.
    """
    try:
        yield
    except Problem:
        raise
    except DAMAGE_ERRORS as error:
        if found := await find_damage(graph, thread):
            raise found from error
        raise
    except sqlite3.Error as error:
        raise checkpoint_file_problem(error) from error


def checkpoint_file_problem(error: sqlite3.Error) -> Problem:
    """Return the problem of a file of checkpoints that fails."""
    # The extended names, such as SQLITE_BUSY_SNAPSHOT, begin with the plain ones.
    name = "_".join(getattr(error, "sqlite_errorname", "").split("_")[:2])
    code = FAILURES.get(name, ErrorCode.STORAGE_UNAVAILABLE)
    hint = "see `dossier doctor`; what was saved before is kept"
    return Problem(code, f"it fails: {error}", where=str(settings().checkpoints), hint=hint)


async def find_damage(graph: Graph, thread: str) -> Problem | None:
    """Return what is damaged in what is saved of a thread; nothing where all of it is sound.

    Args:
        graph: The graph that works in the thread; its states say what may be there.
        thread: Its name.
    """
    try:
        async with open_checkpointer() as saver:
            of_thread: Any = {"configurable": {"thread_id": thread}}
            async for saved in saver.alist(of_thread, limit=LATEST):
                if what := find_fault(graph, saved):
                    return damage_problem(what)
    except Problem as problem:
        return problem if problem.code == ErrorCode.STORAGE_CORRUPT else None
    except sqlite3.Error:
        return None
    return None


async def check_thread_branches(saver: ThreadSaver, graph: Graph, thread: str) -> None:
    """Make sure that the branches a thread goes on with are sound.

    They are deleted when they have ended, so nothing could be found in them later.

    Raises:
        Problem: `storage_corrupt`.
    """
    if not await saver.has_branches(thread):
        return
    of_thread: Any = {"configurable": {"thread_id": thread}}
    async for saved in saver.alist(of_thread, limit=LATEST):
        if not saved.config["configurable"].get("checkpoint_ns"):
            return
        if what := find_fault(graph, saved):
            raise damage_problem(what)


def damage_problem(what: str) -> Problem:
    """Return the problem of a thread that cannot be what was saved."""
    hint = "restore it from a backup, or ask the question in a new thread"
    where = checkpoints_place()
    said = f"what is saved of the thread is damaged: {what}"
    return Problem(ErrorCode.STORAGE_CORRUPT, said, where=where, hint=hint)


def find_fault(graph: Graph, saved: CheckpointTuple) -> str:
    """Return the first part of a checkpoint that no node of its graph has written, if any."""
    inner = _graph_of(graph, saved.config["configurable"].get("checkpoint_ns", ""))
    try:
        return next(_faults(inner, saved), "") if inner else ""
    except UNREADABLE_ERRORS as error:
        return f"a value of a wrong kind ({type(error).__name__})"


def _graph_of(graph: Graph, space: str) -> Graph | None:
    """Return the graph that saves in a namespace; nothing where it is not known."""
    if not space:
        return graph
    names = "|".join(part.partition(":")[0] for part in space.split("|"))
    return cast("Graph | None", dict(graph.get_subgraphs(recurse=True)).get(names))


def _faults(graph: Graph, saved: CheckpointTuple) -> Iterator[str]:
    schema = cast("type", graph.builder.state_schema)
    yield from _unlike(_CheckpointFrame, saved.checkpoint)
    yield from _unlike(_CheckpointMetadata, saved.metadata)
    frame, values = saved.checkpoint, saved.checkpoint["channel_values"]
    yield from _out_of_order(saved)
    known = frozenset(schema.__annotations__)
    written = known & frame["channel_versions"].keys()
    yield from (f"{name} is missing" for name in sorted(written - values.keys()))
    yield from _unlike_state(schema, values)
    yield from _uncited(values)
    for name, value in values.items():
        yield from _sent(graph, name, value)
    for _, name, value in saved.pending_writes or ():
        yield from _sent(graph, name, [value] if name == TASKS else value)
        yield from _unlike_state(schema, {name: _update(name, value)} if name in known else {})


def _out_of_order(saved: CheckpointTuple) -> Iterator[str]:
    """Yield what LangGraph numbers otherwise."""
    frame = saved.checkpoint
    if frame["id"] != saved.config["configurable"].get("checkpoint_id"):
        yield "the id of a checkpoint"
    every = [frame["channel_versions"], *frame["versions_seen"].values()]
    versions = [version for table in every for version in table.values()]
    odd = any(isinstance(one, str) and not VERSION.match(one) for one in versions)
    if odd or len({type(one) for one in versions}) > 1:
        yield "the version of a channel"


def _unlike_state(schema: type, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the values of channels have of another kind, or out of every range."""
    yield from _unlike(schema, values)
    for name in COUNTS:
        if not 0 <= values.get(name, 0) < MOST:
            yield name
    if not NAME.match(values.get("run", "_")):
        yield "run"
    tables = ((name, values.get(name) or {}) for name in TABLES)
    yield from (name for name, table in tables if not all(map(KEY.match, table)))
    for message in values.get("messages", ()):
        yield from (f"messages.{what}" for what in _unlike(type(message), message.__dict__))


def _unlike(kind: Any, value: Any) -> Iterator[str]:
    try:
        _adapter(kind).validate_python(value, strict=True)
    except ValidationError as error:
        yield ".".join(map(str, error.errors(include_input=False)[0]["loc"])) or "the state"


_adapter = cache(TypeAdapter[Any])


def _sent(graph: Graph, name: str, value: Any) -> Iterator[str]:
    """Yield what is wrong with what was sent to branches, asked, or shown to a person."""
    if name == TASKS:
        yield from () if isinstance(value, list) else (TASKS,)
        for one in value:
            node = graph.builder.nodes.get(one.node) if isinstance(one, Send) else None
            if node is None:
                yield TASKS
            else:
                given = cast("type", node.input_schema)
                yield from (f"{TASKS}.{what}" for what in _unlike_state(given, one.arg))
    if name == START and value != {}:
        asked = {key: _update(key, one) for key, one in value.items()}
        yield from _unlike_state(cast("type", graph.builder.input_schema), asked)
    if name == INTERRUPT:
        for one in value if isinstance(value, list | tuple) else [value]:
            yield from (f"the review: {what}" for what in _unlike(_ReviewRequest, one.value))


def _update(name: str, value: Any) -> Any:
    """Return what a write puts into a channel; what takes something away puts nothing."""
    if name == "messages":
        given = convert_to_messages(value if isinstance(value, list) else [value])
        return [one for one in given if not isinstance(one, RemoveMessage)]
    if isinstance(value, dict):
        return {key: one for key, one in value.items() if one is not None}
    return value


def _uncited(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the sources that a state speaks of and does not have."""
    found = (values.get("background") or {}).values()
    shown = [one for background in found for one in background["passages"]]
    tables = (values.get(name) or {} for name in ("findings", "answers"))
    said = [one for table in tables for one in table.values()]
    cited = {one["source"] for one in shown} | {id for one in said for id in one["sources"]}
    if "sources" in values and (unknown := cited - set(values["sources"])):
        yield f"sources: {min(unknown)}"
