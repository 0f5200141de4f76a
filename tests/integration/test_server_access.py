"""A page of any website can send requests to the server; it gets nothing, and causes nothing."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from app.access import STUDIO
from tests.integration.serving import QUESTION, Server, asked, dossier

pytestmark = pytest.mark.integration

EVIL = "https://evil.example"
THREAD = "0198c7a2-6a55-7c1f-9d0e-3b7f6a1c2d4e"


@pytest.fixture
def port(server: Server) -> int:
    return urlsplit(server.url).port or 0


async def sent(server: Server, path: str, headers: dict[str, str], body: Any = None) -> Any:
    """Send a request as a page does whose body needs no preflight."""
    plain = {"content-type": "text/plain;charset=UTF-8", **headers}
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as http:
        if body is None:
            return await http.get(path, headers=plain)
        return await http.post(path, headers=plain, content=json.dumps(body))


@pytest.mark.parametrize(
    "headers",
    [{"origin": EVIL}, {"origin": "null"}, {"host": "rebound.example:{port}"}, {}],
    ids=["page", "frame", "rebound", "script"],
)
async def test_a_stranger_gets_and_causes_nothing(
    server: Server, port: int, client: Any, headers: dict[str, str]
):
    strange = {name: value.format(port=port) for name, value in headers.items()}
    before = len(await client.threads.search(limit=1000))
    run = {"assistant_id": "research", "input": asked()}
    for path, body in (
        ("/runs/wait", run),
        ("/runs", run),
        ("/runs/stream", run),
        ("/threads", {}),
        ("/threads/search", {}),
        ("/store/items/search", {}),
        ("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        ("/deploy", {}),
        (f"/threads/{THREAD}/stream", None),
        ("/metrics", None),
    ):
        told = await sent(server, path, strange, body)
        assert told.status_code in (401, 403), path
        assert set(told.json()) == {"code", "detail", "where", "hint"}
        assert not [name for name in told.headers if name.startswith("access-control")]

    assert len(await client.threads.search(limit=1000)) == before


async def test_a_page_that_is_not_named_is_told_nothing_by_a_preflight(server: Server):
    asks = {
        "origin": EVIL,
        "access-control-request-method": "POST",
        "access-control-request-private-network": "true",
    }
    async with httpx.AsyncClient(base_url=server.url) as http:
        told = await http.options("/runs", headers=asks)

    assert told.status_code == 403
    assert not [name for name in told.headers if name.startswith("access-control")]


async def test_studio_works_as_it_comes(server: Server):
    studio = {"origin": STUDIO[0], "x-auth-scheme": "langsmith"}
    told = await sent(server, "/assistants/search", studio, {"graph_id": "dossier"})

    assert told.json()[0]["graph_id"] == "dossier"
    assert told.headers["access-control-allow-origin"] == STUDIO[0]
    assert told.headers.get_list("access-control-allow-origin") == [STUDIO[0]]


@pytest.mark.parametrize(
    ("headers", "opens"),
    [({"origin": EVIL}, False), ({}, False), ({"origin": STUDIO[0]}, True)],
    ids=["stranger", "script", "studio"],
)
async def test_a_websocket_is_opened_for_those_alone(
    server: Server, headers: dict[str, str], opens: bool
):
    url = f"{server.url.replace('http', 'ws')}/threads/{THREAD}/stream/events"
    if opens:
        async with connect(url, additional_headers=headers):
            return
    with pytest.raises(InvalidStatus) as refused:
        await connect(url, additional_headers=headers)
    assert refused.value.response.status_code in (401, 403)


async def test_the_command_prints_the_token_that_opens_the_server(server: Server):
    printed = (await dossier(server, "token")).stdout.decode().strip()

    for header in ({"x-api-key": printed}, {"authorization": f"Bearer {printed}"}):
        told = await sent(server, "/threads/search", header, {})
        assert told.status_code == 200


async def test_the_token_is_kept_nowhere_but_in_its_file(server: Server, client: Any):
    run = await client.runs.create(None, "recall", input={"question": QUESTION})
    assert server.token not in json.dumps(run)
    written = [one for one in server.home.rglob("*") if one.is_file()]

    with_it = [one.name for one in written if server.token.encode() in one.read_bytes()]
    assert with_it == ["server-token"]
