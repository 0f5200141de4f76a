"""A thread whose stored data is damaged is answered by name, and no other thread is touched."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import httpx
import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from tests.integration.serving import APPROVE, Server, asked, context, listed, reviewed

pytest.importorskip("langgraph_sdk", reason="the server extra is not installed")

pytestmark = pytest.mark.integration

PACKED = JsonPlusSerializer()

NEWEST = (
    "SELECT rowid, type, checkpoint FROM checkpoints WHERE thread_id = ? "
    "ORDER BY checkpoint_id DESC LIMIT 1"
)

DAMAGES = {
    "zeroed": "UPDATE checkpoints SET checkpoint = zeroblob(length(checkpoint))",
    "cut": "UPDATE checkpoints SET checkpoint = substr(checkpoint, 1, length(checkpoint) / 2)",
    "another encoding": "UPDATE checkpoints SET type = 'pickle'",
    "metadata": "UPDATE checkpoints SET metadata = '[1]'",
    "entries zeroed": "UPDATE blobs SET value = zeroblob(length(value))",
    "entries gone": "DELETE FROM blobs",
    "entries": "UPDATE blobs SET type = 'bytes', value = x'ff'",
    "interrupts": "UPDATE writes SET type = 'msgpack', value = x'919101'",
    "interrupts zeroed": "UPDATE writes SET value = zeroblob(length(value))",
    "no values": "UPDATE checkpoints SET type = 'msgpack', checkpoint = x'80'",
}
"""What is done to everything that is stored of a thread."""

READING = ("state", "state?subgraphs=true", "history", "state/1f1e6cb0-7a30-67ba-bfff-e16c47d92aab")


def changed(server: Server, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(server.home / "checkpoints.db", timeout=20)) as file, file:
        file.execute(statement, values)


def forged(server: Server, thread: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the newest checkpoint of a thread."""
    with closing(sqlite3.connect(server.home / "checkpoints.db", timeout=20)) as file, file:
        row, *typed = file.execute(NEWEST, [thread]).fetchone()
        checkpoint = PACKED.loads_typed(tuple(typed))
        change(checkpoint)
        update = "UPDATE checkpoints SET type = ?, checkpoint = ? WHERE rowid = ?"
        file.execute(update, [*PACKED.dumps_typed(checkpoint), row])


def http(server: Server) -> httpx.AsyncClient:
    headers = {"x-api-key": server.token}
    return httpx.AsyncClient(base_url=server.url, headers=headers, timeout=60)


@pytest.fixture
async def waiting(client: Any) -> str:
    """A thread that waits for a decision on its plan."""
    thread, _ = await reviewed(client)
    return thread


@pytest.mark.parametrize("how", DAMAGES)
async def test_a_damaged_thread_is_refused_by_name(server: Server, waiting: str, how: str):
    changed(server, f"{DAMAGES[how]} WHERE thread_id = ?", waiting)
    run = {"assistant_id": "dossier", "command": APPROVE, "context": context()}

    async with http(server) as client:
        answers = [await client.get(f"/threads/{waiting}/{path}") for path in READING[:3]]
        answers.append(await client.post(f"/threads/{waiting}/history", json={"limit": 3}))
        told = [
            (await client.post(f"/threads/{waiting}/runs/{way}", json=run)).text
            for way in ("wait", "stream")
        ]

    assert {answer.status_code for answer in answers} == {409}
    assert {answer.json()["code"] for answer in answers} == {"storage_corrupt"}
    assert all(answer.json()["hint"] for answer in answers)
    assert all("error[storage_corrupt]" in one for one in told)
    assert await listed(server, waiting) == {f"{waiting}-1": "failed"}


async def test_a_thread_beside_a_damaged_one_goes_on(client: Any, server: Server, waiting: str):
    other, _ = await reviewed(client)
    changed(server, f"{DAMAGES['zeroed']} WHERE thread_id = ?", other)
    async with http(server) as raw:
        assert (await raw.get(f"/threads/{other}/state")).status_code == 409

    state = await client.runs.wait(waiting, "dossier", command=APPROVE, context=context())

    assert state["status"] in ("succeeded", "partial")
    found = await client.threads.search(ids=[waiting, other])
    assert {one["thread_id"] for one in found} == {waiting, other}


@pytest.mark.parametrize("version", ["99", ""])
async def test_a_thread_of_an_unknown_version_is_read_and_not_gone_on_with(
    client: Any, server: Server, waiting: str, version: str
):
    forged(server, waiting, lambda one: one["channel_values"].update(graph_version=version))

    state = await client.threads.get_state(waiting)
    told = [
        await client.runs.wait(waiting, "dossier", **given, context=context(), raise_error=False)
        for given in ({"command": APPROVE}, {"input": asked()}, {"input": None})
    ]

    assert state["values"]["graph_version"] == version
    assert ["thread_incompatible" in str(one) for one in told] == [True] * 3


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one.update(channel_versions={"plan": None}),
        lambda one: one.update(channel_versions=4),
        lambda one: one["channel_values"].update(messages=[[["x"]]]),
        lambda one: one["channel_values"].update(plan=2**63),
    ],
    ids=["versions", "a number", "messages", "plan"],
)
async def test_no_request_to_a_forged_thread_ends_in_an_error_without_a_name(
    server: Server, waiting: str, change: Callable[[dict[str, Any]], None]
):
    forged(server, waiting, change)
    thread = f"/threads/{waiting}"

    async with http(server) as client:
        answers = [await client.get(f"{thread}/{path}") for path in READING]
        answers.append(await client.post(f"{thread}/state", json={"values": {"messages": []}}))
        answers.append(await client.post(f"{thread}/copy"))

    assert [one.text[:200] for one in answers if one.status_code >= 500] == []
