"""What robots.txt closes is not read, and a host is asked no faster than it wants."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from config.errors import Problem
from tests.loopback import Asked, Loopback, moved, reply, serving
from tests.places import new_process
from tools.web import download as downloads
from tools.web import pace as paces
from tools.web import robots
from tools.web.fetch import fetch_page
from tools.web.pace import get_host_pace

PUBLIC = "93.184.215.14"
PAGE = f"<html><title>Bees</title><body><p>{'Bees dance on the comb. ' * 9}</p></body></html>"
Answer = Callable[[Asked], bytes]


async def public(host: str, port: int) -> list[str]:
    """Every name has an address of the open web, which leads to the server of the test."""
    return [PUBLIC]


@asynccontextmanager
async def web(
    monkeypatch: pytest.MonkeyPatch, rules: bytes | str, page: Answer = lambda _: reply(PAGE)
) -> AsyncIterator[Loopback]:
    """A server of the open web with a robots.txt."""

    def answer(asked: Asked) -> bytes:
        if asked.target == "/robots.txt":
            return rules if isinstance(rules, bytes) else reply(rules, mime="text/plain")
        return page(asked)

    async with serving(answer) as server:

        class Wire(httpx.AsyncHTTPTransport):
            async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
                assert request.url.host == PUBLIC
                url = request.url.copy_with(scheme="http", host="127.0.0.1", port=server.port)
                wired = httpx.Request(
                    request.method, url, headers=request.headers, stream=request.stream
                )
                return await super().handle_async_request(wired)

        monkeypatch.setattr(downloads, "_network", lambda: Wire(trust_env=False))
        yield server


async def code_of(url: str) -> str:
    try:
        await fetch_page(url, resolve=public)
    except Problem as problem:
        return problem.code
    return "read"


def targets(server: Loopback) -> list[str]:
    return [asked.target for asked in server.asked]


def block(home: Path, site: str) -> None:
    """Put a site on the list of those that may not be read."""
    home.mkdir(exist_ok=True)
    (home / "search.toml").write_text(f'[sites]\nblock = ["{site}"]\n')
    new_process()


RULES = """\
User-agent: *
Disallow: /private
Allow: /private/open$

User-agent: dossier
Disallow: /not-for-dossier
Disallow: /*.pdf$
"""


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/", "read"),
        ("/private", "read"),
        ("/not-for-dossier/x", "robots_refused"),
        ("/a/b.pdf", "robots_refused"),
        ("/a/b.pdf?x=1", "read"),
    ],
)
async def test_the_rules_for_this_program_count(monkeypatch, path, code):
    async with web(monkeypatch, RULES) as server:
        assert await code_of(f"http://bees.example{path}") == code

    assert targets(server) == ["/robots.txt", *([path] if code == "read" else [])]


async def test_the_longest_rule_decides_for_all_programs(monkeypatch):
    rules = "User-agent: *\nDisallow: /private\nAllow: /private/open$\n"
    async with web(monkeypatch, rules):
        assert await code_of("http://bees.example/private/x") == "robots_refused"
        assert await code_of("http://bees.example/private/open") == "read"


async def test_a_server_is_asked_once_for_its_rules_however_many_pages_are_read(monkeypatch):
    async with web(monkeypatch, "User-agent: *\nDisallow:\n") as server:
        pages = [code_of(f"http://bees.example/{number}") for number in range(4)]
        assert set(await asyncio.gather(*pages)) == {"read"}

    assert targets(server).count("/robots.txt") == 1


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        (reply("no", status="404 Not Found"), "read"),
        (reply("no", status="403 Forbidden"), "read"),
        (reply("no", status="500 Broken"), "robots_refused"),
        (reply(b"\xff\xfe\x00nonsense\n: :\n" * 50), "read"),
        (reply("<html>no rules here</html>"), "read"),
    ],
    ids=["missing", "forbidden", "broken", "garbage", "page"],
)
async def test_a_server_without_rules_is_open_and_one_out_of_order_is_closed(
    monkeypatch, rules, code
):
    async with web(monkeypatch, rules):
        assert await code_of("http://bees.example/a") == code


async def test_each_hop_of_a_redirect_obeys_the_rules_of_its_own_server(monkeypatch):
    rules = "User-agent: *\nDisallow: /closed\n"

    def page(asked: Asked) -> bytes:
        return moved("/closed/x") if asked.target == "/open" else reply(PAGE)

    async with web(monkeypatch, rules, page) as server:
        assert await code_of("http://bees.example/open") == "robots_refused"

    assert targets(server) == ["/robots.txt", "/open"]


async def test_an_installation_may_leave_robots_unasked(monkeypatch):
    monkeypatch.setenv("DOSSIER_ROBOTS", "false")
    new_process()
    async with web(monkeypatch, "User-agent: *\nDisallow: /\n") as server:
        assert await code_of("http://bees.example/a") == "read"

    assert targets(server) == ["/a"]


async def test_a_delay_between_pages_is_kept_up_to_what_the_table_grants(monkeypatch):
    async with web(monkeypatch, "User-agent: *\nCrawl-delay: 2\n"):
        await code_of("http://bees.example/a")
    async with web(monkeypatch, "User-agent: *\nCrawl-delay: 900\n"):
        await code_of("http://wasps.example/a")

    assert get_host_pace("bees.example").interval == 2.0
    assert get_host_pace("wasps.example").interval == 3.0


async def test_a_busy_server_is_asked_again_when_it_says_so_and_not_before(monkeypatch):
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(paces.asyncio, "sleep", sleep)
    answers = [reply("", "retry-after: 2", status="429 Slow down"), reply(PAGE)]
    async with web(monkeypatch, "", lambda _: answers.pop(0)) as server:
        assert await code_of("http://bees.example/a") == "read"

    assert targets(server) == ["/robots.txt", "/a", "/a"]
    assert 1.5 < max(waits) <= 2.0


async def test_a_server_that_wants_to_be_left_alone_for_long_is_left_alone_by_all(monkeypatch):
    refused = reply("", "retry-after: 120", status="503 Busy")
    async with web(monkeypatch, "", lambda _: refused) as server:
        assert await code_of("http://bees.example/a") == "page_unavailable"
        assert await code_of("http://bees.example/b") == "site_busy"

    assert targets(server) == ["/robots.txt", "/a"]


async def test_a_blocked_site_is_not_even_asked_for_its_rules(monkeypatch, home: Path):
    block(home, "bees.example")

    async with web(monkeypatch, "") as server:
        assert await code_of("http://www.bees.example/a") == "site_blocked"

    assert server.asked == []


async def test_a_redirect_to_a_blocked_site_ends_there(monkeypatch, home: Path):
    block(home, "spam.example")

    async with web(monkeypatch, "", lambda _: moved("http://spam.example/x")) as server:
        assert await code_of("http://bees.example/a") == "site_blocked"

    assert targets(server) == ["/robots.txt", "/a"]


async def test_rules_are_asked_for_again_after_an_hour(monkeypatch):
    now = 1_000.0
    monkeypatch.setattr(robots.time, "monotonic", lambda: now)
    asked: list[str] = []

    async def ask(url: str) -> robots.RobotsAnswer:
        asked.append(url)
        return robots.RobotsAnswer(200, "User-agent: *\nDisallow: /x")

    url = httpx.URL("https://bees.example:8443/a?b=c#d")
    await robots.check_robots(url, ask)
    now += robots.FRESH - 1
    await robots.check_robots(url, ask)
    now += 2
    await robots.check_robots(url, ask)

    assert asked == ["https://bees.example:8443/robots.txt"] * 2
