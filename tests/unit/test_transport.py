"""No address, hop or name leads to a server that is not public."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import httpx
import pytest
import pytest_asyncio

from config.errors import Problem
from tests.loopback import Asked, Loopback, moved, reply, serving
from tests.places import new_process
from tools.web.fetch import fetch_page
from tools.web.transport import is_address_allowed, resolve_host

pytestmark = pytest.mark.asyncio(loop_scope="module")

PUBLIC = "93.184.215.14"
"""An address that the guard lets through; the tests lead it to loopback."""

FORBIDDEN = [
    # The same loopback address, spelt in every way that a resolver or a browser knows.
    "http://127.0.0.1:{port}/",
    "http://127.0.0.2:{port}/",
    "http://127.1:{port}/",
    "http://127.0.1:{port}/",
    "http://2130706433:{port}/",
    "http://0x7f000001:{port}/",
    "http://0x7f.0.0.1:{port}/",
    "http://0x7f.1:{port}/",
    "http://017700000001:{port}/",
    "http://0177.0.0.1:{port}/",
    "http://0177.0.0.01:{port}/",
    "http://0:{port}/",
    "http://0.0.0.0:{port}/",
    "http://localhost:{port}/",
    "http://LOCALHOST:{port}/",
    "http://trailing-dot.example.:{port}/",
    "http://127.0.0.1.nip.io:{port}/",
    "http://127。0。0。1:{port}/",
    "http://１２７.0.0.1:{port}/",
    "http://ⓛocalhost:{port}/",
    "http://localhost%00.example.com:{port}/",
    "http://127.0.0.1%2f.example.com:{port}/",
    # A name or a password that looks like a host, and the other way round.
    "http://user@127.0.0.1:{port}/",
    "http://user:secret@127.0.0.1:{port}/",
    "http://public.example@127.0.0.1:{port}/",
    "http://public.example:80@127.0.0.1:{port}/",
    "http://user@public.example:{port}/",
    "http://127.0.0.1:{port}\\@public.example/",
    "http://public.example\\@127.0.0.1:{port}/",
    # IPv6, with and without an IPv4 address inside.
    "http://[::1]:{port}/",
    "http://[::]:{port}/",
    "http://[0:0:0:0:0:0:0:1]:{port}/",
    "http://[::127.0.0.1]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",
    "http://[::ffff:7f00:1]:{port}/",
    "http://[::ffff:0:7f00:1]:{port}/",
    "http://[64:ff9b::7f00:1]:{port}/",
    "http://[64:ff9b:1::7f00:1]:{port}/",
    "http://[2002:7f00:1::]:{port}/",
    "http://[2001:0:7f00:1::1]:{port}/",
    "http://[fe80::1]:{port}/",
    "http://[fe80::1%25lo]:{port}/",
    "http://[fc00::1]:{port}/",
    "http://[fec0::1]:{port}/",
    "http://[ff02::1]:{port}/",
    "http://only-ipv6.example:{port}/",
    # Private networks and what clouds keep for themselves.
    "http://10.0.0.1:{port}/",
    "http://172.16.0.1:{port}/",
    "http://172.31.255.254:{port}/",
    "http://192.168.1.1:{port}/",
    "http://169.254.169.254:{port}/latest/meta-data/",
    "http://metadata.google.internal:{port}/",
    "http://[fd00:ec2::254]:{port}/",
    "http://100.100.100.200:{port}/",
    "http://100.64.0.1:{port}/",
    "http://168.63.129.16:{port}/",
    "http://192.0.0.192:{port}/",
    "http://198.18.0.1:{port}/",
    "http://224.0.0.1:{port}/",
    "http://255.255.255.255:{port}/",
    # Ports of other services, and addresses that are not of the web.
    "http://public.example:0/",
    "http://public.example:22/",
    "http://public.example:6379/",
    "http://public.example:65536/",
    "file:///etc/passwd",
    "file://127.0.0.1:{port}/",
    "gopher://127.0.0.1:{port}/_GET",
    "ftp://127.0.0.1:{port}/",
    "dict://127.0.0.1:{port}/info",
    "jar:http://127.0.0.1:{port}/!/",
    "data:text/html,<p>hello",
    "//127.0.0.1:{port}/",
    "http:///127.0.0.1:{port}/",
]


@pytest.fixture(autouse=True)
def pages_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No robots.txt is asked for before a page."""
    monkeypatch.setenv("DOSSIER_ROBOTS", "false")
    new_process()


