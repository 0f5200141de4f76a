"""Who may use the server: requests by its own names, from pages that are named, with its token.

A browser lets any page send requests to a server on the same machine. What such a page cannot do
is choose the headers `Host` and `Origin`, or know the token.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from app.token import token
from config.errors import Problem
from config.settings import settings

STUDIO = ("https://smith.langchain.com", "https://eu.smith.langchain.com")
"""The origins of LangGraph Studio, whose pages may use a server where no others are named."""

HARMLESS = frozenset(["/", "/ok", "/info", "/docs", "/openapi.json"])
"""What tells nothing of anybody: whether the server is there, its version, how it is called."""

READING = frozenset(["GET", "HEAD"])

SHOWN = ("x-pagination-total", "x-pagination-next", "content-location")
"""The headers of an answer that the server's clients read."""

FORWARDED = frozenset(["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"])
"""What a proxy or a tunnel adds: the request may come from another machine."""

CONNECTIONS = ("/proc/net/tcp", "/proc/net/tcp6")
"""Where Linux lists the connections of this machine, each with the number of its user."""

ESTABLISHED = "01"
"""How such a list marks a connection that is open at both ends."""

POLICY_VIOLATION = 1008
"""How a websocket is closed that is refused."""

STATUS = {
    "token_missing": 401,
    "token_wrong": 401,
    "token_unusable": 500,
    "storage_unavailable": 500,
}
"""How a refusal is answered; 403 where nothing else is said."""

OPEN = "Pages of %s may use this server; everything else needs the token: dossier token"
"""What the server says when it starts."""

EXPOSED = (
    "OTHER MACHINES CAN REACH THIS SERVER. Whoever has its token (dossier token) can read all that "
    "Dossier has read and remembers. Every request needs it, also those of LangGraph Studio; "
    "unless a proxy encrypts them, everybody on the network between can read it."
)
"""What it says instead where it listens for more than this machine."""

HOST = re.compile(
    r"(?:\[(?P<address>[\da-f:.]+)\]|(?P<name>[a-z\d_-]+(?:\.[a-z\d_-]+)*)\.?)(?::\d{1,5})?",
    re.ASCII,
)
"""What `Host` may be: a name or an address, and a port."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Rules:
    """What is asked of a request."""

    hosts: frozenset[str] | None
    """The names, besides those of this machine, by which the server may be called; None for any."""
    origins: frozenset[str] | None
    """The origins whose pages may use it; None where whoever runs it has seen to that."""
    open_to_pages: bool
    """Whether pages of those origins need no token; only on this machine."""
    login: bool = False
    """Whether whoever runs the server has a login of their own, which takes the token's place."""
    studio_login: bool = False
    """Whether that login trusts whoever says to be Studio, as the development server does."""

    @classmethod
    def of_installation(cls) -> Self:
        """Return what the settings say, and how the server was started.

        The development server listens for one person; a deployment is called by many names, and
        where it has a login of its own, it also has what else it needs unless something is named.
        """
        named, environ = settings(), os.environ
        hosts, origins = named.server_hosts, named.server_origins
        address = urlsplit(environ.get("LANGGRAPH_API_URL", "")).hostname or ""
        development = environ.get("LANGSMITH_LANGGRAPH_API_VARIANT") == "local_dev"
        login = bool(environ.get("LANGGRAPH_AUTH"))
        login |= environ.get("LANGGRAPH_AUTH_TYPE", "noop") != "noop"
        free = login and not development and not origins
        return cls(
            hosts=frozenset([*hosts, address]) if development or hosts else None,
            origins=None if free else frozenset(origins or STUDIO),
            open_to_pages=development and here(address),
            login=login,
            studio_login=development,
        )


