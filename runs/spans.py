"""Tell collectors of OpenTelemetry what a run does, where the environment names any.

A run is one trace, whatever the number of its sessions. Nothing of OpenTelemetry is imported, and
nothing is done, where no collector is named.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from config.environment import is_span_export_enabled
from config.errors import ErrorCode, Problem
from config.resources import Resource
from runs.call_site import CallSite

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from runs.span_export import SpanExport

_log = logging.getLogger(__name__)

FAILURES = frozenset(ErrorCode)
"""The statuses of lines of a trace that tell of a failure."""


@dataclass
class RunSpan:
    """The span of a session of a run, in which all its other spans are."""

    site: CallSite
    span: Span
    status: str = ""
    """How the run stands, as its nodes have told."""
    failure: str = ""
    """The code of what has stopped it, if something has."""


@dataclass
class SpanNotes:
    """What is told of some work when it ends."""

    attributes: dict[str, Any] = field(default_factory=dict)
    content: dict[str, Any] = field(default_factory=dict)
    """Attributes with words of people, sources and models, sent only where they are asked for."""
    error: str = ""
    """The code of its failure, if it failed."""
    why: str = ""
    """What went wrong, in words."""


def _open_export() -> SpanExport | None:
    """Return what makes spans; `None` where no collector is named, or it cannot be used."""
    if not is_span_export_enabled():
        return None
    try:
        from runs.span_export import SpanExport  # noqa: PLC0415

        return SpanExport()
    except Exception as error:  # noqa: BLE001 - nobody's run fails for what watches it
        _log.warning("No spans are sent: %s", error)
        return None


def _close_export(export: SpanExport | None) -> None:
    if export:
        export.close()


_export = Resource(_open_export, _close_export)

_run_spans = Resource(dict[str, RunSpan])
"""The spans of the runs that are at work in this process, by the ids of these."""


def find_span_export() -> SpanExport | None:
    """Return what makes spans; `None` where no collector is named."""
    return _export.get()


def shows_content() -> bool:
    """Say whether spans have prompts, answers and other words."""
    export = _export.get()
    return export is not None and export.shows_content


def find_run_span(run: str) -> RunSpan | None:
    """Return the span of a run that is at work in this process."""
    return _run_spans.get().get(run)


def set_run_span(run: RunSpan) -> None:
    """Let all further spans of a run be in this one."""
    _run_spans.get()[run.site.run] = run


def take_run_spans(thread: str) -> list[RunSpan]:
    """Return the spans of the runs of a thread, which are no longer at work."""
    spans = _run_spans.get()
    return [spans.pop(run) for run in [*spans] if spans[run].site.thread == thread]


def trace_id(site: CallSite, created: float = 0.0) -> int:
    """Return the id of the trace of a run, the same one in every session.

    Args:
        site: A point of the run.
        created: When the run was created, as two homes may name threads alike.
    """
    named = f"{site.owner}\n{site.run}\n{created}"
    return int.from_bytes(hashlib.sha256(named.encode()).digest()[:16])


def begin_span(
    site: CallSite,
    name: str,
    attributes: Mapping[str, Any],
    *,
    client: bool = False,
    started: float | None = None,
    span_id: int = 0,
) -> Span | None:
    """Begin the span of some work at a point of a run; return `None` without a collector.

    It is in the span around it, or else in that of the run.

    Args:
        site: The point of the run.
        name: The name of the span.
        attributes: What is known of it; no words of people, sources or models.
        client: Whether another program does the work.
        started: When it began, in seconds since 1970; now by default.
        span_id: Its id; a random one by default.
    """
    export = _export.get()
    if export is None:
        return None
    about = {"dossier.run": site.run, "gen_ai.conversation.id": site.thread}
    about |= {"dossier.step": site.step} if site.step else {}
    return export.begin(
        name,
        _find_parent(site.run),
        {**about, **attributes},
        client=client,
        started=started,
        trace_id=trace_id(site),
        span_id=span_id,
    )


def _find_parent(run: str) -> Span | None:
    """Return the span around the work at hand; that of the run, if it belongs to another trace."""
    from opentelemetry.trace import get_current_span  # noqa: PLC0415

    current, whole = get_current_span(), _run_spans.get().get(run)
    around = current.get_span_context()
    if whole and around.trace_id != whole.span.get_span_context().trace_id:
        return whole.span
    return current if around.is_valid else None


def find_span_around() -> list[tuple[int, int]]:
    """Return the ids of the trace and the span of a program that runs this one, if it has any."""
    from opentelemetry.trace import get_current_span  # noqa: PLC0415

    around = get_current_span().get_span_context()
    return [(around.trace_id, around.span_id)] if around.is_valid else []


def end_span(span: Span | None, notes: SpanNotes, ended: float | None = None) -> None:
    """End a span with what is told of its work; nothing without a collector."""
    export = _export.get()
    if export is None or span is None:
        return
    told = {**notes.attributes, **(notes.content if export.shows_content else {})}
    export.end(span, told, error=notes.error, why=notes.why, ended=ended)


@contextmanager
def open_span(
    site: CallSite, name: str, attributes: Mapping[str, Any], *, client: bool = False
) -> Iterator[SpanNotes]:
    """Surround some work with a span, in which all spans of this work are.

    Args:
        site: The point of the run.
        name: The name of the span.
        attributes: What is known of it; no words of people, sources or models.
        client: Whether another program does the work.

    Yields:
        What is told of it when it ends; its failure is added.
    """
    notes = SpanNotes()
    span = begin_span(site, name, attributes, client=client)
    if span is None:
        yield notes
        return
    from opentelemetry.trace import use_span  # noqa: PLC0415

    try:
        with use_span(span, record_exception=False, set_status_on_exception=False):
            yield notes
    except BaseException as error:
        notes.error = notes.error or describe_failure(error)
        notes.why = notes.why or str(error)
        raise
    finally:
        end_span(span, notes)


def describe_failure(error: BaseException) -> str:
    """Return the code of an error; "" for a pause, which is none."""
    # Most commands have no graph, and loading it takes a while.
    from langgraph.errors import GraphBubbleUp  # noqa: PLC0415

    if isinstance(error, GraphBubbleUp):
        return ""
    if isinstance(error, Problem):
        return str(error.code)
    return "internal" if isinstance(error, Exception) else "cancelled"


def record_line_span(fields: Mapping[str, Any], site: CallSite) -> None:
    """Make a span of a line of a trace, unless its work has one already.

    Numbers are told as they are, and words only where content is asked for.
    """
    kind, role, status = fields["kind"], fields["role"], fields["status"]
    # Attempts have spans where they are recorded, and a search that was shortened goes on.
    has_own = kind in ("embed", "session", "status") or (kind == "model" and status != "recorded")
    if _export.get() is None or has_own or status == "redacted":
        return
    details = {name: value for name, value in fields.items() if name not in _COMMON}
    notes = SpanNotes({"dossier.status": status}, error=status if status in FAILURES else "")
    notes.why = str(fields.get("why", ""))
    for name, value in details.items():
        if isinstance(value, int | float):
            notes.attributes[f"dossier.{name}"] = value
        elif isinstance(value, str):
            notes.content[_CONTENT_NAMES.get(name, f"dossier.{name}")] = value
    name, about = _describe_line(kind, role, fields)
    started = fields["at"] - fields.get("seconds", 0.0)
    span = begin_span(site, name, about, client=kind in _REMOTE, started=started)
    end_span(span, notes, fields["at"])


_COMMON = ("at", "run", "step", "attempt", "kind", "role", "status", "seconds")
"""The fields of a line that are not among the further attributes of its span."""

_REMOTE = ("search", "fetch", "tool")
"""The kinds of work that another machine or program does."""

_CONTENT_NAMES = {"query": "gen_ai.retrieval.query.text", "url": "url.full"}
"""The names that the conventions have for words of a line."""


def _describe_line(kind: str, role: str, fields: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name and the attributes of the span of a line."""
    about = {"dossier.role": role}
    if kind in ("search", "knowledge"):
        source = "web" if kind == "search" else "knowledge"
        retrieval = {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": source}
        return f"retrieval {source}", retrieval
    if kind == "tool":
        server = {"dossier.mcp.server": fields["server"]} if "server" in fields else {}
        return f"tools/call {role}", {"mcp.method.name": "tools/call", **server}
    names = {
        "check": "check statements",
        "fetch": "fetch page",
        "memory": "recall memory",
        "model": "recorded answer",
        "sandbox": "run program",
    }
    return names.get(kind, kind), about
