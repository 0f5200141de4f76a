"""What users may choose is what the operator allows; another choice is refused, never changed."""

from __future__ import annotations

from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.graph import StateGraph
from langgraph.runtime import Runtime

from app.auth.caller_limits import check_caller_choices, check_run_request, fit_defaults
from app.guarded_graph import make_guarded_graph
from app.server import check_run_choices
from config.errors import Problem
from config.settings import settings
from graph.context import Context, build_context
from graph.depth import LIMITS
from graph.state import State
from runs.call_site import name_server_user
from tests.places import new_process

BOUNDED = {
    *("user", "project", "models", "search", "mcp", "files"),
    *("max_cost", "max_tokens", "max_calls", "max_minutes"),
}
"""The choices that the operator bounds."""

FREE = {
    *("auto_accept", "ask", "allow_tools", "stop_to_ask", "depth", "length", "query_count"),
    *("max_steps", "max_rounds", "max_reflections", "max_revisions", "parallelism", "web"),
    *("knowledge", "memory", "language", "guide", "again", "style", "share", "learn"),
    "second_reader",
}
"""Those that name no file, server, model or money of the operator's."""


def login(name: str) -> Any:
    """Return a user as a server hands it to a run."""
    return SimpleNamespace(identity=name)


@pytest.fixture(autouse=True)
def _users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOSSIER_AUTH", "users")
    monkeypatch.setenv("DOSSIER_KEYLESS_SEARCH", "false")
    monkeypatch.delenv("DOSSIER_MODEL", raising=False)
    new_process()


def allow(monkeypatch: pytest.MonkeyPatch, **named: str) -> None:
    for name, value in named.items():
        monkeypatch.setenv(f"DOSSIER_CALLER_{name.upper()}", value)
    new_process()


def refusal(**chosen: Any) -> tuple[str, str]:
    """Return where and with which hint choices are refused; nothing if they are not."""
    try:
        check_caller_choices(build_context(chosen), "ada")
    except Problem as problem:
        if (problem.code, problem.error.http_status) != ("choice_refused", 403):
            raise
        return problem.where, problem.hint
    return "", ""


def test_each_choice_is_bounded_or_free():
    assert {one.name for one in fields(Context)} == BOUNDED | FREE


@pytest.mark.parametrize(
    "chosen",
    [
        {"user": "bob"},
        {"user": "Ada"},
        {"project": "../bob"},
        {"project": "a\\b"},
        {"project": "~"},
        {"project": ".."},
        {"project": "p" * 70},
        {"models": {"default": "openai:gpt-4o"}},
        {"models": {"default": "extractive:", "planner": "ollama:x"}},
        {"search": ["tavily"]},
        {"search": ["duckduckgo"]},
        {"mcp": ["time"]},
        {"files": ["/etc"]},
        {"files": ["notes"]},
        {"files": [f"upload-{'0a' * 12}/../x"]},
        {"files": [""]},
        {"max_cost": 2.01},
        {"max_tokens": 5_000_001},
        {"max_calls": 601},
        {"max_minutes": 60.5},
    ],
)
def test_nothing_outside_is_chosen_where_the_operator_says_nothing(chosen: dict[str, Any]):
    where, hint = refusal(**chosen)

    assert where == next(iter(chosen))
    assert hint


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"user": "ada"},
        {"project": "bees-12345678"},
        {"models": {"default": "openai:gpt-4.1-mini"}},
        {"mcp": ["none"]},
        {"files": [f"upload-{'0a' * 12}", f"folder-{'0a' * 12}"]},
        {"knowledge": ["handbook"]},
        {"max_cost": 2, "max_tokens": 5_000_000, "max_calls": 600, "max_minutes": 60},
        {"depth": "deep", "web": "on", "share": ["queries", "files"]},
    ],
)
def test_what_is_usual_may_be_chosen(chosen: dict[str, Any]):
    assert refusal(**chosen) == ("", "")


def test_the_operator_allows_more_by_names_and_by_endings(monkeypatch: pytest.MonkeyPatch):
    allow(
        monkeypatch,
        models="openai:gpt-4o, anthropic:*",
        search="arxiv",
        mcp="time",
        folders="/srv/papers/, /data",
        max_cost="10",
    )

    assert refusal(models={"default": "openai:gpt-4o", "planner": "anthropic:x"}) == ("", "")
    assert refusal(models={"default": "openai:gpt-4o-mini"})[0] == "models"
    assert refusal(search=["arxiv"], mcp=["time"], max_cost=10) == ("", "")
    assert refusal(max_cost=10.5) == ("max_cost", "at most 10")
    assert refusal(search=["arxiv", "pubmed"])[0] == "search"
    for path in ("/srv/papers", "/srv/papers/a/b.pdf", "/data/x"):
        assert refusal(files=[path]) == ("", "")
    for path in ("/srv", "/srv/papers2", "/srv/papers/../secret", "data/x", "/data/../etc"):
        assert refusal(files=[path])[0] == "files", path


