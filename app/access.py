"""Check who may use the server: by the host, the origin and the token of a request.

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

from app.api.open_route import OPEN_PATHS, OPEN_PREFIX
from app.api.scrape_token import METRICS_PATH, has_scrape_token
from app.auth.lasting_requests import POLICY_VIOLATION, serve_while_valid
from app.auth.login import get_login
from app.auth.login_kind import LoginKind, find_login_kind
from app.problems import PROBLEM_MEDIA_TYPE
from app.route_path import get_route_path
from app.server_kind import (
    find_development_host,
    find_listening_host,
    is_aegra,
    is_development_server,
)
from app.server_token import load_server_token
from app.web.console_gate import (
    enter_console,
    is_console_path,
    is_open_console_path,
    is_own_page,
    send_to_sign_in,
)
from config.errors import ErrorCode, Problem
from config.settings import settings

STUDIO = ("https://smith.langchain.com", "https://eu.smith.langchain.com")
"""The origins of LangGraph Studio, which are allowed unless others are configured."""

PUBLIC_PATHS = frozenset(
    ["/", "/ok", "/info", "/docs", "/openapi.json", "/live", "/ready", "/health"]
)
"""Paths that reveal nothing private: health, version and the documentation of the API."""

DEVELOPMENT_PREFIXES = ("/internal/", "/deploy/")
"""The routes of the development server that show or delete any thread, and deploy."""

SERVER_METRICS = "/metrics"
"""Where LangGraph's server serves figures on everybody's runs."""

SAFE_METHODS = frozenset(["GET", "HEAD"])

READABLE_HEADERS = (
    *("x-pagination-total", "x-pagination-next", "content-location"),
    *("content-disposition", "etag", "location", "upload-offset", "upload-length"),
    *("upload-expires", "tus-resumable", "tus-version", "tus-extension", "tus-max-size"),
)
"""The response headers that pages of other origins may read."""

PROXY_HEADER = re.compile(
    r"forwarded|via|x-forwarded.*|x-(?:real|client|cluster-client|remote|originating)-(?:ip|addr)"
    r"|x-original-.*|x-proxy.*|x-envoy-.*|x-amzn-.*|x-appengine-.*|x-azure-.*|true-client-ip|cf-.*"
    r"|cdn-loop|fastly-.*|fly-.*|ngrok-.*|tailscale-.*|x-scheme|client-ip|proxy-.*"
)
"""Headers that a proxy or a tunnel adds: the request may come from another machine."""

CONNECTION_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
"""Where Linux lists the TCP connections of this machine, each with the id of its user."""

ESTABLISHED = "01"
"""The state of a connection that is open at both ends."""

OPEN_NOTICE = "Pages of %s may use this server; everything else needs the token: dossier token"
"""The message when the server starts."""

CLOSED_NOTICE = "Every request needs the token, also from listed pages: dossier token"
"""The message instead if `DOSSIER_SERVER_TOKEN_ALWAYS` is set."""

USERS_NOTICE = "Every request needs the token of a user, as DOSSIER_AUTH says"
"""The message instead if users log in."""

EXPOSED_NOTICE = (
    "OTHER MACHINES CAN REACH THIS SERVER. Whoever has its token (dossier token) can read all that "
    "Dossier has read and remembers. Every request needs the token, also from LangGraph Studio; "
    "without a proxy that encrypts them, others on the network can read it."
)
"""The message instead if other machines can reach the server."""

HOST = re.compile(
    r"(?:\[(?P<address>[\da-f:.]+)\]|(?P<name>[a-z\d_-]+(?:\.[a-z\d_-]+)*)\.?)(?::\d{1,5})?",
    re.ASCII,
)
"""The form of `Host`: a name or an address, and a port."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class AccessRules:
    """The rules that a request must satisfy."""

    hosts: frozenset[str] | None
    """The allowed host names besides those of this machine; None allows any."""
    origins: frozenset[str] | None
    """The allowed origins of pages; None if the deployment checks them itself."""
    open_to_pages: bool
    """Whether pages of those origins need no token; only on this machine."""
    has_own_login: bool = False
    """Whether the deployment has its own authentication, which replaces the token."""
    has_users: bool = False
    """Whether users log in, as `DOSSIER_AUTH` says; their tokens replace that of the server."""
    accepts_studio_login: bool = False
    """Whether it accepts anyone who claims to be Studio, as the development server does."""

    @classmethod
    def from_installation(cls) -> Self:
        """Return the rules that follow from the settings and from how the server was started.

        A deployment may have many names, so its hosts are checked only if some are configured;
        with its own authentication, so are its origins.
        """
        named = settings()
        hosts, origins = named.server_hosts, named.server_origins
        address = find_development_host()
        development = is_development_server()
        kind = find_login_kind()
        login, users = kind is LoginKind.DEPLOYMENT, kind is LoginKind.USERS
        free = login and not development and not origins
        return cls(
            hosts=frozenset([*hosts, address]) if development or hosts else None,
            origins=None if free else frozenset(origins or STUDIO),
            open_to_pages=development
            and _is_loopback(address)
            and not named.server_token_always
            and not users,
            has_own_login=login,
            has_users=users,
            accepts_studio_login=development,
        )


