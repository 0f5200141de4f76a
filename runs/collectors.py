"""The exporters of OpenTelemetry that the environment names; nothing secret passes them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any

from opentelemetry.sdk.metrics.export import MetricExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import Status

from config.environment import METRIC_VARIABLES, SPAN_VARIABLES, TRACE_EXPORTER, is_any_set
from config.errors import ErrorCode, Problem
from config.key_masking import mask_keys, mask_value
from text.secret_masking import mask_secrets

PROTOCOLS = {"grpc": "otlp_proto_grpc", "http/protobuf": "otlp_proto_http"}
"""The exporters of the values of `OTEL_EXPORTER_OTLP_PROTOCOL`; the second is the default."""

SHORT, KNOWN_TEXTS = 100, 4_096
"""The most characters of a text that is remembered without its secrets, and of how many: names of
models and roles recur."""

JSON_ATTRIBUTES = (
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.tool.call.arguments",
)
"""The attributes that hold JSON, of which the texts within are masked."""


def make_span_exporters() -> list[SpanExporter]:
    """Return the exporters of spans that `OTEL_TRACES_EXPORTER` names; OTLP by default."""
    return [*_make_exporters("traces", os.environ.get(TRACE_EXPORTER, ""))]


def make_metric_exporters() -> list[MetricExporter]:
    """Return the exporters of metrics; none by default, as collectors of traces take none."""
    if not is_any_set(METRIC_VARIABLES):
        return []
    return [*_make_exporters("metrics", os.environ.get("OTEL_METRICS_EXPORTER", ""))]


def check_collectors() -> str:
    """Send a request without spans to each collector; return where spans are sent.

    Raises:
        Problem: `collector_unavailable`.
    """
    named = next((name for name in SPAN_VARIABLES[::-1] if os.environ.get(name)), "")
    where = mask_value(named, os.environ.get(named, ""))
    try:
        exporters = make_span_exporters()
    except Exception as error:
        what = f"spans cannot be sent: {error}"
        raise Problem(ErrorCode.COLLECTOR_UNAVAILABLE, what, where=where) from error
    try:
        if any(one.export([]) is not SpanExportResult.SUCCESS for one in exporters):
            what = "the collector of OpenTelemetry does not take spans"
            raise Problem(ErrorCode.COLLECTOR_UNAVAILABLE, what, where=where)
    finally:
        for exporter in exporters:
            exporter.shutdown()
    return where


def _make_exporters(signal: str, names: str) -> Iterator[Any]:
    """Yield the named exporters, which read all other variables themselves.

    Raises:
        LookupError: If one is not installed.
    """
    for name in dict.fromkeys(one.strip() for one in (names.strip() or "otlp").split(",")):
        if name in ("", "none"):
            continue
        entry = _otlp_exporter(signal) if name == "otlp" else name
        found = [*entry_points(group=f"opentelemetry_{signal}_exporter", name=entry)]
        if not found:
            msg = f"there is no exporter {entry!r} of OpenTelemetry for {signal}"
            raise LookupError(msg)
        yield found[0].load()()


def _otlp_exporter(signal: str) -> str:
    variables = (f"OTEL_EXPORTER_OTLP_{signal.upper()}_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
    named = next((value for one in variables if (value := os.environ.get(one, "").strip())), "")
    return PROTOCOLS.get(named or "http/protobuf", named)


class MaskingExporter(SpanExporter):
    """Hands spans on to an exporter, without the keys and secrets in their texts.

    It works in the thread that sends, so that no run waits for it.
    """

    def __init__(self, exporter: SpanExporter) -> None:
        self.exporter = exporter
        self._mask_short = lru_cache(maxsize=KNOWN_TEXTS)(_mask)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send a batch of spans."""
        return self.exporter.export([self._mask_span(span) for span in spans])

    def shutdown(self) -> None:
        """Stop sending."""
        self.exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Send what is left."""
        return self.exporter.force_flush(timeout_millis)

    def _mask_span(self, span: ReadableSpan) -> ReadableSpan:
        why = span.status.description
        return ReadableSpan(
            name=self._mask_within(span.name),
            context=span.context,
            parent=span.parent,
            resource=span.resource,
            attributes=self._mask_attributes(span.attributes),
            events=span.events,
            links=span.links,
            kind=span.kind,
            status=Status(span.status.status_code, self._mask_within(why)),
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=span.instrumentation_scope,
        )

    def _mask_attributes(self, attributes: Mapping[str, Any] | None) -> dict[str, Any]:
        return {
            name: json.dumps(self._mask_within(json.loads(value)), ensure_ascii=False)
            if name in JSON_ATTRIBUTES
            else self._mask_within(value)
            for name, value in (attributes or {}).items()
        }

    def _mask_within(self, value: Any) -> Any:
        if isinstance(value, str):
            return (self._mask_short if len(value) <= SHORT else _mask)(value)
        if isinstance(value, Mapping):
            return {name: self._mask_within(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [self._mask_within(one) for one in value]
        return value


def _mask(text: str) -> str:
    return mask_secrets(mask_keys(text)).text
