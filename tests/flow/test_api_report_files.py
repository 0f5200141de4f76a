"""The server gives the report of a finished run in every format, and only to its owner."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import unquote

import httpx
import pytest

from app.access import AccessMiddleware, AccessRules
from app.api.application import make_api
from app.cli.dispatch import Invocation
from config.errors import ErrorCode, Problem
from graph.context import Context
from graph.session import ThreadSession
from report.exports import pdf_report, report_text
from report.exports.bundle import read_bundle
from report.exports.export_formats import EXPORT_FORMATS
from runs.lifecycle import create_run
from tests.api_client import LoggedIn, connect
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import quiet

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "Checks", "Lessons"
)

QUOTE = "The waggle dance tells other bees the direction of food."
TABLE = "| what | told |\n|---|---|\n| direction | the angle [S1] |"


@pytest.fixture
async def asked(thread: ThreadSession, choices: dict[str, object], script: Script) -> str:
    script.on("reporter", f'They show the way: <q s="S1">{QUOTE}</q> [S1]\n\n{TABLE}')
    state = (await thread.begin("How do bees dance?", make(choices), quiet)).state
    return str(state["run"])


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


async def test_what_a_format_lacks_is_told_with_what_to_install(
    client: httpx.AsyncClient, asked: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(__import__("sys").modules, "weasyprint", None)

    got = await client.get(f"/reports/{asked}?format=pdf")

    assert (got.status_code, got.json()["code"]) == (503, "pdf_unavailable")
    assert "pip install 'dossier[pdf]'" in got.json()["hint"]


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


async def test_the_same_file_is_written_once_for_all_who_wait_and_the_loop_goes_on(
    client: httpx.AsyncClient, asked: str, monkeypatch: pytest.MonkeyPatch
):
    written, begun, goes_on = 0, asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def write(_: Any) -> bytes:
        nonlocal written
        written += 1
        loop.call_soon_threadsafe(begun.set)
        assert goes_on.wait(20)
        return b"%PDF"

    monkeypatch.setattr(pdf_report, "export_pdf", write)
    first = asyncio.create_task(client.get(f"/reports/{asked}?format=pdf"))
    others = [asyncio.create_task(client.get(f"/reports/{asked}?format=pdf")) for _ in range(3)]
    await begun.wait()
    first.cancel()
    goes_on.set()

    assert [(await one).content for one in others] == [b"%PDF"] * 3
    assert written == 1
    assert (await client.get(f"/reports/{asked}?format=pdf")).content == b"%PDF"
    assert written == 2


async def test_a_failed_file_is_tried_again(
    client: httpx.AsyncClient, asked: str, monkeypatch: pytest.MonkeyPatch
):
    def fail(_: Any) -> bytes:
        raise Problem(ErrorCode.STORAGE_UNAVAILABLE, "no")

    with monkeypatch.context() as broken:
        broken.setattr(report_text, "export_markdown", fail)
        assert (await client.get(f"/reports/{asked}?format=md")).status_code == 503

    assert (await client.get(f"/reports/{asked}?format=md")).status_code == 200


def test_the_openapi_document_names_parameters_formats_and_errors():
    told = make_api().openapi()["paths"]["/reports/{run}"]["get"]

    formats = next(one for one in told["parameters"] if one["name"] == "format")["schema"]["enum"]
    styles = next(one for one in told["parameters"] if one["name"] == "style")["schema"]["enum"]
    assert formats == list(EXPORT_FORMATS)
    assert set(styles) == {style for one in EXPORT_FORMATS.values() for style in one.styles}
    assert {"200", "304", "401", "404", "422", "503"} <= set(told["responses"])
    assert json.dumps(told)
