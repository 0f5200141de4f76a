"""Uploads over HTTP: at once and by tus, their types, quota, folders, and questions about them."""

from __future__ import annotations

import asyncio
import base64
import io
import zipfile
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from app.api.application import make_api
from app.cli.dispatch import Invocation
from app.guarded_graph import make_guarded_graph
from app.watching.check import run_check
from config.errors import Problem
from config.settings import settings
from graph.context import Context
from graph.session import ThreadSession
from library import uploads
from library.page_retrieval import search_pages
from library.scope import Scope
from library.uploads import find_upload, is_upload_id
from runs.earlier_runs import load_run_state
from runs.lifecycle import find_run
from runs.watches import find_watch
from storage.file_store import file_store
from tests.api_client import LoggedIn, code_of, connect
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import quiet
from tools import upload_reading
from tools.upload_reading import find_upload_roots

pytestmark = pytest.mark.usefixtures("database")

NOTE = b"The pump of hall 7 runs at 41 bar. It was made in Graz."
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
TUS = {"tus-resumable": "1.0.0"}
PART = {**TUS, "content-type": "application/offset+octet-stream"}


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with connect(make_api()) as one:
        yield one


async def send(
    client: httpx.AsyncClient, name: str = "pump.txt", data: bytes = NOTE, **asked: str
) -> dict[str, Any]:
    """Upload a file at once."""
    answer = await client.post("/api/uploads", params={"name": name, **asked}, content=data)
    assert answer.status_code == 201, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def begin(client: httpx.AsyncClient, size: int, name: str = "pump.txt") -> str:
    """Begin an upload by tus; return its path."""
    said = f"filename {base64.b64encode(name.encode()).decode()},filetype dGV4dC9wbGFpbg=="
    headers = {**TUS, "upload-length": str(size), "upload-metadata": said}
    answer = await client.post("/api/uploads", headers=headers)
    assert answer.status_code == 201, answer.text
    return answer.headers["location"]


async def part(client: httpx.AsyncClient, path: str, at: int, data: Any) -> httpx.Response:
    """Send a part of a file."""
    return await client.patch(path, headers={**PART, "upload-offset": str(at)}, content=data)


async def found(client: httpx.AsyncClient, path: str) -> dict[str, Any]:
    """Return an upload once it was read."""
    told: dict[str, Any] = (await client.get(path, params={"wait": 20})).json()
    return told


async def test_a_file_that_is_sent_at_once_is_read_into_pages(client: httpx.AsyncClient):
    told = await send(client)

    assert (told["status"], told["name"], told["size"]) == ("ready", "pump.txt", len(NOTE))
    roots = await find_upload_roots(Invocation().owner, [told["id"]])
    hits = await search_pages(Invocation().owner, "pump pressure bar", 5, *Scope(groups=roots))
    assert "41 bar" in hits[0].page.text
    content = await client.get(f"/api/uploads/{told['id']}/content")
    assert content.content == NOTE
    assert content.headers["content-disposition"].startswith("attachment")


async def test_a_file_that_comes_in_parts_goes_on_where_it_was_broken_off(
    client: httpx.AsyncClient,
):
    path = await begin(client, len(NOTE))

    async def broken() -> AsyncIterator[bytes]:
        yield NOTE[:10]
        yield NOTE[10:20]

    first = await part(client, path, 0, broken())
    assert (first.status_code, first.headers["upload-offset"]) == (204, "20")
    late = await part(client, path, 10, b"x")
    assert code_of(late) == (409, "upload_conflict")
    head = await client.head(path, headers=TUS)
    assert (head.headers["upload-offset"], head.headers["upload-length"]) == ("20", str(len(NOTE)))
    assert "upload-expires" in head.headers
    assert head.headers["cache-control"] == "no-store"
    rest = await part(client, path, 20, NOTE[20:])
    assert rest.headers["upload-offset"] == str(len(NOTE))
    told = await found(client, path)
    assert told["status"] == "ready"
    assert (await client.get(f"{path}/content")).content == NOTE
    done = await part(client, path, len(NOTE), b"x")
    assert code_of(done) == (409, "upload_conflict")


