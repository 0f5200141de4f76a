"""Search the web with several providers side by side, and join what they find."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import httpx

from config.errors import ErrorCode, Problem
from config.search_table import load_search_table
from tools.web.pace import get_pace
from tools.web.provider_choice import choose_query_providers
from tools.web.providers.provider import SearchHit, read_access
from tools.web.providers.provider_registry import (
    DECLARATIONS,
    SEARCH_PROVIDERS,
    SearchUnanswered,
    check_provider_names,
)
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
    asked = choose_query_providers(names, wanted, chosen=chosen)
    answers = await _ask_all(asked, wanted, limit * MORE_THAN_WANTED, environ)
    failures = {name: one.what for name, one in answers.items() if isinstance(one, Problem)}
    results = {name: one for name, one in answers.items() if not isinstance(one, Problem)}
    if not results:
        raise _unanswered(failures, environ)
    table = load_search_table()
    return WebHits(fuse_results(results, limit, table.weights, load_site_rules()), failures)


def _unanswered(failures: Mapping[str, str], environ: Mapping[str, str]) -> SearchUnanswered:
    """Return the problem that no provider answers; without a network it is one, not one for each."""
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


async def _ask_all(
    names: Sequence[str], query: str, limit: int, environ: Mapping[str, str]
) -> dict[str, list[SearchHit] | Problem]:
    """Ask providers side by side; one that is slow is not waited for when others have found much.

    Returns:
        What each has found, or why it has not, in the order of the names.
    """
    table = load_search_table()
    started = time.monotonic()
    tasks = {
        name: asyncio.create_task(_ask(name, query, limit, environ, table.seconds))
        for name in names
    }
    answers: dict[str, list[SearchHit] | Problem] = {}
    until = started + table.seconds
    try:
        while len(answers) < len(tasks):
            left = until - time.monotonic()
            waiting = [task for name, task in tasks.items() if name not in answers]
            done, _ = await asyncio.wait(
                waiting, timeout=max(0.0, left), return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                break
            for name, task in tasks.items():
                if task in done:
                    answers[name] = task.result()
                    if answers[name] and not isinstance(answers[name], Problem):
                        now = time.monotonic()
                        until = min(until, now + max(table.grace, now - started))
    finally:
        await _cancel([task for task in tasks.values() if not task.done()])
    slow = Problem(ErrorCode.SEARCH_UNAVAILABLE, TOO_SLOW)
    return {name: answers.get(name, slow) for name in names}


async def _cancel(tasks: Sequence[asyncio.Task[list[SearchHit] | Problem]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _ask(
    name: str, query: str, limit: int, environ: Mapping[str, str], patience: float
) -> list[SearchHit] | Problem:
    """Ask one provider when it is its turn; a problem is returned, as the others go on."""
    try:
        provider = SEARCH_PROVIDERS[name](environ)
        if not await _await_turn(name, environ, patience):
            return Problem(ErrorCode.SEARCH_UNAVAILABLE, UNREACHABLE)
        return await provider.search(query, limit)
    except Problem as problem:
        return problem


async def _await_turn(name: str, environ: Mapping[str, str], patience: float) -> bool:
    """Wait until a provider may be asked again; return whether it can be reached at all.

    A server in a private network is the person's own, and has neither a pace nor a test.

    Raises:
        Problem: `site_busy` if it would take longer than `patience` seconds.
    """
    declaration = DECLARATIONS[name]
    url = httpx.URL(read_access(declaration, environ).address)
    if is_private_host(url.host):
        return True
    if not await is_reachable(url.host, url.port or 443):
        return False
    pace = get_pace(f"provider {name}", declaration.allowed_rate(environ))
    await asyncio.sleep(pace.reserve(patience))
    return True
