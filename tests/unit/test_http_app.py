"""What a server is sent holds no secrets by the time the server sees it."""

from __future__ import annotations

import base64
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket

from app.http_app import SERVER_STATE_DIR, MaskingMiddleware, mask_request, server_lifespan
from tests.places import new_process
from tools.message_uploads import list_message_uploads

SECRET = "hunter2-Zebra9"
THREAD = "0198c7a2-6a55-7c1f-9d0e-3b7f6a1c2d4e"
NOTE = b"The pump of hall 7 runs at 41 bar. My password is hunter2-Zebra9."


async def echo(request: Request) -> Response:
    return Response(await request.body())


async def refused(request: Request) -> Response:
    return Response(await request.body(), 409)


async def talk(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text(await socket.receive_text())


@pytest.fixture
def client() -> TestClient:
    routes = [
        Route("/", echo, methods=["POST", "PUT", "PATCH", "GET"]),
        Route(f"/threads/{THREAD}/runs/stream", echo, methods=["POST"]),
        Route(f"/threads/{THREAD}/state", refused, methods=["POST"]),
        WebSocketRoute("/talk", talk),
    ]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(MaskingMiddleware)]))


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
@pytest.mark.parametrize(
    "body",
    [
        {"input": {"messages": [{"role": "user", "content": f"my password is {SECRET}"}]}},
        {"command": {"resume": {"decisions": [{"message": f"password: {SECRET}"}]}}},
        {"supersteps": [{"updates": [{"values": {"note": [f"my password is {SECRET}"]}}]}]},
        {"metadata": {"note": f"我的密码是{SECRET}"}},
        [{"params": {"arguments": {"messages": f"log in with password {SECRET}"}}}],
        {"metadata": {"files": f"my password is {SECRET}"}},
        {"files": [f"my password is {SECRET}"]},
        {"input": {"project": f"my password is {SECRET}"}},
        {"metadata": {"context": {"project": f"my password is {SECRET}"}}},
        {"context": [{"files": f"my password is {SECRET}"}]},
        {"context": {"style": {"files": f"my password is {SECRET}"}}},
        {"config": {"metadata": {"files": f"my password is {SECRET}"}}},
        {"params": {"input": {"files": f"my password is {SECRET}"}}},
    ],
)
def test_a_secret_in_a_request_reaches_no_application(client: TestClient, method: str, body: Any):
    got = client.request(method, "/", json=body)

    assert SECRET not in got.text
    assert "[password removed]" in json.dumps(got.json())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no JSON at all",
        b'{"a" : [1.0, "two", null]}',
        b'{"context": {"files": ["/x/password=abcd1/y"]}}',
        b'[{"config": {"configurable": {"project":  "/x/password=abcd1/y"}}}]',
        b'{"params": {"config": {"configurable": {"files":  ["/x/password=abcd1/y"]}}}}',
    ],
)
def test_a_request_without_a_secret_arrives_byte_by_byte(client: TestClient, body: bytes):
    assert client.post("/", content=body).content == body


def test_a_request_in_pieces_arrives_whole(client: TestClient):
    pieces = iter([b'{"a": "my password is hun', b'ter2-Zebra9", "b": "', b'what was asked"}'])

    got = client.post("/", content=pieces).json()

    assert got == {"a": "my password is [password removed]", "b": "what was asked"}