async def test_two_parts_at_once_are_not_mixed(client: httpx.AsyncClient):
    path = await begin(client, 40)

    answers = await asyncio.gather(*(part(client, path, 0, one * 20) for one in (b"a", b"b")))

    assert sorted(one.status_code for one in answers) == [204, 409]
    won = b"a" if answers[0].status_code == 204 else b"b"
    await part(client, path, 20, b"c" * 20)
    await found(client, path)
    assert (await client.get(f"{path}/content")).content == won * 20 + b"c" * 20


async def test_the_protocol_is_told_and_asked_for(client: httpx.AsyncClient):
    told = await client.options("/api/uploads")
    assert told.status_code == 204
    assert told.headers["tus-version"] == "1.0.0"
    assert {"creation", "termination"} <= set(told.headers["tus-extension"].split(","))
    assert told.headers["tus-max-size"] == str(settings().upload_bytes)
    path = await begin(client, 5)
    headers = {"upload-offset": "0", "content-type": PART["content-type"]}
    assert code_of(await client.patch(path, headers=headers, content=b"x")) == (412, "tus_version")
    wrong = {**TUS, "upload-offset": "0", "content-type": "text/plain"}
    assert code_of(await client.patch(path, headers=wrong, content=b"x")) == (415, "upload_type")
    for length in ("", "-1", "0", "x", "9" * 30):
        answer = await client.post("/api/uploads", headers={**TUS, "upload-length": length})
        assert code_of(answer) == (422, "request_refused"), length
    broken = {**TUS, "upload-length": "5", "upload-metadata": "filename !!"}
    assert code_of(await client.post("/api/uploads", headers=broken)) == (422, "request_refused")
    assert (await client.delete(path, headers=TUS)).status_code == 204
    assert (await client.head(path, headers=TUS)).status_code == 404


async def test_the_first_part_may_come_with_the_beginning(client: httpx.AsyncClient):
    headers = {**PART, "upload-length": str(len(NOTE)), "upload-metadata": "filename YS50eHQ="}
    answer = await client.post("/api/uploads", headers=headers, content=NOTE)

    assert (answer.status_code, answer.headers["upload-offset"]) == (201, str(len(NOTE)))
    assert (await found(client, answer.headers["location"]))["name"] == "a.txt"


def archive(member: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as opened:
        opened.writestr(member, "x" * 100)
    return made.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("photo.png", b"\x89PNG\r\n\x1a\n" + b"\x00" * 50),
        ("photo.txt", b"\x89PNG\r\n\x1a\n" + b"\x00" * 50),
        ("program.md", b"\x7fELF" + b"\x00" * 50),
        ("noise.csv", b"\x01\x00\x02\x00" * 50),
        ("text.pdf", b"It is no PDF at all."),
        ("film.mp4", b"\x00\x00\x00\x18ftypmp42" + b"\x00" * 50),
        ("things.zip", archive("a.bin")),
        (
            "locked.docx",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
        ),
    ],
)
async def test_what_is_no_document_by_its_content_is_refused_and_nothing_of_it_is_kept(
    client: httpx.AsyncClient, name: str, data: bytes
):
    answer = await client.post("/api/uploads", params={"name": name}, content=data)

    assert code_of(answer) == (415, "upload_type")
    assert (await client.get("/api/uploads")).json()["items"] == []
    assert file_store().list("uploads") == []


async def test_a_form_is_refused_instead_of_stored_with_its_wrapping(client: httpx.AsyncClient):
    answer = await client.post("/api/uploads", files={"file": ("bees.txt", b"Bees dance.")})

    assert code_of(answer) == (415, "upload_type")
    assert "curl -T" in answer.json()["hint"]
    assert (await client.get("/api/uploads")).json()["items"] == []


async def test_a_large_file_of_a_wrong_type_is_refused_while_it_comes_in(
    client: httpx.AsyncClient,
):
    sent = 0

    async def film() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(100):
            sent += 1
            yield b"\x00" * 50_000

    path = await begin(client, 5_000_000, "film.mp4")
    assert code_of(await part(client, path, 0, film())) == (415, "upload_type")
    assert sent < 10
    assert (await client.head(path, headers=TUS)).status_code == 404


