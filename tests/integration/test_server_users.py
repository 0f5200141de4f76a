"""Two users of one server, at every operation of its own OpenAPI document: nothing crosses."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import httpx
import pytest
from fastapi.routing import APIRoute
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from app.access import PUBLIC_PATHS
from app.api.open_route import OPEN_PATHS, OPEN_PREFIX
from app.http_app import app
from tests.console_client import FORM_TOKEN, list_form_paths
from tests.integration.api_requests import Operation, Requests, Sent, list_operations
from tests.integration.serving import Server, dossier, serving

sdk = pytest.importorskip("langgraph_sdk", reason="the server extra is not installed")

pytestmark = pytest.mark.integration

CANARY = "Quastelborn"
"""A word in everything that is Ada's, and in nothing that anybody else sends."""

TEXT = (
    f"The beekeepers of {CANARY} counted 412 hives in 2025. In {CANARY} the waggle dance was seen "
    "in every hive. The heather flowers in August. "
)
QUESTION = f"How many hives did the beekeepers of {CANARY} count in 2025?"
SMALL_TALK = {"role": "user", "content": "Hello."}
YEARLY = "0 0 1 1 *"
AT_ONCE = 8
"""How many requests are under way."""

SILENT_SECONDS = 1.0
"""How long a stream may say nothing until nothing more is expected."""


class Users(NamedTuple):
    """A server, the tokens of its users, and what is Ada's."""

    server: Server
    tokens: Mapping[str, str]
    known: Mapping[str, Any]
    """Ids of Ada's, by the names under which requests have them."""
    unnamed: frozenset[str]
    """Ids of hers that nobody else names in a request."""

    def client(self, user: str) -> Any:
        return sdk.get_client(url=self.server.url, api_key=self.tokens[user])


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Users]:
    with serving(tmp_path_factory.mktemp("users"), DOSSIER_AUTH="users") as server:
        yield asyncio.run(furnished(server))


async def furnished(server: Server) -> Users:
    """Add users to a server, and let Ada have one of everything."""

    async def added(name: str, *role: str) -> str:
        """Add a user, and return a token of theirs."""
        assert (await dossier(server, "users", "add", name, *role)).returncode == 0
        return (await dossier(server, "users", "token", name)).stdout.decode().strip()

    made = await asyncio.gather(added("ada"), added("bob"), added("grace", "--operator"))
    tokens = dict(zip(("ada", "bob", "grace"), made, strict=True))
    users = Users(server, tokens, {}, frozenset())
    async with users.client("ada") as ada:
        asked, waiting, hidden = [await _asked(ada, graph) for graph in GRAPHS]
        await ada.store.put_item(["notes"], key="first", value={"text": f"of {CANARY}"})
        crons = [await _cron(ada, asked["thread_id"]), await _cron(ada, None)]
        known = {**asked, "cron_id": crons[0]["cron_id"], "owner": "ada"}
        known |= {"namespace": ["notes"], "key": "first", "assistant_id": "research"}
        known |= {"graph_id": "research", "run": f"{asked['thread_id']}-1"}
        known |= await _api_names(server, tokens["ada"], known["run"])
        secret = [*waiting.values(), *hidden.values(), crons[1]["cron_id"]]
    return users._replace(known=known, unnamed=frozenset(map(str, secret)))


EVERYBODYS = {
    *("/", "/ok", "/info", "/docs", "/openapi.json"),
    *("/api/health", "/api/ready", "/health", "/live", "/ready"),
}
"""What answers without a token, beside shared reports: it shows nobody's own."""

GRAPHS = ("research", "dossier", "research")


async def _asked(client: Any, graph: str) -> dict[str, str]:
    """Ask about an uploaded file, and return the ids of what there is then."""
    named = {"note": f"a thread about {CANARY}"}
    thread = (await client.threads.create(metadata=named))["thread_id"]
    data = base64.b64encode((TEXT * 5).encode()).decode()
    file = {"type": "file", "mimeType": "text/plain", "data": data, "metadata": {"name": "b.txt"}}
    said = [{"type": "text", "text": QUESTION}, file]
    asked = {"messages": [{"role": "user", "content": said}]}
    await client.runs.wait(thread, graph, input=asked, metadata=named)
    (run,) = await client.runs.list(thread)
    state = await client.threads.get_state(thread)
    at = state["checkpoint"]["checkpoint_id"]
    return {"thread_id": thread, "run_id": run["run_id"], "checkpoint_id": at}


