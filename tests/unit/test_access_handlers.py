"""What LangGraph asks of the users of a server; with one person everything is as it was."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph_sdk import Auth

from app.auth.access_handlers import (
    auth,
    authenticate,
    deny,
    own_cron,
    own_namespace,
    own_run,
    own_thread,
    shared_assistant,
)
from app.auth.user_store import add_user, issue_token, remove_user
from config.errors import Problem
from config.settings import settings
from tests.places import new_process


class Login:
    """A user as a server hands it over."""

    def __init__(self, identity: str) -> None:
        self.identity = identity


def asks(resource: Any, action: Any, user: str = "ada", *permissions: str) -> Any:
    login: Any = Login(user)
    return Auth.types.AuthContext(
        user=login, permissions=list(permissions), resource=resource, action=action
    )


@pytest.fixture
def users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOSSIER_AUTH", "users")
    new_process()


async def test_with_one_person_nothing_is_asked_nor_written():
    for resource, handler in (
        ("threads", own_thread),
        ("threads", own_run),
        ("crons", own_cron),
        ("assistants", shared_assistant),
        ("store", own_namespace),
    ):
        value = {"namespace": ("a",), "metadata": {"owner": "x"}, "kwargs": {"webhook": "/x"}}
        before = {**value, "metadata": {**value["metadata"]}}

        assert await handler(asks(resource, "create", ""), value) is None
        assert value == before
    assert await deny(asks("crons", "create"), {}) is True
    person = {"identity": settings().user, "display_name": settings().user}
    more = {"is_authenticated": True, "permissions": ["operator"]}
    assert await authenticate({}) == {**person, **more}


@pytest.mark.parametrize("kind", [bytes, str])
async def test_the_user_of_a_request_is_that_of_its_token(users: None, kind: type):
    await add_user("ada")
    token = await issue_token("ada")
    named: dict[Any, Any] = {"X-Api-Key": token}
    headers = {k.encode(): v.encode() for k, v in named.items()} if kind is bytes else named

    found = await authenticate(headers)
    assert (found["identity"], found["permissions"]) == ("ada", [])
    with pytest.raises(Auth.exceptions.HTTPException) as refused:
        await authenticate({b"x-api-key": b"\xff\xfe"})
    assert refused.value.status_code == 401


@pytest.mark.parametrize("action", ["create", "update", "create_run"])
async def test_what_a_client_says_of_the_owner_is_overwritten(users: None, action: str):
    metadata = {"owner": "bob", "note": "x"}

    filters = await own_thread(asks("threads", action), {"metadata": metadata})
    assert filters == {"owner": "ada"}
    assert metadata == {"owner": "ada", "note": "x"}


@pytest.mark.parametrize("metadata", [{}, {"metadata": None}])
async def test_what_is_created_without_metadata_has_an_owner(users: None, metadata: Any):
    value = dict(metadata)

    await own_thread(asks("threads", "create"), value)
    assert value["metadata"] == {"owner": "ada"}


@pytest.mark.parametrize("action", ["read", "update", "delete", "search"])
async def test_only_what_is_ones_own_is_found(users: None, action: str):
    asked = {"metadata": {"owner": "bob"}}

    assert await own_thread(asks("threads", action, "ada", "operator"), {}) == {"owner": "ada"}
    assert await own_cron(asks("crons", action), asked) == {"owner": "ada"}
    if action == "search":
        assert asked == {"metadata": {"owner": "bob"}}


async def test_a_run_is_begun_for_those_who_are_users_within_their_limits(users: None):
    run = {"kwargs": {"context": {"max_cost": 100}}}
    with pytest.raises(Problem) as told:
        await own_run(asks("threads", "create_run"), run)
    assert told.value.code == "token_wrong"

    await add_user("ada")
    with pytest.raises(Problem) as told:
        await own_run(asks("threads", "create_run"), run)
    assert told.value.code == "choice_refused"
    assert await own_run(asks("threads", "create_run"), {"kwargs": {}}) == {"owner": "ada"}
    await remove_user("ada")
    with pytest.raises(Problem):
        await own_run(asks("threads", "create_run"), {"kwargs": {}})


async def test_a_cron_is_made_within_the_limits(users: None):
    for action in ("create", "update"):
        with pytest.raises(Problem) as told:
            await own_cron(asks("crons", action), {"payload": {"webhook": "http://10.0.0.1"}})
        assert told.value.where == "webhook"


async def test_operators_change_assistants_and_everybody_reads_them(users: None):
    for action in ("read", "search"):
        assert await shared_assistant(asks("assistants", action), {}) is None
    for action in ("create", "update", "delete"):
        with pytest.raises(Problem) as told:
            await shared_assistant(asks("assistants", action), {})
        assert (told.value.code, told.value.error.http_status) == ("operator_only", 403)
        assert await shared_assistant(asks("assistants", action, "ada", "operator"), {}) is None


@pytest.mark.parametrize(
    ("user", "named", "stored"),
    [
        ("ada", ("notes",), ("ada", "notes")),
        ("ada", ("ada", "notes"), ("ada", "notes")),
        ("ada", (), ("ada",)),
        ("ada", None, ("ada",)),
        ("ada", ("bob", "notes"), ("ada", "bob", "notes")),
        ("ada", ("ada%2Ebob",), ("ada", "ada%2Ebob")),
        ("ada", ("*",), ("ada", "*")),
        ("a.b@x.org", ("n",), ("a%2Eb%40x%2Eorg", "n")),
        ("a/b", ("n",), ("a%2Fb", "n")),
        ("a%2Fb", ("n",), ("a%252Fb", "n")),
    ],
)
async def test_a_namespace_is_below_that_of_its_user(
    users: None, user: str, named: Any, stored: tuple[str, ...]
):
    value = {"namespace": named}

    assert await own_namespace(asks("store", "put", user), value) is None
    assert value["namespace"] == stored


async def test_nobody_is_no_user(users: None):
    for handler in (own_thread, own_run, own_cron, shared_assistant, own_namespace):
        with pytest.raises(Problem) as told:
            await handler(asks("threads", "read", ""), {})
        assert told.value.code == "token_missing"


async def test_what_no_function_allows_is_denied(users: None):
    assert await deny(asks("threads", "read"), {}) is False
    known = {resource for resource, _ in auth._handlers}
    assert known == {"threads", "crons", "assistants", "store"}