@pytest.mark.parametrize("method", ["POST", "DELETE"])
async def test_a_request_that_is_too_large_is_read_no_further(
    monkeypatch: pytest.MonkeyPatch, method: str
):
    monkeypatch.setattr("app.http_app.MAX_REQUEST_BYTES", 2_500)
    pieces = iter(range(20))
    sent: list[Any] = []

    async def receive() -> Any:
        next(pieces)
        return {"type": "http.request", "body": bytes(1_000), "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    async def unreached(*_: Any) -> None:
        pytest.fail("it was passed on")

    scope = {"type": "http", "method": method, "path": "/", "headers": []}
    await MaskingMiddleware(unreached)(scope, receive, send)

    assert sent[0]["status"] == 413
    assert json.loads(sent[1]["body"])["code"] == "request_too_large"
    assert next(pieces) == 3


@pytest.mark.parametrize(
    "form",
    [
        {"checkpoint_id": 5},
        {"checkpoint_id": {"a": 1}},
        {"after_seconds": 2**63},
        {"config": {"callbacks": True}},
        {"config": {"callbacks": ["print"]}},
        {"config": {"tags": [[1]]}},
        {"config": {"recursion_limit": 2**63}},
        [{"config": {"configurable": 7}}],
        {"config": "x"},
        {"config": {"configurable": {"__pregel_checkpointer": "x"}}},
        {"context": {"__pregel_send": 1}},
        {"method": "run.start", "params": {"config": {"callbacks": True}}},
    ],
)
def test_a_request_of_a_form_that_the_server_would_fail_over_is_refused(
    client: TestClient, form: Any
):
    answer = client.post("/", json=form)

    assert answer.status_code == 422
    assert answer.json()["code"] == "request_refused"
    assert answer.json()["where"]


@pytest.mark.parametrize("form", [{}, [{}], {"method": "run.start", "params": {}}])
def test_a_webhook_that_nobody_may_choose_is_refused_before_its_name_is_looked_up(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, form: Any
):
    monkeypatch.setenv("DOSSIER_AUTH", "users")
    monkeypatch.setenv("DOSSIER_CALLER_WEBHOOKS", "hooks.example.org")
    new_process()
    place = form[0] if isinstance(form, list) else form.get("params", form)
    place["webhook"] = "https://database.inside.example/hook"
    refused = client.post("/", json=form)
    assert (refused.status_code, refused.json()["code"]) == (403, "choice_refused")

    place["webhook"] = "https://hooks.example.org/hook"
    assert client.post("/", json=form).json() == form


@pytest.mark.parametrize(
    "form",
    [
        {"checkpoint_id": None, "config": None, "after_seconds": 3},
        {"config": {"tags": ["a"], "recursion_limit": 50, "configurable": {"thread_id": "t"}}},
        [7, {"config": {}}],
        "config",
    ],
)
def test_a_request_of_a_known_form_is_passed_on(client: TestClient, form: Any):
    assert client.post("/", json=form).json() == form


@pytest.mark.parametrize("depth", [5000, 600])
def test_a_request_too_deep_to_be_looked_through_is_refused_with_a_code(
    client: TestClient, depth: int
):
    deep = b'{"a":' * depth + b'"my password is hunter2-Zebra9"' + b"}" * depth

    answer = client.post("/", content=deep)

    assert (answer.status_code, answer.json()["code"]) == (422, "request_refused")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["hint"]


@pytest.mark.parametrize(
    "said",
    ["[" * 5000 + "]" * 5000, '{"id": 1, "params": {"config": {"recursion_limit": 0}}}'],
)
def test_a_message_of_a_websocket_of_a_wrong_form_is_answered_and_the_next_one_is_read(
    client: TestClient, said: str
):
    with client.websocket_connect("/talk") as socket:
        socket.send_text(said)
        told = json.loads(socket.receive_text())
        socket.send_text('"hello"')

        assert (told["type"], told["code"]) == ("error", "request_refused")
        assert told["message"]
        assert socket.receive_text() == '"hello"'


def test_a_message_of_a_websocket_is_masked(client: TestClient):
    with client.websocket_connect("/talk") as socket:
        socket.send_text(json.dumps({"params": {"input": f"my password is {SECRET}"}}))

        assert SECRET not in socket.receive_text()


def test_what_is_no_json_is_left_to_the_server():
    assert mask_request(b"{") == b"{"


def sent(role: str = "user") -> dict[str, Any]:
    """Return what a chat page sends of a file."""
    data = base64.b64encode(NOTE).decode()
    file = {"type": "file", "mimeType": "text/plain", "data": data, "metadata": {"name": "n.txt"}}
    said = [{"type": "text", "text": "What does it say?"}, file]
    return {"input": {"messages": [{"role": role, "content": said}]}}


def kept(home: Path) -> list[Path]:
    return [one for one in (home / "uploads").rglob("*") if one.is_file()]


def test_a_file_is_taken_out_of_a_request_and_lies_where_a_run_looks_for_it(
    client: TestClient, home: Path
):
    got = client.post(f"/threads/{THREAD}/runs/stream", json=sent())

    text, file = got.json()["input"]["messages"][0]["content"]
    (path,) = kept(home)
    assert text["text"] == "What does it say?"
    assert "data" not in file
    assert path == home / "uploads" / THREAD / file["upload"]["id"] / "n.txt"
    assert path.read_text("utf-8").startswith("The pump of hall 7 runs at 41 bar.")
    assert SECRET not in path.read_text("utf-8")
    assert [one.name for one in list_message_uploads(HumanMessage([text, file]))] == ["n.txt"]


@pytest.mark.parametrize(
    ("path", "role"),
    [(f"/threads/{THREAD}/state", "user"), (f"/threads/{THREAD}/runs/stream", "ai"), ("/", "user")],
)
def test_of_a_request_that_is_refused_or_names_no_thread_no_file_is_kept(
    client: TestClient, home: Path, path: str, role: str
):
    client.post(path, json=sent(role))

    assert kept(home) == []


async def test_what_a_server_keeps_is_closed_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    old = tmp_path / SERVER_STATE_DIR / "old.pckl"
    old.parent.mkdir(mode=0o755)
    old.touch(mode=0o644)
    before = os.umask(0o022)
    try:
        async with server_lifespan(Starlette()):
            new = old.with_name("new.pckl")
            new.touch()
        modes = [stat.S_IMODE(one.stat().st_mode) for one in (old.parent, old, new)]
    finally:
        os.umask(before)

    assert modes == [0o700, 0o600, 0o600]
