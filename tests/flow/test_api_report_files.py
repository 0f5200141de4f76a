"""The server gives the report of a finished run in every format, and only to its owner."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from anyio import CapacityLimiter

from app import export_queue
from app.access import AccessMiddleware, AccessRules
from app.api.application import make_api
from app.cli.dispatch import Invocation
from config.errors import ErrorCode, Problem
from graph.context import Context
from graph.session import ThreadSession
from report.exports.bundle import read_bundle
from report.exports.export_formats import EXPORT_FORMATS
from runs.lifecycle import create_run
from tests.api_client import LoggedIn, connect
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.conftest import QUOTE
from tests.flow.test_defects import quiet
from tools.worker_pool import WorkerLost

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "Checks", "Lessons"
)


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with connect(make_api()) as one:
        yield one


async def test_a_report_is_served_in_its_formats_with_their_types_and_a_name(
    client: httpx.AsyncClient, asked: str
):
    told = (await client.get(f"/reports/{asked}")).json()
    assert [one["format"] for one in told["formats"]] == list(EXPORT_FORMATS)
    assert (told["run"], told["status"]) == (asked, "succeeded")

    for one in told["formats"]:
        if one["format"] == "pdf":
            continue
        got = await client.get(one["url"])
        assert got.status_code == 200, got.text
        assert got.headers["content-type"].partition(";")[0] == one["media_type"]
        assert got.headers["etag"] == f'"{hashlib.sha256(got.content).hexdigest()}"'
        assert got.headers["content-disposition"].startswith(f'attachment; filename="{asked}.')
    got = await client.get(f"/reports/{asked}?format=json")
    assert read_bundle(got.content)["title"] == told["title"]
    name = got.headers["content-disposition"].partition("filename*=UTF-8''")[2]
    assert unquote(name).endswith(".json")
    assert "/" not in unquote(name)


async def test_a_file_that_the_client_has_is_not_sent_again(client: httpx.AsyncClient, asked: str):
    first = await client.get(f"/reports/{asked}?format=md")

    again = await client.get(
        f"/reports/{asked}?format=md", headers={"if-none-match": f'"x", W/{first.headers["etag"]}'}
    )

    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]


async def test_what_is_wrong_is_told_as_on_the_command_line(client: httpx.AsyncClient, asked: str):
    await create_run(Invocation().owner, "unfinished", 1, "Why?", Context())
    for path, status, code in (
        ("/reports/none?format=md", 404, "run_not_found"),
        ("/reports/unfinished?format=md", 404, "report_not_found"),
        (f"/reports/{asked}?format=odt", 422, "unknown_format"),
        (f"/reports/{asked}?format=md&style=apa", 422, "bad_choice"),
        (f"/reports/{asked}?format=bib&style=numeric", 422, "bad_choice"),
    ):
        got = await client.get(path)
        assert (got.status_code, got.json()["code"]) == (status, code), path
        assert got.headers["content-type"] == "application/problem+json"
    got = await client.get("/reports/unfinished?format=md")
    assert "running" in got.json()["detail"]


class _Exports:
    """Stands for the worker processes: an export ends when a test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun: list[str] = []
        """The formats of the exports at work so far, in order."""
        self.held = {"pdf"}
        """The formats whose exports do not end yet."""
        self.raised: Exception | None = None
        self._changed = asyncio.Condition()
        monkeypatch.setattr(export_queue, "run_in_worker", self._run)

    async def _run(self, call: Any, seconds: float, *, limiter: CapacityLimiter) -> bytes:
        async with limiter:
            report, name = call.args
            await self._tell(lambda: self.begun.append(name))
            async with self._changed:
                await self._changed.wait_for(lambda: name not in self.held)
            if self.raised:
                raise self.raised
            return f"{name} of {report.run} as {report.style}".encode()

    async def _tell(self, change: Any) -> None:
        async with self._changed:
            change()
            self._changed.notify_all()

    async def wait_until_begun(self, count: int) -> None:
        async with asyncio.timeout(20), self._changed:
            await self._changed.wait_for(lambda: len(self.begun) >= count)

    async def release(self) -> None:
        await self._tell(self.held.clear)


@pytest.fixture
async def exports(monkeypatch: pytest.MonkeyPatch) -> _Exports:
    return _Exports(monkeypatch)


async def test_what_a_format_lacks_is_told_with_what_to_install(
    client: httpx.AsyncClient, asked: str, exports: _Exports
):
    exports.held.clear()
    exports.raised = Problem(ErrorCode.PDF_UNAVAILABLE, "no", hint="pip install 'dossier[pdf]'")

    got = await client.get(f"/reports/{asked}?format=pdf")

    assert (got.status_code, got.json()["code"]) == (503, "pdf_unavailable")
    assert "pip install 'dossier[pdf]'" in got.json()["hint"]
    assert "retry-after" not in got.headers