NAMES = {
    "public.example": [PUBLIC],
    "trailing-dot.example.": ["127.0.0.1"],
    "127.0.0.1.nip.io": ["127.0.0.1"],
    "metadata.google.internal": ["169.254.169.254"],
    "only-ipv6.example": ["::1"],
}


class Internet(httpx.AsyncHTTPTransport):
    """The real network, except that `PUBLIC` is a server of the test."""

    def __init__(self, public: Loopback) -> None:
        super().__init__(trust_env=False)
        self.public = public
        self.sent: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        if request.url.host != PUBLIC:
            return await super().handle_async_request(request)
        url = request.url.copy_with(scheme="http", host="127.0.0.1", port=self.public.port)
        inner = httpx.Request(request.method, url, headers=request.headers)
        return await super().handle_async_request(inner)


@pytest_asyncio.fixture(loop_scope="module")
async def canary(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Loopback]:
    """A server that nobody may reach, though its port is one of the web."""
    async with serving(lambda _: reply("<p>You should not have come here, dear guest.")) as server:
        monkeypatch.setattr("tools.web.transport.PORTS", frozenset({80, 443, server.port}))
        yield server


@asynccontextmanager
async def internet(monkeypatch: pytest.MonkeyPatch, location: str = "") -> AsyncIterator[Internet]:
    """Connect the tests to an internet whose public server leads to `location` after some hops."""

    def answer(asked: Asked) -> bytes:
        left = int(asked.target.removeprefix("/hop") or 0) if "/hop" in asked.target else 0
        if left > 1:
            return moved(f"/hop{left - 1}")
        return moved(location) if location else reply(f"<p>{'A public page about bees. ' * 9}")

    def network() -> Internet:
        return found

    async with serving(answer) as public:
        found = Internet(public)
        monkeypatch.setattr("tools.web.download._network", network)
        yield found


async def names(host: str, port: int) -> Sequence[str]:
    return NAMES[host] if host in NAMES else await resolve_host(host, port)


@pytest.mark.parametrize("url", FORBIDDEN)
async def test_a_forbidden_address_is_not_contacted(url, canary):
    with pytest.raises(Problem) as problem:
        await fetch_page(url.replace("{port}", str(canary.port)), resolve=names)

    assert problem.value.code in {"url_blocked", "url_scheme", "url_unresolved"}
    assert canary.asked == []


@pytest.mark.parametrize(("url", "hops"), [*((url, 1) for url in FORBIDDEN), (FORBIDDEN[0], 5)])
async def test_a_redirect_to_a_forbidden_address_is_not_followed(url, hops, canary, monkeypatch):
    location = url.replace("{port}", str(canary.port)).encode().decode("latin-1")
    async with internet(monkeypatch, location) as wire:
        with pytest.raises(Problem) as problem:
            await fetch_page(f"http://public.example/hop{hops}", resolve=names)

    known = {"url_blocked", "url_scheme", "url_unresolved", "page_unavailable", "url_redirects"}
    assert problem.value.code in known
    assert canary.asked == []
    assert {request.url.host for request in wire.sent} == {PUBLIC}


