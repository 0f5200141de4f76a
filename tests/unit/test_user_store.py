"""Users and tokens: only hashes are stored, names are told apart, and nobody inherits a name."""

from __future__ import annotations

import time
from typing import Any

import pytest
from sqlalchemy import select, text, update

from app.auth import token_login, user_store
from app.auth.tables import user_tokens
from app.auth.token_login import TokenLogin
from app.auth.user import User, check_user_name
from app.auth.user_store import (
    add_user,
    issue_token,
    list_users,
    remove_user,
    revoke_tokens,
)
from config.errors import Problem
from config.settings import settings
from storage.engine import commit_statements, flush_writes, read_rows
from tests.cases import each_case


async def refused(work: Any) -> str:
    with pytest.raises(Problem) as told:
        await work
    return told.value.code


async def test_a_token_is_stored_as_a_hash_alone_and_finds_its_user():
    await add_user("ada")
    token = await issue_token("ADA", label="notebook")

    assert await TokenLogin().identify({"x-api-key": token}) == User("ada")
    assert await TokenLogin().identify({"authorization": f"bearer {token}"}) == User("ada")
    rows = (await read_rows(select(user_tokens))).all()
    assert token.removeprefix(rows[0].id) not in str(rows)
    ((user),) = await list_users()
    assert [(one.id, one.label) for one in user.tokens] == [(token[:12], "notebook")]


async def test_several_tokens_of_a_user_are_revoked_one_by_one_or_all_at_once():
    await add_user("ada", is_operator=True)
    one, two, three = [await issue_token("ada") for _ in range(3)]
    assert await TokenLogin().identify({"x-api-key": two}) == User("ada", is_operator=True)

    assert await revoke_tokens(one) == [one[:12]]
    assert await revoke_tokens(two[:12]) == [two[:12]]
    assert await refused(revoke_tokens(two[:12])) == "token_not_found"
    assert await refused(TokenLogin().identify({"x-api-key": one})) == "token_wrong"
    assert await TokenLogin().identify({"x-api-key": three})
    assert len(await revoke_tokens("Ada")) == 1
    assert await revoke_tokens("ada") == []
    assert await refused(revoke_tokens("eve")) == "user_not_found"


async def test_a_token_expires(monkeypatch: pytest.MonkeyPatch):
    await add_user("ada")
    token, login = await issue_token("ada", seconds=60), TokenLogin()
    assert await login.identify({"x-api-key": token})

    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 61)
    assert await refused(login.identify({"x-api-key": token})) == "token_expired"


async def test_a_revoked_token_works_until_it_is_looked_up_again(monkeypatch: pytest.MonkeyPatch):
    await add_user("ada")
    token, login = await issue_token("ada"), TokenLogin()
    assert await login.identify({"x-api-key": token})
    await revoke_tokens(token)
    assert await login.identify({"x-api-key": token})

    monkeypatch.setattr(token_login, "CACHE_SECONDS", 0.0)
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 4)
    assert await refused(login.identify({"x-api-key": token})) == "token_wrong"


async def test_the_last_use_is_known_by_the_hour_and_seldom_written(
    monkeypatch: pytest.MonkeyPatch,
):
    await add_user("ada")
    token = await issue_token("ada")
    await TokenLogin().identify({"x-api-key": token})
    await flush_writes()

    (user,) = await list_users()
    used = user.tokens[0].used
    assert used is not None
    assert used % user_store.USE_SECONDS == 0
    assert 0 <= time.time() - used <= user_store.USE_SECONDS
    await commit_statements((update(user_tokens).values(label="seen"), None))
    written: list[Any] = []
    monkeypatch.setattr(user_store, "write_with_next_group", written.append)
    await TokenLogin().identify({"x-api-key": token})
    assert written == []


