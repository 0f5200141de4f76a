"""What the savers of both databases share: what they can do, and how damage is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from config.errors import ErrorCode, Problem
from config.settings import settings
from runs.checkpoint_store import UNREADABLE_ERRORS
from storage.connect import database_place, is_database_shared

_FRAME = {"id", "ts", "channel_values", "channel_versions", "versions_seen"}
"""What LangGraph looks up in every checkpoint."""


class ThreadSaver(BaseCheckpointSaver[str]):
    """A saver of checkpoints that knows branches, and can be made smaller."""

    async def has_branches(self, thread: str) -> bool:
        """Tell whether a thread has saved branches that have not ended."""
        raise NotImplementedError

    async def compact(self) -> None:
        """Return the space of deleted data."""
        raise NotImplementedError


def make_strict_serializer() -> JsonPlusSerializer:
    """Return what reads plain data and messages only: a forged checkpoint cannot run code."""
    return JsonPlusSerializer(allowed_msgpack_modules=None)


def checkpoints_place() -> str:
    """Return where the checkpoints are, as an error tells it."""
    return database_place() if is_database_shared() else str(settings().checkpoints)


def check_whole(found: CheckpointTuple | None) -> CheckpointTuple | None:
    """Return a checkpoint if it has all keys that LangGraph looks up.

    Raises:
        KeyError: If one is missing.
    """
    missing = _FRAME - found.checkpoint.keys() if found else ()
    if missing:
        raise KeyError(*missing)
    return found


@contextmanager
def translate_damage() -> Iterator[None]:
    """Translate the errors of reading a damaged checkpoint.

    Raises:
        Problem: `storage_corrupt`.
    """
    try:
        yield
    except UNREADABLE_ERRORS as error:
        raise unreadable_problem(error) from error


def unreadable_problem(error: Exception) -> Problem:
    """Return the problem of a checkpoint that cannot be read."""
    hint = "restore it from a backup, or move it away: reports and memory are in the database"
    if is_database_shared():
        hint = "restore it from a backup, or ask the question in a new thread"
    what = f"a checkpoint cannot be read: {type(error).__name__}"
    return Problem(ErrorCode.STORAGE_CORRUPT, what, where=checkpoints_place(), hint=hint)
