"""Search the web with several providers side by side, and join what they find."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

import httpx

from config.errors import ErrorCode, Problem
from config.search_table import SearchTable, Topic, load_search_table
from tools.web.pace import get_pace, take_turn
from tools.web.provider_choice import choose_query_providers
from tools.web.providers.provider import SearchHit, read_access
from tools.web.providers.provider_registry import (
    DECLARATIONS,
    SEARCH_PROVIDERS,
    SearchUnanswered,
    check_provider_names,
)
from tools.web.query_topics import classify_query
from tools.web.reachability import is_reachable
from tools.web.result_fusion import fuse_results
from tools.web.site_rules import load_site_rules
from tools.web.transport import is_private_host

UNREACHABLE = "it cannot be reached from here"
TOO_SLOW = "it is too slow"

ALL_UNREACHABLE = "none of the providers can be reached: this machine may have no network"

MORE_THAN_WANTED = 2
"""How many times as many hits a provider is asked for as are wanted: some are copies or blocked."""


class WebHits(NamedTuple):
    """What a search found, and which providers did not answer."""

    hits: list[SearchHit]
    failures: Mapping[str, str] = {}
    """Why not, by the name of the provider."""


async def search_web(
    names: Sequence[str],
    query: str,
    limit: int,
    environ: Mapping[str, str],
    *,
    chosen: bool = True,
) -> WebHits:
    """Return the best hits of the providers that answer; none if none of them has any.

    Args:
        names: The providers that may be asked.
        query: What to search for.
        limit: How many hits are wanted at most.
        environ: Where addresses and keys are read from.
        chosen: Whether all of them are asked; else those that fit the query.

    Raises:
        SearchUnanswered: `search_unavailable` if none of them answers; `unknown_provider`.
    """
    check_provider_names(names)
    wanted = " ".join(query.split())
    if not wanted:
        return WebHits([])
    topic, table = classify_query(wanted), load_search_table()
    asked = list(names) if chosen else choose_query_providers(names, topic, table)
    question = _Question(wanted, limit * MORE_THAN_WANTED, topic, environ, table)
    answers = await _ask_all(asked, question)
    failures = {name: one.what for name, one in answers.items() if isinstance(one, Problem)}
    results = {name: one for name, one in answers.items() if not isinstance(one, Problem)}
    if not results:
        raise _unanswered(failures, environ)
    return WebHits(fuse_results(results, limit, table.weights, load_site_rules()), failures)


def _unanswered(failures: Mapping[str, str], environ: Mapping[str, str]) -> SearchUnanswered:
    """Return the problem that no provider answers: one only, where there is no network."""
    if len(failures) > 1 and set(failures.values()) == {UNREACHABLE}:
        hint = "check the network of this machine"
        return SearchUnanswered(ErrorCode.SEARCH_UNAVAILABLE, {"web": ALL_UNREACHABLE}, hint=hint)
    lacking = [
        variable
        for name in failures
        for variable in DECLARATIONS[name].needed_variables
        if not environ.get(variable, "").strip()
    ]
    needed = [one for each in DECLARATIONS.values() for one in each.needed_variables]
    hint = f"set one of {', '.join(lacking or needed)}, or look at what each of them says"
    return SearchUnanswered(ErrorCode.SEARCH_UNAVAILABLE, failures, hint=hint)


async def is_any_reachable(names: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Tell whether any of some providers takes connections, as where there is a network.

    It takes as long as the quickest of them, or at most two seconds.
    """
    urls = [httpx.URL(read_access(DECLARATIONS[name], environ).address) for name in names]
    if any(is_private_host(url.host) for url in urls):
        return True
    tests = [is_reachable(url.host, url.port or 443) for url in urls]
    for test in asyncio.as_completed(tests):
        if await test:
            return True
    return False


class _Question(NamedTuple):
    """What all providers are asked."""

    query: str
    limit: int
    topic: Topic
    environ: Mapping[str, str]
    table: SearchTable


_Answer = list[SearchHit] | Problem
"""What one provider has found, or why it has not."""


class _Round:
    """One query on its way to several providers."""

    def __init__(self, question: _Question) -> None:
        self.question = question
        self.started = time.monotonic()
        self.asked_at: dict[str, float] = {}
        """When it was the turn of each provider."""
        self.granted: float | None = None
        """How long a provider may take, now that one has found something."""

    def note(self, name: str, answer: _Answer) -> None:
        """Take down that a provider has answered; what it took is enough for the others too."""
        if self.granted is None and answer and not isinstance(answer, Problem):
            took = time.monotonic() - self.asked_at.get(name, self.started)
            self.granted = max(self.question.table.grace, took)

    def deadline(self, name: str) -> float:
        """Return until when a provider is waited for."""
        latest = self.started + self.question.table.seconds
        if self.granted is None or name not in self.asked_at:
            return latest
        return min(latest, self.asked_at[name] + self.granted)


async def _ask_all(names: Sequence[str], question: _Question) -> dict[str, _Answer]:
    """Ask providers side by side; a slow one costs no more than its share of the time.

    Returns:
        What each has found, or why it has not, in the order of the names.
    """
    begun = _Round(question)
    tasks = {name: asyncio.create_task(_ask(name, begun)) for name in names}
    answers: dict[str, _Answer] = {}
    try:
        while left := [name for name in names if name not in answers]:
            next_deadline = min(map(begun.deadline, left))
            waiting = [tasks[name] for name in left]
            seconds = max(0.0, next_deadline - time.monotonic())
            await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            for name in left:
                if tasks[name].done():
                    answers[name] = tasks[name].result()
                    begun.note(name, answers[name])
                elif begun.deadline(name) <= time.monotonic():
                    answers[name] = Problem(ErrorCode.SEARCH_UNAVAILABLE, TOO_SLOW)
    finally:
        await _cancel([task for task in tasks.values() if not task.done()])
    return {name: answers[name] for name in names}


async def _cancel(tasks: Sequence[asyncio.Task[_Answer]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _ask(name: str, begun: _Round) -> _Answer:
    """Ask one provider when it is its turn; a problem is returned, as the others go on."""
    question = begun.question
    try:
        provider = SEARCH_PROVIDERS[name](question.environ)
        async with _turn_of(name, question):
            begun.asked_at[name] = time.monotonic()
            return await provider.search(question.query, question.limit, question.topic)
    except Problem as problem:
        return problem


_QUEUE = 0.75
"""The share of its time that a query may wait for its turn at a provider."""


@asynccontextmanager
async def _turn_of(name: str, question: _Question) -> AsyncIterator[None]:
    """Wait until a provider may be asked, as all branches of the process have to.

    A server in a private network is the person's own, and has neither a pace nor a test.

    Raises:
        Problem: `search_unavailable` if it cannot be reached, `site_busy` if its turn is far away.
    """
    declaration, table = DECLARATIONS[name], question.table
    url = httpx.URL(read_access(declaration, question.environ).address)
    if is_private_host(url.host):
        yield
        return
    if not await is_reachable(url.host, url.port or 443):
        raise Problem(ErrorCode.SEARCH_UNAVAILABLE, UNREACHABLE)
    rate = table.rates.get(name) or declaration.allowed_rate(question.environ)
    in_turn = declaration.concurrent_requests
    # Who wants one request after the other gets no bursts either.
    pace = get_pace(f"provider {name}", rate, 1 if in_turn else max(1, int(rate * _BURST)))
    async with take_turn(f"provider {name}", pace, in_turn or _AT_ONCE, table.seconds * _QUEUE):
        yield


_BURST, _AT_ONCE = 15, 8
"""For how many seconds unused turns are kept, and how many requests may be under way."""
