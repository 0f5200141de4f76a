"""What a server is sent holds no secrets by the time the server sees it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket

from app.requests import Masking, masked_json

SECRET = "hunter2-Zebra9"


async def echo(request: Request) -> Response:
    return Response(await request.body())


async def talk(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text(await socket.receive_text())


@pytest.fixture
def client() -> TestClient:
    routes = [
        Route("/", echo, methods=["POST", "PUT", "PATCH", "GET"]),
        WebSocketRoute("/talk", talk),
    ]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(Masking)]))


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
@pytest.mark.parametrize(
    "body",
    [
        {"input": {"messages": [{"role": "user", "content": f"my password is {SECRET}"}]}},
        {"command": {"resume": {"decisions": [{"message": f"password: {SECRET}"}]}}},
        {"supersteps": [{"updates": [{"values": {"note": [f"my password is {SECRET}"]}}]}]},
        {"metadata": {"note": f"我的密码是{SECRET}"}},
        [{"params": {"arguments": {"messages": f"log in with password {SECRET}"}}}],
    ],
)
def test_a_secret_in_a_request_reaches_no_application(client: TestClient, method: str, body: Any):
    got = client.request(method, "/", json=body)

    assert SECRET not in got.text
    assert "[password removed]" in json.dumps(got.json())


@pytest.mark.parametrize(
    "body",
    [b"", b"no JSON at all", b'{"a" : [1.0, "two", null]}', b'{"files": ["/x/password=abcd1/y"]}'],
)
def test_a_request_without_a_secret_arrives_byte_by_byte(client: TestClient, body: bytes):
    assert client.post("/", content=body).content == body


def test_a_request_in_pieces_arrives_whole(client: TestClient):
    pieces = iter([b'{"a": "my password is hun', b'ter2-Zebra9", "b": "', b'what was asked"}'])

    got = client.post("/", content=pieces).json()

    assert got == {"a": "my password is [password removed]", "b": "what was asked"}


def test_a_request_too_deep_to_be_looked_through_is_refused(client: TestClient):
    deep = b"[" * 5000 + b'"my password is hunter2-Zebra9"' + b"]" * 5000

    assert client.post("/", content=deep).status_code == 422


def test_a_message_of_a_websocket_is_masked(client: TestClient):
    with client.websocket_connect("/talk") as socket:
        socket.send_text(json.dumps({"params": {"input": f"my password is {SECRET}"}}))

        assert SECRET not in socket.receive_text()


def test_what_is_no_json_is_left_to_the_server():
    assert masked_json(b"{") == b"{"
