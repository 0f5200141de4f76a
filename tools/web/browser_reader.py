"""Render a page in a Chromium that has no network of its own: each request is fetched for it."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from config.errors import ErrorCode, Problem
from config.resources import LoopResource
from tools.web.download import AGENT_HEADER, HTML, Body, Download
from tools.web.transport import read_body
from tools.web.urls import canonicalise_url, redact_url

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page, Playwright, Request, Route

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
"""The programs that `chromium` in the settings stands for."""

MOST_REQUESTS = 150
"""How many parts of a page are fetched."""

MOST_BYTES = 20_000_000
"""How large they may be together."""

_LAUNCH = 20.0
_QUIET = 6.0
"""How many seconds a page may go on loading when it is there."""

# What has no text is not fetched.
_SKIPPED = frozenset(
    {"image", "media", "font", "websocket", "eventsource", "manifest", "texttrack"}
)
_KEPT_HEADERS = ("content-type", "access-control-allow-origin", "access-control-allow-credentials")

# Where Chromium is not cut off by bubblewrap, every connection of its own goes to a dead proxy.
_ARGUMENTS = (
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    "--js-flags=--max-old-space-size=512",
    "--disable-gpu",
)

_ERROR_PAGE = "chrome-error:"
"""What the address of a page begins with by which the browser says that it could not open one."""

_rendering: LoopResource[asyncio.Semaphore] = LoopResource(lambda: asyncio.Semaphore(2))


async def render_in_browser(url: str, download: Download, browser: str) -> Body:
    """Return a page as its scripts have written it.

    Args:
        url: The address of the page, which has passed all checks.
        download: The guard through which its parts come, and what it may cost.
        browser: The path of a Chromium, or `chromium` to look for one.

    Raises:
        Problem: `page_needs_script` if the browser cannot be started; `page_timeout`,
            `page_unavailable`, `url_too_large`.
    """
    program = await asyncio.to_thread(find_browser, browser)
    parts = _PageParts(url, download)
    async with _rendering.get(), _open_page(program) as page:
        await page.context.route("**/*", parts.answer)
        try:
            async with asyncio.timeout(download.limits.seconds):
                return await _render(page, url, parts)
        except TimeoutError as error:
            what = "its scripts do not come to an end"
            raise Problem(ErrorCode.PAGE_TIMEOUT, what) from error


def find_browser(browser: str) -> str:
    """Return the path of a Chromium.

    Raises:
        Problem: `page_needs_script` if there is none.
    """
    names = NAMES if browser == "chromium" else (browser,)
    found = next((path for name in names if (path := shutil.which(name))), None)
    if not found:
        reason = f"there is no browser at {browser!r}"
        raise _no_browser(reason)
    return found


def _no_browser(reason: str) -> Problem:
    what = f"it shows its text only where scripts run; {reason}"
    return Problem(ErrorCode.PAGE_NEEDS_SCRIPT, what)


@dataclass
class _PageParts:
    """Fetches what a page asks for, and counts how much that is."""

    url: str
    download: Download
    requests: int = 0
    size: int = 0
    refused: list[str] = field(default_factory=list)
    """The addresses that were not fetched, and whether any of them is the page itself."""
    opened: dict[str, str] = field(default_factory=dict)
    """The pages that were opened, by the address that was asked for; scripts may lead on."""

    async def answer(self, route: Route) -> None:
        """Answer one request of the browser, or refuse it."""
        asked = route.request
        self.requests += 1
        scheme = asked.url.partition(":")[0].lower()
        if (
            asked.method != "GET"
            or asked.resource_type in _SKIPPED
            or scheme not in {"http", "https"}
            or self.requests > MOST_REQUESTS
            or self.size >= MOST_BYTES
        ):
            await self._refuse(route)
            return
        try:
            await self._fulfil(route, asked)
        except (Problem, httpx.HTTPError, httpx.InvalidURL, TimeoutError, UnicodeError):
            await self._refuse(route)

    def where(self, url: str) -> str:
        """Return the address under which what the browser shows at one was found."""
        known = self.opened.get(url.partition("#")[0])
        return known or next(reversed(self.opened.values()), self.url)

    async def _fulfil(self, route: Route, asked: Request) -> None:
        is_page = asked.is_navigation_request() and asked.frame.parent_frame is None
        parts = Download(
            self.download.limits,
            allow_private=self.download.allow_private,
            resolve=self.download.resolve,
            # Another page to which scripts lead is no part of this one.
            polite=is_page and bool(self.opened),
        )
        async with parts.open_client() as client, parts.answer(client, asked.url) as response:
            if is_page:
                self.opened[asked.url.partition("#")[0]] = canonicalise_url(str(response.url))
            most = min(self.download.limits.page, MOST_BYTES - self.size)
            data = await read_body(response.aiter_raw(), response.headers, most)
            self.size += len(data)
            headers = {
                name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers
            }
            status = response.status_code
        with suppress(*_browser_errors()):
            await route.fulfill(status=status, headers=headers, body=data)

    async def _refuse(self, route: Route) -> None:
        self.refused.append(redact_url(route.request.url))
        with suppress(*_browser_errors()):
            await route.abort("blockedbyclient")


async def _render(page: Page, url: str, parts: _PageParts) -> Body:
    """Open a page, let its scripts come to rest, and return what is shown then."""
    errors = _browser_errors()
    try:
        await page.goto(url, wait_until="domcontentloaded", timeout=0)
        with suppress(*errors):
            await page.wait_for_load_state("networkidle", timeout=_QUIET * 1000)
        shown = await page.content()
    except errors as error:
        what = "the browser could not show it"
        raise Problem(ErrorCode.PAGE_UNAVAILABLE, what) from error
    if page.url.startswith(_ERROR_PAGE):
        what = "its scripts lead to a page that may not be read"
        raise Problem(ErrorCode.PAGE_UNAVAILABLE, what)
    data = shown.encode("utf-8", "replace")
    if len(data) > parts.download.limits.page:
        what, hint = "what its scripts write is too large", "look for the same text elsewhere"
        raise Problem(ErrorCode.URL_TOO_LARGE, what, hint=hint)
    return Body(parts.where(page.url), HTML, "utf-8", data)


def _browser_errors() -> tuple[type[Exception], ...]:
    from playwright.async_api import Error  # noqa: PLC0415 - only where pages are rendered

    return (Error,)


@asynccontextmanager
async def _open_page(program: str) -> AsyncIterator[Page]:
    """Start a browser for one page, without a profile, and end it after that.

    Raises:
        Problem: `page_needs_script`.
    """
    try:
        from playwright.async_api import async_playwright  # noqa: PLC0415
    except ImportError as error:
        raise _no_browser("install playwright, as by pip install 'dossier[reader]'") from error
    with tempfile.TemporaryDirectory(prefix="dossier-reader-") as folder:
        async with async_playwright() as playwright:
            browser = await _launch(playwright, program, Path(folder))
            try:
                context = await browser.new_context(
                    accept_downloads=False, service_workers="block", user_agent=AGENT_HEADER
                )
                yield await context.new_page()
            finally:
                with suppress(*_browser_errors()):
                    await browser.close()


async def _launch(playwright: Playwright, program: str, folder: Path) -> Browser:
    """Start Chromium in bubblewrap where there is one, and else in its own sandbox."""
    wrapped = await asyncio.to_thread(_wrap, program, folder)
    if not wrapped and os.geteuid() == 0:
        raise _no_browser(
            "as root Chromium has no sandbox: install bubblewrap, or use another user"
        )
    options: dict[str, Any] = {
        "executable_path": str(wrapped or program),
        "chromium_sandbox": not wrapped,
        "args": [*_ARGUMENTS],
        # Keys of the environment are none of its business.
        "env": {"PATH": os.defpath, "HOME": str(folder)},
        "timeout": _LAUNCH * 1000,
    }
    try:
        return await playwright.chromium.launch(**options)
    except _browser_errors() as error:
        raise _no_browser("the browser does not start") from error


_HIDDEN = ("/tmp", "/home", "/root", "/var/tmp", "/run", "/mnt", "/media", "/srv")  # noqa: S108


def _wrap(program: str, folder: Path) -> Path | None:
    """Write a script that starts a browser without network, files and rights of this user.

    Returns:
        The script, or None where there is no bubblewrap.
    """
    bwrap = shutil.which("bwrap")
    if not bwrap:
        return None
    hidden = [word for path in _HIDDEN if Path(path).is_dir() for word in ("--tmpfs", path)]
    words = [
        *(bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", *hidden),
        *(
            "--unshare-all",
            "--die-with-parent",
            "--new-session",
            "--uid",
            "65534",
            "--gid",
            "65534",
        ),
        *("--clearenv", "--setenv", "HOME", _HIDDEN[0], "--setenv", "PATH", os.defpath, program),
    ]
    script = folder / "browser"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    script.chmod(0o700)
    return script
