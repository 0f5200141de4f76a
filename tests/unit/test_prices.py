"""A cap on money holds for models whose price is known, and is not pretended for others."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli import doctor
from app.cli.progress import RunProgress
from app.cli.question_run import check_models
from app.server import check_run_choices
from config import environment
from config.errors import Problem
from graph.context import CHOICE_BOUNDS, Context
from graph.session import ThreadSession
from models.chat_models import check_model_prices, list_unpriced_models
from tests.conftest import make
from tests.flow.test_defects import quiet
from tests.model_calls import models
from tests.places import new_process


class Said(RunProgress):
    """What a person is told on the terminal."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def print_line(self, line: str) -> None:
        self.lines.append(line)


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch) -> Context:
    """A key, so that models of OpenAI are there."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    return Context(models={"default": "openai:house-model"})


def test_a_model_in_the_table_has_a_price_and_one_of_our_own_needs_none():
    named = ["openai:gpt-4o", "extractive:", "openai:house-model", "groq:other"]

    assert list_unpriced_models(named) == ["openai:house-model", "groq:other"]


def test_a_price_of_nothing_is_a_price(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = 'default = "openai:free"\n[prices]\n"openai:free" = [0, 0]\n'
    models(tmp_path / "free.toml", monkeypatch, text)

    assert list_unpriced_models(["openai:free"]) == []


def test_the_model_that_stands_in_needs_a_price_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, local: Context
):
    text = 'default = "openai:gpt-4o"\nfallback = "openai:spare"\n'
    text += '[prices]\n"openai:gpt-4o" = [2.5, 10.0]\n'
    models(tmp_path / "spare.toml", monkeypatch, text)

    with pytest.raises(Problem, match="openai:spare") as problem:
        check_model_prices(Context(max_cost=1.0))
    assert problem.value.code == "model_without_price"


async def test_a_cap_on_money_that_a_person_has_set_is_refused_without_a_price(local: Context):
    with pytest.raises(Problem) as problem:
        await check_models(local, Said(), money=True)

    told = str(problem.value)
    assert told.startswith(
        "error[model_without_price]: max_cost cannot be enforced: no price is known for"
    )
    assert "[prices]" in told
    assert problem.value.exit_status == 2


async def test_under_the_usual_cap_a_person_is_warned(local: Context):
    said = Said()

    await check_models(local, said)

    (line,) = [line for line in said.lines if "price" in line]
    assert line.startswith("Warning: no price is known for openai:house-model, so max_cost = 0.5")


FORM = {name: getattr(Context, name) for name in CHOICE_BOUNDS}
"""What a form sends if nobody has changed any number."""


@pytest.mark.parametrize("cap", [{}, {"max_tokens": 200_000}, FORM, {**FORM, "max_steps": 2}])
def test_a_client_that_sets_no_cap_on_money_or_sends_an_unchanged_form_is_served(
    local: Context, cap: dict[str, float]
):
    check_run_choices({"models": local.models, **cap})


@pytest.mark.parametrize(
    "cap",
    [
        {"max_cost": 0.2},
        {"max_cost": 0.5},
        {"max_cost": 0.5, "max_steps": 4},
        FORM | {"max_cost": 1},
    ],
)
def test_a_client_that_sets_a_cap_on_money_is_refused_without_a_price(
    local: Context, cap: dict[str, float]
):
    with pytest.raises(Problem, match="model_without_price"):
        check_run_choices({"models": local.models, **cap})


async def test_the_doctor_says_that_no_price_is_known(
    local: Context, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DOSSIER_MODEL", "openai:house-model")
    monkeypatch.setattr(doctor, "check_model_server", _answers)

    assert "no price is known for openai:house-model" in await doctor._models()


async def _answers() -> None:
    """Stand for a server that takes the key."""


@pytest.mark.extractive("Triage", "Rewrite", "reporter", "Checks")
async def test_the_report_says_that_no_price_is_known(
    thread: ThreadSession, choices: dict[str, object], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("nodes.notices.list_unpriced_models", lambda names: [*dict.fromkeys(names)])

    outcome = await thread.begin("How do bees live?", make(choices, depth="quick"), quiet)

    assert outcome.state["report"]["notices"][-1].startswith("No price is known for fake:any, so")


@pytest.fixture
def house_vectors(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A paid model, and the vectors made by one without a price, as the home's settings say."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setenv("DOSSIER_MODEL", "openai:gpt-4o")
    home.mkdir()
    (home / ".env").write_text("DOSSIER_EMBEDDINGS=openai:house-vectors\n")
    # What the program then sets itself ends with the test.
    monkeypatch.setenv("DOSSIER_EMBEDDINGS", "")
    monkeypatch.delenv("DOSSIER_EMBEDDINGS")
    environment.load_home_env()
    new_process()


@pytest.mark.usefixtures("house_vectors")
async def test_an_embedder_without_a_price_is_refused_under_a_cap_that_a_person_has_set():
    with pytest.raises(Problem, match="openai:house-vectors") as refused:
        await check_models(Context(), Said(), money=True)
    assert refused.value.code == "model_without_price"

    with pytest.raises(Problem, match="openai:house-vectors"):
        check_run_choices({"max_cost": 0.2})


@pytest.mark.usefixtures("house_vectors")
async def test_under_the_usual_cap_a_person_is_warned_of_an_embedder_without_a_price():
    said = Said()

    await check_models(Context(), said)

    (line,) = [line for line in said.lines if "price" in line]
    assert line.startswith("Warning: no price is known for openai:house-vectors, so max_cost")


@pytest.mark.parametrize(
    "embedder", ["minilm", "minilm:/models", "hashing", "none", "openai:text-embedding-3-small"]
)
def test_an_embedder_of_this_machine_or_with_a_price_is_no_matter(
    monkeypatch: pytest.MonkeyPatch, embedder: str
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setenv("DOSSIER_EMBEDDINGS", embedder)
    new_process()

    check_run_choices({"models": {"default": "openai:gpt-4o"}, "max_cost": 0.2})
