"""Providers are asked side by side, and none of them holds up or spoils a search."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from config.errors import ErrorCode, Problem
from tools.web import federated_search as searching
from tools.web import reachability
from tools.web.federated_search import WebHits, is_any_reachable, search_web
from tools.web.providers.provider import SearchHit
from tools.web.providers.provider_registry import SearchUnanswered

Find = Callable[[str], Awaitable[list[SearchHit]]]
HOME = {"TAVILY_API_KEY": "x", "BRAVE_API_KEY": "x", "SEARXNG_URL": "http://127.0.0.1:1"}
HOME |= {f"DOSSIER_{name}_URL": "http://127.0.0.1:1" for name in ("TAVILY", "BRAVE", "DUCKDUCKGO")}


def hits(*urls: str) -> list[SearchHit]:
    return [SearchHit(url=url, title="", snippet="") for url in urls]


def after(seconds: float, *urls: str, fails: str = "") -> Find:
    async def find(query: str) -> list[SearchHit]:
        await asyncio.sleep(seconds)
        if fails:
            raise Problem(ErrorCode.SEARCH_UNAVAILABLE, fails)
        return hits(*urls)

    return find


@pytest.fixture
def providers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Find]:
    """What each provider finds; a test fills it in."""
    found: dict[str, Find] = {}

    class Provider:
        def __init__(self, name: str) -> None:
            self.name = name

        async def search(self, query: str, limit: int, topic: str) -> list[SearchHit]:
            return await found[self.name](query)

    made = {name: lambda _, name=name: Provider(name) for name in searching.SEARCH_PROVIDERS}
    monkeypatch.setattr(searching, "SEARCH_PROVIDERS", made)
    return found


async def search(*names: str, **options: Any) -> tuple[WebHits, float]:
    started = time.monotonic()
    found = await search_web(names, "bees", 5, options.pop("environ", HOME), **options)
    return found, time.monotonic() - started


async def test_a_slow_provider_costs_its_share_and_is_named(providers):
    providers |= {"searxng": after(0.0, "https://a.org/"), "tavily": after(60)}

    found, took = await search("searxng", "tavily")

    assert [hit["url"] for hit in found.hits] == ["https://a.org/"]
    assert found.failures == {"tavily": "it is too slow"}
    assert 0.9 < took < 3


async def test_a_provider_that_needs_as_long_as_the_first_one_is_waited_for(providers):
    providers |= {"searxng": after(0.6, "https://a.org/"), "tavily": after(1.0, "https://b.org/")}

    found, _ = await search("searxng", "tavily")

    assert len(found.hits) == 2


async def test_one_that_finds_nothing_at_once_does_not_cut_the_others_short(providers):
    providers |= {"searxng": after(0.0), "tavily": after(1.4, "https://b.org/")}

    found, _ = await search("searxng", "tavily")

    assert [hit["url"] for hit in found.hits] == ["https://b.org/"]


async def test_a_failing_provider_leaves_what_the_others_found(providers):
    providers |= {"searxng": after(0, fails="it broke"), "tavily": after(0, "https://b.org/")}

    found, _ = await search("searxng", "tavily")

    assert found.failures == {"searxng": "it broke"}
    assert len(found.hits) == 1


async def test_where_all_fail_each_is_named_with_its_reason(providers):
    providers |= {"searxng": after(0, fails="it broke"), "tavily": after(0, fails="it is full")}

    with pytest.raises(SearchUnanswered) as problem:
        await search("searxng", "tavily")

    assert problem.value.failures == {"searxng": "it broke", "tavily": "it is full"}


async def test_providers_that_are_not_asked_for_a_query_cost_nothing(providers):
    asked: list[str] = []

    def noting(name: str) -> Find:
        async def find(query: str) -> list[SearchHit]:
            asked.append(name)
            return hits(f"https://{name}.org/")

        return find

    providers |= {name: noting(name) for name in ("searxng", "tavily", "brave")}
    await search("searxng", "tavily", "brave", chosen=False)
    assert asked == ["searxng", "tavily"]

    asked.clear()
    await search("searxng", "tavily", "brave")
    assert asked == ["searxng", "tavily", "brave"]


async def test_without_a_network_a_search_fails_at_once_with_one_reason(providers, monkeypatch):
    tried: list[str] = []

    def unreachable(host: str, port: int) -> bool:
        tried.append(host)
        return False

    monkeypatch.setattr(reachability, "_try", unreachable)
    for _ in range(3):
        with pytest.raises(SearchUnanswered) as problem:
            await search("duckduckgo", "wikipedia", environ={})
        assert list(problem.value.failures) == ["web"]

    assert len(tried) == 2


async def test_a_server_that_never_takes_the_connection_is_given_up_and_remembered(monkeypatch):
    monkeypatch.setattr(reachability, "CONNECT_SECONDS", 0.2)
    monkeypatch.setattr(reachability, "_try", lambda *_: time.sleep(1.0) or True)

    started = time.monotonic()
    answers = [await is_any_reachable(["duckduckgo"], {}) for _ in range(3)]

    assert answers == [False] * 3
    assert time.monotonic() - started < 0.6


async def test_queries_of_all_branches_wait_for_their_turn_at_a_provider(providers, monkeypatch):
    monkeypatch.setattr(reachability, "_try", lambda *_: True)
    begun: list[float] = []

    async def find(query: str) -> list[SearchHit]:
        begun.append(time.monotonic())
        return hits("https://a.org/")

    providers["duckduckgo"] = find
    await asyncio.gather(*(search("duckduckgo", environ={}) for _ in range(3)))

    assert 1.5 < begun[-1] - begun[0] < 4


async def test_a_query_whose_turn_is_far_away_goes_on_without_that_provider(providers, monkeypatch):
    monkeypatch.setattr(reachability, "_try", lambda *_: True)
    monkeypatch.setattr(searching, "_QUEUE", 0.01)
    providers |= {"duckduckgo": after(0, "https://a.org/"), "tavily": after(0, "https://b.org/")}
    environ = {name: value for name, value in HOME.items() if "DUCKDUCKGO" not in name}

    await search("duckduckgo", "tavily", environ=environ)
    found, took = await search("duckduckgo", "tavily", environ=environ)

    assert [hit["url"] for hit in found.hits] == ["https://b.org/"]
    assert "may be asked again" in found.failures["duckduckgo"]
    assert took < 1
