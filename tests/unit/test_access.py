"""Only its own names, pages of named origins and the token get anything from the server."""

from __future__ import annotations

import json
import logging
import os
import stat
import sys
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocket

from app import access
from app.access import STUDIO, AccessMiddleware, AccessRules, log_access_rules
from app.auth.login import Login
from app.auth.user import User
from app.auth.user_store import add_user, issue_token
from app.server_token import NAME, load_server_token
from config.errors import ErrorCode, Problem
from config.settings import settings
from tests.cases import each_case
from tests.places import new_process

HERE = "http://127.0.0.1:8123"
PAGE = STUDIO[0]
LOCAL = AccessRules(hosts=frozenset(), origins=frozenset(STUDIO), open_to_pages=True)
EXPOSED = AccessRules(
    hosts=frozenset(["box.example.org"]), origins=frozenset(STUDIO), open_to_pages=False
)


async def echo(request: Request) -> Response:
    done.append(request.method)
    return JSONResponse({"headers": dict(request.headers)})


async def talk(socket: WebSocket) -> None:
    done.append("socket")
    await socket.accept()
    await socket.send_text("in")


done: list[str] = []
"""What reached the application."""


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    done.clear()
    monkeypatch.setattr(access, "CONNECTION_TABLES", ("/nowhere",))


def client(rules: AccessRules = LOCAL, url: str = HERE, **more: Any) -> TestClient:
    """Return a client of a server that would share itself with everybody, as LangGraph's does."""
    methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    routes = [
        Route("/ok", echo, methods=methods),
        Route("/threads", echo, methods=methods),
        WebSocketRoute("/talk", talk),
    ]
    shared = Middleware(CORSMiddleware, allow_origins=["*"], allow_methods=["*"])
    app = Starlette(routes=routes, middleware=[Middleware(AccessMiddleware, rules=rules), shared])
    return TestClient(app, base_url=url, client=("127.0.0.1", 50_000), **more)


def keyed() -> dict[str, str]:
    return {"x-api-key": load_server_token()}


@each_case(
    [
        "rebound.example",
        "rebound.example:8123",
        "localhost.rebound.example",
        "127.0.0.1.rebound.example",
        "127.0.0.1@rebound.example",
        "0.0.0.0:8123",
        "192.0.2.7",
        "[2001:db8::1]:8123",
        "[::1",
        "[::1]rebound.example",
        "localhost/rebound",
        "somebody@localhost:8123",
        "rebound.example\\@localhost",
        "localhost:port",
        "..localhost",
        "",
    ]
)
def test_a_server_that_is_called_by_another_name_answers_nobody(host: str):
    for path in ("/threads", "/ok"):
        told = client().get(path, headers={**keyed(), "host": host})

        assert told.status_code == 403
        assert told.json()["code"] == "host_refused"
    assert done == []


@pytest.mark.parametrize(
    "host",
    [
        "localhost:8123",
        "LocalHost",
        "app.localhost",
        "127.0.0.1",
        "localhost.:8123",
        "127.8.8.8:1",
        "[::1]:8123",
    ],
)
def test_names_of_this_machine_are_the_servers_own(host: str):
    assert client().get("/threads", headers={**keyed(), "host": host}).status_code == 200


def test_a_named_host_is_the_servers_own_too():
    there = {"host": "box.example.org:8123"}

    assert client(EXPOSED).get("/threads", headers={**keyed(), **there}).status_code == 200
    assert client().get("/threads", headers={**keyed(), **there}).status_code == 403


def test_the_address_at_which_a_request_arrives_is_the_servers_own():
    assert client(url="http://10.1.2.3:8123").get("/threads", headers=keyed()).status_code == 200


@each_case(
    product(
        [
            "https://evil.example",
            "null",
            "",
            "http://localhost:3000",
            "https://smith.langchain.com.evil.example",
            "https://smith.langchain.com:8443",
            "http://smith.langchain.com",
            "chrome-extension://abcdef",
            "https://smith.langchain.com, https://evil.example",
        ],
        ["GET", "POST", "PUT", "DELETE", "OPTIONS"],
    )
)
def test_a_page_that_is_not_named_gets_and_causes_nothing(origin: str, method: str):
    asks = {
        "access-control-request-method": "POST",
        "access-control-request-private-network": "true",
    }
    told = client().request(method, "/threads", headers={**keyed(), **asks, "origin": origin})

    assert told.status_code == 403
    assert told.json()["code"] == "origin_refused"
    assert not [name for name in told.headers if name.startswith("access-control")]
    assert done == []


