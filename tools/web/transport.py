"""Reach public web servers only, and read no more of an answer than was asked for.

Addresses may pretend to be what they are not.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

import anyio
import httpx

from config.errors import ErrorCode, Problem
from config.resources import process_cached
from tools.web.urls import redact_url

PACKING = "gzip"
"""What a request may accept; brotli and zstd cannot be unpacked in pieces of a known size here."""

_PIECE = 65_536
_RATIO = 100
_RATIO_FROM = 1_000_000
# Adding 32 to the window size lets zlib read both a gzip and a zlib header.
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32


async def read_body(chunks: AsyncIterator[bytes], headers: Mapping[str, str], most: int) -> bytes:
    """Return a body, unpacked.

    Args:
        chunks: The body as it comes over the line.
        headers: The headers of the answer, with names in lower case.
        most: How many bytes it may have, packed or unpacked.

    Raises:
        Problem: `url_too_large` if it is longer, or a hundred times longer than what was sent;
            `page_unavailable` if it is damaged, cut off or packed in an unknown way.
    """
    announced = headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > most:
        raise body_too_large(most)
    inflate = _inflate(headers.get("content-encoding", ""))
    body, received = bytearray(), 0
    async for chunk in chunks:
        received += len(chunk)
        for piece in _pieces(inflate, chunk) if inflate else [chunk]:
            body += piece
            if len(body) > most or len(body) > max(_RATIO_FROM, received * _RATIO):
                raise body_too_large(most)
        if received > most:
            raise body_too_large(most)
    if inflate and not inflate.eof:
        raise Problem(ErrorCode.PAGE_UNAVAILABLE, "what the server sent is cut off")
    return bytes(body)


def body_too_large(most: int) -> Problem:
    """Return the problem that a body is longer than `most` bytes."""
    what = f"it has more than {most / 1e6:g} MB"
    return Problem(ErrorCode.URL_TOO_LARGE, what, hint="download it yourself and read it as a file")


def _inflate(packing: str) -> Any | None:
    """Return what unpacks a content encoding, or None where nothing is packed."""
    name = packing.strip().lower()
    if name in {"", "identity"}:
        return None
    if name in {"gzip", "x-gzip", "deflate"}:
        return zlib.decompressobj(_GZIP_OR_ZLIB)
    raise Problem(ErrorCode.PAGE_UNAVAILABLE, "the server packs it in a way that was not asked for")


def _pieces(inflate: Any, chunk: bytes) -> Iterator[bytes]:
    try:
        while chunk and not inflate.eof:
            yield inflate.decompress(chunk, _PIECE)
            chunk = inflate.unconsumed_tail
    except zlib.error as error:
        raise Problem(ErrorCode.PAGE_UNAVAILABLE, "what the server sent is damaged") from error


@process_cached
def load_certificates() -> ssl.SSLContext:
    """Return the usual certificates; reading them takes as long as some searches, so once."""
    return httpx.create_ssl_context(trust_env=False)


HostResolver = Callable[[str, int], Awaitable[Sequence[str]]]
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


def is_address_allowed(address: str, *, allow_private: bool = False) -> bool:
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


def is_private_host(host: str) -> bool:
    """Tell whether a host is named as one of this machine or of a private network."""
    bare = host.strip("[]").rstrip(".").lower()
    if bare == "localhost" or bare.endswith(".localhost"):
        return True
    try:
        ip = ipaddress.ip_address(bare)
    except ValueError:
        return False
    return any(ip in block for block in _PRIVATE)


async def resolve_host(host: str, port: int) -> list[str]:
    """Look up a host name with the system's resolver; a name that nobody has has no addresses."""
    if _is_ipv4(host):
        return [host]
    try:
        answers = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        answers = []
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


def _is_ipv4(host: str) -> bool:
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        return False
    return True


class PublicTransport(httpx.AsyncBaseTransport):
    """Looks up each name once, checks every answer, and connects to what was checked.

    So a name that changes its answer between check and use gains nothing. The name itself stays in
    the Host header and in the TLS handshake.
    """

    def __init__(
        self,
        inner: httpx.AsyncBaseTransport,
        resolve: HostResolver = resolve_host,
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
        _check_url(request.url, allow_private=self._allow_private)
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
        host, where = url.raw_host.decode("ascii"), redact_url(str(url))
        addresses = await self._resolve(host, url.port or 443)
        if not addresses:
            hint = "check the spelling of the host"
            raise Problem(
                ErrorCode.URL_UNRESOLVED, "there is no such server", where=where, hint=hint
            )
        if not all(
            is_address_allowed(address, allow_private=self._allow_private) for address in addresses
        ):
            raise _blocked(where)
        return addresses


def _check_url(url: httpx.URL, *, allow_private: bool = False) -> None:
    """Refuse an address by what it says, before anything is looked up.

    Raises:
        Problem: `url_scheme` or `url_blocked`.
    """
    where = redact_url(str(url))
    if url.scheme not in {"http", "https"} or not url.host:
        hint = "give an address that begins with http:// or https://"
        raise Problem(ErrorCode.URL_SCHEME, "this is not a web address", where=where, hint=hint)
    if url.userinfo or not (allow_private or url.port is None or url.port in PORTS):
        raise _blocked(where)


def _blocked(where: str) -> Problem:
    hint = "only public web servers may be read, without a user name and on the usual ports"
    return Problem(ErrorCode.URL_BLOCKED, "this address may not be fetched", where=where, hint=hint)


def _pinned(request: httpx.Request, address: str) -> httpx.Request:
    name = request.url.raw_host.decode("ascii").rstrip(".")
    return httpx.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": name},
    )
