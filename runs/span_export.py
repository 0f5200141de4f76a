"""Make spans and metrics of OpenTelemetry, and send them in the background.

This module is imported only where a collector is named, since OpenTelemetry takes a while to load.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.metadata import version
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Link, Span, SpanContext, SpanKind, Status, StatusCode

from runs.collectors import MaskingExporter, make_metric_exporters, make_span_exporters

SCOPE = "dossier"
"""The name of what makes the spans, and of the service where the environment names no other."""

CONTENT_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""The variable that asks for prompts, answers and arguments, as the GenAI conventions have it."""

CONTENT_VALUES = ("true", "span_only", "span_and_event")

FLUSH_SECONDS = 3.0
"""How long a process waits at its end for the collectors to take the last spans."""

KNOWN_OPERATIONS = ("chat", "embeddings", "execute_tool", "invoke_agent", "retrieval")
"""The operations that every viewer knows; Phoenix and Langfuse are told what other spans are."""

DURATION_BOUNDS = [0.01 * 2**power for power in range(14)]
"""The buckets of durations, in seconds, as the conventions have them: 0.01 to 81.92."""

TOKEN_BOUNDS = [4**power for power in range(14)]
"""The buckets of tokens, as the conventions have them: 1 to 67,108,864."""


class SpanExport:
    """Makes spans, and sends them in the background."""

    def __init__(self) -> None:
        """Read the environment.

        Raises:
            Exception: Whatever an exporter raises for a value that it cannot use.
        """
        named = OTELResourceDetector().detect().attributes.get("service.name", SCOPE)
        resource = Resource.create({"service.name": named, "service.version": version(SCOPE)})
        self._ids = ChosenIds()
        # Its own end would wait for half a minute.
        self._provider = TracerProvider(
            resource=resource, id_generator=self._ids, shutdown_on_exit=False
        )
        for exporter in make_span_exporters():
            self._provider.add_span_processor(BatchSpanProcessor(MaskingExporter(exporter)))
        self._tracer = self._provider.get_tracer(SCOPE, version(SCOPE))
        self.shows_content = os.environ.get(CONTENT_VARIABLE, "").lower() in CONTENT_VALUES
        self.metrics = CallMetrics(resource)
        self._process = os.getpid()
        self._closing, self._closed = threading.Event(), threading.Event()
        # Python 3.12 starts no thread while it ends.
        threading.Thread(target=self._shut_down, daemon=True).start()

    def begin(
        self,
        name: str,
        parent: Span | None,
        attributes: Mapping[str, Any],
        *,
        client: bool = False,
        started: float | None = None,
        links: Sequence[tuple[int, int]] = (),
        trace_id: int = 0,
        span_id: int = 0,
    ) -> Span:
        """Begin a span.

        Args:
            name: Its name.
            parent: The span that it is a part of, if any.
            attributes: What is known of it.
            client: Whether another program does the work.
            started: When it began, in seconds since 1970; now by default.
            links: The spans that it goes on from, by the ids of their traces and their own.
            trace_id: The trace of a span without a parent; a random one by default.
            span_id: Its id; a random one by default.
        """
        if attributes.get("gen_ai.operation.name") not in KNOWN_OPERATIONS:
            attributes = {**attributes, "openinference.span.kind": "CHAIN"}
        context = trace.set_span_in_context(parent, Context()) if parent else Context()
        with self._ids.chosen(trace_id, span_id):
            return self._tracer.start_span(
                name,
                context,
                kind=SpanKind.CLIENT if client else SpanKind.INTERNAL,
                attributes=attributes,
                links=[Link(SpanContext(*ids, is_remote=True)) for ids in links],
                start_time=_nanoseconds(started),
            )

    def end(
        self,
        span: Span,
        attributes: Mapping[str, Any],
        *,
        error: str = "",
        why: str = "",
        ended: float | None = None,
    ) -> None:
        """End a span.

        Args:
            span: The span.
            attributes: What has become known of it.
            error: The code of the failure, if it failed.
            why: What went wrong, in words; sent only where content is asked for.
            ended: When it ended, in seconds since 1970; now by default.
        """
        span.set_attributes({**attributes})
        if error:
            span.set_attribute("error.type", error)
            span.set_status(Status(StatusCode.ERROR, why if self.shows_content else None))
        span.end(_nanoseconds(ended))

    def close(self) -> None:
        """Send what is left, and stop; a collector that does not answer is given up on."""
        if self._process == os.getpid():
            self._closing.set()
            self._closed.wait(FLUSH_SECONDS)

    def _shut_down(self) -> None:
        self._closing.wait()
        self._provider.shutdown()
        self.metrics.provider.shutdown()
        self._closed.set()


class ChosenIds(RandomIdGenerator):
    """Gives traces and spans the ids that are chosen for them, and random ones otherwise."""

    def __init__(self) -> None:
        self._chosen: ContextVar[tuple[int, int]] = ContextVar("chosen_ids", default=(0, 0))

    @contextmanager
    def chosen(self, trace_id: int, span_id: int) -> Iterator[None]:
        """Choose the ids of a span that is begun within; 0 stands for a random one."""
        token = self._chosen.set((trace_id, span_id))
        try:
            yield
        finally:
            self._chosen.reset(token)

    def generate_trace_id(self) -> int:
        """Return the id of a trace."""
        return self._chosen.get()[0] or super().generate_trace_id()

    def generate_span_id(self) -> int:
        """Return the id of a span."""
        return self._chosen.get()[1] or super().generate_span_id()


class CallMetrics:
    """The metrics of model calls that the GenAI conventions define; sent nowhere by default."""

    def __init__(self, resource: Resource) -> None:
        readers = [PeriodicExportingMetricReader(one) for one in make_metric_exporters()]
        self.provider = MeterProvider(readers, resource, shutdown_on_exit=False)
        meter = self.provider.get_meter(SCOPE, version(SCOPE))
        self._duration = meter.create_histogram(
            "gen_ai.client.operation.duration",
            "s",
            "The duration of attempts at model calls.",
            explicit_bucket_boundaries_advisory=DURATION_BOUNDS,
        )
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            "{token}",
            "The tokens that attempts at model calls used.",
            explicit_bucket_boundaries_advisory=TOKEN_BOUNDS,
        )

    def record(
        self, about: Mapping[str, Any], seconds: float, tokens_in: int, tokens_out: int, error: str
    ) -> None:
        """Count an attempt; `about` has operation, provider and model."""
        self._duration.record(seconds, {**about, "error.type": error} if error else {**about})
        self._tokens.record(tokens_in, {**about, "gen_ai.token.type": "input"})
        self._tokens.record(tokens_out, {**about, "gen_ai.token.type": "output"})


def _nanoseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1e9)
