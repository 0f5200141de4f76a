"""Health, readiness and figures over HTTP, and who may see them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from app.access import AccessMiddleware, AccessRules
from app.api import health_routes, scrape_token
from app.api.application import make_api
from app.cli.dispatch import Invocation
from calls.attempts import begin_attempt, end_statement
from calls.ledger import CallCost
from config.errors import ErrorCode, Problem
from graph.context import Context
from runs.call_site import CallSite
from runs.lifecycle import create_run
from storage.engine import commit_statements
from tests.api_client import code_of, connect

pytestmark = pytest.mark.usefixtures("database")


def closed(app: Any) -> httpx.AsyncClient:
    """Return a client without the token of a server that asks everybody for it."""
    rules = AccessRules(frozenset(), frozenset(), open_to_pages=False)
    return connect(AccessMiddleware(app, rules))


class Refusing:
    """Stands for the login that LangGraph's server puts around a route."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        raise Problem(ErrorCode.TOKEN_MISSING, "log in")


async def test_health_and_readiness_need_no_token_and_no_login():
    app = make_api()
    for route in app.routes:
        route.app = Refusing(route.app)  # type: ignore[attr-defined]

    async with closed(app) as client:
        assert (await client.get("/api/health")).json() == {"status": "alive"}
        ready = await client.get("/api/ready")
        fine = {"database": "ok", "storage": "ok", "vectors": "ok"}
        assert (ready.status_code, ready.json()) == (200, {"ready": True, "checks": fine})
    async with connect(app) as inside:
        assert code_of(await inside.get("/api/runs")) == (401, "token_missing")


async def test_what_does_not_answer_is_named_by_its_code_alone(monkeypatch: pytest.MonkeyPatch):
    def fail() -> None:
        raise Problem(ErrorCode.STORAGE_FULL, "the disk /srv/secret is full")

    monkeypatch.setattr(health_routes, "check_room", fail)
    async with connect(make_api()) as client:
        answer = await client.get("/api/ready")

    assert answer.status_code == 503
    assert answer.json()["checks"] == {"database": "ok", "storage": "storage_full", "vectors": "ok"}
    assert "secret" not in answer.text


async def test_figures_tell_runs_calls_tokens_and_cost_and_no_words():
    run = await create_run(Invocation().owner, "t1", 1, "How do bees dance?", Context())
    site = CallSite(Invocation().owner, "t1", run, "s1", "0")
    cost = CallCost("openai:gpt", 100, 20, 0.25, session="x")
    attempt = await begin_attempt(site, "reporter", cost, 10)
    await commit_statements(end_statement(attempt, "ok", cost))

    async with connect(make_api()) as client:
        told = await client.get("/api/metrics")

    assert told.headers["content-type"].startswith("text/plain")
    assert 'dossier_runs{status="running"} 1.0' in told.text
    assert 'dossier_model_calls{model="openai:gpt",status="ok"} 1.0' in told.text
    assert 'direction="in",model="openai:gpt",status="ok"} 100.0' in told.text
    assert 'dossier_model_cost_dollars{model="openai:gpt",status="ok"} 0.25' in told.text
    assert "bees" not in told.text


async def test_figures_are_for_operators_and_for_the_scrape_token(monkeypatch: pytest.MonkeyPatch):
    app = make_api()
    for route in app.routes:
        route.app = Refusing(route.app)  # type: ignore[attr-defined]
    monkeypatch.setattr(scrape_token, "settings", lambda: SimpleNamespace(metrics_token="s3cret"))

    async with closed(app) as client:
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "s3cret"}):
            answer = await client.get("/api/metrics", headers=headers)
            assert answer.status_code == 401, headers
        sent = {"authorization": "Bearer s3cret"}
        assert (await client.get("/api/metrics", headers=sent)).status_code == 200
        assert (await client.get("/api/runs", headers=sent)).status_code == 401


async def test_figures_are_for_no_other_user(monkeypatch: pytest.MonkeyPatch):
    from app.api import metrics_routes  # noqa: PLC0415
    from app.auth.user import User  # noqa: PLC0415

    monkeypatch.setattr(metrics_routes, "find_user", lambda _: User("eve", is_operator=False))
    async with connect(make_api()) as client:
        assert code_of(await client.get("/api/metrics")) == (403, "operator_only")
