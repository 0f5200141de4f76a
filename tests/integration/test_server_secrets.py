"""The development server keeps no secret that a client sends, in its own files either."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.serving import Server, asked, context, serving

sdk = pytest.importorskip("langgraph_sdk", reason="the server extra is not installed")

pytestmark = pytest.mark.integration

SECRET = "hunter2-Zebra9"
ASKED = f"My password is {SECRET}. What did Ebbinghaus measure?"


NOTED = base64.b64encode(b"Ebbinghaus measured forgetting with syllables. " * 9).decode()


def holding(home: Path) -> list[str]:
    every = (one for one in home.rglob("*") if one.is_file())
    return [
        one.name
        for one in every
        if any(told.encode() in one.read_bytes() for told in (SECRET, NOTED))
    ]


async def told(server: Server) -> Any:
    """Send a secret in by every way, and return what the last run says."""
    secret = f"my password is {SECRET}"
    accepted = context(auto_accept=True)
    async with sdk.get_client(url=server.url, api_key=server.token) as client:
        await client.assistants.create("dossier", metadata={"note": secret}, name=secret)
        await client.store.put_item(["notes"], "one", {"text": secret})
        thread = (await client.threads.create(metadata={"note": secret}))["thread_id"]
        await client.runs.wait(thread, "dossier", input=asked(ASKED), context=context())
        file = {
            "type": "file",
            "mimeType": "text/plain",
            "data": NOTED,
            "metadata": {"name": "n.txt"},
        }
        said = [{"type": "text", "text": "What does it say?"}, file]
        sent = {"messages": [{"role": "user", "content": said}]}
        await client.runs.wait(thread, "dossier", input=sent, context=context())
        reject = {"decisions": [{"type": "reject", "message": f"only 1885; {secret}"}]}
        await client.runs.wait(thread, "dossier", command={"resume": reject}, context=context())
        values = {"messages": [{"role": "user", "content": secret}]}
        await client.threads.update_state(thread, values, as_node="profile")
        again = (await client.threads.get_state(thread))["values"]["messages"]
        await client.runs.create(
            thread,
            "dossier",
            input={"messages": [*again, *asked(ASKED)["messages"]], "note": secret},
            context=accepted,
        )
        runs = await client.runs.list(thread)
        await client.runs.join(thread, runs[0]["run_id"])
        return await client.threads.get_state(thread)


async def test_a_secret_sent_by_any_way_and_a_file_are_in_no_file_and_the_person_is_told(
    tmp_path: Path,
):
    with serving(tmp_path) as server:
        state = await told(server)

    # The server writes its own files when it ends.
    assert await asyncio.to_thread(lambda: [*tmp_path.glob("server/*/*/.langgraph_ops.pckl")])
    assert await asyncio.to_thread(holding, tmp_path) == []
    assert state["values"]["status"] in ("succeeded", "partial")
    assert "password" in json.dumps(state["values"]["messages"][-1])
