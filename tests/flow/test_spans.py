"""A collector of OpenTelemetry is told all of a run: the same sums as the ledger, and no words."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tracers.langchain import wait_for_all_tracers
from langsmith.utils import get_env_var
from opentelemetry.sdk.trace import TracerProvider

from calls import call_middleware
from calls.attempts import UNSENT_PREFIX, list_attempts
from config.errors import ErrorCode, Problem
from config.resources import replace_resources
from evals.openai_server import Server
from graph import session
from graph.session import ThreadSession
from nodes.recall.recall_graph import make_recall_graph
from runs import span_export
from runs.spans import find_span_export
from tests.collector import Collector, SentSpan, collecting
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.page_vectors import use
from tests.places import new_process

pytestmark = [
    # A session that is killed closes nothing.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.extractive(
        "Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "reporter", "Checks"
    ),
]

QUESTION = "How do bees dance? My password is hunter2hunter2."

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


@pytest.fixture
def collector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """A collector that the environment names, and a model that costs something."""
    table = tmp_path / "models.toml"
    table.write_text(
        'default = "fake:any"\nfallback = "extractive:"\n[prices]\n"fake:any" = [2.5, 10.0]\n',
        "utf-8",
    )
    monkeypatch.setenv("DOSSIER_MODELS", str(table))
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        # Nothing is sent before the end, however slow the machine is.
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "600000")
        new_process()
        yield collector
        collector.released.set()
        new_process()


async def sent(collector: Collector) -> list[SentSpan]:
    """Return what a collector has, once this process has sent everything."""
    await asyncio.to_thread(new_process)
    return collector.spans


def attempts_of(spans: list[SentSpan]) -> list[SentSpan]:
    return [span for span in spans if "dossier.attempt" in span.attributes]


async def assert_sums_are_those_of_the_ledger(spans: list[SentSpan], run: str = "t1-1") -> None:
    made = [one for one in await list_attempts(run) if not one.status.startswith(UNSENT_PREFIX)]
    told = [span for span in attempts_of(spans) if span.attributes["dossier.run"] == run]
    usage = [span.attributes for span in told]
    assert {span.attributes["dossier.attempt"] for span in told} == {one.id for one in made}
    assert len(told) == len(made)
    assert sum(one["gen_ai.usage.input_tokens"] for one in usage) == sum(
        one.tokens_in for one in made
    )
    assert sum(one["gen_ai.usage.output_tokens"] for one in usage) == sum(
        one.tokens_out for one in made
    )
    cost = sum(one["gen_ai.usage.cost"] for one in usage)
    assert cost == pytest.approx(sum(one.cost for one in made), abs=1e-9)
    assert cost > 0


def ancestors(span: SentSpan, spans: list[SentSpan]) -> list[str]:
    """Return the names of the spans around a span, from the inside out."""
    by_id, names = {one.id: one for one in spans}, []
    while span.parent:
        span = by_id[span.parent]
        names.append(span.name)
    return names


async def test_a_run_is_one_tree_whose_sums_are_those_of_the_ledger(
    collector: Collector, thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance", "winter cluster"))

    outcome = await thread.begin(QUESTION, make(choices), quiet)
    spans = await sent(collector)

    assert outcome.state["status"] in ("succeeded", "partial")
    await assert_sums_are_those_of_the_ledger(spans)
    [root] = [span for span in spans if not span.parent]
    assert root.name == "invoke_workflow dossier"
    assert root.attributes["dossier.status"] == outcome.state["status"]
    assert root.resource["service.name"] == "dossier"
    assert {span.trace for span in spans} == {root.trace}
    assert all(root.name in ancestors(span, spans) for span in spans if span is not root)


async def test_calls_of_parallel_steps_are_in_the_spans_of_their_own_steps(
    collector: Collector, thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance", "winter cluster", "queen"))
    script.seconds = 0.01

    await thread.begin(QUESTION, make(choices, parallelism=3), quiet)
    spans = await sent(collector)

    within = [span for span in spans if span.attributes.get("dossier.step") and span.parent]
    steps = Counter(span.attributes["dossier.step"] for span in attempts_of(within))
    assert len(steps) == 3
    for span in within:
        of_step = f"step {span.attributes['dossier.step']}"
        assert span.name == of_step or of_step in ancestors(span, spans)
    written = [
        span for span in attempts_of(spans) if span.attributes["gen_ai.agent.name"] == "reporter"
    ]
    assert all(
        ancestors(span, spans)[:2] == ["invoke_agent reporter", "reporter"] for span in written
    )


async def test_failed_attempts_retries_and_the_fallback_are_spans_with_what_they_may_have_used(
    collector: Collector, thread: ThreadSession, choices: dict[str, object], script: Script
):
    down = Problem(ErrorCode.MODEL_UNAVAILABLE, "the server is down: secret words")
    script.on("Draft", down, down, draft("waggle dance"))
    script.on("researcher", Problem(ErrorCode.RATE_LIMITED, "slow down"))

    await thread.begin(QUESTION, make(choices), quiet)
    spans = await sent(collector)

    await assert_sums_are_those_of_the_ledger(spans)
    failed = Counter(span.attributes["error.type"] for span in attempts_of(spans) if span.error)
    assert failed["model_unavailable"] == 2
    assert failed["rate_limited"] == 6
    assert "secret words" not in collector.text


async def test_no_words_are_sent_unless_they_are_asked_for(
    collector: Collector, thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))

    await thread.begin(QUESTION, make(choices), quiet)
    other = ThreadSession(thread.graph, "t2")
    await other.begin("And what of winter?", make(choices, user="ada.lovelace"), quiet)
    await sent(collector)

    for words in ("bees", "waggle", "ada.lovelace", "password", "hunter2", "Frisch"):
        assert words not in collector.text


async def test_words_are_sent_where_they_are_asked_for_and_secrets_never(
    collector: Collector,
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv(CONTENT, "true")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-abcdefghijklmnop1234")
    broken = "it broke at https://ada:wonder1and@example.org with sk-proj-abcdefghijklmnop1234"
    script.on("Draft", Problem(ErrorCode.MODEL_UNAVAILABLE, broken), draft("waggle dance"))
    leaked = "The key is sk-proj-abcdefghijklmnop1234, and bees dance [S1]."
    usage = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
    script.on("reporter", AIMessage(leaked, usage_metadata=usage))

    await thread.begin(QUESTION, make(choices), quiet)
    spans = await sent(collector)

    [root] = [span for span in spans if not span.parent]
    assert "How do bees dance?" in root.attributes["gen_ai.input.messages"]
    assert root.attributes["user.id"] == "local"
    written = [
        one for one in attempts_of(spans) if one.attributes["gen_ai.agent.name"] == "reporter"
    ]
    assert "bees dance" in written[0].attributes["gen_ai.output.messages"]
    assert any("it broke at" in span.error for span in spans)
    for secret in ("hunter2", "sk-proj-abcdefgh", "wonder1and"):
        assert secret not in collector.text


async def test_a_session_after_a_review_goes_on_with_the_trace_and_links_to_the_one_before(
    collector: Collector, thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    context = make(choices, auto_accept=False)

    await thread.begin(QUESTION, context, quiet)
    before = await sent(collector)
    await thread.answer_review({"type": "approve"}, context, quiet)
    spans = await sent(collector)

    [first] = [span for span in before if not span.parent]
    assert first.attributes["dossier.status"] == "waiting_review"
    assert not first.error
    [second] = [span for span in spans if not span.parent and span.id != first.id]
    assert second.trace == first.trace
    assert second.links == [(first.trace, first.id)]
    await assert_sums_are_those_of_the_ledger(spans)


async def wait_for_research(steps: int) -> None:
    for _ in range(1000):
        made = await list_attempts("t1-1")
        if [(one.role, one.status) for one in made].count(("researcher", "open")) == steps:
            return
        await asyncio.sleep(0.01)
    pytest.fail("nothing was asked")


async def test_what_a_killed_session_did_not_send_is_told_by_the_next(
    collector: Collector,
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    def plan(_: object) -> dict[str, object]:
        script.seconds = 60.0
        return draft("waggle dance", "winter cluster")

    script.on("Draft", plan)

    async def nothing(_: object) -> None:
        """End nothing, as a killed process does."""

    with monkeypatch.context() as killed:
        killed.setattr(session, "end_run_spans", nothing)
        killed.setattr(call_middleware, "commit_statements", nothing)
        run = asyncio.create_task(thread.begin(QUESTION, make(choices), quiet))
        await wait_for_research(steps=2)
        run.cancel()
        await asyncio.wait([run])
    # Nobody closes what a killed process had open.
    replace_resources().values.clear()
    assert not collector.spans
    lost = await list_attempts("t1-1")
    assert [one.status for one in lost].count("open") == 2

    script.seconds = 0.0
    await thread.resume(make(choices), quiet)
    spans = await sent(collector)

    await assert_sums_are_those_of_the_ledger(spans)
    killed_root, root = sorted(
        (one for one in spans if not one.parent), key=lambda one: one.started
    )
    assert (killed_root.attributes["error.type"], killed_root.attributes["dossier.session"]) == (
        "killed",
        1,
    )
    assert root.links == [(killed_root.trace, killed_root.id)]
    told = {span.attributes["dossier.attempt"] for span in attempts_of(spans) if span.error}
    assert {one.id for one in lost if one.status == "open"} <= told


async def test_a_run_whose_collector_is_named_later_is_told_whole(
    collector: Collector,
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    script.on("Draft", draft("waggle dance"))
    context = make(choices, auto_accept=False)
    with monkeypatch.context() as silent:
        silent.setenv("OTEL_SDK_DISABLED", "true")
        new_process()
        await thread.begin(QUESTION, context, quiet)
        assert find_span_export() is None
    new_process()

    await thread.answer_review({"type": "approve"}, context, quiet)

    await assert_sums_are_those_of_the_ledger(await sent(collector))


@pytest.mark.parametrize("behaviour", ["hangs", "fails", "refuses"])
async def test_a_collector_that_is_down_neither_fails_nor_slows_a_run(
    collector: Collector,
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
    behaviour: str,
):
    # Each batch is sent while the run works.
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
    if behaviour == "refuses":
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    else:
        collector.behaviour = cast("Any", behaviour)
    monkeypatch.setattr(span_export, "FLUSH_SECONDS", 0.2)
    script.on("Draft", draft("waggle dance", "winter cluster"))

    outcome = await thread.begin(QUESTION, make(choices), quiet)
    started = time.monotonic()
    await sent(collector)

    assert outcome.state["status"] in ("succeeded", "partial")
    assert time.monotonic() - started < 2
    assert bool(collector.bodies) == (behaviour != "refuses")


async def test_metrics_are_sent_where_they_are_asked_for(
    collector: Collector,
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "otlp")
    script.on("Draft", draft("waggle dance"))

    await thread.begin(QUESTION, make(choices), quiet)
    await sent(collector)

    made = await list_attempts("t1-1")
    used, took = (
        collector.metrics[f"gen_ai.client.{name}"] for name in ("token.usage", "operation.duration")
    )
    assert sum(point.sum for point in used) == sum(one.tokens_in + one.tokens_out for one in made)
    assert sum(point.count for point in took) == len(made)


@pytest.fixture
def vectors(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that makes vectors."""
    with Server([]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        use(monkeypatch, "openai:text-embedding-3-small")
        yield server


async def test_requests_for_vectors_are_spans_of_the_nodes_that_need_them(
    collector: Collector,
    vectors: Server,
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
):
    script.on("Draft", draft("waggle dance"))

    await thread.begin(QUESTION, make(choices), quiet)
    spans = await sent(collector)

    assert vectors.log
    await assert_sums_are_those_of_the_ledger(spans)
    requests = [one for one in spans if one.name == "embeddings text-embedding-3-small"]
    assert {one.attributes["gen_ai.provider.name"] for one in requests} == {"openai"}
    assert {one.attributes["gen_ai.operation.name"] for one in requests} == {"embeddings"}
    nodes = [one for one in spans if "dossier.node" in one.attributes]
    assert {one.parent for one in requests} <= {one.id for one in nodes}


async def test_langsmith_is_told_beside_a_collector_where_it_is_switched_on(
    collector: Collector,
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    script.on("Draft", draft("waggle dance"))
    with monkeypatch.context() as patch:
        patch.setenv("LANGSMITH_TRACING", "true")
        patch.setenv("LANGSMITH_API_KEY", "not-a-key")
        patch.setenv("LANGSMITH_ENDPOINT", collector.url)
        get_env_var.cache_clear()
        await thread.begin(QUESTION, make(choices), quiet)
        await asyncio.to_thread(wait_for_all_tracers)
    get_env_var.cache_clear()
    spans = await sent(collector)

    assert {path.partition("?")[0] for path, _ in collector.bodies} > {"/v1/traces"}
    assert len([span for span in spans if not span.parent]) == 1
    assert attempts_of(spans)


async def test_a_run_within_the_span_of_another_program_is_a_trace_with_a_link_to_it(
    collector: Collector, thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))

    other = TracerProvider(shutdown_on_exit=False).get_tracer("other")
    with other.start_as_current_span("request") as around:
        await thread.begin(QUESTION, make(choices), quiet)
    spans = await sent(collector)

    [root] = [span for span in spans if not span.parent]
    outer = around.get_span_context()
    assert root.links == [(format(outer.trace_id, "032x"), format(outer.span_id, "016x"))]
    assert {span.trace for span in spans} == {root.trace} != {root.links[0][0]}


@pytest.mark.usefixtures("thread")
@pytest.mark.extractive("Lookup", "Notes", "Complete")
async def test_a_recall_is_a_session_with_the_nodes_of_its_graph(
    collector: Collector, choices: dict[str, object]
):
    async with session.open_session("recall-1", make_recall_graph) as opened:
        await opened.begin("How do bees dance?", make(choices), quiet)
    spans = await sent(collector)

    (whole,) = (span for span in spans if not span.parent)
    assert whole.name == "invoke_workflow recall"
    assert whole.attributes["gen_ai.conversation.id"] == "recall-1"
    nodes = [span.name for span in spans if span.parent == whole.id]
    assert nodes[:2] == ["plan", "search"]
    made = attempts_of(spans)
    assert made
    assert all(ancestors(one, spans)[-1] == whole.name for one in made)
    assert {one.trace for one in spans} == {whole.trace}
