"""Trace what a node asks of embedders, and keep what is billed for it within the run's caps."""

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

from config.errors import Problem
from config.models import price, priced
from config.settings import settings
from graph.context import Context
from models.embeddings import EmbeddingCall, Request, collected, metered
from retrieval.tokens import count
from runs.attempts import EMBEDDER, INDEXER, opened, settled, unsent
from runs.budget import Budget, Need, Reservation, budget
from runs.faults import billed, client_errors, told
from runs.ledger import Cost
from runs.limits import MARGIN
from runs.place import Here, here
from runs.trace import trace
from storage.engine import write_here
from storage.journal import Statement

Node = TypeVar("Node", bound=Callable[..., Awaitable[Any]])

Answer = TypeVar("Answer")

ENDS = 2
"""How many tokens an embedder may add to a text."""


def traced(node: Node, pages: str = INDEXER) -> Node:
    """Return a node that traces what it asks of embedders, under the caps of its run.

    Args:
        node: The node.
        pages: For whom it has vectors of pages made: `indexer` or `embedder`.
    """

    @wraps(node)
    async def run(state: Any, runtime: Runtime[Context]) -> Any:
        place, role = here(state, runtime), getattr(node, "__name__", "")
        meter = Metered(place, await budget(place, runtime.context), pages)
        with collected() as asked, metered(meter):
            try:
                return await node(state, runtime)
            finally:
                if asked:
                    await trace(place, "embed", role, "ok", **_told(asked))
                await meter.tell(role)

    return cast("Node", run)


def _told(asked: list[EmbeddingCall]) -> dict[str, Any]:
    return {
        "model": asked[0].name,
        "calls": len(asked),
        "texts": sum(one.texts for one in asked),
        "tokens_in": sum(one.tokens for one in asked),
        "dollars": sum(one.dollars for one in asked),
        "seconds": round(sum(one.seconds for one in asked), 4),
    }


class Metered:
    """Lets requests to a provider of vectors through as far as a run has room for them.

    It is asked in threads, and asks the budget in the event loop of the run. A request does not
    wait for the calls in flight: while threads wait, nobody may be able to end those.
    """

    def __init__(self, place: Here, allowed: Budget, pages: str) -> None:
        self.here, self.budget, self.pages = place, allowed, pages
        self.loop = asyncio.get_running_loop()
        self.refused: dict[tuple[str, str], str] = {}

    @contextmanager
    def __call__(self, model: str, texts: Sequence[str], is_question: bool) -> Iterator[Request]:
        """Surround a request: record it with the most it may use, then with what it used.

        Raises:
            Problem: `budget_spent` if not even the first text has room.
        """
        role = EMBEDDER if is_question else self.pages
        sizes = [math.ceil(count(text) * MARGIN) + ENDS for text in texts]
        fitting, mine = self._wait(self._hold(role, model, sizes))
        session = self.budget.session
        mine.used = Cost(model, session=session)
        worst = Cost(model, mine.tokens, 0, mine.dollars, session)
        try:
            seconds = min(settings().idle_seconds, self.budget.left(role))
            name, statement = opened(self.here, role, worst, seconds)
            _commit(statement)
            mine.used, request, status = worst, Request(fitting, seconds), "ok"
            try:
                yield request
            except client_errors() as error:
                status, request.used = told(error).code, _billed(request, error)
                raise
            finally:
                mine.used = _used(request, worst)
                _commit(settled(name, status, mine.used))
        finally:
            self._wait(self._release(mine))

    async def tell(self, role: str) -> None:
        """Record and trace which caps prevented requests."""
        for (asker, model), cap in self.refused.items():
            await unsent(self.here, asker, model, self.budget.session, cap)
            await trace(self.here, "embed", role, "budget_spent", model=model, cap=cap)

    async def _hold(self, role: str, model: str, sizes: Sequence[int]) -> tuple[int, Reservation]:
        """Hold a request with as many texts as have room; return their number, too."""
        dollars, _ = priced(model)
        needs = [Need(sum(sizes[:end]), 0, dollars) for end in range(1, len(sizes) + 1)]
        fitting = sum(self.budget.room(role, need) >= 0 for need in needs) or 1
        try:
            mine = self.budget.hold(role, needs[fitting - 1], settings().idle_seconds)
        except Problem as problem:
            self.refused.setdefault((role, model), problem.where)
            raise
        return fitting, mine

    async def _release(self, mine: Reservation) -> None:
        self.budget.release(mine)

    def _wait(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()


def _billed(request: Request, error: BaseException) -> int | None:
    """Return the tokens billed for a request that failed; `None` if unknown."""
    known = billed(error)
    return request.used or (known and known[0])


def _used(request: Request, worst: Cost) -> Cost:
    """Return what a request used: what the server says, or else the most it may have used."""
    if request.used is None:
        return worst
    return replace(worst, tokens_in=request.used, dollars=price(worst.model, request.used, 0))


def _commit(statement: Statement) -> None:
    def execute(connection: Connection) -> None:
        connection.execute(*statement)

    write_here(execute)