async def _cron(client: Any, thread: str | None) -> Any:
    about = {"schedule": YEARLY, "input": {"messages": [{"role": "user", "content": QUESTION}]}}
    about |= {"metadata": {"note": CANARY}}
    if thread:
        return await client.crons.create_for_thread(thread, "research", **about)
    return await client.crons.create("research", **about)


async def _api_names(server: Server, token: str, run: str) -> dict[str, str]:
    """Let Ada have one of everything in the API, and return what requests name of it."""
    key = {"x-api-key": token}
    async with httpx.AsyncClient(base_url=server.url, headers=key, timeout=60) as http:

        async def made(path: str, **body: Any) -> Any:
            return (await http.post(path, json=body)).raise_for_status().json()

        folder = (await made("/api/upload-folders", name=f"Files of {CANARY}"))["id"]
        uploading = f"/api/uploads?name={CANARY}.txt&folder={folder}"
        upload = (await http.post(uploading, content=TEXT * 5)).raise_for_status().json()["id"]
        about = {"name": "hives", "about": f"the hives of {CANARY}", "folder": folder}
        await made("/api/knowledge-bases", **about)
        await made("/api/watches", name="hives", question=QUESTION, every="weekly")
        fact = (await made("/api/memories", text=f"I keep bees in {CANARY}."))["id"]
        written = {"text": f"Write for the beekeepers of {CANARY}.\n"}
        (await http.put("/api/agents-md/person", json=written)).raise_for_status()
        share = (await made(f"/api/reports/{run}/shares"))["id"]
        event = (await http.get("/api/memory-events")).json()["items"][0]["event"]
        cursor = (await http.get("/api/runs?limit=1")).json()["next"]
    assert cursor, "there are more runs of hers"
    ids = {"upload": upload, "folder": folder, "id": fact, "event": str(event), "share": share}
    return {**ids, "cursor": cursor, "source": "1", "to": run, "name": "hives", "q": "hives"}


HERS = (
    *("/reports/{run}?format=json", "/api/reports", "/api/runs/{run}", "/api/memories"),
    *("/api/uploads", "/api/upload-folders", "/api/uploads/{upload}/content"),
    *("/api/knowledge-bases", "/api/agents-md", "/api/memory-events", "/api/memory-export"),
    *("/api/watches", "/api/watches/hives"),
)
"""Where Ada sees in the API what is hers."""


async def holdings(users: Users) -> dict[str, Any]:
    """Return everything that Ada sees of what is hers."""
    async with users.client("ada") as ada:
        threads = await ada.threads.search(limit=1000, sort_by="thread_id")
        states = [await ada.threads.get_history(one["thread_id"]) for one in threads]
        runs = [await ada.runs.list(one["thread_id"]) for one in threads]
        items = await ada.store.search_items([], limit=100)
        crons = await ada.crons.search(limit=100)
    key, share = {"x-api-key": users.tokens["ada"]}, "/api/reports/{run}/shares"
    async with httpx.AsyncClient(base_url=users.server.url, headers=key, timeout=60) as http:
        shown = {path: (await http.get(path.format(**users.known))).text for path in HERS}
        exported = json.loads(shown["/api/memory-export"])
        shown["/api/memory-export"] = json.dumps({**exported, "at": 0})
        shares = (await http.get(share.format(**users.known))).json()
    local = await dossier(users.server, "runs", "--json")
    assert CANARY.encode() not in local.stdout, "the person of the installation is another user"
    assert [one["id"] for one in shares] == [users.known["share"]]
    every = {"threads": threads, "states": states, "runs": runs, "items": items, "crons": crons}
    return {**every, **shown}


async def test_nothing_crosses_between_users_at_any_operation(users: Users):
    before = await holdings(users)
    assert [name for name, one in before.items() if CANARY not in json.dumps(one)] == []
    leaks: list[tuple[str, ...]] = []
    async with httpx.AsyncClient(base_url=users.server.url, timeout=60) as http:
        document = (await http.get("/openapi.json")).json()
        operations = [*list_operations(document), *pages_of_the_console()]
        made = Requests(document, users.known)
        sent = [one for operation in operations for one in made.of(operation)]
        for user in ("bob", "grace"):
            leaks += await _leaks(http, users, user, sent)

    assert leaks == []
    assert await holdings(users) == before
    assert len(operations) >= 130
    assert len(sent) >= 3 * len(operations)


def pages_of_the_console() -> list[Operation]:
    """Return the pages that no document names."""
    routes = [one for one in app.routes if isinstance(one, APIRoute)]
    hidden = [one for one in routes if not one.include_in_schema and "GET" in one.methods]
    assert len(hidden) >= 10
    return [Operation("get", one.path, {}) for one in hidden]