def test_a_page_may_not_even_ask_whether_the_server_is_there():
    assert client().get("/ok", headers={"origin": "https://evil.example"}).status_code == 403


def test_a_second_origin_does_not_hide_behind_the_first():
    sent = [("origin", PAGE), ("origin", "https://evil.example")]

    assert client().get("/threads", headers=sent).json()["code"] == "origin_refused"


def test_a_named_page_needs_no_token_on_this_machine():
    told = client().post("/threads", headers={"origin": PAGE})

    assert told.status_code == 200
    assert told.headers["access-control-allow-origin"] == PAGE
    assert "x-pagination-total" in told.headers["access-control-expose-headers"]
    assert done == ["POST"]


def test_the_preflight_of_a_named_page_is_answered_for_this_page_alone():
    asks = {
        "origin": PAGE,
        "access-control-request-method": "PATCH",
        "access-control-request-headers": "content-type,x-api-key,x-auth-scheme",
        "access-control-request-private-network": "true",
    }
    told = client().options("/threads", headers=asks)

    assert told.status_code == 200
    assert told.headers["access-control-allow-origin"] == PAGE
    assert told.headers["access-control-allow-private-network"] == "true"
    assert "x-auth-scheme" in told.headers["access-control-allow-headers"]
    assert "PATCH" in told.headers["access-control-allow-methods"]
    assert done == []


def test_what_comes_from_no_page_needs_the_token():
    missing = client().post("/threads")
    wrong = client().post("/threads", headers={"x-api-key": "lsv2_a_key_of_langsmith"})

    assert (missing.status_code, missing.json()["code"]) == (401, "token_missing")
    assert (wrong.status_code, wrong.json()["code"]) == (401, "token_wrong")
    assert missing.headers["content-type"] == "application/problem+json"
    assert "dossier token" in missing.json()["hint"]
    assert done == []


@pytest.mark.parametrize(
    "form", ["x-api-key: {}", "Authorization: Bearer {}", "authorization: bearer {}"]
)
def test_the_token_goes_no_further_than_the_door(form: str):
    name, _, value = form.format(load_server_token()).partition(": ")
    other = {"authorization": "Bearer other"} if name == "x-api-key" else {"x-api-key": "other"}
    told = client().get("/threads", headers={name: value, **other})

    assert told.status_code == 200
    assert load_server_token() not in told.text
    assert "other" in told.text


@pytest.mark.parametrize(
    "more",
    [
        {"x-forwarded-for": "203.0.113.9"},
        {"forwarded": "for=203.0.113.9"},
        {"via": "1.1 proxy"},
        {"x-forwarded-port": "443"},
        {"true-client-ip": "203.0.113.9"},
        {"cf-ray": "8f1"},
        {"x-envoy-external-address": "203.0.113.9"},
        {"x-original-host": "box.example.org"},
    ],
)
def test_a_page_behind_a_proxy_needs_the_token(more: dict[str, str]):
    assert client().get("/threads", headers={"origin": PAGE, **more}).status_code == 401


@pytest.mark.parametrize(
    ("user", "state", "status"),
    [("me", "01", 200), ("0", "01", 200), ("4711", "01", 401), ("me", "06", 401), ("0", "05", 401)],
)
def test_another_user_of_this_machine_cannot_pretend_to_be_a_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, user: str, state: str, status: int
):
    number = str(os.getuid()) if user == "me" else user
    row = "   {}: 0100007F:{:04X} 0100007F:{:04X} {} 0:0 00:0 0  {}  0 1 1 0 20 4 30 10 -1\n"
    rows = [row.format(0, 40_000, 8123, "01", 4712), row.format(1, 50_000, 8123, state, number)]
    (tmp_path / "tcp").write_text("  sl  local_address rem_address st\n" + "".join(rows))
    monkeypatch.setattr(access, "CONNECTION_TABLES", (str(tmp_path / "tcp"),))

    assert client().get("/threads", headers={"origin": PAGE}).status_code == status


def test_a_page_on_another_machine_needs_the_token():
    far = TestClient(client().app, base_url=HERE, client=("192.0.2.9", 50_000))

    assert far.get("/threads", headers={"origin": PAGE}).status_code == 401