async def test_what_is_wrong_with_a_report_is_told_by_the_process_that_writes_it(
    client: httpx.AsyncClient, thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("reporter", f'They show the way: <q s="S1">{QUOTE}</q> [S1]')
    run = (await thread.begin("How do bees dance?", make(choices), quiet)).state["run"]

    got = await client.get(f"/reports/{run}?format=csv")

    assert (got.status_code, got.json()["code"], got.json()["where"]) == (404, "no_tables", run)


async def test_another_user_or_project_does_not_find_the_report(
    client: httpx.AsyncClient, asked: str
):
    async with connect(LoggedIn(make_api(), "eve")) as stranger:
        got = await stranger.get(f"/reports/{asked}?format=md")
        assert (got.status_code, got.json()["code"]) == (404, "run_not_found")
    async with connect(LoggedIn(make_api(), Invocation().owner.partition("/")[0])) as owner:
        assert (await owner.get(f"/reports/{asked}?format=md")).status_code == 200
    got = await client.get(f"/reports/{asked}?format=md&project=other")
    assert got.json()["code"] == "run_not_found"


async def test_without_the_login_that_a_deployment_requires_nothing_is_served(
    client: httpx.AsyncClient, asked: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LANGGRAPH_AUTH", "{}")

    got = await client.get(f"/reports/{asked}?format=md")

    assert (got.status_code, got.json()["code"]) == (401, "token_missing")


async def test_a_report_needs_the_token_like_everything_else(asked: str):
    rules = AccessRules(frozenset(), frozenset(), open_to_pages=False)
    async with connect(AccessMiddleware(make_api(), rules)) as stranger:
        got = await stranger.get(f"/reports/{asked}?format=md")

    assert (got.status_code, got.json()["code"]) == (401, "token_missing")


async def test_the_same_file_is_written_once_for_all_who_wait(
    client: httpx.AsyncClient, asked: str, exports: _Exports
):
    first, *others = (
        asyncio.create_task(client.get(f"/reports/{asked}?format=pdf")) for _ in range(4)
    )
    await exports.wait_until_begun(1)
    first.cancel()
    await exports.release()

    content = f"pdf of {asked} as numeric".encode()
    assert [(await one).content for one in others] == [content] * 3
    assert exports.begun == ["pdf"]
    assert (await client.get(f"/reports/{asked}?format=pdf")).content == content
    assert exports.begun == ["pdf"] * 2


async def test_short_exports_do_not_wait_for_a_long_one_and_two_are_written_at_once(
    client: httpx.AsyncClient, asked: str, exports: _Exports
):
    exports.held |= {"docx", "epub"}
    slow = [
        asyncio.create_task(client.get(f"/reports/{asked}?format={name}"))
        for name in ("pdf", "pdf&style=footnotes", "docx", "epub")
    ]
    await exports.wait_until_begun(3)
    waiting = asyncio.create_task(client.get(f"/reports/{asked}?format=md"))
    await asyncio.sleep(0.05)

    assert sorted(exports.begun) == ["docx", "epub", "pdf"]
    async with exports._changed:
        exports.held -= {"docx"}
        exports._changed.notify_all()
    assert (await waiting).content == f"md of {asked} as numeric".encode()
    assert exports.begun.count("pdf") == 1
    await exports.release()
    assert [(await one).status_code for one in slow] == [200] * 4
    assert exports.begun.count("pdf") == 2


async def test_when_too_many_wait_a_client_is_told_to_come_again(
    client: httpx.AsyncClient, asked: str, exports: _Exports, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(export_queue, "MAX_WAITING", 1)
    waiting = [
        asyncio.create_task(client.get(f"/reports/{asked}?format=pdf&style={style}"))
        for style in ("numeric", "footnotes")
    ]
    await exports.wait_until_begun(1)

    refused = await client.get(f"/reports/{asked}?format=pdf&style=author-year")

    assert (refused.status_code, refused.json()["code"]) == (503, "export_busy")
    assert refused.headers["retry-after"] == "10"
    assert refused.headers["content-type"] == "application/problem+json"
    same = asyncio.create_task(client.get(f"/reports/{asked}?format=pdf"))
    assert (await client.get(f"/reports/{asked}?format=md")).status_code == 200
    await exports.release()
    assert [(await one).status_code for one in (*waiting, same)] == [200] * 3
    again = await client.get(f"/reports/{asked}?format=pdf&style=author-year")
    assert again.status_code == 200


@pytest.mark.parametrize("raised", [TimeoutError(), WorkerLost()])
async def test_an_export_that_takes_too_long_or_is_killed_is_told_and_tried_again(
    client: httpx.AsyncClient, asked: str, exports: _Exports, raised: Exception
):
    exports.raised = raised
    got = await client.get(f"/reports/{asked}?format=md")
    assert (got.status_code, got.json()["code"]) == (500, "export_failed")

    exports.raised = None
    assert (await client.get(f"/reports/{asked}?format=md")).status_code == 200


def test_the_openapi_document_names_parameters_formats_and_errors():
    told = make_api().openapi()["paths"]["/reports/{run}"]["get"]

    formats = next(one for one in told["parameters"] if one["name"] == "format")["schema"]["enum"]
    styles = next(one for one in told["parameters"] if one["name"] == "style")["schema"]["enum"]
    assert formats == list(EXPORT_FORMATS)
    assert set(styles) == {style for one in EXPORT_FORMATS.values() for style in one.styles}
    assert {"200", "304", "401", "404", "422", "500", "503"} <= set(told["responses"])
    assert json.dumps(told)