async def test_no_form_of_the_console_crosses_between_users(users: Users):
    before = await holdings(users)
    forms = [path for path in list_form_paths() if not path.startswith("/console/operator")]
    assert len(forms) >= 20
    leaks: list[tuple[str, ...]] = []
    async with httpx.AsyncClient(base_url=users.server.url, timeout=60) as http:
        for user in ("grace", "bob"):
            key = {"x-api-key": users.tokens[user]}
            page = (await http.get("/console", headers=key)).text
            (token,) = set(FORM_TOKEN.findall(page))
            for path in forms:
                sent = {"form_token": token, **FIELDS, "id": users.known["id"]}
                where = re.sub(r"\{(\w+)\}", lambda one: named(users, one[1]), path)
                asked = {"params": {"id": users.known["id"]}, "data": sent, "headers": key}
                answer = await http.post(where, **asked)
                words = [word for word in (CANARY, *users.unnamed) if word in answer.text]
                if words or "not from a page of your session" in answer.text:
                    leaks.append((user, where, str(answer.status_code), *words))
        for path in set(list_form_paths()) - set(forms):
            where = re.sub(r"\{\w+\}", "ada", path)
            refused = await http.post(where, data=sent, headers={"x-api-key": users.tokens["bob"]})
            assert (refused.status_code, "operator_only" in refused.text) == (403, True), path

    assert leaks == []
    assert await holdings(users) == before


_ASKED = {"question": "Hello.", "review": "no", "revision": "1", "decision": "approve"}
_SAID = {"text": "Tea.", "words": "Wrong.", "rating": "up", "about": "x", "choice": "new"}
_CHOSEN = {"section": "1", "hours": "24", "every": "daily", "name": "x", "next": "/console"}
FIELDS = {**_ASKED, **_SAID, **_CHOSEN}
"""What forms are sent with; each takes the fields that are its own."""


def named(users: Users, name: str) -> str:
    """Return what is Ada's for the name of a part of a path."""
    changes = {"change": "remove", "thread": users.known["thread_id"]}
    return str(changes.get(name) or users.known.get(name) or users.known["thread_id"])


async def _leaks(
    http: httpx.AsyncClient, users: Users, user: str, sent: list[Sent]
) -> list[tuple[str, ...]]:
    """Send requests as a user, and return those whose answers have something of Ada's."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def leaked(one: Sent) -> tuple[str, ...]:
        async with gate:
            status, answer = await answered(http, one, users.tokens[user])
        words = [word for word in (CANARY, *users.unnamed) if word in answer]
        told = (user, one.operation, json.dumps(one.body)[:300], str(status), *words, answer[:300])
        return told if words else ()

    return [told for told in await asyncio.gather(*map(leaked, sent)) if told]


async def answered(http: httpx.AsyncClient, one: Sent, token: str = "") -> tuple[int, str]:
    """Return the status and the whole of an answer; of a stream what comes at once."""
    headers = {"x-api-key": token} if token else {}
    # The server closes a connection on which it failed.
    headers |= {"accept": "application/json, text/event-stream", "connection": "close"}
    more = {} if one.body is None else {"json": one.body}
    slow = httpx.Timeout(60, read=SILENT_SECONDS if "stream" in one.path else 60)
    request = http.stream(
        one.method, one.path, params=one.query, headers=headers, timeout=slow, **more
    )
    got, status = "", 0
    try:
        async with request as answer:
            status, got = answer.status_code, json.dumps(dict(answer.headers))
            async for part in answer.aiter_text():
                got += part
    except httpx.ReadTimeout:
        pass
    return status, got


async def test_without_a_token_every_operation_but_a_few_is_refused(users: Users):
    async with httpx.AsyncClient(base_url=users.server.url, timeout=60) as http:
        document = (await http.get("/openapi.json")).json()
        made = Requests(document, users.known)
        for operation in list_operations(document):
            one = next(made.of(operation))
            for token in ("", "dsr_00000000_made-up"):
                status, answer = await answered(http, one, token)
                if operation.method in ("get", "head") and is_open(operation.path):
                    assert status != 401, operation.name
                else:
                    assert status == 401, (operation.name, token, answer)
                assert CANARY not in answer


def is_open(path: str) -> bool:
    """Say whether an operation answers everybody: each one of them is named here."""
    assert OPEN_PATHS | PUBLIC_PATHS == EVERYBODYS
    return path in EVERYBODYS or path.startswith(OPEN_PREFIX)


async def test_an_answer_to_the_same_question_knows_nothing_of_another_user(users: Users):
    asked = {"messages": [{"role": "user", "content": "How many hives did the beekeepers count?"}]}
    async with users.client("bob") as bob:
        known = await bob.runs.wait(None, "research", input=asked)
        recalled = await bob.runs.wait(None, "recall", input=asked)
    async with users.client("ada") as ada:
        own = await ada.runs.wait(None, "recall", input=asked)

    assert CANARY not in json.dumps([known, recalled])
    assert CANARY in json.dumps(own)


async def test_a_websocket_shows_no_thread_of_another_user(users: Users):
    heard = {user: await _heard(users, user) for user in users.tokens}

    assert CANARY in heard["ada"]
    assert CANARY not in heard["bob"] + heard["grace"]
    with pytest.raises(InvalidStatus) as refused:
        await connect(_events_url(users))
    assert refused.value.response.status_code == 401


async def _heard(users: Users, user: str) -> str:
    """Return what a user hears who listens to Ada's thread and starts a run on it."""
    heard = ""
    start = {"assistant_id": "research", "input": {"messages": [SMALL_TALK]}}
    channels = {"channels": ["values", "messages", "lifecycle"]}
    sent = [("subscription.subscribe", channels), ("run.start", start)]
    key = {"x-api-key": users.tokens[user]}
    with suppress(ConnectionClosed, TimeoutError):
        async with connect(_events_url(users), additional_headers=key) as socket:
            for number, (method, params) in enumerate(sent):
                await socket.send(json.dumps({"id": number, "method": method, "params": params}))
            async with asyncio.timeout(5):
                while "completed" not in heard:
                    heard += str(await socket.recv())
    return heard