ADDRESSES = [
    *["127.0.0.1", "127.0.0.53", "0.0.0.0", "10.1.2.3", "172.20.0.1", "192.168.0.1"],
    *["169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "192.0.2.1"],
    *["198.18.0.1", "192.88.99.1", "224.0.0.251", "240.0.0.1", "255.255.255.255"],
    *["::1", "::", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1"],
    *["64:ff9b:1::1", "2002:7f00:1::", "2001::1", "2001:db8::1", "3fff::1", "fd00:ec2::254"],
    *["fe80::1", "fe80::1%lo", "fc00::1", "fec0::1", "ff02::1", "100::1", "5f00::1", "nonsense"],
]


@pytest.mark.parametrize("address", ADDRESSES)
async def test_a_name_that_resolves_to_a_forbidden_address_is_not_contacted(
    address, canary, monkeypatch
):
    async def lying(host: str, port: int) -> list[str]:
        return [PUBLIC, address]

    async with internet(monkeypatch) as wire:
        with pytest.raises(Problem, match="may not be fetched") as problem:
            await fetch_page(f"http://innocent.example:{canary.port}/", resolve=lying)

    assert problem.value.code == "url_blocked"
    assert address not in str(problem.value)
    assert wire.sent == []


@pytest.mark.parametrize("address", ["8.8.8.8", PUBLIC, "::ffff:8.8.8.8", "2606:4700::1111"])
async def test_public_addresses_are_allowed(address):
    assert is_address_allowed(address)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "192.168.1.9", "::1", "fd12::1"])
async def test_private_addresses_are_allowed_where_the_operator_says_so(address):
    assert not is_address_allowed(address)
    assert is_address_allowed(address, allow_private=True)


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "100.100.100.200", "168.63.129.16", "fd00:ec2::254", "0.0.0.0"]
)
async def test_metadata_of_a_cloud_is_never_allowed(address):
    assert not is_address_allowed(address, allow_private=True)


@pytest.mark.parametrize(
    "host", ["2130706433", "0x7f.1", "127.1", "localhost", "127。0。0。1", "[::1]"]
)
async def test_the_canary_can_be_reached_where_the_guard_allows_it(host, canary):
    await fetch_page(f"http://{host}:{canary.port}/", allow_private=True)

    assert len(canary.asked) == 1


async def test_a_name_that_changes_its_answer_is_looked_up_once(monkeypatch):
    answers = [[PUBLIC], ["127.0.0.1"]]

    async def rebinding(host: str, port: int) -> list[str]:
        return answers.pop(0)

    async with internet(monkeypatch) as wire:
        await fetch_page("http://rebinding.example/", resolve=rebinding)

    assert [request.url.host for request in wire.sent] == [PUBLIC]
    assert answers == [["127.0.0.1"]]


async def test_a_name_that_changes_its_answer_between_two_hops_is_blocked(monkeypatch):
    answers = [[PUBLIC], ["127.0.0.1"]]

    async def rebinding(host: str, port: int) -> list[str]:
        return answers.pop(0)

    async with internet(monkeypatch, "http://rebinding.example/again") as wire:
        with pytest.raises(Problem, match="may not be fetched"):
            await fetch_page("http://rebinding.example/", resolve=rebinding)

    assert len(wire.sent) == 1


async def test_the_server_still_sees_the_name_it_was_asked_for(monkeypatch):
    async with internet(monkeypatch) as wire:
        await fetch_page("https://public.example/bees", resolve=names)

    sent = wire.sent[0]
    assert sent.url.host == PUBLIC
    assert sent.headers["host"] == "public.example"
    assert sent.extensions["sni_hostname"] == "public.example"


async def test_the_next_address_is_tried_when_one_takes_no_connection(monkeypatch):
    async def two(host: str, port: int) -> list[str]:
        return ["8.8.4.4", PUBLIC]

    async with internet(monkeypatch) as wire:
        real = wire.handle_async_request

        async def unreachable(request: httpx.Request) -> httpx.Response:
            if request.url.host == "8.8.4.4":
                raise httpx.ConnectError("no route")
            return await real(request)

        monkeypatch.setattr(wire, "handle_async_request", unreachable)
        page = await fetch_page("http://public.example/", resolve=two)

    assert "bees" in page["text"]


async def test_a_proxy_named_in_the_environment_is_not_asked(canary, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, canary.url)

    async with serving(lambda _: reply(f"<p>{'Bees dance on the comb. ' * 9}")) as server:
        await fetch_page(server.url, allow_private=True)

    assert canary.asked == []


async def test_a_name_that_nobody_has_is_told_as_such():
    async def nobody(host: str, port: int) -> list[str]:
        await asyncio.sleep(0)
        return []

    with pytest.raises(Problem) as problem:
        await fetch_page("http://nobody.example/", resolve=nobody)

    assert problem.value.code == "url_unresolved"