@pytest.mark.parametrize(
    ("name", "data", "kept"),
    [
        ("minutes", b"We met at noon.", "minutes.txt"),
        ("page", b"<!DOCTYPE html><p>Hello</p>", "page.html"),
        ("letter", archive("word/document.xml"), "letter.docx"),
        ("../../etc/passwd.txt", NOTE, "passwd.txt"),
        ("for \u202etxt.exe.txt", NOTE, "for _txt.exe.txt"),
        ("my password is hunter2-Zebra9.txt", NOTE, None),
    ],
)
async def test_a_name_is_made_safe_and_fits_the_content(
    client: httpx.AsyncClient, name: str, data: bytes, kept: str | None
):
    told = await send(client, name, data)

    if kept:
        assert told["name"] == kept
    assert "hunter2" not in told["name"]
    assert "/" not in told["name"]


async def test_no_more_is_taken_than_one_may_upload(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    from types import SimpleNamespace  # noqa: PLC0415

    few = SimpleNamespace(upload_bytes=100, upload_quota=150)
    monkeypatch.setattr(uploads, "settings", lambda: few)
    too_large = await client.post("/api/uploads", params={"name": "a.txt"}, content=b"x" * 101)
    assert code_of(too_large) == (413, "upload_too_large")
    first = await send(client, data=b"x" * 90)
    over = await client.post("/api/uploads", params={"name": "a.txt"}, content=b"x" * 61)
    assert code_of(over) == (413, "upload_quota")
    other = await client.post(
        "/api/uploads", params={"name": "a.txt", "project": "p"}, content=b"x" * 61
    )
    assert code_of(other) == (413, "upload_quota")
    async with connect(LoggedIn(make_api(), "ada")) as ada:
        await send(ada, data=b"x" * 61)
    await client.delete(f"/api/uploads/{first['id']}")
    await send(client, data=b"x" * 61)
    path = await begin(client, 10)
    more = await part(client, path, 0, b"x" * 11)
    assert code_of(more) == (413, "upload_too_large")
    assert (await client.head(path, headers=TUS)).headers["upload-offset"] == "0"


async def test_an_upload_that_rests_too_long_is_removed(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    path = await begin(client, 50)
    await part(client, path, 0, b"x" * 20)
    kept = await send(client)
    monkeypatch.setattr(uploads, "UNFINISHED_SECONDS", -1.0)

    await begin(client, 50)

    assert (await client.get(path)).status_code == 404
    assert (await client.get(f"/api/uploads/{kept['id']}")).status_code == 200


async def test_a_reading_that_was_broken_off_is_done_when_somebody_asks(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as killed:
        killed.setattr(upload_reading, "start_reading", lambda _: None)
        killed.setattr("app.api.upload_routes.READ_SECONDS", 0.0)
        told = await send(client)
    assert told["status"] == "reading"
    monkeypatch.setattr(upload_reading, "WAIT_SECONDS", 0.0)
    with pytest.raises(Problem, match="upload_unready"):
        await find_upload_roots(Invocation().owner, [told["id"]])
    monkeypatch.setattr(upload_reading, "READ_AGAIN_SECONDS", -1.0)

    assert (await found(client, f"/api/uploads/{told['id']}"))["status"] == "ready"


async def test_what_cannot_be_read_is_kept_with_the_reason(client: httpx.AsyncClient):
    told = await send(client, "broken.pdf", b"%PDF-1.7\nnothing follows")

    assert told["status"] == "unread"
    assert told["code"].startswith("file_")
    assert told["reason"]


async def test_deleting_an_upload_takes_its_pages_but_not_those_of_its_copy(
    client: httpx.AsyncClient,
):
    owner = Invocation().owner
    one, two = await send(client), await send(client, "copy.txt")

    assert (await client.delete(f"/api/uploads/{one['id']}")).status_code == 204
    assert await search_pages(owner, "pump pressure bar", 5)
    await client.delete(f"/api/uploads/{two['id']}")
    assert not await search_pages(owner, "pump pressure bar", 5)
    assert file_store().list("uploads") == []


async def test_folders_are_made_filled_and_deleted_with_their_files(client: httpx.AsyncClient):
    made = await client.post("/api/upload-folders", json={"name": " Pumps "})
    folder = made.json()
    assert (made.status_code, folder["name"]) == (201, "Pumps")
    again = await client.post("/api/upload-folders", json={"name": "Pumps"})
    assert code_of(again) == (409, "upload_folder_exists")
    inside = await send(client, folder=folder["id"])
    outside = await send(client, "other.txt", b"Something else is said here.")
    await client.put(f"/api/uploads/{outside['id']}/folder", json={"folder": folder["id"]})

    told = (await client.get(f"/api/upload-folders/{folder['id']}")).json()
    assert (told["files"], told["size"]) == (2, inside["size"] + outside["size"])
    listed = (await client.get("/api/uploads", params={"folder": folder["id"]})).json()
    assert [one["id"] for one in listed["items"]] == [outside["id"], inside["id"]]
    roots = await find_upload_roots(Invocation().owner, [folder["id"], inside["id"]])
    assert len(roots) == 2
    assert (await client.delete(f"/api/upload-folders/{folder['id']}")).status_code == 204
    assert (await client.get("/api/upload-folders")).json() == []
    assert (await client.get("/api/uploads")).json()["items"] == []
    missing = await client.post("/api/uploads", params={"name": "a", "folder": "x"}, content=b"x")
    assert code_of(missing) == (404, "upload_folder_not_found")


async def test_uploads_of_another_are_not_there(client: httpx.AsyncClient):
    folder = (await client.post("/api/upload-folders", json={"name": "Mine"})).json()
    told = await send(client, folder=folder["id"])
    path = f"/api/uploads/{told['id']}"

    async with connect(LoggedIn(make_api(), "eve")) as eve:
        assert (await eve.get("/api/uploads")).json()["items"] == []
        for answer in (
            await eve.get(path),
            await eve.get(f"{path}/content"),
            await eve.delete(path),
            await eve.put(f"{path}/folder", json={"folder": ""}),
            await part(eve, path, 0, b"x"),
        ):
            assert code_of(answer) == (404, "upload_not_found")
        for answer in (
            await eve.get(f"/api/upload-folders/{folder['id']}"),
            await eve.delete(f"/api/upload-folders/{folder['id']}"),
            await eve.post("/api/uploads", params={"folder": folder["id"]}, content=b"x"),
        ):
            assert code_of(answer) == (404, "upload_folder_not_found")
    for id, code in ((told["id"], "upload_not_found"), (folder["id"], "upload_folder_not_found")):
        with pytest.raises(Problem, match=code):
            await find_upload_roots("eve/", [id])


@pytest.mark.extractive("Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "Checks")
async def test_a_question_can_be_asked_of_an_upload(
    client: httpx.AsyncClient, thread: ThreadSession, choices: dict[str, object], script: Script
):
    told = await send(client)
    owner = Invocation().owner
    assert is_upload_id(told["id"])
    upload = await find_upload(owner, told["id"])
    chosen = {told["id"]: await find_upload_roots(owner, [told["id"]])}
    guarded = make_guarded_graph(thread.graph, chosen)

    plain = guarded._with_roots({"files": [told["id"], "/other"], "max_steps": 2})
    assert plain == {"files": [file_store().address(upload.stored_name), "/other"], "max_steps": 2}
    context = guarded._with_roots(Context(files=[told["id"]]))
    script.on("reporter", 'It runs at <q s="S1">The pump of hall 7 runs at 41 bar.</q> [S1]')
    asked = make({**choices, "files": context.files})
    state = (await thread.begin("At which pressure does the pump run?", asked, quiet)).state

    assert state["report"]["cited"], state["report"]
    shown = (await client.get(f"/api/reports/{state['run']}/sources")).json()
    assert shown[0]["location"].startswith("/pump.txt")
    assert str(settings().home) not in (await client.get(f"/api/reports/{state['run']}")).text


async def test_a_knowledge_base_is_made_of_a_folder_searched_refreshed_and_removed(
    client: httpx.AsyncClient,
):
    folder = (await client.post("/api/upload-folders", json={"name": "Pumps"})).json()["id"]
    await send(client, folder=folder)
    new = {"name": "pumps", "about": "How our pumps run", "folder": folder}
    made = await client.post("/api/knowledge-bases", json=new)
    assert made.status_code == 201, made.text
    assert (made.json()["files"], made.json()["read"]) == (1, 1)
    assert code_of(await client.post("/api/knowledge-bases", json=new)) == (409, "knowledge_exists")
    (listed,) = (await client.get("/api/knowledge-bases")).json()
    assert (listed["folder"], listed["shared"]) == (folder, False)

    async def search(q: str) -> list[dict[str, str]]:
        answer = await client.get("/api/knowledge-bases/pumps/search", params={"q": q})
        passages: list[dict[str, str]] = answer.json()
        return passages

    (passage,) = await search("pressure of the pump")
    assert "41 bar" in passage["text"]
    assert passage["location"] == "/pump.txt"
    valve = await send(client, "valve.txt", b"The valve of hall 9 closes at 12 bar.", folder=folder)
    again = (await client.post("/api/knowledge-bases/pumps/refresh")).json()
    assert (again["files"], again["read"], again["known"]) == (2, 1, 1)
    assert "12 bar" in str(await search("valve of hall 9"))
    await client.delete(f"/api/uploads/{valve['id']}")
    await client.post("/api/knowledge-bases/pumps/refresh")
    assert "12 bar" not in str(await search("valve of hall 9"))
    async with connect(LoggedIn(make_api(), "eve")) as eve:
        assert (await eve.get("/api/knowledge-bases")).json() == []
        for answer in (
            await eve.get("/api/knowledge-bases/pumps/search?q=pump"),
            await eve.delete("/api/knowledge-bases/pumps"),
        ):
            assert code_of(answer) == (404, "knowledge_unknown")
        taken = await eve.post("/api/knowledge-bases", json=new)
        assert code_of(taken) == (404, "upload_folder_not_found")
    gone = (await client.delete("/api/knowledge-bases/pumps")).json()
    assert gone["documents"] == 1
    assert (await client.get("/api/knowledge-bases")).json() == []
    assert len((await client.get("/api/uploads")).json()["items"]) == 1


@pytest.mark.extractive(
    *("Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "reporter", "Checks"),
    *("Lessons", "Learnt"),
)
async def test_a_watch_of_a_folder_of_uploads_tells_what_another_file_says(
    client: httpx.AsyncClient, thread: ThreadSession, choices: dict[str, object]
):
    del thread
    folder = (await client.post("/api/upload-folders", json={"name": "Pumps"})).json()["id"]
    first = await send(client, folder=folder)
    asked = {"question": "At which pressure does the pump of hall 7 run?", "every": "weekly"}
    chosen = {**choices, "files": [folder]}
    added = await client.post("/api/watches", json={**asked, "name": "pump", "context": chosen})
    watch = await find_watch(Invocation().owner, added.json()["id"])
    begun = await run_check(watch, quiet)
    await send(client, data=NOTE.replace(b"41", b"52"), folder=folder)
    await client.delete(f"/api/uploads/{first['id']}")
    news = await run_check(watch, quiet)
    (now,) = (await client.get("/api/uploads", params={"folder": folder})).json()["items"]
    await client.delete(f"/api/uploads/{now['id']}")
    empty = await run_check(watch, quiet)

    assert begun
    assert news
    assert empty
    assert (begun.status, news.status) == ("first", "news")
    assert "52 bar" in str(news.notice["sections"])
    state = await load_run_state(await find_run(watch.owner, news.run))
    assert state
    assert state["revision"], "it was refreshed, and not researched anew"
    assert (empty.status, empty.code) == ("failed", "docs_not_found")
