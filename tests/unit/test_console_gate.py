"""Who gets into the console: the person of this machine, sessions, and nobody else."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from itertools import cycle
from unittest.mock import patch

import httpx
import pytest
from sqlalchemy import select, update

from app.access import AccessRules
from app.auth.user_store import add_user, issue_token, list_users, revoke_tokens
from app.server_token import load_server_token
from app.web.console_gate import check_next_path
from app.web.sign_in_sessions import find_session_token, open_console_session
from app.web.tables import console_sessions
from config.settings import settings
from storage.engine import read_rows, run_write
from tests.cases import each_case
from tests.console_client import (
    LOCAL,
    as_this_user,
    form_token,
    list_form_paths,
    open_console,
    send_form,
)

USERS = AccessRules(hosts=frozenset(), origins=frozenset(), open_to_pages=False, has_users=True)
CLOSED = AccessRules(hosts=frozenset(), origins=frozenset(), open_to_pages=False)
SIGN_IN = "/console/sign-in"


@pytest.fixture
async def person() -> AsyncIterator[httpx.AsyncClient]:
    with as_this_user():
        async with open_console() as browser:
            yield browser


@pytest.fixture
async def visitor(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[httpx.AsyncClient]:
    """A browser at a server with users, not signed in."""
    monkeypatch.setenv("DOSSIER_AUTH", "users")
    async with open_console(USERS) as browser:
        yield browser


async def signed_in(browser: httpx.AsyncClient, name: str, **more: bool) -> str:
    await add_user(name, **more)
    token = await issue_token(name)
    answer = await browser.post(SIGN_IN, data={"token": token, "next": "/console"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/console")
    return token


async def test_the_person_of_this_machine_needs_no_token(person: httpx.AsyncClient):
    answer = await person.get("/console")

    assert answer.status_code == 200
    assert "Sign out" not in answer.text


@pytest.mark.parametrize(
    "headers",
    [{}, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}],
    ids=["script", "foreign page", "other port"],
)
async def test_what_comes_from_elsewhere_is_sent_to_sign_in(headers: dict[str, str]):
    with as_this_user():
        async with open_console(headers=headers) as browser:
            answer = await browser.get("/console/history?q=bees")

    assert answer.status_code == 303
    assert answer.headers["location"] == "/console/sign-in?next=/console/history%3Fq%3Dbees"


async def test_a_page_of_the_console_opens_nothing_but_the_console(person: httpx.AsyncClient):
    assert (await person.get("/api/runs")).status_code == 401


async def test_another_user_of_the_machine_and_a_proxy_need_the_token(person: httpx.AsyncClient):
    forwarded = await person.get("/console", headers={"x-forwarded-for": "10.0.0.1"})
    assert forwarded.status_code == 303
    with patch("app.access._by_this_user", lambda scope: False):
        assert (await person.get("/console")).status_code == 303


async def test_pages_that_may_use_the_api_may_not_use_the_console():
    studio = "https://smith.langchain.com"
    rules = AccessRules(hosts=frozenset(), origins=frozenset([studio]), open_to_pages=True)
    with as_this_user():
        async with open_console(rules) as browser:
            answer = await browser.get("/console", headers={"origin": studio})
            own = await browser.get("/console", headers={"origin": "http://127.0.0.1:8123"})

    assert (answer.status_code, answer.json()["code"]) == (403, "origin_refused")
    assert own.status_code == 200


async def test_the_token_of_the_server_begins_a_session_where_it_is_needed():
    async with open_console(CLOSED, {}) as browser:
        wrong = await browser.post(SIGN_IN, data={"token": "no", "next": "/console/history"})
        assert wrong.status_code == 401
        assert "token_wrong" in wrong.text
        right = {"token": load_server_token(), "next": "/console/history"}
        answer = await browser.post(SIGN_IN, data=right)

        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=lax" in cookie
        assert "path=/console" in cookie
        assert load_server_token() not in cookie
        assert answer.headers["location"] == "/console/history"
        assert "Sign out" in (await browser.get("/console")).text


async def test_a_user_signs_in_and_out(visitor: httpx.AsyncClient):
    assert (await visitor.get("/console")).headers["location"].startswith(SIGN_IN)
    await signed_in(visitor, "ada")

    page = await visitor.get("/console")
    assert "ada" in page.text
    assert "/console/operator" not in page.text
    out = await send_form(visitor, "/console/sign-out")
    assert out.headers["location"] == SIGN_IN
    assert "Your session has ended" not in (await visitor.get(SIGN_IN)).text
    assert (await visitor.get("/console")).status_code == 303


async def test_who_is_not_signed_in_sends_no_more_than_a_token_has(visitor: httpx.AsyncClient):
    answer = await visitor.post(SIGN_IN, data={"token": "x" * 200_000})

    assert answer.status_code == 413


async def test_a_session_ends_on_the_server_too(visitor: httpx.AsyncClient):
    await signed_in(visitor, "ada")
    kept = visitor.cookies["dossier_session"]
    await send_form(visitor, "/console/sign-out")

    visitor.cookies.set("dossier_session", kept, path="/console")
    assert (await visitor.get("/console")).status_code == 303
    assert await find_session_token(kept) == ""


async def test_a_session_ends_with_its_token(
    visitor: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("app.auth.token_login.CACHE_SECONDS", 0)
    await signed_in(visitor, "ada")
    await revoke_tokens("ada")

    assert (await visitor.get("/console")).status_code == 303


async def test_a_session_expires(visitor: httpx.AsyncClient):
    await signed_in(visitor, "ada")
    over = update(console_sessions).values(expires=0)
    await run_write(lambda connection: connection.execute(over))

    assert (await visitor.get("/console")).status_code == 303
    assert "Your session has ended" in (await visitor.get(SIGN_IN)).text


async def test_what_is_stored_of_a_session_reveals_neither_token_nor_cookie():
    secret = await open_console_session("dsr_token")

    (row,) = (await read_rows(select(console_sessions))).all()
    assert b"dsr_token" not in row.sealed
    assert secret not in row.id
    assert await find_session_token(secret) == "dsr_token"
    assert await find_session_token(row.id) == ""


async def test_a_form_without_its_token_changes_nothing(person: httpx.AsyncClient):
    for fields in ({}, {"form_token": "0" * 64}, {"form_token": "é"}):
        answer = await person.post("/console/language", data={"language": "zh", **fields})
        assert answer.status_code == 422, fields
        assert "set-cookie" not in answer.headers


async def test_every_form_is_refused_without_the_token_of_its_session(
    person: httpx.AsyncClient,
):
    paths = list_form_paths()
    assert len(paths) >= 25
    for path in paths:
        answer = await person.post(re.sub(r"\{\w+\}", "1", path), data={"text": "x", "name": "x"})
        assert answer.status_code == 422, path
        assert "not from a page of your session" in answer.text, path
    assert await list_users() == []


async def test_a_page_of_another_origin_sends_no_form(person: httpx.AsyncClient):
    token = await form_token(person)
    origins = cycle(["https://evil.example", "http://127.0.0.1:9999", "null"])
    for path, origin in zip(list_form_paths(), origins, strict=False):
        where, sent = re.sub(r"\{\w+\}", "1", path), {"form_token": token}
        answer = await person.post(where, data=sent, headers={"origin": origin})
        assert (answer.status_code, answer.json()["code"]) == (403, "origin_refused"), path


async def test_a_form_of_one_user_is_none_of_another(visitor: httpx.AsyncClient):
    await signed_in(visitor, "ada")
    of_ada = await form_token(visitor)
    async with open_console(USERS) as other:
        await signed_in(other, "ben")
        answer = await other.post(
            "/console/language", data={"form_token": of_ada, "language": "zh"}
        )

    assert answer.status_code == 422


async def test_an_htmx_request_of_nobody_leads_the_page_to_sign_in(visitor: httpx.AsyncClient):
    answer = await visitor.get("/console/questions/x/progress", headers={"hx-request": "true"})

    assert answer.status_code == 401
    assert answer.headers["hx-redirect"] == SIGN_IN


async def test_the_language_is_chosen_by_the_browser_and_then_by_the_person(
    person: httpx.AsyncClient,
):
    chinese = await person.get("/console", headers={"accept-language": "zh-CN,en;q=0.5"})
    assert '<html lang="zh-CN">' in chinese.text
    answer = await send_form(person, "/console/language", language="zh", next="/console")
    assert answer.headers["location"] == "/console"
    assert '<html lang="zh-CN">' in (await person.get("/console")).text


@each_case(
    [
        ("/console/history?q=a%20b", "/console/history?q=a%20b"),
        ("/console", "/console"),
        ("https://evil.example/console", "/console"),
        ("//evil.example/console", "/console"),
        ("/console//evil.example", "/console"),
        ("/console/../threads", "/console"),
        ("/console\\evil", "/console"),
        ("\\\\evil.example", "/console"),
        ("/consolex", "/console"),
        ("javascript:alert(1)", "/console"),
        ("/console/\r\nSet-Cookie: a=b", "/console"),
        ("", "/console"),
    ]
)
def test_signing_in_leads_to_pages_of_the_console_alone(asked: str, goes: str):
    assert check_next_path(asked) == goes


async def test_every_page_is_sent_with_a_strict_policy(person: httpx.AsyncClient):
    for path in ("/console", SIGN_IN, "/console/nowhere"):
        answer = await person.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy, path
        assert "unsafe" not in policy
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert "<script>" not in answer.text
        assert " style=" not in answer.text
        assert " onclick=" not in answer.text


async def test_files_of_pages_are_kept_for_ever_under_an_address_of_their_content(
    person: httpx.AsyncClient,
):
    page = (await person.get("/console")).text
    for name in ("console.css", "console.js", "htmx.min.js"):
        (address,) = {part for part in page.split('"') if f"/static/{name}?" in part}
        answer = await person.get(address, headers={"sec-fetch-site": "none"})
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    assert (await person.get("/console/static/nothing.js")).status_code == 422


def test_the_rules_of_these_tests_are_those_of_a_development_server():
    assert LOCAL.open_to_pages
    assert not settings().has_users
