"""Let requests reach public web servers only, whatever their addresses pretend to be."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence

import anyio
import httpx

from config.errors import Problem
from tools.web.address import shown

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Looks up a host name for a port and returns all its IP addresses."""

PORTS = frozenset({80, 443, 8080, 8443})
"""Where web servers listen; other ports belong to services that are not meant for readers."""

_PRIVATE = [
    ipaddress.ip_network(block)
    for block in (
        "10.0.0.0/8",
        "127.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "::1/128",
        "fc00::/7",
    )
]
_NEVER = [
    ipaddress.ip_network(block)
    for block in (
        "100.64.0.0/10",  # carriers; 100.100.100.200 serves Alibaba's metadata
        "168.63.129.16/32",  # Azure's host
        "169.254.0.0/16",  # this link; metadata of most clouds
        "192.0.0.0/24",  # protocol assignments; Oracle's metadata
        "192.88.99.0/24",  # relays to 6to4
        "224.0.0.0/4",  # multicast
        "2001::/32",  # Teredo: an IPv4 address inside
        "2002::/16",  # 6to4: an IPv4 address inside
        "3fff::/20",  # documentation
        "fd00:ec2::/32",  # Amazon's metadata
        "fd20:ce::/32",  # Google's metadata
    )
]
# All public IPv6 addresses; NAT64, IPv4-compatible and site-local ones lie outside (RFC 4291).
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")


def allowed(address: str, *, allow_private: bool = False) -> bool:
    """Tell whether an IP address may be connected to.

    Args:
        address: The address as a resolver writes it.
        allow_private: Whether private and loopback addresses pass too; those of cloud metadata
            services and of other links never do.
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        ip = ip.ipv4_mapped or ip
    if any(ip in block for block in _NEVER):
        return False
    if any(ip in block for block in _PRIVATE):
        return allow_private
    return ip.is_global and (ip.version == 4 or ip in _GLOBAL_UNICAST)


async def resolve(host: str, port: int) -> list[str]:
    """Look up a host name with the system's resolver; a name that nobody has has no addresses."""
    try:
        answers = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        answers = []
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


class PublicOnly(httpx.AsyncBaseTransport):
    """Looks up each name once, checks every answer, and connects to what was checked.

    So a name that changes its answer between check and use gains nothing. The name itself stays in
    the Host header and in the TLS handshake.
    """

    def __init__(
        self,
        inner: httpx.AsyncBaseTransport,
        resolve: Resolve = resolve,
        *,
        allow_private: bool = False,
    ) -> None:
        self._inner = inner
        self._resolve = resolve
        self._allow_private = allow_private

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, to the first of its addresses that takes the connection.

        Raises:
            Problem: `url_scheme`, `url_blocked` or `url_unresolved`.
        """
        check(request.url, allow_private=self._allow_private)
        failure: httpx.TransportError = httpx.ConnectError("there was no address to connect to")
        for address in await self._addresses(request.url):
            try:
                return await self._inner.handle_async_request(_pinned(request, address))
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failure = error
        raise failure

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()

    async def _addresses(self, url: httpx.URL) -> Sequence[str]:
        host, where = url.raw_host.decode("ascii"), shown(str(url))
        addresses = await self._resolve(host, url.port or 443)
        if not addresses:
            hint = "check the spelling of the host"
            raise Problem("url_unresolved", "there is no such server", where=where, hint=hint)
        if not all(allowed(address, allow_private=self._allow_private) for address in addresses):
            raise _blocked(where)
        return addresses


def check(url: httpx.URL, *, allow_private: bool = False) -> None:
    """Refuse an address by what it says, before anything is looked up.

    Raises:
        Problem: `url_scheme` or `url_blocked`.
    """
    where = shown(str(url))
    if url.scheme not in {"http", "https"} or not url.host:
        hint = "give an address that begins with http:// or https://"
        raise Problem("url_scheme", "this is not a web address", where=where, hint=hint)
    if url.userinfo or not (allow_private or url.port is None or url.port in PORTS):
        raise _blocked(where)


def _blocked(where: str) -> Problem:
    hint = "only public web servers may be read, without a user name and on the usual ports"
    return Problem("url_blocked", "this address may not be fetched", where=where, hint=hint)


def _pinned(request: httpx.Request, address: str) -> httpx.Request:
    name = request.url.raw_host.decode("ascii").rstrip(".")
    return httpx.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": name},
    )
