"""A search asks one provider after the other and tells no keys."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from pydantic import SecretStr

from config.errors import Problem
from tests.loopback import Asked, reply, serving
from tools.web.federated_search import search_web
from tools.web.providers.brave import Brave
from tools.web.providers.provider import ProviderAccess
from tools.web.providers.provider_registry import (
    list_available_providers,
    list_configured_providers,
)
from tools.web.providers.searxng import SearXNG
from tools.web.providers.tavily import Tavily

KEY = "tvly-c4n4ry"


def access(url: str, key: str = KEY) -> ProviderAccess:
    return ProviderAccess(SecretStr(url), SecretStr(key))


def found(*urls: str) -> list[dict[str, str]]:
    return [{"url": url, "title": f"T {url}", "content": "words"} for url in urls]


def answer_of(value: object, *headers: str, status: str = "200 OK") -> bytes:
    return reply(json.dumps(value), *headers, mime="application/json", status=status)


def results(*urls: str) -> bytes:
    return answer_of({"results": found(*urls)})


async def failure(answer: object, limit: int = 5) -> Problem:
    async with serving(lambda _: answer) as server:
        with pytest.raises(Problem) as problem:
            await search_web(["searxng"], "bees", limit, {"SEARXNG_URL": server.url})
    assert problem.value.code == "search_unavailable"
    return problem.value


async def test_searxng_is_asked_for_json_and_its_results_become_hits():
    async with serving(lambda _: results("https://a.example/1")) as server:
        hits = await SearXNG(access(f"{server.url}/")).search("bees & honey", 5)

    assert server.asked[0].target == "/search?q=bees+%26+honey&format=json"
    assert hits == [
        {"url": "https://a.example/1", "title": "T https://a.example/1", "snippet": "words"}
    ]


async def test_the_user_and_password_of_a_searxng_server_are_sent_to_it():
    async with serving(lambda _: results("https://a.example")) as server:
        await SearXNG(access(server.url.replace("//", "//ada:secret@"))).search("bees", 5)

    assert server.asked[0].headers["authorization"] == "Basic YWRhOnNlY3JldA=="


async def test_tavily_is_asked_with_the_key_in_a_header():
    async with serving(lambda _: results("https://a.example/1")) as server:
        hits = await Tavily(access(server.url)).search("b" * 900, 50)

    asked = server.asked[0]
    assert asked.method == "POST"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(asked.body) == {"query": "b" * 400, "max_results": 20}
    assert hits[0]["snippet"] == "words"


async def test_brave_is_asked_with_the_key_in_a_header_and_its_marks_are_taken_out():
    page = {
        "url": "https://a.example",
        "title": "A &amp; B",
        "description": "<strong>bees</strong>",
    }

    async with serving(lambda _: answer_of({"web": {"results": [page]}})) as server:
        hits = await Brave(access(server.url)).search("bee " * 80, 7)

    asked = server.asked[0]
    assert asked.headers["x-subscription-token"] == KEY
    assert asked.target == f"/web/search?q={'+'.join(['bee'] * 50)}&count=7"
    assert hits == [{"url": "https://a.example", "title": "A & B", "snippet": "bees"}]


async def test_an_answer_of_brave_without_web_pages_has_found_nothing():
    async with serving(lambda _: answer_of({"type": "search"})) as server:
        assert await Brave(access(server.url)).search("bees", 5) == []


async def test_only_what_is_configured_is_available():
    environ = {"SEARXNG_URL": "http://x", "TAVILY_API_KEY": " ", "BRAVE_API_KEY": "k", "A": "b"}

    assert list_configured_providers(environ) == ["searxng", "brave"]
    assert {"searxng", "brave"} <= set(list_available_providers(environ))
    assert list_configured_providers({}) == []


BAD = {
    "an HTML page": reply("<html><h1>It works</h1>"),
    "an empty body": reply("", mime="application/json"),
    "a list": answer_of([1, 2]),
    "a string": answer_of("results"),
    "half an object": reply('{"results": [', mime="application/json"),
    "deep nesting": reply("[" * 200_000, mime="application/json"),
    "no results": answer_of({"error": "limit"}),
    "results that are no list": answer_of({"results": {"url": "https://a.example"}}),
    "a huge number": reply('{"results": ' + "9" * 10_000 + "}", mime="application/json"),
    "bytes": reply(bytes(range(256)), mime="application/json"),
    "forbidden": answer_of({}, status="403 Forbidden"),
    "a redirect": reply("", "location: https://example.com", status="301 Moved"),
    "no HTTP": b"SSH-2.0-OpenSSH\r\n",
    "no engines": answer_of({"results": [], "unresponsive_engines": [["g", "timeout"]]}),
}


@pytest.mark.parametrize("name", BAD)
async def test_an_answer_that_is_not_what_was_promised_is_a_failure(name):
    await failure(BAD[name])


async def test_a_hundred_megabytes_of_json_are_not_read():
    async def flood() -> AsyncIterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
        for _ in range(1600):
            yield b"10000\r\n" + b" " * 65_536 + b"\r\n"

    assert "MB" in (await failure(flood())).what


async def test_ten_thousand_results_are_cut_to_the_limit():
    urls = [f"https://a.example/{number}" for number in range(10_000)]

    async with serving(lambda _: results(*urls)) as server:
        hits, _ = await search_web(["searxng"], "bees", 5, {"SEARXNG_URL": server.url})

    assert [hit["url"] for hit in hits] == urls[:5]


async def test_results_that_cannot_be_opened_are_left_out():
    odd = [None, 7, "x", {}, {"url": None}, {"url": "javascript:alert(1)"}, {"url": "file:///etc"}]
    odd += [{"url": f"https://a.example/{end}"} for end in (" b", "\ud800", "\x1b[2J", "a" * 5000)]
    good = {"url": "https://a.example", "title": None, "content": ["no", "text"]}

    async with serving(lambda _: answer_of({"results": [*odd, good]})) as server:
        hits, _ = await search_web(["searxng"], "bees", 5, {"SEARXNG_URL": server.url})

    assert hits == [{"url": "https://a.example", "title": "", "snippet": ""}]


async def test_titles_and_snippets_are_cut_and_stand_on_one_line():
    long = {"url": "https://a.example", "title": "a\n\t\ud800\x1bb" * 999, "content": "c " * 9999}

    async with serving(lambda _: answer_of({"results": [long]})) as server:
        hits, _ = await search_web(["searxng"], "bees", 5, {"SEARXNG_URL": server.url})

    assert len(hits[0]["title"]) == 300
    assert len(hits[0]["snippet"]) == 2000
    assert hits[0]["title"].startswith("a ba ba b")


@pytest.mark.parametrize("status", ["429 Slow down", "500 Oh", "503 Busy"])
async def test_a_busy_server_is_asked_once_more_after_the_time_it_names(status):
    answers = [answer_of({}, "retry-after: 0", status=status), results("https://a.example")]

    async with serving(lambda _: answers.pop(0)) as server:
        hits, _ = await search_web(["searxng"], "bees", 5, {"SEARXNG_URL": server.url})

    assert hits[0]["url"] == "https://a.example"


async def test_a_server_that_stays_busy_is_asked_twice_and_no_more():
    busy = answer_of({}, "retry-after: 0", status="429 Slow down")

    async with serving(lambda _: busy) as server:
        with pytest.raises(Problem, match="answers 429"):
            await search_web(["searxng"], "bees", 5, {"SEARXNG_URL": server.url})

    assert len(server.asked) == 2


@pytest.mark.parametrize("form", ["11", "99999999999", "date"])
async def test_a_server_that_wants_a_longer_wait_is_not_asked_again(form):
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    wait = later if form == "date" else form

    async with serving(
        lambda _: answer_of({}, f"retry-after: {wait}", status="429 Slow down")
    ) as server:
        with pytest.raises(Problem):
            await search_web(["searxng"], "bees", 5, {"SEARXNG_URL": server.url})

    assert len(server.asked) == 1


@pytest.mark.parametrize("wait", ["0", "Thu, 01 Jan 1998 00:00:00 GMT", "nonsense", "²", "-5"])
async def test_any_other_wait_is_about_a_second_or_none(wait):
    busy = answer_of({}, f"retry-after: {wait}", status="503 Busy")
    answers = [busy, results("https://a.example")]

    start = time.monotonic()
    async with serving(lambda _: answers.pop(0)) as server:
        await search_web(["searxng"], "bees", 5, {"SEARXNG_URL": server.url})

    assert time.monotonic() - start < 20


async def test_a_silent_server_is_left(monkeypatch):
    async def silence() -> AsyncIterator[bytes]:
        await asyncio.sleep(60)
        yield b""

    monkeypatch.setattr("tools.web.providers.provider_requests._SECONDS", 0.3)
    assert "slow" in (await failure(silence())).what


async def test_a_dripping_server_is_left(monkeypatch):
    async def drip() -> AsyncIterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
        while True:
            yield b"1\r\n \r\n"
            await asyncio.sleep(0.05)

    monkeypatch.setattr("tools.web.providers.provider_requests._SECONDS", 0.3)
    assert "slow" in (await failure(drip())).what


async def _with_two(first: bytes, second: bytes) -> list[str]:
    """Return which providers were asked, and end with what the search returns or raises."""

    def answer(asked: Asked) -> bytes:
        return first if asked.method == "GET" else second

    async with serving(answer) as server:
        environ = {
            "SEARXNG_URL": server.url,
            "TAVILY_API_KEY": KEY,
            "DOSSIER_TAVILY_URL": server.url,
        }
        hits, _ = await search_web(["searxng", "tavily"], "bees", 5, environ)
        return [str(len(server.asked)), *(hit["url"] for hit in hits)]


@pytest.mark.parametrize(
    "first",
    [b"", reply("<html>"), answer_of({}, status="403 No"), results(), results("javascript:x")],
    ids=["down", "garbage", "refused", "empty", "unusable"],
)
async def test_what_one_provider_finds_is_enough_when_another_has_nothing(first):
    assert await _with_two(first, results("https://b.example")) == [
        "2",
        "https://b.example",
    ]


async def test_all_providers_that_are_named_are_asked_and_what_they_find_is_joined():
    both = results("https://a.example"), results("https://b.example", "https://a.example/")

    assert await _with_two(*both) == ["2", "https://a.example", "https://b.example"]


async def test_nothing_is_found_where_those_that_answer_find_nothing():
    assert await _with_two(reply("<html>"), results()) == ["2"]


async def test_a_search_that_nobody_answers_names_everyone_and_why():
    with pytest.raises(Problem) as problem:
        await _with_two(reply("<html>"), answer_of({}, status="401 No"))

    assert problem.value.code == "search_unavailable"
    assert problem.value.what == (
        "searxng: its answer cannot be read; tavily: it answers 401 (it does not accept the key)"
    )


async def test_a_search_without_providers_says_what_to_set():
    with pytest.raises(Problem, match="no search provider is chosen") as problem:
        await search_web([], "bees", 5, {})

    assert "TAVILY_API_KEY" in problem.value.hint


async def test_a_provider_without_its_key_is_passed_over_and_named():
    with pytest.raises(Problem, match="BRAVE_API_KEY is not set"):
        await search_web(["brave"], "bees", 5, {})


@pytest.mark.parametrize("value", ["one\ntwo", "schlüssel", "a\x00b"])
async def test_a_key_that_cannot_be_one_is_not_sent_and_not_told(value):
    with pytest.raises(Problem, match="BRAVE_API_KEY has characters") as problem:
        await search_web(["brave"], "bees", 5, {"BRAVE_API_KEY": value})

    assert value not in str(problem.value)


async def test_a_provider_that_does_not_exist_is_a_mistake_and_nothing_is_asked():
    async with serving(lambda _: results("https://a.example")) as server:
        with pytest.raises(Problem) as problem:
            await search_web(["searxng", "gogle"], "bees", 5, {"SEARXNG_URL": server.url})

    assert problem.value.code == "unknown_provider"
    assert "searxng, tavily, brave" in problem.value.hint
    assert server.asked == []


async def test_a_query_without_words_finds_nothing_and_asks_nobody():
    assert await search_web(["brave"], " \n ", 5, {}) == ([], {})


@pytest.mark.parametrize("answer", [b"", reply("<html>"), answer_of({}, status="401 No")])
async def test_no_key_is_told_whatever_goes_wrong(answer, caplog):
    caplog.set_level(logging.DEBUG)
    async with serving(lambda _: answer) as server:
        address = server.url.replace("//", f"//ada:{KEY}@")
        environ = {"SEARXNG_URL": address, "TAVILY_API_KEY": KEY, "BRAVE_API_KEY": f"{KEY}\nx"}
        environ["DOSSIER_TAVILY_URL"] = server.url
        with pytest.raises(Problem) as problem:
            await search_web(["searxng", "tavily", "brave"], "bees", 5, environ)

    told = str(problem.value) + repr(problem.value.as_dict()) + repr(Tavily(access("http://x")))
    assert KEY not in told + repr(SearXNG(access(address))) + repr(Brave(access("http://x")))
    assert KEY not in caplog.text
