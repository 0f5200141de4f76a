"""The OpenTelemetry spans of a run, sent to a collector if the environment names one.

A run is one trace, however many sessions it has. Without a collector OpenTelemetry is not even
imported.
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
"""The statuses of trace lines that are failures."""


@dataclass
class RunSpan:
    """The span of a session of a run, the root of its other spans."""

    site: CallSite
    span: Span
    status: str = ""
    """The status of the run, as its nodes last set it."""
    failure: str = ""
    """The code of the error that stopped it; empty for none."""


@dataclass
class SpanNotes:
    """What is added to a span when its work ends."""

    attributes: dict[str, Any] = field(default_factory=dict)
    content: dict[str, Any] = field(default_factory=dict)
    """Attributes with words of people, sources and models, sent only with content capture."""
    error: str = ""
    """The error code; empty for success."""
    why: str = ""
    """The error message."""


def _open_export() -> SpanExport | None:
    """Return the export of spans; `None` without a collector, or if it cannot be set up."""
    if not is_span_export_enabled():
        return None
    try:
        from runs.span_export import SpanExport  # noqa: PLC0415

        return SpanExport()
    except Exception as error:  # noqa: BLE001 - no run may fail because of tracing
        _log.warning("No spans are sent: %s", error)
        return None


def _close_export(export: SpanExport | None) -> None:
    if export:
        export.close()


_export = Resource(_open_export, _close_export)

_run_spans = Resource(dict[str, RunSpan])
"""The session spans of the runs at work in this process, by run id."""


def find_span_export() -> SpanExport | None:
    """Return the export of spans; `None` without a collector."""
    return _export.get()


def shows_content() -> bool:
    """Say whether spans include prompts, answers and other content."""
    export = _export.get()
    return export is not None and export.shows_content


def find_run_span(run: str) -> RunSpan | None:
    """Return the span of a run that is at work in this process."""
    return _run_spans.get().get(run)


def set_run_span(run: RunSpan) -> None:
    """Make this span the root of all further spans of its run."""
    _run_spans.get()[run.site.run] = run


def take_run_spans(thread: str) -> list[RunSpan]:
    """Remove and return the session spans of the runs of a thread."""
    spans = _run_spans.get()
    return [spans.pop(run) for run in [*spans] if spans[run].site.thread == thread]


def trace_id(site: CallSite, created: float = 0.0) -> int:
    """Return the id of the trace of a run, the same one in every session.

    Args:
        site: A point of the run.
        created: When the run was created; two homes may have threads of the same name.
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
    """Begin a span at a point of a run; return `None` without a collector.

    Its parent is the current span, or else the span of the session.

    Args:
        site: The point of the run.
        name: The name of the span.
        attributes: Its attributes, without words of people, sources or models.
        client: Whether another program does the work (span kind `CLIENT`).
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
    """Return the current span; the session's if the current one belongs to another trace."""
    from opentelemetry.trace import get_current_span  # noqa: PLC0415

    current, whole = get_current_span(), _run_spans.get().get(run)
    around = current.get_span_context()
    if whole and around.trace_id != whole.span.get_span_context().trace_id:
        return whole.span
    return current if around.is_valid else None


def find_span_around() -> list[tuple[int, int]]:
    """Return the current span of a surrounding program as a link: its trace id and span id."""
    from opentelemetry.trace import get_current_span  # noqa: PLC0415

    around = get_current_span().get_span_context()
    return [(around.trace_id, around.span_id)] if around.is_valid else []


def end_span(span: Span | None, notes: SpanNotes, ended: float | None = None) -> None:
    """End a span with its notes; do nothing without a collector."""
    export = _export.get()
    if export is None or span is None:
        return
    told = {**notes.attributes, **(notes.content if export.shows_content else {})}
    export.end(span, told, error=notes.error, why=notes.why, ended=ended)


@contextmanager
def open_span(
    site: CallSite, name: str, attributes: Mapping[str, Any], *, client: bool = False
) -> Iterator[SpanNotes]:
    """Surround some work with a span, the parent of all spans within that work.

    Args:
        site: The point of the run.
        name: The name of the span.
        attributes: Its attributes, without words of people, sources or models.
        client: Whether another program does the work (span kind `CLIENT`).

    Yields:
        The notes to fill in; the error is added if the work fails.
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
    """Return the code of an error; "" for a pause, which is not a failure."""
    # Most commands have no graph, and loading it takes a while.
    from langgraph.errors import GraphBubbleUp  # noqa: PLC0415

    if isinstance(error, GraphBubbleUp):
        return ""
    if isinstance(error, Problem):
        return str(error.code)
    return "internal" if isinstance(error, Exception) else "cancelled"


def record_line_span(fields: Mapping[str, Any], site: CallSite) -> None:
    """Export a trace line as a span, unless its work has a span already.

    Numbers are always sent, words only with content capture.
    """
    kind, role, status = fields["kind"], fields["role"], fields["status"]
    # Attempts have spans of their own; a search whose query was shortened is traced when it ends.
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
"""The fields of a line that do not become `dossier.` attributes."""

_REMOTE = ("search", "fetch", "tool")
"""The kinds of work that another machine or program does."""

_CONTENT_NAMES = {"query": "gen_ai.retrieval.query.text", "url": "url.full"}
"""The names of fields in the conventions."""


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
