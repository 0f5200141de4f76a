"""Follow the progress events of the server's runs, for the pages that show them."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

import httpx
from langgraph_sdk.errors import APIError
from langgraph_sdk.schema import StreamMode
from starlette.requests import Request

from app.web.server_client import open_server_client
from config.errors import Problem
from config.resources import RecentCache, Resource
from runs.progress_events import ProgressEvent

STREAM_MODES: list[StreamMode] = ["custom", "messages-tuple"]
"""The stream modes that the console requests."""

MAX_LINES = 60
"""How many of the newest events are shown."""

_FOLLOWED = 256
_FIRST_EVENT = "-1"
"""The event id before the first event of a resumable stream."""

_SILENT = ("called",)
"""The events that only tell a cost."""

_log = logging.getLogger(__name__)


@dataclass
class LiveStep:
    """A step of the plan of a run."""

    title: str
    state: str = "waiting"
    """`waiting`, `working` or `done`."""


@dataclass
class LiveRun:
    """What a run has told so far."""

    run: str
    """The id of the server's run."""
    question: str = ""
    """What was asked, until the run itself is recorded; empty where another process asked it."""
    events: int = 0
    stage: str = ""
    """What it does now, in words."""
    latest: ProgressEvent | None = None
    lines: deque[ProgressEvent] = field(default_factory=lambda: deque(maxlen=MAX_LINES))
    counts: Counter[str] = field(default_factory=Counter)
    steps: dict[str, LiveStep] = field(default_factory=dict)
    draft: str = ""
    """The report while it is written, before it is checked."""
    draft_id: str = ""
    ended: bool = False
    task: asyncio.Task[None] | None = None

    def take(self, event: ProgressEvent) -> None:
        """Note an event."""
        self.events += 1
        self.latest = event
        self.counts[event["event"]] += 1
        if event["event"] not in _SILENT:
            self.lines.append(event)
        if event["kind"] in ("stage", "step", "report", "check", "ask"):
            self.stage = event["text"]
        self._note_step(event)

    def _note_step(self, event: ProgressEvent) -> None:
        name, data = event["event"], event["data"]
        if name == "plan":
            self.steps = {str(at): LiveStep(str(one)) for at, one in _number(data.get("titles"))}
        elif name in ("researching", "step_done"):
            number = str(data.get("number", ""))
            step = self.steps.setdefault(number, LiveStep(str(data.get("title", ""))))
            step.state = "done" if name == "step_done" else "working"

    def take_draft(self, message: Mapping[str, Any]) -> None:
        """Note a piece of the report; progress comes among messages, too, under a name."""
        text, id = message.get("content"), str(message.get("id"))
        if message.get("type") != "AIMessageChunk" or message.get("name"):
            return
        if isinstance(text, str) and text:
            before = self.draft if id == self.draft_id else ""
            self.draft, self.draft_id = f"{before}{text}"[-_DRAFT_CHARS:], id
            self.events += 1


_DRAFT_CHARS = 60_000


def _number(titles: Any) -> list[tuple[int, Any]]:
    return list(enumerate(titles if isinstance(titles, list) else [], start=1))


_runs = Resource(lambda: RecentCache[str, LiveRun](_FOLLOWED))
"""The runs that this process follows, by their threads."""


def find_live_run(thread: str) -> LiveRun | None:
    """Return what the run of a thread has told, if this process follows it."""
    return _runs.get().get(thread)


def follow_run(request: Request, thread: str, run: str, question: str = "") -> LiveRun:
    """Begin to follow a run; one that is followed already goes on being so.

    Args:
        request: In whose name the server is asked.
        thread: The thread.
        run: The id of the server's run.
        question: What it was asked, if that is known.
    """
    known = _runs.get().get(thread)
    if known and known.run == run:
        return known
    live = LiveRun(run, question)
    live.task = asyncio.create_task(_follow(request, thread, live))
    _runs.get()[thread] = live
    return live


async def _follow(request: Request, thread: str, live: LiveRun) -> None:
    try:
        async with open_server_client(request) as client:
            # A server reads one mode from the address, and without any tells all.
            parts = client.runs.join_stream(thread, live.run, last_event_id=_FIRST_EVENT)
            async for part in parts:
                _take_part(live, part.event, part.data)
    except (APIError, httpx.HTTPError, Problem) as error:
        _log.warning("the console lost sight of a run: %s", error)
    finally:
        live.ended = True


def _take_part(live: LiveRun, event: str, data: Any) -> None:
    if event == "custom" and isinstance(data, dict) and "event" in data:
        with suppress(KeyError, TypeError):
            live.take(cast("ProgressEvent", data))
    elif event == "messages" and isinstance(data, list) and data and isinstance(data[0], dict):
        live.take_draft(data[0])
