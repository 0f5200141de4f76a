"""A collector of OpenTelemetry on loopback, which takes spans over HTTP, hangs or fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, NamedTuple

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

Behaviour = Literal["takes", "hangs", "fails"]

HANGS = 600.0
"""How long a collector that hangs keeps a request, in seconds."""


class SentSpan(NamedTuple):
    """A span as a collector gets it; ids are hexadecimal."""

    trace: str
    id: str
    parent: str
    name: str
    attributes: dict[str, Any]
    error: str
    """Its message, if it failed; `error` without one, and "" for success."""
    links: list[tuple[str, str]]
    started: int
    ended: int
    client: bool
    resource: dict[str, Any]


@dataclass
class Collector:
    """A collector that is at work, and what it was sent."""

    behaviour: Behaviour = "takes"
    url: str = ""
    bodies: list[tuple[str, bytes]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def text(self) -> str:
        """Everything that was sent, for words that must not be in it."""
        return "".join(body.decode("utf-8", "replace") for _, body in self.bodies)

    @property
    def spans(self) -> list[SentSpan]:
        """What was sent, the last version of each span that was sent again."""
        found: dict[str, SentSpan] = {}
        for path, body in self.bodies:
            if path.endswith("/v1/traces"):
                found.update({span.id: span for span in _decode(body)})
        return [*found.values()]

    @property
    def metrics(self) -> dict[str, list[Any]]:
        """The points of each metric, by its name."""
        points: dict[str, list[Any]] = {}
        for path, body in self.bodies:
            if path.endswith("/v1/metrics"):
                request = ExportMetricsServiceRequest.FromString(body)
                scopes = (one for of in request.resource_metrics for one in of.scope_metrics)
                for metric in (one for scope in scopes for one in scope.metrics):
                    points.setdefault(metric.name, []).extend(metric.histogram.data_points)
        return points


@contextmanager
def collecting(behaviour: Behaviour = "takes") -> Iterator[Collector]:
    """Take what is sent until the block ends."""
    collector = Collector(behaviour)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.bodies.append((self.path, body))
            collector.headers.append({name.lower(): value for name, value in self.headers.items()})
            if collector.behaviour == "hangs":
                collector.released.wait(HANGS)
            self.send_response(500 if collector.behaviour == "fails" else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    collector.url = f"http://127.0.0.1:{server.server_port}"
    serving = threading.Thread(target=server.serve_forever, args=[0.02], daemon=True)
    serving.start()
    try:
        yield collector
    finally:
        collector.released.set()
        server.shutdown()
        server.server_close()
        serving.join()


def wait_for(collector: Collector, count: int, seconds: float = 10.0) -> list[SentSpan]:
    """Return the spans when there are as many."""
    until = time.monotonic() + seconds
    while len(collector.spans) < count and time.monotonic() < until:
        time.sleep(0.02)
    return collector.spans


def _decode(body: bytes) -> Iterator[SentSpan]:
    for of in ExportTraceServiceRequest.FromString(body).resource_spans:
        resource = _attributes(of.resource.attributes)
        for span in (one for scope in of.scope_spans for one in scope.spans):
            failed = span.status.code == span.status.STATUS_CODE_ERROR
            yield SentSpan(
                span.trace_id.hex(),
                span.span_id.hex(),
                span.parent_span_id.hex(),
                span.name,
                _attributes(span.attributes),
                (span.status.message or "error") if failed else "",
                [(link.trace_id.hex(), link.span_id.hex()) for link in span.links],
                span.start_time_unix_nano,
                span.end_time_unix_nano,
                span.kind == span.SPAN_KIND_CLIENT,
                resource,
            )


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    return getattr(value, kind) if kind else None