def test_a_pattern_has_no_sign_but_the_star(monkeypatch: pytest.MonkeyPatch):
    allow(monkeypatch, models="openai:gpt-[4]?")

    assert refusal(models={"default": "openai:gpt-4o"})[0] == "models"
    assert refusal(models={"default": "openai:gpt-[4]?"}) == ("", "")


def test_providers_that_runs_ask_anyway_may_be_chosen(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TAVILY_API_KEY", "key")

    assert refusal(search=["tavily"]) == ("", "")


@pytest.mark.parametrize("plain", [True, False])
def test_what_is_not_chosen_is_inside(monkeypatch: pytest.MonkeyPatch, plain: bool):
    allow(monkeypatch, max_cost="0.1", max_minutes="30", mcp="time, git")
    given: Any = {"depth": "deep"} if plain else Context(depth="deep")
    fitted = fit_defaults(given)
    chosen = build_context(fitted) if plain else fitted

    assert refusal(**{name: getattr(chosen, name) for name in BOUNDED}) == ("", "")
    limits = chosen.limits
    assert (limits.max_cost, limits.max_minutes) == (0.1, 30)
    assert (limits.max_calls, limits.max_steps) == (LIMITS["deep"].max_calls, 8)
    assert chosen.mcp == ["time", "git"]


def test_without_a_word_of_the_operator_a_run_has_no_server_and_its_usual_caps():
    assert fit_defaults(None) == {"mcp": ["none"]}
    assert fit_defaults({"mcp": ["time"], "thread_id": "x"}) == {"mcp": ["time"], "thread_id": "x"}


def test_all_servers_may_be_allowed(monkeypatch: pytest.MonkeyPatch):
    allow(monkeypatch, mcp="*")

    assert fit_defaults({}) == {}
    assert refusal(mcp=["anything"]) == ("", "")


@pytest.mark.parametrize(
    ("request_", "where"),
    [
        ({"context": {"max_cost": 100}}, "max_cost"),
        ({"config": {"configurable": {"max_cost": 100, "thread_id": "x"}}}, "max_cost"),
        ({"context": {}, "config": {"configurable": {"files": ["/etc"]}}}, "files"),
        ({"webhook": "https://hooks.example.org/x"}, "webhook"),
        ({"webhook": "/threads"}, "webhook"),
        ({"context": {"user": "bob"}}, "user"),
    ],
)
def test_a_run_is_refused_before_it_begins(request_: dict[str, Any], where: str):
    with pytest.raises(Problem) as told:
        check_run_request(request_, "ada")

    assert (told.value.code, told.value.where) == ("choice_refused", where)


def test_hosts_of_webhooks_are_allowed_by_name(monkeypatch: pytest.MonkeyPatch):
    allow(monkeypatch, webhooks="hooks.example.org")

    check_run_request({"webhook": "https://Hooks.example.org/x", "config": None}, "ada")
    for address in (
        "https://hooks.example.org.evil.example/",
        "https://evil.example/hooks.example.org",
        "https://hooks.example.org@evil.example/",
        "/hooks.example.org",
    ):
        with pytest.raises(Problem):
            check_run_request({"webhook": address}, "ada")


async def test_a_graph_of_a_server_runs_inside_the_limits(monkeypatch: pytest.MonkeyPatch):
    seen: list[Context] = []

    def note(state: State, runtime: Runtime[Context]) -> State:
        seen.append(runtime.context)
        return {}

    graph = StateGraph(State, context_schema=Context).add_node("note", note)
    served = make_guarded_graph(graph.set_entry_point("note").compile())
    asked = {"messages": [HumanMessage("Hello.")]}
    allow(monkeypatch, max_calls="7")
    async for _ in served.astream(asked, {}, context={"depth": "deep"}):
        pass
    monkeypatch.setenv("DOSSIER_AUTH", "person")
    new_process()
    async for _ in served.astream(asked, {}, context={"depth": "deep"}):
        pass

    assert [(one.limits.max_calls, one.mcp) for one in seen] == [(7, ["none"]), (600, [])]


def test_what_a_server_puts_beside_the_choices_is_none_of_them():
    """So it does for runs of event streams and crons that have no context."""
    own = {"__event_streaming_v2": True, "thread_id": "t", "cron_id": "c"}

    check_run_choices({**own, "langgraph_auth_user": {}, "max_calls": 7}, login("ada"))
    with pytest.raises(Problem) as told:
        check_run_choices({**own, "max_call": 7}, login("ada"))
    assert told.value.code == "unknown_field"
    with pytest.raises(Problem) as told:
        check_run_choices({**own, "user": "bob"}, login("ada"))
    assert told.value.code == "choice_refused"


def test_a_run_without_a_user_is_nobodys(monkeypatch: pytest.MonkeyPatch):
    for nobody in (None, login("")):
        with pytest.raises(Problem) as told:
            name_server_user(nobody)
        assert told.value.code == "token_missing"
    assert name_server_user(login("ada")) == "ada"

    monkeypatch.setenv("DOSSIER_AUTH", "person")
    new_process()
    assert name_server_user(None) == settings().user
