"""Memory over HTTP: list, search, add, edit, why, undo, proposals, AGENTS.md, forget, move."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.api.application import make_api
from app.cli.dispatch import Invocation
from config.settings import settings
from memory.agents_md.file_sources import person_file
from memory.agents_md.proposals import Proposal, save_proposal
from privacy.exporter import ExportDocument, export_memory
from tests.api_client import LoggedIn, code_of, connect

pytestmark = pytest.mark.usefixtures("database")

FACTS = ("I keep bees in Graz.", "I drink green tea.", "I read maps on paper.")


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with connect(make_api()) as one:
        yield one


async def add(client: httpx.AsyncClient, text: str) -> dict[str, Any]:
    answer = await client.post("/api/memories", json={"text": text})
    assert answer.status_code == 201, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def list_all(client: httpx.AsyncClient, **asked: Any) -> list[dict[str, Any]]:
    """Return the items of every part of a list."""
    items: list[dict[str, Any]] = []
    cursor = ""
    while True:
        part = (await client.get("/api/memories", params={**asked, "cursor": cursor})).json()
        items += part["items"]
        cursor = part["next"]
        if not cursor:
            return items


async def test_facts_are_added_listed_in_parts_searched_and_edited(client: httpx.AsyncClient):
    added = [await add(client, text) for text in FACTS]

    listed = await list_all(client, memory="facts", limit=2)
    assert [one["id"] for one in listed] == [one["id"] for one in reversed(added)]
    everything = await list_all(client, limit=1)
    assert {one["id"] for one in added} <= {one["id"] for one in everything}
    assert len({(one["memory"], one["id"]) for one in everything}) == len(everything)
    found = (await client.get("/api/memories/search", params={"q": "tea"})).json()["items"]
    assert added[1]["id"] in {one["id"] for one in found}
    id = added[1]["id"]
    edited = await client.patch(f"/api/memories/{id}", json={"text": "I drink black tea."})
    assert edited.status_code == 200, edited.text
    (now,) = (await client.get(f"/api/memories/{edited.json()['id']}")).json()
    assert now["text"] == "I drink black tea."


async def test_what_is_wrong_is_told_with_its_code(client: httpx.AsyncClient):
    for method, path, body, told in (
        ("GET", "/api/memories?memory=nothing", None, (404, "memory_unknown")),
        ("GET", "/api/memories?cursor=WyJmYWN0cyIsLTFd", None, (422, "bad_cursor")),
        ("GET", "/api/memories/search?q=", None, (422, "usage")),
        ("GET", "/api/memories/abcdef", None, (404, "memory_not_found")),
        ("POST", "/api/memories", {"text": ""}, (422, "fact_empty")),
        ("POST", "/api/memories", {"text": "a\x00b"}, (422, "request_refused")),
        ("POST", "/api/memories", {}, (422, "request_refused")),
        ("PATCH", "/api/memories/abcdef", {"text": "x"}, (404, "memory_not_found")),
        ("GET", "/api/memory-events/1", None, (404, "event_not_found")),
        ("POST", "/api/memory-events/1/undo", None, (404, "event_not_found")),
        ("POST", "/api/proposals/x/accept", None, (404, "proposal_not_found")),
        ("POST", "/api/proposals/x/reject", None, (404, "proposal_not_found")),
        ("GET", "/api/agents-md/other", None, (404, "memory_file_unknown")),
        ("POST", "/api/erasures", {}, (422, "usage")),
        ("POST", "/api/erasures", {"ids": ["nope"]}, (404, "memory_not_found")),
        ("POST", "/api/memory-import", {}, (422, "export_invalid")),
    ):
        answer = await client.request(method, path, json=body)
        found = code_of(answer)
        if told[1] == "memory_unknown":
            assert found[1] == told[1]
        else:
            assert found == told, path
        assert str(settings().home) not in answer.text


async def test_a_change_is_listed_and_undone_and_brought_back(client: httpx.AsyncClient):
    fact = await add(client, FACTS[0])
    part = (await client.get("/api/memory-events", params={"item": fact["id"]})).json()
    event = part["items"][0]
    assert event["name"] == "fact.add"
    assert event["after"]["content"] == FACTS[0]

    undone = (await client.post(f"/api/memory-events/{event['event']}/undo")).json()
    assert [one["undoes"] for one in undone["events"]] == [event["event"]]
    assert await list_all(client, memory="facts") == []
    again = await client.post(f"/api/memory-events/{event['event']}/undo")
    assert code_of(again) == (409, "undo_done")
    back = undone["events"][0]["event"]
    assert (await client.post(f"/api/memory-events/{back}/undo")).status_code == 200
    assert len(await list_all(client, memory="facts")) == 1


async def test_events_are_listed_part_by_part(client: httpx.AsyncClient):
    for text in FACTS:
        await add(client, text)

    seen: list[int] = []
    cursor = ""
    while True:
        asked = {"limit": 2, "cursor": cursor}
        part = (await client.get("/api/memory-events", params=asked)).json()
        seen += [one["event"] for one in part["items"]]
        cursor = part["next"]
        if not cursor:
            break
    assert seen == sorted(set(seen), reverse=True)
    assert len(seen) >= len(FACTS)


async def test_agents_md_is_read_and_written_unless_it_was_changed_meanwhile(
    client: httpx.AsyncClient,
):
    text = "# Me\n\nAnswer in short sentences. My password is hunter2-Zebra9.\n"
    written = (await client.put("/api/agents-md/person", json={"text": text})).json()
    assert "hunter2-Zebra9" not in written["text"]

    got = await client.get("/api/agents-md/person")
    assert got.text == written["text"]
    tag = got.headers["etag"]
    second = await client.put(
        "/api/agents-md/person", json={"text": "# Me\n"}, headers={"if-match": tag}
    )
    assert second.status_code == 200
    late = await client.put(
        "/api/agents-md/person", json={"text": "# You\n"}, headers={"if-match": tag}
    )
    assert code_of(late) == (412, "memory_file_changed")
    assert (await client.get("/api/agents-md/person")).text == "# Me\n"
    listed = (await client.get("/api/agents-md")).json()
    assert [(one["name"], one["text"]) for one in listed] == [("person", "# Me\n")]
    (item,) = await list_all(client, memory="instructions")
    assert item["id"] == "person"
    assert (await client.get("/api/memories/person")).json()[0]["text"] == item["text"]
    events = (await client.get("/api/memory-events")).text
    assert "file.edit" in events
    assert str(settings().home) not in events


async def test_a_proposal_is_shown_as_a_difference_and_accepted(client: httpx.AsyncClient):
    owner = Invocation().owner
    path = person_file(settings().user)
    offered = [
        await save_proposal(Proposal(owner, path, "", f"- {text}\n", "it was said"))
        for text in ("Prefers tables.", "Lives in Graz.")
    ]

    shown = (await client.get("/api/proposals")).json()
    assert [one["id"] for one in shown] == [one.id for one in offered]
    assert "+- Prefers tables." in shown[0]["diff"]
    assert str(settings().home) not in json.dumps(shown)
    accepted = (await client.post(f"/api/proposals/{offered[0].id}/accept")).json()
    assert (accepted["status"], accepted["conflicts"]) == ("approved", 0)
    rejected = (await client.post(f"/api/proposals/{offered[1].id}/reject")).json()
    assert rejected["status"] == "rejected"
    text = Path(path).read_text()  # noqa: ASYNC240
    assert "Prefers tables." in text
    assert "Lives in Graz." not in text
    assert (await client.get("/api/proposals")).json() == []
    assert len((await client.get("/api/proposals", params={"decided": True})).json()) == 2
    again = await client.post(f"/api/proposals/{offered[0].id}/accept")
    assert code_of(again) == (409, "proposal_decided")


async def test_forgetting_is_shown_first_and_then_done(client: httpx.AsyncClient):
    fact = await add(client, FACTS[0])
    asked = {"ids": [fact["id"]]}

    preview = (await client.post("/api/erasures", json=asked)).json()
    assert (preview["done"], preview["facts"]) == (False, 1)
    assert len(await list_all(client, memory="facts")) == 1
    done = (await client.post("/api/erasures", json={**asked, "dry_run": False})).json()
    assert (done["done"], done["ids"]) == (True, [fact["id"]])
    assert FACTS[0] not in str(await list_all(client, memory="facts", history=True))
    assert FACTS[0] not in (await client.get("/api/memory-events")).text


async def test_the_export_is_the_document_of_the_command_line_and_comes_back_in(
    client: httpx.AsyncClient,
):
    for text in FACTS:
        await add(client, text)
    exported = await client.get("/api/memory-export")

    document = ExportDocument.model_validate_json(exported.content)
    here = await export_memory(Invocation().owner)
    same = {"at"}
    assert document.model_dump(exclude=same) == here.model_dump(exclude=same)
    async with connect(LoggedIn(make_api(), "ada")) as ada:
        counts = await ada.post(
            "/api/memory-import", params={"vouch": True}, content=exported.content
        )
        assert counts.json()["facts"] == len(FACTS), counts.text
        assert len(await list_all(ada, memory="facts")) == len(FACTS)
        unvouched = await ada.post(
            "/api/memory-import", params={"project": "p"}, content=exported.content
        )
        assert unvouched.json()["facts"] == 0
        assert "facts" in unvouched.json()["unvouched"]


async def test_an_import_names_no_file_of_the_server(client: httpx.AsyncClient):
    document = json.loads((await client.get("/api/memory-export")).content)
    row = {"root": "/etc", "path": "/etc/passwd", "size": 1, "modified": 1, "sha256": "0" * 64}
    document["documents"] = [{**row, "reader": 8, "code": "", "reason": ""}]

    answer = await client.post("/api/memory-import", json=document)

    assert answer.status_code == 200, answer.text
    assert (await export_memory(Invocation().owner)).documents == []


async def test_nothing_of_one_person_is_there_for_another(client: httpx.AsyncClient):
    fact = await add(client, FACTS[0])
    event = (await client.get("/api/memory-events")).json()["items"][0]["event"]
    await client.put("/api/agents-md/person", json={"text": FACTS[1]})

    async with connect(LoggedIn(make_api(), "eve")) as eve:
        assert await list_all(eve) == []
        assert (await eve.get("/api/agents-md/person")).text == ""
        for method, path in (
            ("GET", f"/api/memories/{fact['id']}"),
            ("GET", f"/api/memory-events/{event}"),
            ("POST", f"/api/memory-events/{event}/undo"),
        ):
            assert (await eve.request(method, path)).status_code == 404
        forgot = await eve.post("/api/erasures", json={"ids": [fact["id"]], "dry_run": False})
        assert forgot.status_code == 404
        assert FACTS[0] not in (await eve.get("/api/memory-export")).text
    assert len(await list_all(client, memory="facts")) == 1
