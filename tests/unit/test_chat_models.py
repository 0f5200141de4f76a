"""Which model plays which role."""

from __future__ import annotations

import json
from typing import Any

import pytest

from calls.context_window import input_window
from config.errors import Problem
from config.model_table import API_KEY_VARIABLES, MODEL_ROLES
from graph.context import Context
from models.chat_models import fallback_model, load_chat_model, load_role_model, model_for_role
from models.extractive.model import ExtractiveChatModel
from tests.loopback import reply, serving
from tests.model_calls import models

pytestmark = pytest.mark.usefixtures("script")

TABLE = """
default = "fake:default"
fallback = "fake:fallback"

[roles]
planner = "fake:of-the-table"
"""


@pytest.fixture
def table(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that names a model for one role."""
    models(tmp_path / "models.toml", monkeypatch, TABLE)


def with_key(monkeypatch: pytest.MonkeyPatch, variable: str = "OPENAI_API_KEY") -> None:
    monkeypatch.setenv(variable, "not-a-key")


async def refused(name: str) -> Problem:
    with pytest.raises(Problem) as failure:
        await load_chat_model(name)
    return failure.value


@pytest.mark.usefixtures("table")
def test_what_the_run_chose_for_a_role_comes_first(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DOSSIER_MODEL", "fake:of-the-shell")
    chosen = Context(models={"planner": "fake:chosen", "default": "fake:chosen-for-all"})

    assert model_for_role("planner", chosen) == "fake:chosen"
    assert model_for_role("reporter", chosen) == "fake:chosen-for-all"


@pytest.mark.usefixtures("table")
def test_the_environment_comes_before_the_table(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DOSSIER_MODEL", "fake:of-the-shell")

    assert model_for_role("planner", Context()) == "fake:of-the-shell"


@pytest.mark.usefixtures("table")
def test_the_table_says_the_rest():
    assert model_for_role("planner", Context()) == "fake:of-the-table"
    assert model_for_role("reporter", Context()) == "fake:default"


@pytest.mark.parametrize("role", MODEL_ROLES)
def test_without_a_key_every_role_is_played_by_the_built_in_model(role: str):
    assert model_for_role(role, Context()) == "extractive:"


def test_a_key_alone_is_enough_to_be_answered_by_its_model(monkeypatch: pytest.MonkeyPatch):
    with_key(monkeypatch)

    assert model_for_role("planner", Context()).startswith("openai:")


def test_a_model_that_was_named_is_not_quietly_replaced():
    assert model_for_role("planner", Context(models={"default": "openai:gpt-x"})) == "openai:gpt-x"


def test_a_model_for_a_role_nobody_plays_is_refused_with_the_roles_there_are():
    with pytest.raises(Problem, match="cook") as failure:
        model_for_role("planner", Context(models={"cook": "fake:any"}))

    assert (failure.value.code, failure.value.exit_status) == ("unknown_role", 2)
    assert "planner" in failure.value.hint


@pytest.mark.usefixtures("table")
def test_another_model_is_asked_when_one_is_down_but_never_the_same():
    assert fallback_model("fake:default") == "fake:fallback"
    assert fallback_model("fake:fallback") is None


def test_without_its_key_another_model_is_no_help(tmp_path, monkeypatch: pytest.MonkeyPatch):
    models(tmp_path / "m.toml", monkeypatch, 'default = "fake:a"\nfallback = "openai:b"\n')

    assert fallback_model("fake:a") is None
    with_key(monkeypatch)
    assert fallback_model("fake:a") == "openai:b"


def test_a_table_may_name_no_other_model(tmp_path, monkeypatch: pytest.MonkeyPatch):
    models(tmp_path / "m.toml", monkeypatch, 'default = "fake:a"\n')

    assert fallback_model("fake:a") is None


@pytest.mark.parametrize("name", ["extractive:", "extractive"])
async def test_the_built_in_model_needs_nothing_and_is_named_as_reports_tell_it(name: str):
    model = await load_chat_model(name)

    assert isinstance(model, ExtractiveChatModel)
    assert model.metadata == {"model": "extractive:"}


async def test_a_model_is_loaded_once():
    assert await load_chat_model("fake:any") is await load_chat_model("fake:any")
    assert await load_chat_model("fake:any") is not await load_chat_model("fake:other")


@pytest.mark.parametrize("provider", API_KEY_VARIABLES)
async def test_a_missing_key_is_told_with_the_name_of_its_variable(provider: str):
    problem = await refused(f"{provider}:some-model")

    assert (problem.code, problem.exit_status) == ("model_key_missing", 7)
    assert API_KEY_VARIABLES[provider] in problem.hint
    assert problem.where == f"{provider}:some-model"


@pytest.mark.parametrize("name", ["gpt-4o", "openai:", "", ":"])
async def test_a_name_without_a_provider_or_a_model_is_told(name: str):
    problem = await refused(name)

    assert (problem.code, problem.exit_status) == ("unknown_model", 2)
    assert repr(name) in problem.what


async def test_a_provider_nobody_knows_is_told_with_those_that_are_known():
    problem = await refused("nobody:some-model")

    assert problem.code == "unknown_model"
    assert all(known in problem.hint for known in ("extractive", "openai", "anthropic"))


async def test_a_provider_whose_package_is_missing_is_told_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
):
    with_key(monkeypatch, "MISTRAL_API_KEY")

    problem = await refused("mistralai:some-model")

    assert problem.code == "unknown_model"
    assert "install the package of mistralai" in problem.hint


async def test_a_client_makes_no_tries_of_its_own_and_does_not_wait_for_ever(
    monkeypatch: pytest.MonkeyPatch,
):
    with_key(monkeypatch)
    monkeypatch.setenv("DOSSIER_IDLE_SECONDS", "7")
    monkeypatch.setenv("DOSSIER_CONNECT_SECONDS", "3")

    model: Any = await load_chat_model("openai:gpt-x")

    assert model.max_retries == 0
    assert (model.request_timeout.connect, model.request_timeout.read) == (3, 7)
    assert model.metadata == {"model": "openai:gpt-x"}


USUAL = "gpt-4.1-mini"
"""The default of the table that ships."""


async def asked_of(
    monkeypatch: pytest.MonkeyPatch, answer: bytes, choices: Context | None = None
) -> str:
    """Return the model that is asked of a compatible server with this list of models."""
    with_key(monkeypatch)
    async with serving(lambda _: answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        model: Any = await load_role_model("planner", choices or Context())
    return str(model.model_name)


async def not_offered(
    monkeypatch: pytest.MonkeyPatch, answer: bytes, choices: Context | None = None
) -> Problem:
    with pytest.raises(Problem) as failure:
        await asked_of(monkeypatch, answer, choices)
    return failure.value


def listing(*ids: str) -> bytes:
    return reply(json.dumps({"data": [{"id": one} for one in ids]}), mime="application/json")


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (listing("local-7b", "other"), "local-7b"),
        (listing("other", USUAL), USUAL),
        (listing("text-embedding-3-small", "whisper-1", "bge-m3", "qwen3-8b"), "qwen3-8b"),
        (listing("nomic-embed-text:latest", "BAAI/bge-reranker-v2-m3", "llama3.2"), "llama3.2"),
        (listing("dall-e-3", "tts-1-hd", "omni-moderation-latest", "o4-mini"), "o4-mini"),
        (listing("text-embedding-3-small"), "text-embedding-3-small"),
        (listing(), USUAL),
        (reply("<html>"), USUAL),
        (reply("[]", mime="application/json"), USUAL),
        (reply('{"data": null}', mime="application/json"), USUAL),
        (reply("no", status="404 Not Found"), USUAL),
    ],
)
async def test_a_server_that_lists_no_usual_model_is_asked_for_the_first_that_chats(
    monkeypatch: pytest.MonkeyPatch, answer: bytes, name: str
):
    assert await asked_of(monkeypatch, answer) == name


@pytest.mark.parametrize("name", [USUAL, "mine"])
async def test_a_model_that_the_run_names_is_refused_where_the_server_lacks_it(
    monkeypatch: pytest.MonkeyPatch, name: str
):
    chosen = Context(models={"planner": f"openai:{name}"})

    problem = await not_offered(monkeypatch, listing("local-7b", "bge-m3"), chosen)

    assert (problem.code, problem.exit_status) == ("unknown_model", 2)
    assert f"openai:{name}" in problem.what
    assert "local-7b, bge-m3" in problem.hint


async def test_a_model_that_the_environment_names_is_refused_where_the_server_lacks_it(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("DOSSIER_MODEL", f"openai:{USUAL}")

    assert (await not_offered(monkeypatch, listing("local-7b"))).code == "unknown_model"


async def test_a_model_that_the_operators_table_names_is_refused_where_the_server_lacks_it(
    tmp_path, monkeypatch: pytest.MonkeyPatch
):
    models(tmp_path / "models.toml", monkeypatch, f'default = "openai:{USUAL}"\n')

    assert (await not_offered(monkeypatch, listing("local-7b"))).code == "unknown_model"


async def test_a_model_of_the_operators_table_without_its_key_is_not_replaced(
    tmp_path, monkeypatch: pytest.MonkeyPatch
):
    models(tmp_path / "models.toml", monkeypatch, 'default = "openai:mine"\n')

    with pytest.raises(Problem) as failure:
        await load_role_model("planner", Context())

    assert failure.value.code == "model_key_missing"


@pytest.mark.parametrize(
    "answer", [listing("mine"), listing("mine:latest"), listing(), reply("<html>")]
)
async def test_a_model_that_was_named_plays_where_the_server_has_it_or_lists_nothing(
    monkeypatch: pytest.MonkeyPatch, answer: bytes
):
    chosen = Context(models={"default": "openai:mine"})

    assert await asked_of(monkeypatch, answer, chosen) == "mine"


async def test_of_many_models_only_some_are_named(monkeypatch: pytest.MonkeyPatch):
    many = listing(*(f"model-{number}" for number in range(40)))

    problem = await not_offered(monkeypatch, many, Context(models={"default": "openai:mine"}))

    assert "model-7 and 32 more" in problem.hint
    assert "model-8" not in problem.hint


async def test_an_address_may_end_with_a_slash(monkeypatch: pytest.MonkeyPatch):
    with_key(monkeypatch)
    known = {"/v1/models": listing("local-7b")}
    nothing = reply("no", status="404 Not Found")
    async with serving(lambda asked: known.get(asked.target, nothing)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1/")
        model: Any = await load_role_model("planner", Context())

    assert model.model_name == "local-7b"


@pytest.mark.parametrize("field", ["max_model_len", "context_length", "context_window"])
async def test_a_server_may_say_how_much_its_model_reads(
    monkeypatch: pytest.MonkeyPatch, field: str
):
    with_key(monkeypatch)
    listed = reply(json.dumps({"data": [{"id": "local-7b", field: 24_000}]}))
    async with serving(lambda _: listed) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        model = await load_role_model("planner", Context())

    assert input_window(model) == 24_000 - 3_000 - 2_000
