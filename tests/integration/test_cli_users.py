"""dossier users: who may use a server; a token is printed once and stored as a hash."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.integration.command import Forks, Place

pytestmark = pytest.mark.integration

USERS = {"DOSSIER_AUTH": "users"}


def test_users_are_added_given_tokens_listed_and_removed(forks: Forks, place: Place):
    told = forks.run(place, "users", "list", **USERS)
    assert (told.status, told.out) == (0, "No users yet: dossier users add NAME\n")
    told = forks.run(place, "users", "add", "ada")
    assert told.out == "ada was added. Give them a token with: dossier users token ada\n"
    assert "DOSSIER_AUTH=users" in told.err
    assert forks.run(place, "users", "add", "grace", "--operator", **USERS).err == ""

    token = forks.run(place, "users", "token", "ada", "--label", "my notebook").out
    assert re.fullmatch(r"dsr_[0-9a-f]{8}_[\w-]{43}\n", token)
    given = json.loads(forks.run(place, "users", "token", "ada", "--expires", "90d", "--json").out)
    assert given["token"].startswith("dsr_")
    shown = forks.run(place, "users", "list").out
    assert [line.split()[:2] for line in shown.splitlines()[1:]] == [
        ["ada", "user"],
        [given["token"][:12], shown.splitlines()[2].split()[1]],
        ["grace", "operator"],
    ]
    assert "my notebook" in shown
    assert token.strip() not in shown
    listed = json.loads(forks.run(place, "users", "list", "--json").out)
    (ada, grace) = listed
    assert [one["id"] for one in ada["tokens"]] == [token[:12], given["token"][:12]]
    assert ada["tokens"][1]["expires"] - ada["tokens"][1]["created"] == pytest.approx(90 * 86_400)
    assert (ada["tokens"][0]["used"], grace["tokens"]) == (None, [])
    holding = [one for one in Path(place.home).rglob("*") if one.is_file()]
    assert not [one for one in holding if token[13:].strip().encode() in one.read_bytes()]

    told = forks.run(place, "users", "revoke", token[:12])
    assert told.out == "1 token revoked, invalid within a few seconds.\n"
    told = forks.run(place, "users", "remove", "ada")
    assert told.out == "ada was removed, with 1 token. What they have stored stays.\n"
    assert json.loads(forks.run(place, "users", "list", "--json").out) == [grace]


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (("add", "local"), 2, "user_name_invalid"),
        (("add", "a\u200bda"), 2, "user_name_invalid"),
        (("add", "DSR_x"), 2, "user_name_invalid"),
        (("add", "bob", "--restore"), 4, "user_not_found"),
        (("token", "bob"), 4, "user_not_found"),
        (("token", "bob", "--expires", "soon"), 2, "usage"),
        (("revoke", "bob"), 4, "user_not_found"),
        (("revoke", "dsr_00000000"), 4, "token_not_found"),
        (("remove", "bob"), 4, "user_not_found"),
        (("add",), 2, ""),
        (("nonsense",), 2, ""),
    ],
)
def test_what_cannot_be_done_is_told_with_its_code_and_status(
    forks: Forks, place: Place, words: tuple[str, ...], status: int, code: str
):
    told = forks.run(place, "users", *words, **USERS)

    assert (told.status, told.out) == (status, "")
    assert f"error[{code or 'usage'}]" in told.err
    assert "Traceback" not in told.err


def test_an_existing_user_is_not_added_again(forks: Forks, place: Place):
    assert forks.run(place, "users", "add", "eve", **USERS).status == 0

    told = forks.run(place, "users", "add", "EVE", "--json", **USERS)
    assert told.status == 5
    assert "user_exists" in told.out + told.err
