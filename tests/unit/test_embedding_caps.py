"""What a run asks of a provider of vectors is recorded before it is sent, and under its caps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest
from langchain_core.embeddings import Embeddings

from calls.attempts import (
    EMBEDDER,
    INDEXER,
    OPEN_STATUS,
    UNSENT_PREFIX,
    Attempt,
    list_attempts,
    list_failed_roles,
)
from calls.embedding_meter import RunEmbeddingMeter
from calls.run_budget import get_budget
from config.errors import Problem
from evals.openai_server import Server
from graph.context import Context
from graph.session import ThreadSession
from library.page_embedding import embed_due
from models import embeddings
from models.embeddings import Embedder, PartialEmbeddingError, load_embedder, use_embedding_meter
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import quiet
from tests.model_calls import models
from tests.page_vectors import count, kept, use
from tests.places import new_process, somewhere

PAGE = "The queen lays eggs all summer long, and the workers feed the brood. " * 20
"""A text of some three hundred tokens."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, either: str) -> Iterator[Server]:
    """A provider makes the vectors: a server of OpenAI's kind."""
    del either
    with Server([]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        use(monkeypatch, "openai:m")
        yield server


async def in_run(
    work: Callable[[Embedder], object], pages: str = EMBEDDER, **caps: float
) -> object:
    """Let an embedder do some work in a thread, under the caps of a run."""
    meter = RunEmbeddingMeter(somewhere(), await get_budget(somewhere(), Context(**caps)), pages)  # type: ignore[arg-type]
    with use_embedding_meter(meter):
        made = await asyncio.to_thread(load_embedder)
        assert made is not None
        try:
            return await asyncio.to_thread(work, made)
        finally:
            await meter.record_refusals("researcher")


async def of_run() -> list[Attempt]:
    return list(await list_attempts("t1-1"))


async def test_a_request_is_recorded_with_its_maximum_before_it_is_sent(
    server: Server, monkeypatch: pytest.MonkeyPatch
):
    loop, seen = asyncio.get_running_loop(), []

    class Looking(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            seen.append(asyncio.run_coroutine_threadsafe(of_run(), loop).result())
            return [[1.0, 0.0] for _ in texts]

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    monkeypatch.setattr(embeddings, "_client", lambda *_: Looking())

    await in_run(lambda made: made.embed_pages(["Bees dance."]))

    ((before,),) = seen
    assert (before.status, before.role, before.model) == (OPEN_STATUS, EMBEDDER, "openai:m")
    assert before.tokens_in > 3


async def test_what_the_reply_says_is_counted_rather_than_the_estimate(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    models(tmp_path / "m.toml", monkeypatch, 'default = "fake:"\n[prices]\n"openai:m" = [2, 0]\n')
    told = {"prompt_tokens": 321, "total_tokens": 321}
    monkeypatch.setattr("evals.openai_server.count_usage", lambda *_: told)

    await in_run(lambda made: made.embed_query("How do bees dance?"))

    (one,) = await of_run()
    assert (one.status, one.tokens_in, one.cost) == ("ok", 321, pytest.approx(642e-6))
    assert (await get_budget(somewhere(), Context())).tokens == 321


@pytest.mark.parametrize("usage", [None, {}, {"total_tokens": 10**9}, {"total_tokens": -5}])
async def test_without_a_usable_figure_the_estimate_is_counted(
    server: Server, monkeypatch: pytest.MonkeyPatch, usage: object
):
    monkeypatch.setattr("evals.openai_server.count_usage", lambda *_: usage)

    await in_run(lambda made: made.embed_query("How do bees dance?"))

    (one,) = await of_run()
    assert one.status == "ok"
    assert 5 < one.tokens_in < 15


@pytest.mark.parametrize(("status", "billed"), [(500, 0), (401, 0), (429, 0)])
async def test_a_request_that_was_refused_costs_nothing_and_is_one_call(
    server: Server, status: int, billed: int
):
    server.rules.append({"path": "embeddings", "error": status})

    with pytest.raises(Exception, match=str(status)):
        await in_run(lambda made: made.embed_query("How do bees dance?"))

    (one,) = await of_run()
    assert one.status not in ("ok", OPEN_STATUS)
    assert one.tokens_in == billed


async def test_a_request_that_broke_off_counts_with_its_maximum(
    server: Server, monkeypatch: pytest.MonkeyPatch
):
    class Silent(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            raise httpx.ReadTimeout("too late")

        def embed_query(self, text: str) -> list[float]:
            raise httpx.ReadTimeout("too late")

    monkeypatch.setattr(embeddings, "_client", lambda *_: Silent())

    with pytest.raises(httpx.ReadTimeout):
        await in_run(lambda made: made.embed_pages([PAGE]))

    (one,) = await of_run()
    assert one.status == "model_timeout"
    assert one.tokens_in > 250


async def test_as_many_texts_are_sent_as_have_room_and_what_was_made_is_kept(server: Server):
    await kept(*[f"{number}. {PAGE}" for number in range(8)])

    async def due() -> object:
        meter = RunEmbeddingMeter(
            somewhere(), await get_budget(somewhere(), Context(max_tokens=2_000)), EMBEDDER
        )
        with use_embedding_meter(meter):
            return await embed_due()

    await due()

    sent = [len(call.body["input"]) for call in server.log]
    assert 0 < sum(sent) < 8
    assert await count("vectors") == sum(sent)
    assert sum(one.tokens_in for one in await of_run()) <= 2_000


async def test_the_first_texts_come_back_with_what_prevented_the_others(server: Server):
    with pytest.raises(PartialEmbeddingError) as cut:
        await in_run(lambda made: made.embed_pages([PAGE] * 5), max_tokens=1_500)

    assert len(cut.value.vectors) == sum(len(call.body["input"]) for call in server.log)
    assert (cut.value.code, cut.value.where) == ("budget_spent", "max_tokens = 1500")


@pytest.mark.parametrize(
    ("caps", "cap"),
    [
        ({"max_calls": 1}, "max_calls = 1"),
        ({"max_tokens": 1_000}, "max_tokens = 1000"),
        ({"max_cost": 0.01}, "max_cost = 0.01"),
    ],
)
async def test_a_cap_prevents_a_request_and_the_ledger_says_which(
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caps: dict[str, float],
    cap: str,
):
    models(tmp_path / "m.toml", monkeypatch, 'default = "fake:"\n[prices]\n"openai:m" = [30, 0]\n')

    with pytest.raises(Problem) as refused:
        await in_run(lambda made: made.embed_query(PAGE * 3), **caps)

    assert (refused.value.code, refused.value.where) == ("budget_spent", cap)
    assert not server.log
    (one,) = await of_run()
    assert (one.status, one.tokens_in, one.cost) == (f"{UNSENT_PREFIX}{cap}", 0, 0.0)
    new_process()
    assert (await get_budget(somewhere(), Context())).calls == 0
    assert await list_failed_roles("t1-1") == []


async def test_threads_side_by_side_send_no_more_than_a_cap_allows(server: Server):
    question = partial(in_run, lambda made: made.embed_query("How do bees dance?"), max_calls=10)

    ended = await asyncio.gather(*(question() for _ in range(60)), return_exceptions=True)

    assert len(server.log) == 8
    assert sum(isinstance(one, Problem) for one in ended) == 52
    assert sum(not made.status.startswith(UNSENT_PREFIX) for made in await of_run()) == 8


async def test_vectors_of_pages_leave_most_of_a_cap_to_the_work_of_the_run(server: Server):
    with pytest.raises(PartialEmbeddingError):
        await in_run(lambda made: made.embed_pages([PAGE] * 100), INDEXER, max_tokens=20_000)

    used = sum(one.tokens_in for one in await of_run())
    assert 5_000 < used <= 8_000
    await in_run(lambda made: made.embed_query("How do bees dance?"), max_tokens=20_000)


@pytest.mark.extractive("Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks")
async def test_a_run_whose_embedder_costs_too_much_goes_by_words_and_says_so(
    server: Server,
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
):
    del script
    text = 'default = "fake:any"\n[prices]\n"fake:any" = [0, 0]\n"openai:m" = [1000000, 0]\n'
    models(tmp_path / "m.toml", monkeypatch, text)
    new_process()

    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    assert outcome.state["report"]["cited"]
    assert outcome.state["status"] == "succeeded"
    assert not server.log
    (said,) = [one for one in outcome.state["report"]["notices"] if "embeddings" in one]
    assert said.startswith("The run reached its limit (max_cost = 0.5) for embeddings")


@pytest.mark.extractive("Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks")
async def test_searches_side_by_side_pay_once_for_the_vector_of_a_page(
    server: Server, thread: ThreadSession, choices: dict[str, object]
):
    await thread.begin("How do bees dance?", make(choices), quiet)

    texts = [text for call in server.log for text in call.body["input"] if len(text) > 80]
    # Each page is embedded as a search reads it and as a worker keeps it.
    assert max(texts.count(text) for text in texts) <= 2
