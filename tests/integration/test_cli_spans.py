"""Commands whose environment names a collector of OpenTelemetry send it their spans as they end."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evals.openai_server import Server
from evals.world import make_rules
from tests.collector import Collector, SentSpan, collecting
from tests.integration.command import LONG, ROOT, WHO, Forks, Place, ended
from tests.integration.test_cli import loaded
from tests.integration.test_cli_stopped import with_model

pytestmark = pytest.mark.integration

PATIENCE = 20.0
"""The most seconds that the end of a process may take on a busy machine: it gives a collector that
hangs 3, and OpenTelemetry by itself would give it 30."""

HANG = {"match": "<step title=", "hang": 600}


def named(collector: Collector) -> dict[str, str]:
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_SERVICE_NAME": "bees"}


def wait_for_research(server: Server) -> None:
    until = time.monotonic() + LONG
    while not any("<step title=" in json.dumps(call.body) for call in server.log):
        assert time.monotonic() < until
        time.sleep(0.02)


def ledger(place: Place, run: str) -> dict[str, tuple[int, int, float]]:
    """Return what each attempt of a run used, by its id."""
    with sqlite3.connect(place.home / "dossier.db") as database:
        made = "SELECT id, tokens_in, tokens_out, cost FROM attempts WHERE run = ?"
        rows = database.execute(made, [run]).fetchall()
    database.close()
    return {id: (read, written, cost) for id, read, written, cost in rows}


def told(spans: list[SentSpan]) -> dict[str, tuple[int, int, float]]:
    """Return what each attempt used, as a collector was told."""
    names = ("input_tokens", "output_tokens", "cost")
    return {
        span.attributes["dossier.attempt"]: tuple(
            span.attributes[f"gen_ai.usage.{name}"] for name in names
        )
        for span in spans
        if "dossier.attempt" in span.attributes
    }


def roots(spans: list[SentSpan]) -> list[SentSpan]:
    """Return the spans of sessions, the first one first."""
    return sorted((span for span in spans if not span.parent), key=lambda span: span.started)


def test_a_command_sends_its_spans_before_it_ends(place: Place):
    with collecting() as collector:
        done = place.run(
            "ask", WHO, "--docs", "bees", "--thread", "told", "--yes", **named(collector)
        )

    assert done.status == 0
    [root] = roots(collector.spans)
    assert root.resource["service.name"] == "bees"
    assert root.attributes["dossier.status"] == "succeeded"
    assert told(collector.spans) == ledger(place, "told-1")
    assert "opentelemetry" not in done.err.lower()


WORK = """
import time
from runs.spans import SpanNotes, begin_span, end_span
from tests.places import somewhere

end_span(begin_span(somewhere(), "work", {}), SpanNotes())
print(time.time())
"""
"""A process that makes a span and ends."""


def test_a_collector_that_hangs_holds_the_end_of_a_process_up_for_a_few_seconds(place: Place):
    with collecting("hangs") as collector:
        done = subprocess.run(
            [sys.executable, "-c", WORK],
            cwd=ROOT,
            env=place.environment(**named(collector), OTEL_EXPORTER_OTLP_TIMEOUT="600"),
            capture_output=True,
            check=True,
            encoding="utf-8",
        )
        seconds = time.time() - float(done.stdout)

    assert collector.bodies
    assert seconds < PATIENCE


def test_ctrl_c_sends_what_was_done_and_the_next_session_goes_on_with_the_trace(place: Place):
    words = ["ask", WHO, "--docs", "bees", "--thread", "stopped", "--yes"]
    with collecting() as collector:
        with Server([HANG, *make_rules(2, 60, 60)]) as slow:
            process = place.start(*words, **with_model(slow), **named(collector))
            wait_for_research(slow)
            process.send_signal(signal.SIGINT)
            done = ended(process)
        before = collector.spans
        with Server(make_rules(2, 60, 60)) as server:
            resumed = place.run("resume", "stopped-1", **with_model(server), **named(collector))

    assert (done.status, resumed.status) == (130, 0)
    assert [root.attributes["error.type"] for root in roots(before)] == ["cancelled"]
    first, second = roots(collector.spans)
    assert second.links == [(first.trace, first.id)]
    assert told(collector.spans) == ledger(place, "stopped-1")


def test_what_a_killed_command_did_not_send_is_sent_when_its_run_is_resumed(
    place: Place, forks: Forks
):
    words = ["ask", WHO, "--docs", "bees", "--thread", "killed", "--yes"]
    with collecting() as collector:
        with Server([HANG, *make_rules(2, 60, 60)]) as slow:
            running = forks.start(place, *words, **with_model(slow), **named(collector))
            wait_for_research(slow)
            running.process.kill()
            running.ended()
        with Server(make_rules(2, 60, 60)) as server:
            resumed = place.run("resume", "killed-1", **with_model(server), **named(collector))

    assert resumed.status == 0
    killed, last = roots(collector.spans)
    assert killed.attributes["error.type"] == "killed"
    assert last.trace == killed.trace
    assert told(collector.spans) == ledger(place, "killed-1")


def test_nothing_that_sends_spans_is_loaded_where_no_collector_is_named(tmp_path: Path):
    found = loaded(tmp_path, "runs", "show", "t1-1")

    assert "runs.spans" in found
    assert (
        not {"runs.span_export", "runs.collectors", "opentelemetry.exporter.otlp.proto.http"}
        & found
    )