def _events_url(users: Users) -> str:
    thread = users.known["thread_id"]
    return f"{users.server.url.replace('http', 'ws')}/threads/{thread}/stream/events"


async def test_a_revoked_token_stops_within_seconds(users: Users):
    told = await dossier(users.server, "users", "token", "bob")
    token = told.stdout.decode().strip()
    async with httpx.AsyncClient(base_url=users.server.url) as http:

        async def counted(token: str) -> int:
            key = {"x-api-key": token}
            return (await http.post("/threads/count", json={}, headers=key)).status_code

        assert await counted(token) == 200
        await dossier(users.server, "users", "revoke", token)
        ended = time.monotonic() + 5
        while await counted(token) == 200:
            assert time.monotonic() < ended
        assert await counted(users.tokens["bob"]) == 200


async def test_nobody_runs_anything_as_somebody_else(users: Users):
    stolen = {"configurable": {"langgraph_auth_user": {"identity": "ada"}, "user_id": "ada"}}
    asked = {"messages": [SMALL_TALK]}
    async with users.client("bob") as bob:
        cron = await bob.crons.create("research", schedule=YEARLY, input=asked, config=stolen)
        thread = (await bob.threads.create(metadata={"owner": "ada"}))["thread_id"]
        run = await bob.runs.create(thread, "research", input=asked, config=stolen)
        await bob.runs.join(thread, run["run_id"])
        changed = await bob.threads.update(thread, metadata={"owner": "ada"})
        await bob.crons.delete(cron["cron_id"])

    assert "langgraph_auth_user" not in json.dumps(cron["payload"])
    assert cron["user_id"] == "bob"
    assert run["kwargs"]["config"]["configurable"]["langgraph_auth_user"]["identity"] == "bob"
    assert {cron["metadata"]["owner"], changed["metadata"]["owner"]} == {"bob"}


async def test_a_removed_user_is_let_in_no_more_and_comes_back_with_what_was_theirs(users: Users):
    await dossier(users.server, "users", "add", "carol")
    first = (await dossier(users.server, "users", "token", "carol")).stdout.decode().strip()
    url = users.server.url
    async with sdk.get_client(url=url, api_key=first) as carol:
        thread = (await carol.threads.create())["thread_id"]
    assert (await dossier(users.server, "users", "remove", "carol")).returncode == 0
    again = await dossier(users.server, "users", "add", "Carol")
    assert (again.returncode, b"user_exists" in again.stderr) == (5, True)
    await dossier(users.server, "users", "add", "carol", "--restore")
    second = (await dossier(users.server, "users", "token", "carol")).stdout.decode().strip()

    async with sdk.get_client(url=url, api_key=second) as carol:
        assert (await carol.threads.get(thread))["metadata"]["owner"] == "carol"
