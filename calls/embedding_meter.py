"""Trace the embedding requests of a node, and keep them within the caps of the run."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar, cast

from langgraph.runtime import Runtime
from sqlalchemy import Connection

from calls.attempts import EMBEDDER, INDEXER, begin_statement, end_statement, record_unsent
from calls.call_spans import AttemptSpan
from calls.ledger import CallCost
from calls.output_limit import TOKEN_MARGIN
from calls.run_budget import CallNeed, Reservation, RunBudget, get_budget
from config.errors import Problem
from config.model_table import call_price, token_prices
from config.settings import settings
from graph.context import Context
from models.embeddings import (
    EmbeddingCall,
    EmbeddingRequest,
    collect_embedding_calls,
    use_embedding_meter,
)
from models.faults import billed_tokens, client_errors, to_model_problem
from runs.call_site import CallSite, call_site
from runs.trace import trace
from storage.engine import SqlStatement, run_write_sync
from text.tokens import count_tokens

Node = TypeVar("Node", bound=Callable[..., Awaitable[Any]])

Answer = TypeVar("Answer")

ENDS = 2
"""How many tokens an embedder may add to a text."""


def meter_embeddings(node: Node, pages: str = INDEXER) -> Node:
    """Return a node whose embedding requests are traced, and kept within the caps of its run.

    Args:
        node: The node.
        pages: The role that requests vectors of pages: `indexer` or `embedder`.
    """

    @wraps(node)
    async def run(state: Any, runtime: Runtime[Context]) -> Any:
        place, role = call_site(state, runtime), getattr(node, "__name__", "")
        meter = RunEmbeddingMeter(place, await get_budget(place, runtime.context), pages)
        with collect_embedding_calls() as asked, use_embedding_meter(meter):
            try:
                return await node(state, runtime)
            finally:
                if asked:
                    await trace(place, "embed", role, "ok", **_trace_fields(asked))
                await meter.record_refusals(role)

    return cast("Node", run)


def _trace_fields(asked: list[EmbeddingCall]) -> dict[str, Any]:
    return {
        "model": asked[0].name,
        "calls": len(asked),
        "texts": sum(one.texts for one in asked),
        "tokens_in": sum(one.tokens for one in asked),
        "dollars": sum(one.dollars for one in asked),
        "seconds": round(sum(one.seconds for one in asked), 4),
    }


class RunEmbeddingMeter:
    """Lets requests to a provider of vectors through as far as the caps have room for them.

    It is called in threads, and uses the budget in the event loop of the run. A request does not
    wait for the calls in flight: those may need the threads that would wait.
    """

    def __init__(self, place: CallSite, allowed: RunBudget, pages: str) -> None:
        self.site, self.budget, self.pages = place, allowed, pages
        self.loop = asyncio.get_running_loop()
        self.refused: dict[tuple[str, str], str] = {}

    @contextmanager
    def __call__(
        self, model: str, texts: Sequence[str], is_question: bool
    ) -> Iterator[EmbeddingRequest]:
        """Surround a request: record it with the most it may use, then with what it used.

        Raises:
            Problem: `budget_spent` if not even the first text has room.
        """
        role = EMBEDDER if is_question else self.pages
        sizes = [math.ceil(count_tokens(text) * TOKEN_MARGIN) + ENDS for text in texts]
        fitting, mine = self._wait(self._reserve(role, model, sizes))
        session = self.budget.session
        mine.used = CallCost(model, session=session)
        worst = CallCost(model, mine.tokens, 0, mine.dollars, session)
        try:
            seconds = min(settings().idle_seconds, self.budget.seconds_left(role))
            name, statement = begin_statement(self.site, role, worst, seconds)
            _commit(statement)
            span = AttemptSpan(self.site, role, name, model)
            mine.used, request, status = worst, EmbeddingRequest(fitting, seconds), "ok"
            try:
                yield request
            except client_errors() as error:
                status, request.used_tokens = to_model_problem(error).code, _billed(request, error)
                raise
            finally:
                mine.used = _used(request, worst)
                _commit(end_statement(name, status, mine.used))
                span.end(status, mine.used, estimated=mine.used is worst)
        finally:
            self._wait(self._release(mine))

    async def record_refusals(self, role: str) -> None:
        """Record and trace which caps prevented requests."""
        for (asker, model), cap in self.refused.items():
            await record_unsent(self.site, asker, model, self.budget.session, cap)
            await trace(self.site, "embed", role, "budget_spent", model=model, cap=cap)

    async def _reserve(
        self, role: str, model: str, sizes: Sequence[int]
    ) -> tuple[int, Reservation]:
        """Reserve a request with as many texts as have room; return their number, too."""
        dollars, _ = token_prices(model)
        needs = [CallNeed(sum(sizes[:end]), 0, dollars) for end in range(1, len(sizes) + 1)]
        fitting = sum(self.budget.answer_room(role, need) >= 0 for need in needs) or 1
        try:
            mine = self.budget.reserve_at_once(role, needs[fitting - 1], settings().idle_seconds)
        except Problem as problem:
            self.refused.setdefault((role, model), problem.where)
            raise
        return fitting, mine

    async def _release(self, mine: Reservation) -> None:
        self.budget.release(mine)

    def _wait(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()


def _billed(request: EmbeddingRequest, error: BaseException) -> int | None:
    """Return the tokens billed for a request that failed; `None` if unknown."""
    known = billed_tokens(error)
    return request.used_tokens or (known and known[0])


def _used(request: EmbeddingRequest, worst: CallCost) -> CallCost:
    """Return what a request used: what the server says, or else the most it may have used."""
    if request.used_tokens is None:
        return worst
    return replace(
        worst,
        tokens_in=request.used_tokens,
        dollars=call_price(worst.model, request.used_tokens, 0),
    )


def _commit(statement: SqlStatement) -> None:
    def execute(connection: Connection) -> None:
        connection.execute(*statement)

    run_write_sync(execute)
