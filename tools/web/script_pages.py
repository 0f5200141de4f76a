"""Tell pages that only scripts write, and have a reader render them where one is set."""

from __future__ import annotations

import re
from urllib.parse import quote

import anyio
import httpx

from config.errors import ErrorCode, Problem
from config.settings import settings
from tools.web.browser_reader import render_in_browser
from tools.web.download import (
    HTML,
    LIMITS,
    Body,
    Download,
    FetchLimits,
    detect_mime_type,
    parse_content_type,
)
from tools.web.transport import PACKING, load_certificates, read_body

_SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)
_ASKS = re.compile(
    rb"<noscript\b[^>]*>(?:(?!</noscript).){0,2000}?(?:javascript|\bscripts?\b)"
    rb"|\b(?:enable|requires?|turn on)\s+javascript|javascript\s+(?:is\s+)?(?:disabled|required)"
    rb"|\xe5\x90\xaf\xe7\x94\xa8\s?javascript",
    re.IGNORECASE | re.DOTALL,
)
_EMPTY_ROOT = re.compile(
    rb"<(?:div|main|section)\b[^>]{0,300}\bid\s*=\s*[\"']?(?:root|app|__next|__nuxt|___gatsby|"
    rb"svelte|app-root|main-app|react-root|container)\b[^>]{0,300}>\s*(?:<!--.{0,200}?-->\s*)?</"
    rb"|<app-root\b[^>]{0,300}>\s*</",
    re.IGNORECASE | re.DOTALL,
)
_LOOKED_AT = 500_000
"""The bytes at the start of a page that are looked at."""


def needs_script(data: bytes) -> bool:
    """Tell whether a page without text would have one if its scripts were run."""
    start = data[:_LOOKED_AT]
    if not _SCRIPT.search(start):
        return False
    return bool(_EMPTY_ROOT.search(start) or _ASKS.search(start))


async def render_page(url: str, download: Download) -> Body:
    """Return a page as its scripts have written it.

    Args:
        url: The address of the page, which was downloaded before and so has passed all checks.
        download: The guard through which its parts come, and what it may cost.

    Raises:
        Problem: `page_needs_script` if no reader is set or it cannot be started;
            `page_unavailable`, `page_timeout`, `url_too_large`.
    """
    options = settings()
    if options.reader_url:
        return await _render_by_service(options.reader_url, url, download.limits)
    if options.reader_browser:
        return await render_in_browser(url, download, options.reader_browser)
    raise Problem(ErrorCode.PAGE_NEEDS_SCRIPT, "it shows its text only where scripts run")


_PLACE = "{url}"


def make_service_address(service: str, url: str) -> str:
    """Return the address at which a reader service shows a page.

    In a query the address of the page is quoted; in a path it stands as it is.
    """
    if _PLACE not in service:
        return f"{service.rstrip('/')}/{url}"
    before = service.partition(_PLACE)[0]
    return service.replace(_PLACE, quote(url, safe="") if "?" in before else url)


async def _render_by_service(service: str, url: str, limits: FetchLimits = LIMITS) -> Body:
    """Ask a reader service for a page; its own address is nowhere told, it may hold a key."""
    address = httpx.URL(make_service_address(service, url))
    auth = httpx.BasicAuth(address.username, address.password) if address.userinfo else None
    bare = address.copy_with(username="", password="") if address.userinfo else address
    try:
        with anyio.fail_after(limits.seconds):
            transport = _HidingTransport(bare)
            async with httpx.AsyncClient(
                transport=transport, trust_env=False, timeout=limits.seconds
            ) as client:
                headers = {"accept": "text/html, text/plain", "accept-encoding": PACKING}
                shown = bare.copy_with(raw_path=b"/", fragment=None)
                request = client.build_request("GET", shown, headers=headers)
                response = await client.send(request, stream=True, auth=auth or httpx.Auth())
                try:
                    return await _read_rendered(response, url, limits)
                finally:
                    await response.aclose()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        what = "the reader service cannot be reached"
        raise Problem(ErrorCode.PAGE_UNAVAILABLE, what, hint="see DOSSIER_READER_URL") from error


class _HidingTransport(httpx.AsyncHTTPTransport):
    """Asks for an address that is set behind httpx's log, which has addresses as they are."""

    def __init__(self, address: httpx.URL) -> None:
        super().__init__(verify=load_certificates(), trust_env=False)
        self._address = address

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request to the address."""
        request.url = self._address
        response = await super().handle_async_request(request)
        request.url = self._address.copy_with(raw_path=b"/", fragment=None)
        return response


async def _read_rendered(response: httpx.Response, url: str, limits: FetchLimits) -> Body:
    if response.status_code != 200:
        what = f"the reader service answers {response.status_code}"
        raise Problem(ErrorCode.PAGE_UNAVAILABLE, what, hint="see DOSSIER_READER_URL")
    name = parse_content_type(response.headers.get("content-type", "")) or HTML
    data = await read_body(response.aiter_raw(), response.headers, limits.page)
    mime = detect_mime_type(name, data)
    return Body(url, mime, response.charset_encoding or "", data)
