"""Which collectors are told, what of, and that none of their troubles reaches a run."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Iterator

import pytest

from app.cli import doctor
from config.environment import is_span_export_enabled
from runs.spans import SpanNotes, begin_span, end_span, find_span_export, open_span, trace_id
from runs.trace import trace
from tests.collector import Collector, SentSpan, collecting
from tests.places import new_process, somewhere


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        yield collector
        new_process()


def sent(collector: Collector) -> list[SentSpan]:
    new_process()
    return collector.spans


def tell(name: str = "work", **content: str) -> None:
    end_span(begin_span(somewhere(), name, {}), SpanNotes(content={**content}))


@pytest.mark.parametrize(
    ("variables", "enabled"),
    [
        ({}, False),
        ({"OTEL_SERVICE_NAME": "bees", "OTEL_EXPORTER_OTLP_HEADERS": "a=b"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://localhost:4318/v1/traces"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, False),
        ({"OTEL_SDK_DISABLED": "True", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, False),
    ],
)
def test_spans_are_sent_where_a_collector_is_named(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], enabled: bool
):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert is_span_export_enabled() is enabled


def test_the_library_reads_its_own_variables(collector: Collector, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,team=bees")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Basic%20abc")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")

    tell()

    [span] = sent(collector)
    assert span.resource["team"] == "bees"
    assert span.resource["service.name"] == "dossier"
    assert collector.headers[0]["authorization"] == "Basic abc"


def test_a_run_that_is_not_sampled_is_not_told(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0")

    with open_span(somewhere(), "outer", {}):
        tell("inner")

    assert sent(collector) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("OTEL_TRACES_EXPORTER", "carrier-pigeon"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "smoke")],
)
async def test_what_cannot_be_used_is_told_in_the_log_and_by_the_doctor_and_no_run_fails(
    collector: Collector,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    name: str,
    value: str,
):
    monkeypatch.setenv(name, value)

    with caplog.at_level(logging.WARNING):
        tell()
    (row,) = [row for row in await doctor._checks() if row[0] == "telemetry"]

    assert find_span_export() is None
    assert value in caplog.text
    assert row[1] is False
    assert value in row[2]


async def test_a_package_that_is_missing_is_told_and_no_run_fails(
    collector: Collector, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    for module in ("runs.span_export", "runs.collectors"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace.export", None)

    with caplog.at_level(logging.WARNING):
        tell()
    (row,) = [row for row in await doctor._checks() if row[0] == "telemetry"]

    assert "No spans are sent" in caplog.text
    assert row[1] is False
    assert "dossier[telemetry]" in row[2]


async def test_the_doctor_asks_the_collector(collector: Collector, monkeypatch: pytest.MonkeyPatch):
    async def telemetry() -> tuple[str, bool, str]:
        (row,) = [row for row in await doctor._checks() if row[0] == "telemetry"]
        return row

    takes = await telemetry()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"{collector.url}/ada:wonder1and@x")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.2")
    collector.behaviour = "fails"
    fails = await telemetry()

    assert takes == ("telemetry", True, f"every run is told to {collector.url}")
    assert fails[1] is False
    assert "collector_unavailable" in fails[2]


async def test_lines_of_a_trace_are_spans_whose_words_are_kept_back(collector: Collector):
    await trace(somewhere(), "search", "web", "ok", query="bees", hits=3, seconds=2.0)
    await trace(somewhere(), "fetch", "web", "url_blocked", url="https://bees.example")
    await trace(somewhere(), "model", "planner", "ok", tokens_in=1)
    await trace(somewhere(), "search", "web", "redacted", query="bees")

    search, fetch = await asyncio.to_thread(sent, collector)
    assert search.name == "retrieval web"
    assert search.attributes["dossier.hits"] == 3
    assert search.ended - search.started == pytest.approx(2e9, rel=0.01)
    assert search.client
    assert (fetch.name, fetch.attributes["error.type"]) == ("fetch page", "url_blocked")
    assert "bees" not in collector.text


@pytest.mark.parametrize(
    "secret",
    [
        "https://example.org/?token=abcdefgh12345678",
        "https://ada:wonder1and@example.org/page",
        "Authorization: Bearer abcdefgh.12345678.ABCDEFGH",
        "my password is hunter2hunter2",
        "gsk_live_4242424242",
    ],
)
def test_no_secret_passes_whatever_it_stands_in(
    collector: Collector, monkeypatch: pytest.MonkeyPatch, secret: str
):
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    monkeypatch.setenv("GROQ_API_KEY", "gsk_live_4242424242")
    hidden = ("abcdefgh", "wonder1and", "hunter2", "42424242")

    span = begin_span(somewhere(), f"work {secret}", {"list": [secret]})
    said = f'[{{"role": "user", "parts": [{{"type": "text", "content": "{secret}"}}]}}]'
    notes = SpanNotes({"plain": secret}, {"gen_ai.input.messages": said}, "broken", why=secret)
    end_span(span, notes)

    [told] = sent(collector)
    assert told.error
    assert not [word for word in hidden if word in collector.text]


def test_the_trace_of_a_run_is_the_same_in_every_process_and_no_other_run_has_it():
    place = somewhere()

    assert trace_id(place, 1.5) == trace_id(place._replace(step="", repetition=""), 1.5)
    others = [place._replace(run="t1-2"), place._replace(owner="ada/")]
    assert len({trace_id(place, 1.5), trace_id(place, 2.5), *map(trace_id, others)}) == 4