def test_on_a_server_that_others_reach_a_named_page_sees_that_the_token_is_missing():
    told = client(EXPOSED).get("/threads", headers={"origin": PAGE})
    entered = client(EXPOSED).get("/threads", headers={"origin": PAGE, **keyed()})

    assert told.status_code == 401
    assert told.headers["access-control-allow-origin"] == PAGE
    assert entered.status_code == 200


def test_a_page_of_the_server_itself_shares_nothing_and_needs_the_token():
    same = {"origin": HERE, "host": "127.0.0.1:8123"}
    told = client().get("/threads", headers={**same, **keyed()})

    assert client().get("/threads", headers=same).status_code == 401
    assert told.status_code == 200
    assert "access-control-allow-origin" not in told.headers


def test_whether_the_server_is_there_may_be_asked_without_the_token():
    assert client().get("/ok").status_code == 200
    assert client().post("/ok").status_code == 401


@pytest.mark.parametrize(
    ("headers", "opens"),
    [
        ({}, False),
        ({"origin": "https://evil.example"}, False),
        ({"origin": PAGE, "host": "rebound.example"}, False),
        ({"origin": PAGE}, True),
        ({"x-api-key": "TOKEN"}, True),
    ],
)
def test_a_websocket_is_asked_the_same(headers: dict[str, str], opens: bool):
    sent = {name: value.replace("TOKEN", load_server_token()) for name, value in headers.items()}
    talking = client().websocket_connect("ws://127.0.0.1:8123/talk", headers=sent)
    if opens:
        with talking as socket:
            assert socket.receive_text() == "in"
        return
    with pytest.raises(WebSocketDenialResponse), talking:
        pass
    assert done == []


def test_the_server_may_call_itself():
    assert client(root_path="/noauth").get("/threads", headers={"host": "api"}).status_code == 200