class AccessMiddleware:
    """An ASGI middleware that refuses unauthorised requests before anything else is done.

    `Host` and `Origin` are checked first, so a foreign page learns nothing, not even from a
    preflight request; then the token, so a page of an allowed origin sees that it is missing.
    """

    def __init__(self, app: ASGIApp, rules: AccessRules | None = None) -> None:
        """Wrap an application."""
        self.app = app
        self.rules = rules or AccessRules.from_installation()
        self.shared: ASGIApp = self._check_login
        if self.rules.origins is not None:
            self.shared = CORSMiddleware(
                self._check_login,
                allow_origins=self.rules.origins,
                allow_methods=["*"],
                allow_headers=["*"],
                allow_private_network=True,
                expose_headers=READABLE_HEADERS,
            )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket") or _is_internal_call(scope):
            await self.app(scope, receive, send)
            return
        try:
            scope = self._check_host_and_origin(scope)
        except Problem as problem:
            await _send_refusal(problem, scope, receive, send)
            return
        await self.shared(scope, receive, send)

    def _check_host_and_origin(self, scope: Scope) -> Scope:
        """Return a request if its host and origin are allowed.

        The origin of a page of the server itself is removed: CORS does not apply to it.

        Raises:
            Problem: `host_refused` or `origin_refused`.
        """
        host = _single_header(scope, "host") or ""
        if self.rules.hosts is not None and not _is_own(host, scope, self.rules.hosts):
            hint = "add the name to DOSSIER_SERVER_HOSTS"
            what = "this server does not accept this host name"
            raise Problem(ErrorCode.HOST_REFUSED, what, where=host, hint=hint)
        origin = _single_header(scope, "origin", host)
        if self.rules.origins is None or origin is None or origin in self.rules.origins:
            return scope
        if origin not in (f"http://{host}", f"https://{host}"):
            hint = "add the origin to DOSSIER_SERVER_ORIGINS"
            what = "pages of this origin may not use this server"
            raise Problem(ErrorCode.ORIGIN_REFUSED, what, where=origin, hint=hint)
        return {**scope, "headers": [one for one in scope["headers"] if one[0] != b"origin"]}

    async def _check_login(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that needs no login, or has one; the server's token is removed."""
        of_console = is_console_path(scope)
        try:
            if of_console:
                scope = await enter_console(scope)
            if self.rules.has_users:
                await self._identify(scope)
            elif await asyncio.to_thread(self._needs_token, scope):
                scope = _strip_token(scope, await asyncio.to_thread(load_server_token))
        except Problem as problem:
            if of_console and problem.error.http_status == 401:
                await send_to_sign_in(scope, receive, send)
            else:
                await _send_refusal(problem, scope, receive, send)
            return
        if not self.rules.has_users or _needs_no_login(scope):
            await self.app(scope, receive, send)
        elif over := await serve_while_valid(self.app, scope, receive, send):
            await _send_refusal(over, scope, receive, send)

    async def _identify(self, scope: Scope) -> None:
        """Make sure that a request comes from a user; handlers find out which one.

        LangGraph itself requires no login for its metrics.

        Raises:
            Problem: What is wrong with the token, or `operator_only`.
        """
        if _needs_no_login(scope):
            return
        user = await get_login().identify(Headers(scope=scope))
        path = get_route_path(scope)
        if path == SERVER_METRICS and not user.is_operator:
            what = "these figures are for operators"
            raise Problem(ErrorCode.OPERATOR_ONLY, what, where=path)
        if f"{path}/".startswith(DEVELOPMENT_PREFIXES):
            what = "this path is closed where users log in"
            raise Problem(ErrorCode.OPERATOR_ONLY, what, where=path)

    def _needs_token(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        if _needs_no_login(scope):
            return False
        claimed = headers.get("x-auth-scheme") == "langsmith"
        if self.rules.has_own_login and not (claimed and self.rules.accepts_studio_login):
            return False
        from_page = ("origin" in headers or is_own_page(scope)) and self.rules.open_to_pages
        return not (from_page and _on_this_machine(scope, headers) and _by_this_user(scope))


def _needs_no_login(scope: Scope) -> bool:
    """Say whether a request reads something public, or signs somebody in to the console."""
    if is_open_console_path(scope):
        return True
    path = get_route_path(scope)
    is_open = path in PUBLIC_PATHS or path in OPEN_PATHS or path.startswith(OPEN_PREFIX)
    is_open = is_open or (path == METRICS_PATH and has_scrape_token(Headers(scope=scope)))
    return scope["type"] == "http" and scope["method"] in SAFE_METHODS and is_open


def _is_internal_call(scope: Scope) -> bool:
    """Say whether the server calls itself, which no request from outside can imitate."""
    return f"{scope.get('root_path', '')}/".startswith("/noauth/")


def _single_header(scope: Scope, name: str, host: str = "") -> str | None:
    """Return the only value of a header, which may be empty; `None` without one.

    Raises:
        Problem: `host_refused` or `origin_refused` if there are several.
    """
    said = [value.decode("latin-1") for key, value in scope["headers"] if key == name.encode()]
    if len(said) > 1:
        hint = f"send only one {name.title()} header"
        code = ErrorCode.HOST_REFUSED if name == "host" else ErrorCode.ORIGIN_REFUSED
        what = f"the request has {len(said)} {name.title()} headers"
        raise Problem(code, what, where=host, hint=hint)
    return said[0].strip() if said else None


def _is_own(host: str, scope: Scope, names: frozenset[str]) -> bool:
    """Say whether a host is this machine, the server's own address, or an allowed name."""
    said = HOST.fullmatch(host.lower())
    if not said:
        return False
    name = said["address"] or said["name"]
    arrived = (scope.get("server") or ("",))[0]
    return _is_loopback(name) or name == arrived or name in names


def _is_loopback(name: str) -> bool:
    """Say whether a host is this machine, without a DNS lookup."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _on_this_machine(scope: Scope, headers: Headers) -> bool:
    """Say whether a request was sent from this machine to this machine, without a proxy."""
    ends = [(scope.get(end) or ("",))[0] for end in ("client", "server")]
    host = urlsplit(f"//{headers['host']}").hostname or ""
    return all(map(_is_loopback, [*ends, host])) and not any(map(PROXY_HEADER.fullmatch, headers))


def _by_this_user(scope: Scope) -> bool:
    """Say whether a connection within this machine belongs to this user, or to root.

    A program can send any `Origin`. Only Linux tells who owns a connection; elsewhere every
    user is accepted.
    """
    try:
        lines = [
            line for one in CONNECTION_TABLES for line in Path(one).read_text().splitlines()[1:]
        ]
    except OSError:
        return True
    ends = [f"{scope[end][1]:04X}" for end in ("client", "server")]
    listed = [
        (line[1].rpartition(":")[2], line[2].rpartition(":")[2], line[3], line[7])
        for line in map(str.split, lines)
    ]
    users = {user for *ports, state, user in listed if ports == ends and state == ESTABLISHED}
    return bool(users) and users <= {"0", str(os.getuid())}


def _strip_token(scope: Scope, right: str) -> Scope:
    """Check the token of a request and remove it, since nothing else needs it.

    Raises:
        Problem: `token_missing` or `token_wrong`.
    """
    sent = list(_list_sent_tokens(scope))
    ours = {header for header, token in sent if secrets.compare_digest(token, right.encode())}
    if not ours:
        hint = (
            "`dossier token` prints it; send it as x-api-key (`api_key=` of langgraph_sdk, the key "
            "that a chat page asks for), or as Authorization: Bearer"
        )
        if sent:
            raise Problem(ErrorCode.TOKEN_WRONG, "this is not the token of this server", hint=hint)
        what = "this request needs the token of this server"
        raise Problem(ErrorCode.TOKEN_MISSING, what, hint=hint)
    return {**scope, "headers": [one for one in scope["headers"] if tuple(one) not in ours]}


def _list_sent_tokens(scope: Scope) -> Iterator[tuple[tuple[bytes, bytes], bytes]]:
    """Yield each header that may contain the token, with the token in it."""
    for name, value in scope["headers"]:
        kind, _, rest = value.partition(b" ")
        if name == b"x-api-key":
            yield (name, value), value.strip()
        elif name == b"authorization" and kind.lower() == b"bearer":
            yield (name, value), rest.strip()


async def _send_refusal(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request, or a websocket that has not opened yet, with a problem."""
    number = problem.error.http_status
    more = {"www-authenticate": "Bearer"} if number == 401 else {}
    answer: ASGIApp = JSONResponse(problem.as_dict(), number, more, PROBLEM_MEDIA_TYPE)
    if scope["type"] == "websocket" and "websocket.http.response" not in scope["extensions"]:
        answer = WebSocketClose(POLICY_VIOLATION, problem.what)
    await answer(scope, receive, send)


def log_access_rules() -> None:
    """Create the token if there is none, and log who may use the server.

    Raises:
        Problem: `storage_unavailable` or `token_unusable`.
    """
    rules = AccessRules.from_installation()
    if rules.has_own_login:
        return
    get_login()
    if rules.has_users:
        _log.info(USERS_NOTICE)
        return
    load_server_token()
    if rules.open_to_pages:
        _log.info(OPEN_NOTICE, ", ".join(sorted(rules.origins or ())))
    elif (settings().server_token_always or is_aegra()) and _is_loopback(find_listening_host()):
        _log.info(CLOSED_NOTICE)
    else:
        _log.warning(EXPOSED_NOTICE)