class Access:
    """An ASGI middleware that refuses who may not use the server, before anything else is done.

    `Host` and `Origin` are looked at first, so a foreign page learns nothing, not even by a
    preflight; then the token, where a page of a named origin may see that it is missing.
    """

    def __init__(self, app: ASGIApp, rules: Rules | None = None) -> None:
        """Stand before an application."""
        self.app = app
        self.rules = rules or Rules.of_installation()
        self.shared: ASGIApp = self._entered
        if self.rules.origins is not None:
            self.shared = CORSMiddleware(
                self._entered,
                allow_origins=self.rules.origins,
                allow_methods=["*"],
                allow_headers=["*"],
                allow_private_network=True,
                expose_headers=SHOWN,
            )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket") or _from_inside(scope):
            await self.app(scope, receive, send)
            return
        try:
            scope = self._known(scope)
        except Problem as problem:
            await refuse(problem, scope, receive, send)
            return
        await self.shared(scope, receive, send)

    def _known(self, scope: Scope) -> Scope:
        """Return a request that names this server, and a page that may use it if it is from one.

        A page of the server itself is no other origin, so nothing is to be shared with it.

        Raises:
            Problem: `host_refused` or `origin_refused`.
        """
        host = _only(scope, "host") or ""
        if self.rules.hosts is not None and not _is_own(host, scope, self.rules.hosts):
            hint = "name the hosts of this server in DOSSIER_SERVER_HOSTS"
            raise Problem("host_refused", "this server is not called so", where=host, hint=hint)
        origin = _only(scope, "origin", host)
        if self.rules.origins is None or origin is None or origin in self.rules.origins:
            return scope
        if origin not in (f"http://{host}", f"https://{host}"):
            hint = "name the origins whose pages may use this server in DOSSIER_SERVER_ORIGINS"
            what = "pages of this origin may not use this server"
            raise Problem("origin_refused", what, where=origin, hint=hint)
        return {**scope, "headers": [one for one in scope["headers"] if one[0] != b"origin"]}

    async def _entered(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on that needs no token or has it, without the token."""
        try:
            if await asyncio.to_thread(self._needs_token, scope):
                scope = without_token(scope, await asyncio.to_thread(token))
        except Problem as problem:
            await refuse(problem, scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _needs_token(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        if scope["type"] == "http" and scope["method"] in READING and _path(scope) in HARMLESS:
            return False
        claimed = headers.get("x-auth-scheme") == "langsmith"
        if self.rules.login and not (claimed and self.rules.studio_login):
            return False
        from_page = "origin" in headers and self.rules.open_to_pages
        return not (from_page and _on_this_machine(scope, headers) and _by_this_user(scope))


def _from_inside(scope: Scope) -> bool:
    """Say whether the server calls itself, which no request from outside can pretend."""
    root = scope.get("root_path", "")
    return bool(root == "/noauth" or root.startswith("/noauth/"))


def _path(scope: Scope) -> str:
    """Return the path of a request below where the server is mounted."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def _only(scope: Scope, name: str, host: str = "") -> str | None:
    """Return the one value of a header, which may be empty; nothing where there is none.

    Raises:
        Problem: `host_refused` or `origin_refused`, where there are several.
    """
    said = [value.decode("latin-1") for key, value in scope["headers"] if key == name.encode()]
    if len(said) > 1:
        hint = f"send one header {name.title()}"
        code = f"{name}_refused"
        raise Problem(code, f"there are {len(said)} of them", where=host, hint=hint)
    return said[0].strip() if said else None


def _is_own(host: str, scope: Scope, names: frozenset[str]) -> bool:
    """Say whether a server is called by a name of this machine, its own address, or a named one."""
    said = HOST.fullmatch(host.lower())
    if not said:
        return False
    name = said["address"] or said["name"]
    arrived = (scope.get("server") or ("",))[0]
    return here(name) or name == arrived or name in names


def here(name: str) -> bool:
    """Say whether a host is this machine, whatever a name server says."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _on_this_machine(scope: Scope, headers: Headers) -> bool:
    """Say whether a request came to an address of this machine, and from it, through no proxy."""
    ends = [(scope.get(end) or ("",))[0] for end in ("client", "server")]
    host = urlsplit(f"//{headers['host']}").hostname or ""
    return all(map(here, [*ends, host])) and FORWARDED.isdisjoint(headers.keys())


def _by_this_user(scope: Scope) -> bool:
    """Say whether what was sent on this machine comes from this user, or from root.

    A program can send any `Origin`. Only Linux tells whose it is; elsewhere nobody is doubted.
    """
    try:
        lines = [line for one in CONNECTIONS for line in Path(one).read_text().splitlines()[1:]]
    except OSError:
        return True
    ends = [f"{scope[end][1]:04X}" for end in ("client", "server")]
    listed = [
        (line[1].rpartition(":")[2], line[2].rpartition(":")[2], line[3], line[7])
        for line in map(str.split, lines)
    ]
    users = {user for *ports, state, user in listed if ports == ends and state == ESTABLISHED}
    return bool(users) and users <= {"0", str(os.getuid())}


def without_token(scope: Scope, right: str) -> Scope:
    """Return a request without the token that it was sent with, which nothing else has to know.

    Raises:
        Problem: `token_missing` or `token_wrong`.
    """
    sent = list(_sent(scope))
    if not any(secrets.compare_digest(said, right.encode()) for _, said in sent):
        hint = (
            "`dossier token` prints it; send it as x-api-key (`api_key=` of langgraph_sdk, the key "
            "that a chat page asks for), or as Authorization: Bearer"
        )
        if sent:
            raise Problem("token_wrong", "this is not the token of this server", hint=hint)
        raise Problem("token_missing", "this needs the token of this server", hint=hint)
    ours = {whole for whole, said in sent if secrets.compare_digest(said, right.encode())}
    return {**scope, "headers": [one for one in scope["headers"] if tuple(one) not in ours]}


def _sent(scope: Scope) -> Iterator[tuple[tuple[bytes, bytes], bytes]]:
    """Yield the headers that may hold the token, each with what it holds."""
    for name, value in scope["headers"]:
        kind, _, rest = value.partition(b" ")
        if name == b"x-api-key":
            yield (name, value), value.strip()
        elif name == b"authorization" and kind.lower() == b"bearer":
            yield (name, value), rest.strip()


async def refuse(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request, or a websocket that has not opened yet, with what is wrong."""
    status = STATUS.get(problem.code, 403)
    more = {"www-authenticate": "Bearer"} if status == 401 else {}
    kind = "application/problem+json"
    answer: ASGIApp = JSONResponse(problem.as_dict(), status, more, kind)
    if scope["type"] == "websocket" and "websocket.http.response" not in scope["extensions"]:
        answer = WebSocketClose(POLICY_VIOLATION, problem.what)
    await answer(scope, receive, send)


def announce() -> None:
    """Make the token if there is none, and say who may use the server.

    Raises:
        Problem: `storage_unavailable` or `token_unusable`.
    """
    rules = Rules.of_installation()
    if rules.login:
        return
    token()
    if rules.open_to_pages:
        _log.info(OPEN, ", ".join(sorted(rules.origins or ())))
    else:
        _log.warning(EXPOSED)