@each_case(
    [
        *("", " ", "ada ", "\tada", "a" * 65, "ada\u200bx", "\u202eada", "a\x00b", "a\nb"),
        *("ad\ufffe", "\ufb01ona", "e\u0301va", "\ud800", "/" * 60, "a%" * 30),
    ]
)
def test_a_name_that_could_be_taken_for_another_is_refused(name: str):
    with pytest.raises(Problem) as told:
        check_user_name(name)
    assert told.value.code == "user_name_invalid"


@pytest.mark.parametrize(
    "name", ["a/b", "a%2Fb", "%", "..", "ada@example.org", "auth0|5f", "Åsa", "王小明", "a" * 64]
)
async def test_any_other_name_is_kept_as_it_is(name: str):
    await add_user(name)

    token = await issue_token(name)
    assert (await TokenLogin().identify({"x-api-key": token})).name == name


async def test_a_name_is_taken_once_whatever_its_capitals_and_by_no_token():
    await add_user("ada")

    assert await refused(add_user("ADA")) == "user_exists"
    assert await refused(add_user("dsr_1a2b3c4d")) == "user_name_invalid"
    assert await refused(add_user("DSR_x")) == "user_name_invalid"


async def test_what_was_stored_without_users_is_handed_over_or_stays_with_nobody():
    local = settings().user
    assert await refused(add_user(local)) == "user_name_invalid"
    assert await refused(add_user(local.upper())) == "user_name_invalid"

    await add_user("ada", owns_local=True)
    assert await refused(add_user("bob", owns_local=True)) == "user_exists"
    token = await issue_token("ada")
    assert await TokenLogin().identify({"x-api-key": token}) == User(local)


async def test_nobody_inherits_the_name_of_a_removed_user():
    await add_user("ada", is_operator=True)
    token = await issue_token("ada")
    assert await remove_user("ada") == 1

    assert await refused(TokenLogin().identify({"x-api-key": token})) == "token_wrong"
    assert not await TokenLogin().is_active("ada")
    assert await list_users() == []
    assert await refused(issue_token("ada")) == "user_not_found"
    assert await refused(remove_user("ada")) == "user_not_found"
    assert await refused(add_user("Ada")) == "user_exists"
    assert await refused(add_user("eve", restore=True)) == "user_not_found"
    await add_user("ada", restore=True)
    assert await refused(add_user("ada", restore=True)) == "user_not_found"
    (user,) = await list_users()
    assert (user.name, user.is_operator, user.tokens) == ("ada", False, ())


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, "token_missing"),
        ({"x-api-key": " "}, "token_missing"),
        ({"authorization": "Bearer "}, "token_missing"),
        ({"authorization": "Basic YWRhOng="}, "token_missing"),
        ({"cookie": "x-api-key=TOKEN"}, "token_missing"),
        ({"x-api-key": "TOKEN", "authorization": "Bearer other"}, "token_wrong"),
        ({"x-api-key": "TOKEN "}, ""),
        ({"x-api-key": "TOKEN", "authorization": "Bearer TOKEN"}, ""),
        ({"x-api-key": "tOKEN"}, "token_wrong"),
        ({"x-api-key": "TOKENé"}, "token_wrong"),
        ({"x-api-key": "TOKEN\x01"}, "token_wrong"),
        ({"x-api-key": "T" * 20_000}, "token_wrong"),
        ({"authorization": "Bearer Bearer TOKEN"}, "token_wrong"),
    ],
)
async def test_a_request_has_one_token_in_a_header(headers: dict[str, str], code: str):
    await add_user("ada")
    token = await issue_token("ada")
    sent = {
        name: value.replace("TOKEN", token).replace("tOKEN", token.swapcase())
        for name, value in headers.items()
    }

    if code:
        assert await refused(TokenLogin().identify(sent)) == code
    else:
        assert await TokenLogin().identify(sent) == User("ada")


async def test_the_hash_of_a_token_is_no_token():
    await add_user("ada")
    await issue_token("ada")
    (hashed,) = (await read_rows(text("select hash from user_tokens"))).scalars()

    assert await refused(TokenLogin().identify({"x-api-key": str(hashed)})) == "token_wrong"
