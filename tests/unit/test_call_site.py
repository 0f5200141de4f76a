"""Where something is done, in words that are the same after a crash."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.runtime import Runtime, ServerInfo

from app.cli.runs import _draft
from calls.ledger import LedgerCall
from config.errors import Problem
from graph.context import Context
from runs.call_site import call_site, fork_of_run, join_owner, resolve_owner, run_id
from tests.places import runtime

STEP = {"id": "s2", "title": "Dance"}


class Login:
    """A person a server knows."""

    def __init__(self, identity: str) -> None:
        self.identity = identity


def served(login: Any, **choices: Any) -> Runtime[Context]:
    info = ServerInfo("assistant", "dossier", login)
    return Runtime(context=Context(**choices), server_info=info)


def test_a_step_is_named_by_thread_turn_step_and_counts():
    state = {"turn": 3, "step": STEP, "revisions": 1, "rounds": 2, "redo": 4}

    assert call_site(state, runtime("t9")) == ("local/", "t9", "t9-3", "s2", "1.2.4")


def test_what_a_state_does_not_have_counts_as_none():
    assert call_site({"turn": 1}, runtime("t9")) == ("local/", "t9", "t9-1", "", "0.0.0")


def test_the_same_state_has_the_same_name_in_every_session():
    before, after = runtime("t9"), runtime("t9")
    info = before.execution_info
    assert info
    after = after.override(execution_info=info.patch(checkpoint_id="x", run_id="y", task_id="z"))

    assert call_site({"turn": 1}, before) == call_site({"turn": 1}, after)


@pytest.mark.parametrize(
    "other",
    [
        {"turn": 2, "step": STEP},
        {"turn": 1, "step": {"id": "s3"}},
        {"turn": 1, "step": STEP, "redo": 1},
        {"turn": 1, "step": STEP, "rounds": 1},
        {"turn": 1, "step": STEP, "revisions": 1},
    ],
)
def test_another_turn_step_or_redo_is_another_place(other: dict[str, Any]):
    assert call_site(other, runtime()) != call_site({"turn": 1, "step": STEP}, runtime())


@pytest.mark.parametrize(
    ("state", "key"),
    [
        ({"turn": 3, "step": STEP, "revisions": 1, "rounds": 2, "redo": 1}, "6db81a5067ccb998"),
        ({"turn": 3, "step": STEP, "revisions": 1, "rounds": 2, "attempt": 1}, "6db81a5067ccb998"),
        ({"turn": 3, "revisions": 1, "plan_try": 2}, "f51748217eaf1b8a"),
        ({"turn": 3, "revisions": 1, "recall_round": 2}, "f51748217eaf1b8a"),
        ({"turn": 3, "revisions": 1, "attempt": 2}, "f51748217eaf1b8a"),
        ({"turn": 3, "step": STEP, "redo": 1, "again": 4}, "5a56b4bbebe9fd7b"),
        ({"turn": 3, "step": STEP, "attempt": 1, "again": 4}, "5a56b4bbebe9fd7b"),
    ],
)
def test_a_call_has_the_key_under_which_older_programs_recorded_it(state: Any, key: str):
    call = LedgerCall(call_site(state, runtime("t9")), "model", "researcher", "bees")

    assert call.key.startswith(key)


def test_what_is_done_again_now_counts_and_not_what_an_older_program_counted():
    counted = {"turn": 3, "step": STEP, "attempt": 1}

    assert call_site({**counted, "redo": 2}, runtime("t9")).repetition == "0.0.2"


@pytest.mark.parametrize(("again", "draft"), [({}, 2), ({"again": 3}, 2), ({"redo": 0}, 1)])
def test_the_draft_that_was_checked_is_counted_by_the_redo_alone(again: Any, draft: int):
    state = {"turn": 1, "step": STEP, "rounds": 2, "redo": 1, **again}

    assert _draft(call_site(state, runtime("t9")).repetition) == draft


def test_a_run_without_a_thread_is_refused_since_all_of_them_would_share_one_ledger():
    with pytest.raises(Problem) as problem:
        call_site({}, Runtime(context=Context()))

    assert problem.value.code == "thread_missing"


def test_the_run_of_a_question_is_named_by_thread_and_turn():
    assert run_id("t9", 12) == "t9-12"


def test_the_name_of_a_run_is_never_read_from_the_state():
    state = {"turn": 2, "run": "../../elsewhere"}

    assert call_site(state, runtime("t9")).run == "t9-2"


@pytest.mark.parametrize(("fork", "name"), [(1, "t9-2"), (2, "t9-2.2"), (13, "t9-2.13")])
def test_a_fork_is_named_behind_its_turn_and_its_name_tells_its_number(fork: int, name: str):
    assert call_site({"turn": 2, "fork": fork}, runtime("t9")).run == name
    assert fork_of_run(name) == fork


def test_without_a_server_the_caller_says_who_asks(monkeypatch: pytest.MonkeyPatch):
    assert resolve_owner(runtime(user="maya", project="hive")) == "maya/hive"
    monkeypatch.setenv("DOSSIER_USER", "willy")

    assert resolve_owner(runtime()) == "willy/"


def test_on_a_server_the_login_says_who_asks_whatever_the_caller_claims():
    assert resolve_owner(served(Login("maya"), user="queen", project="hive")) == "maya/hive"


def test_on_a_server_without_logins_the_callers_word_does_not_count():
    assert resolve_owner(served(None, user="queen")) == "local/"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a/b", "c"), ("a", "b/c")),
        (("a", "b"), ("a/b", "")),
        (("a/", "b"), ("a", "/b")),
        (("a%2Fb", "c"), ("a/b", "c")),
        (("a", "b"), ("b", "a")),
    ],
)
def test_no_name_of_a_project_makes_one_person_another(
    one: tuple[str, str], other: tuple[str, str]
):
    assert join_owner(*one) != join_owner(*other)