class TestOfInstallation:
    """What is asked follows from how the server was started."""

    @pytest.fixture(autouse=True)
    def _plain(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("LANGGRAPH_AUTH", "LANGGRAPH_AUTH_TYPE", "LANGGRAPH_API_URL"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("LANGSMITH_LANGGRAPH_API_VARIANT", "local_dev")

    @pytest.mark.parametrize(
        ("address", "opens"),
        [
            ("http://127.0.0.1:2024", True),
            ("http://localhost:2024", True),
            ("http://[::1]:2024", True),
            ("http://0.0.0.0:2024", False),
            ("http://[::]:2024", False),
            ("http://192.168.1.7:2024", False),
            ("https://words-of-a-tunnel.trycloudflare.com", False),
            ("", False),
        ],
    )
    def test_pages_are_let_in_only_where_no_other_machine_comes(
        self, monkeypatch: pytest.MonkeyPatch, address: str, opens: bool
    ):
        monkeypatch.setenv("LANGGRAPH_API_URL", address)

        assert AccessRules.from_installation().open_to_pages is opens

    def test_named_hosts_and_origins_are_those_of_the_settings(
        self, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setenv("DOSSIER_SERVER_HOSTS", "box.example.org, box2")
        monkeypatch.setenv("DOSSIER_SERVER_ORIGINS", "http://localhost:3000/,https://A.example:443")
        new_process()
        rules = AccessRules.from_installation()

        assert rules.hosts is not None
        assert rules.hosts >= {"box.example.org", "box2"}
        assert rules.origins == {"http://localhost:3000", "https://a.example"}

    def test_a_deployment_with_a_login_of_its_own_is_left_as_it_is(
        self, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setenv("LANGSMITH_LANGGRAPH_API_VARIANT", "licensed")
        monkeypatch.setenv("LANGGRAPH_AUTH_TYPE", "langsmith")
        asker = client(AccessRules.from_installation(), "https://dossier.example.org")
        told = asker.get("/threads", headers={"origin": "https://chat.example.org"})

        assert told.status_code == 200
        assert told.headers["access-control-allow-origin"] == "*"

    def test_a_deployment_without_a_login_needs_the_token_for_everything(
        self, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setenv("LANGSMITH_LANGGRAPH_API_VARIANT", "licensed")
        asker = client(AccessRules.from_installation(), "https://dossier.example.org")

        assert asker.get("/threads").status_code == 401
        assert asker.get("/threads", headers={"origin": PAGE}).status_code == 401
        assert asker.get("/threads", headers={"origin": "https://evil.example"}).status_code == 403
        assert asker.get("/threads", headers=keyed()).status_code == 200

    def test_the_development_server_believes_nobody_who_says_to_be_studio(
        self, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setenv("LANGGRAPH_AUTH", json.dumps({"path": "login.py:auth"}))
        monkeypatch.setenv("LANGGRAPH_API_URL", HERE)
        asker = client(AccessRules.from_installation())

        assert asker.get("/threads", headers={"authorization": "Bearer theirs"}).status_code == 200
        assert asker.get("/threads", headers={"x-auth-scheme": "langsmith"}).status_code == 401
        assert asker.get("/threads", headers={"origin": "https://evil.example"}).status_code == 403

    @pytest.mark.parametrize(
        ("address", "level"),
        [(HERE, logging.INFO), ("http://0.0.0.0:2024", logging.WARNING)],
    )
    def test_the_server_says_at_its_start_who_may_use_it(
        self,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
        address: str,
        level: int,
    ):
        monkeypatch.setenv("LANGGRAPH_API_URL", address)
        with caplog.at_level(logging.INFO):
            log_access_rules()

        (told,) = caplog.records
        assert told.levelno == level
        assert "dossier token" in told.getMessage()
        assert (settings().home / NAME).exists()


@pytest.mark.parametrize(
    ("host", "level"),
    [("127.0.0.1", logging.INFO), ("0.0.0.0", logging.WARNING)],
)
def test_aegra_warns_only_if_other_machines_reach_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, host: str, level: int
):
    monkeypatch.setitem(sys.modules, "aegra_api", ModuleType("aegra_api"))
    monkeypatch.setenv("HOST", host)
    with caplog.at_level(logging.INFO):
        log_access_rules()

    (told,) = caplog.records
    assert told.levelno == level


def test_where_the_settings_want_it_so_a_listed_page_needs_the_token_on_this_machine_too(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("LANGSMITH_LANGGRAPH_API_VARIANT", "local_dev")
    monkeypatch.setenv("LANGGRAPH_API_URL", HERE)
    assert (
        client(AccessRules.from_installation()).get("/threads", headers={"origin": PAGE}).is_success
    )
    monkeypatch.setenv("DOSSIER_SERVER_TOKEN_ALWAYS", "true")
    new_process()

    told = client(AccessRules.from_installation()).get("/threads", headers={"origin": PAGE})
    with caplog.at_level(logging.INFO):
        log_access_rules()

    assert told.status_code == 401
    assert "Every request needs the token" in caplog.text
    assert "OTHER MACHINES" not in caplog.text


class TestToken:
    """The token is made once and is the person's alone."""

    def test_it_is_made_once_and_nobody_else_can_read_it(self):
        first = load_server_token()
        file = settings().home / NAME

        assert load_server_token() == first
        assert len(first) > 40
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert [one.name for one in settings().home.glob(f"{NAME}*")] == [NAME]

    def test_a_new_one_takes_its_place_at_once(self):
        first = keyed()
        second = load_server_token(renew=True)

        assert client().get("/threads", headers=first).status_code == 401
        assert client().get("/threads", headers={"x-api-key": second}).status_code == 200

    @pytest.mark.parametrize("kept", ["", "\n", "short", "a" * 30 + "\x00", "ä" * 30])
    def test_a_spoilt_file_lets_nobody_in(self, kept: str):
        load_server_token()
        (settings().home / NAME).write_text(kept, encoding="utf-8")

        with pytest.raises(Problem) as problem:
            load_server_token()
        assert problem.value.code == "token_unusable"
        for sent in ("", "short", "any"):
            assert client().get("/threads", headers={"x-api-key": sent}).status_code == 503


class TestUsers:
    """Where users log in, everything but a few pages needs the token of one."""

    @pytest.fixture
    async def token(self, monkeypatch: pytest.MonkeyPatch) -> str:
        monkeypatch.setenv("DOSSIER_AUTH", "users")
        monkeypatch.setenv("LANGSMITH_LANGGRAPH_API_VARIANT", "local_dev")
        monkeypatch.setenv("LANGGRAPH_API_URL", HERE)
        new_process()
        await add_user("ada", is_operator=True)
        return await issue_token("ada")

    async def test_a_token_of_a_user_opens_the_server_and_that_of_the_home_does_not(
        self, token: str
    ):
        asker = client(AccessRules.from_installation())

        assert asker.get("/threads", headers={"x-api-key": token}).status_code == 200
        assert asker.get("/threads", headers={"authorization": f"bearer {token}"}).is_success
        assert asker.get("/threads", headers=keyed()).json()["code"] == "token_wrong"
        assert asker.get("/threads").json()["code"] == "token_missing"
        assert asker.get("/threads").headers["www-authenticate"] == "Bearer"

    @pytest.mark.parametrize(
        "headers",
        [
            {"origin": PAGE},
            {"origin": PAGE, "x-auth-scheme": "langsmith"},
            {"x-auth-scheme": "langsmith"},
            {"x-user-id": "ada", "x-forwarded-user": "ada", "remote-user": "ada"},
            {"cookie": "token=TOKEN"},
            {"x-api_key": "TOKEN"},
            {"x-dossier-token": "TOKEN"},
            {"authorization": "TOKEN"},
            {"authorization": "Basic TOKEN"},
        ],
    )
    async def test_nothing_else_lets_anybody_in(self, token: str, headers: dict[str, str]):
        asker = client(AccessRules.from_installation())
        sent = {name: value.replace("TOKEN", token) for name, value in headers.items()}

        told = asker.get(f"/threads?token={token}&x-api-key={token}", headers=sent)
        assert (told.status_code, told.json()["code"]) == (401, "token_missing")
        assert done == []

    async def test_what_the_server_works_on_for_everybody_is_told_to_operators(self, token: str):
        await add_user("bob")
        asker = client(AccessRules.from_installation())

        his = asker.get("/metrics", headers={"x-api-key": await issue_token("bob")})
        assert (his.status_code, his.json()["code"]) == (403, "operator_only")
        assert asker.get("/metrics", headers={"x-api-key": token}).status_code == 404

    async def test_two_tokens_are_none(self, token: str):
        await add_user("bob")
        other = await issue_token("bob")
        asker = client(AccessRules.from_installation())

        twice = [("x-api-key", token), ("x-api-key", other)]
        assert asker.get("/threads", headers=twice).json()["code"] == "token_wrong"
        both = [("authorization", f"Bearer {token}"), ("authorization", f"Bearer {other}")]
        assert asker.get("/threads", headers=both).json()["code"] == "token_wrong"

    @pytest.mark.parametrize(
        "path",
        [
            *("/internal/truncate", "/internal/debug/thread/x", "/deploy", "/deploy/x/stream"),
            *("/internal/", "/internal"),
        ],
    )
    async def test_tools_of_the_development_server_are_closed_for_operators_too(
        self, token: str, path: str
    ):
        asker = client(AccessRules.from_installation())

        told = asker.post(path, headers={"x-api-key": token})
        assert (told.status_code, told.json()["code"]) == (403, "operator_only")

    async def test_a_websocket_needs_the_token_too(self, token: str):
        asker = client(AccessRules.from_installation())
        with asker.websocket_connect("/talk", headers={"x-api-key": token}) as talking:
            assert talking.receive_text() == "in"
        with (
            pytest.raises(WebSocketDenialResponse),
            asker.websocket_connect("/talk", headers={"origin": PAGE}),
        ):
            pass

    async def test_foreign_pages_and_hosts_stay_outside(self, token: str):
        asker = client(AccessRules.from_installation())
        key = {"x-api-key": token}

        assert asker.get("/threads", headers={**key, "origin": "https://evil.example"}).is_error
        assert asker.get("/threads", headers={**key, "host": "rebound.example"}).is_error

    async def test_a_start_with_a_class_that_is_none_fails(self, monkeypatch: pytest.MonkeyPatch):
        for named in ("nowhere.login:Login", "config.settings:Settings", "app.access:Nobody"):
            monkeypatch.setenv("DOSSIER_AUTH", named)
            new_process()
            with pytest.raises(Problem) as told:
                log_access_rules()
            assert (told.value.code, told.value.where) == ("config_value", "DOSSIER_AUTH")

    async def test_an_own_class_finds_the_user(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("DOSSIER_AUTH", f"{__name__}:CookieLogin")
        monkeypatch.setenv("LANGGRAPH_API_URL", HERE)
        new_process()
        asker = client(AccessRules.from_installation())

        assert asker.get("/threads", headers={"cookie": "name=ada"}).status_code == 200
        assert asker.get("/threads", headers={"cookie": "name=eve"}).status_code == 401


class CookieLogin(Login):
    """A class as an operator may write one."""

    async def identify(self, headers: Mapping[str, str]) -> User:
        if headers.get("cookie") != "name=ada":
            raise Problem(ErrorCode.TOKEN_MISSING, "log in first")
        return User("ada")
