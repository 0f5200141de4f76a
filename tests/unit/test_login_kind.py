"""One person, users or a deployment's own login: nothing makes a server more open by mistake."""

from __future__ import annotations

import json

import pytest
from starlette.authentication import AuthCredentials, SimpleUser
from starlette.requests import HTTPConnection

from app.auth.login_kind import OWN_AUTH, LoginKind, find_login_kind
from app.auth.request_identity import find_user
from app.auth.user import User
from config.errors import Problem
from config.settings import settings
from tests.places import new_process

OWN = json.dumps({"path": OWN_AUTH, "disable_studio_auth": True})
THEIRS = json.dumps({"path": "login.py:auth"})


@pytest.mark.parametrize(
    ("auth", "kind", "mode", "expected"),
    [
        ("", "", "", LoginKind.TOKEN),
        (OWN, "", "", LoginKind.TOKEN),
        (OWN, "langsmith", "", LoginKind.TOKEN),
        ("", "langsmith", "", LoginKind.DEPLOYMENT),
        (THEIRS, "", "", LoginKind.DEPLOYMENT),
        (THEIRS, "", "users", LoginKind.DEPLOYMENT),
        ("{}", "", "", LoginKind.DEPLOYMENT),
        ("[", "", "users", LoginKind.DEPLOYMENT),
        (OWN, "", "users", LoginKind.USERS),
        ("", "", "users", LoginKind.USERS),
        ("", "langsmith", "jwt", LoginKind.USERS),
    ],
)
def test_the_kind_follows_from_how_the_server_was_started(
    monkeypatch: pytest.MonkeyPatch, auth: str, kind: str, mode: str, expected: LoginKind
):
    for name, value in (
        ("LANGGRAPH_AUTH", auth),
        ("LANGGRAPH_AUTH_TYPE", kind),
        ("DOSSIER_AUTH", mode),
    ):
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name, raising=False)
    new_process()

    assert find_login_kind() is expected


def request(user: object = None, *scopes: str) -> HTTPConnection:
    more = {} if user is None else {"user": user, "auth": AuthCredentials(scopes)}
    return HTTPConnection({"type": "http", "headers": [], **more})


class Named(SimpleUser):
    """A user as LangGraph puts it into a request."""

    @property
    def identity(self) -> str:
        return self.username


def test_the_user_of_a_request_is_the_one_who_logged_in(monkeypatch: pytest.MonkeyPatch):
    assert find_user(request()) == User(settings().user, is_operator=True)

    monkeypatch.setenv("DOSSIER_AUTH", "users")
    new_process()
    assert find_user(request(Named("ada"))) == User("ada")
    assert find_user(request(Named("ada"), "operator")) == User("ada", is_operator=True)


@pytest.mark.parametrize("user", [None, Named("")])
def test_a_request_without_a_user_is_nobody_where_users_log_in(
    monkeypatch: pytest.MonkeyPatch, user: object
):
    monkeypatch.setenv("DOSSIER_AUTH", "users")
    new_process()

    with pytest.raises(Problem) as told:
        find_user(request(user))
    assert told.value.code == "token_missing"
