"""Count how often a canary on loopback is reached by addresses that lead there.

Sixty addresses (every spelling of loopback, private networks, cloud metadata, other ports and
schemes) are delivered in six ways: directly, by a redirect, by two redirects, by a page that leads
on, by a robots.txt that redirects, and by a name that changes its answer between check and use;
with `--browser` some of them also to a browser that renders them. A canary listens on 127.0.0.1 and
::1. One hit is one too many.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import httpx

from config.errors import Problem
from config.resources import replace_resources
from tests.loopback import Asked, Loopback, moved, reply, serving
from tests.unit.test_transport import FORBIDDEN, NAMES, PUBLIC
from tools.web import download as downloads
from tools.web.browser_reader import render_in_browser
from tools.web.download import Download, FetchLimits
from tools.web.fetch import fetch_page
from tools.web.transport import resolve_host

ADDRESSES = 60
"""How many addresses are tried, all of `FORBIDDEN` if there are fewer."""

LIMITS = FetchLimits(seconds=10, reading=10)

Way = Callable[[str], Awaitable[object]]


class OpenWeb:
    """An open web of one server, whose pages lead where they are told to."""

    def __init__(self) -> None:
        self.target = ""
        self.server: Loopback | None = None

    def answer(self, asked: Asked) -> bytes:
        """Lead to the target in the way that the path names."""
        path = asked.target.partition("?")[0]
        if path == "/robots.txt":
            return moved(self.target) if "robots" in asked.headers["host"] else reply("")
        if path == "/redirect":
            return moved(self.target)
        if path == "/hop":
            return moved("http://public.example/redirect")
        if path == "/refresh":
            return reply(f'<meta http-equiv="refresh" content="0; url={self.target}">')
        return reply(f"<p>{'Bees dance on the comb. ' * 9}</p>")

    def network(self) -> httpx.AsyncBaseTransport:
        """Return the real network, with this server at the public address."""
        server = self.server

        class Wire(httpx.AsyncHTTPTransport):
            async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
                if request.url.host != PUBLIC or server is None:
                    return await super().handle_async_request(request)
                url = request.url.copy_with(scheme="http", host="127.0.0.1", port=server.port)
                wired = httpx.Request(
                    request.method, url, headers=request.headers, stream=request.stream
                )
                return await super().handle_async_request(wired)

        return Wire(trust_env=False)


async def names(host: str, port: int) -> Sequence[str]:
    """Look up the names of the test; all others as the system does."""
    if host in NAMES:
        return NAMES[host]
    if host.endswith("public.example"):
        return [PUBLIC]
    return await resolve_host(host, port)


def rebinding() -> Callable[[str, int], Awaitable[Sequence[str]]]:
    """Return a resolver that says something public first, and loopback from then on."""
    asked: Counter[str] = Counter()

    async def resolve(host: str, port: int) -> Sequence[str]:
        asked[host] += 1
        return [PUBLIC] if asked[host] == 1 else ["127.0.0.1"]

    return resolve


def make_ways(outside: OpenWeb, canary: Loopback, *, browser: bool) -> dict[str, Way]:
    """Return the ways in which an address is delivered, by their names."""

    async def fetch(path: str, url: str, host: str = "public.example") -> object:
        outside.target = url
        return await fetch_page(f"http://{host}{path}", LIMITS, resolve=names)

    async def rebound(url: str) -> object:
        return await fetch_page(
            f"http://rebound.example:{canary.port}/", LIMITS, resolve=rebinding()
        )

    ways: dict[str, Way] = {
        "directly": lambda url: fetch_page(url, LIMITS, resolve=names),
        "by a redirect": lambda url: fetch("/redirect", url),
        "by two redirects": lambda url: fetch("/hop", url),
        "by a page that leads on": lambda url: fetch("/refresh", url),
        "by a robots.txt": lambda url: fetch("/page", url, "robots.public.example"),
        "by a changing name": rebound,
    }
    if browser:
        ways["in a browser"] = lambda url: render_in_browser(
            url, Download(LIMITS, resolve=names), "chromium"
        )
    return ways


async def count_hits(*, browser: bool) -> Counter[str]:
    """Return how often the canary was asked, by the way of delivery."""
    hits: Counter[str] = Counter()
    outside = OpenWeb()
    async with serving(lambda _: reply("canary")) as canary, serving(outside.answer) as server:
        outside.server = server
        downloads._network = outside.network  # type: ignore[assignment]
        addresses = [one.replace("{port}", str(canary.port)) for one in FORBIDDEN[:ADDRESSES]]
        for name, deliver in make_ways(outside, canary, browser=browser).items():
            for url in addresses[:6] if name == "in a browser" else addresses:
                # Each address finds a process that knows no server yet.
                replace_resources().close()
                before = len(canary.asked)
                with suppress(Problem):
                    await deliver(url)
                hits[name] += len(canary.asked) - before
    return hits


async def count_unguarded() -> int:
    """Return how many of the addresses reach the canary where private ones are allowed."""
    async with serving(lambda _: reply("canary")) as canary:
        for one in FORBIDDEN[:ADDRESSES]:
            url = one.replace("{port}", str(canary.port))
            with suppress(Problem):
                await fetch_page(url, LIMITS, resolve=names, allow_private=True)
        return len(canary.asked)


def main() -> None:
    """Print the hits of each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--browser", action="store_true", help="also as pages for a browser")
    options = parser.parse_args()
    if options.browser and not shutil.which("chromium"):
        parser.error("there is no chromium")
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"DOSSIER_HOME": home}
        unguarded = asyncio.run(count_unguarded())
        hits = asyncio.run(count_hits(browser=options.browser))
    print(f"without the guard the canary is reached {unguarded} times")
    for name, count in hits.items():
        print(f"{name:26} {count}")
    print(f"{sum(hits.values())} canary hits of {len(hits)} ways × {ADDRESSES} addresses")


if __name__ == "__main__":
    main()
