"""Honour robots.txt: ask each server once which of its pages a program may read (RFC 9309)."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

import httpx

from config.errors import ErrorCode, Problem
from config.resources import RecentCache, Resource, SharedTasks
from config.search_table import load_search_table
from config.settings import settings
from tools.web.pace import get_host_pace
from tools.web.transport import is_private_host
from tools.web.urls import redact_url

if TYPE_CHECKING:
    from protego import Protego

AGENT = "Dossier"
"""The name by which robots.txt may address this program."""

LARGEST = 512_000
"""The most bytes of a robots.txt that are read; the RFC asks for at least 500 KiB."""

FRESH, FRESH_FAILURE = 3_600.0, 60.0
"""For how many seconds an answer counts: the rules, and that the server is out of order."""

_KNOWN = 2_000


class RobotsAnswer(NamedTuple):
    """What a server answers when it is asked for its robots.txt."""

    status: int
    text: str = ""


AskRobots = Callable[[str], Awaitable[RobotsAnswer]]
"""Fetches the robots.txt at an address."""


class _Rules(NamedTuple):
    """What is known of one server; without a parser all pages may be read, or none."""

    until: float
    parser: Protego | None
    allows_all: bool = True

    def allow(self, url: str) -> bool:
        return self.parser.can_fetch(url, AGENT) if self.parser else self.allows_all


_known: Resource[RecentCache[str, _Rules]] = Resource(lambda: RecentCache(_KNOWN))
_asking = SharedTasks[str, _Rules]()


async def check_robots(url: httpx.URL, ask: AskRobots) -> None:
    """Refuse a page that its server does not want to be read by programs.

    Servers of private networks are not asked: their rules are meant for search engines outside.

    Args:
        url: The address of the page.
        ask: Fetches a robots.txt, with the same guards as the page itself.

    Raises:
        Problem: `robots_refused`; whatever `ask` raises, if the server cannot be reached.
    """
    if not settings().robots or is_private_host(url.host):
        return
    origin = str(url.copy_with(path="/robots.txt", query=None, fragment=None))
    rules = _known.get().get(origin)
    if rules is None or rules.until < time.monotonic():
        rules = await _asking.run(origin, lambda: _read_rules(origin, url.host, ask))
    if not rules.allow(str(url)):
        what = "its robots.txt does not allow programs to read it"
        raise Problem(ErrorCode.ROBOTS_REFUSED, what, where=redact_url(str(url)))


async def _read_rules(origin: str, host: str, ask: AskRobots) -> _Rules:
    """Ask a server for its rules, and remember them."""
    answer = await ask(origin)
    now = time.monotonic()
    if answer.status == 200:
        rules = _Rules(now + FRESH, _parse_robots(answer.text))
        _keep_crawl_delay(host, rules.parser)
    elif answer.status >= 500:
        # A server that is out of order may have rules (RFC 9309, 2.3.1.4).
        rules = _Rules(now + FRESH_FAILURE, None, allows_all=False)
    else:
        rules = _Rules(now + FRESH, None)
    _known.get()[origin] = rules
    return rules


def _parse_robots(text: str) -> Protego:
    """Return the rules of a robots.txt; lines that are none are ignored."""
    from protego import Protego  # noqa: PLC0415 - only where the web is read

    return Protego.parse(text)


def _keep_crawl_delay(host: str, parser: Protego | None) -> None:
    """Slow down as a server asks, within what `search.toml` grants."""
    delay = parser.crawl_delay(AGENT) if parser else None
    if delay and delay > 0:
        get_host_pace(host).slow_down(min(delay, load_search_table().hosts.crawl_delay))
