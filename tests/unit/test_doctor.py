"""What the installation check says."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.cli import doctor
from app.cli.output import _to_internal_problem
from config import packages
from config.errors import Problem
from tests.loopback import reply, serving
from tests.mcp_servers import configure, entry
from tests.page_vectors import use


@pytest.mark.parametrize(
    ("name", "ok", "says"),
    [
        ("hashing", True, "hashing"),
        ("none", True, "none: pages are found by their words only"),
        ("crystal", False, "embedder_unknown"),
    ],
)
async def test_it_says_what_makes_vectors(
    monkeypatch: pytest.MonkeyPatch, name: str, ok: bool, says: str
):
    use(monkeypatch, name)

    (row,) = [row for row in await doctor._checks() if row[0] == "embeddings"]

    assert row[1] is ok
    assert says in row[2]


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"


async def models_row(monkeypatch: pytest.MonkeyPatch, url: str) -> tuple[Any, ...]:
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    (row,) = [row for row in await doctor._checks() if row[0] == "models"]
    return row


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://127.0.0.1:9/v1", "model_unavailable"),
        ("http://127.0.0.1:99999/v1", "config_value"),
        ("no address", "config_value"),
        ("ftp://127.0.0.1/v1", "config_value"),
    ],
)
async def test_a_model_server_that_does_not_answer_is_told_with_its_address(
    monkeypatch: pytest.MonkeyPatch, url: str, code: str
):
    _, ok, says = await models_row(monkeypatch, url)

    assert not ok
    assert says.startswith(f"error[{code}]")
    assert url in says
    assert "OPENAI_BASE_URL" in says


@pytest.mark.parametrize(
    ("status", "code"),
    [("401 Unauthorized", "model_auth"), ("503 Service Unavailable", "model_unavailable")],
)
async def test_a_model_server_that_refuses_or_fails_is_told(
    monkeypatch: pytest.MonkeyPatch, status: str, code: str
):
    async with serving(lambda _: reply("no", status=status)) as server:
        _, ok, says = await models_row(monkeypatch, f"{server.url}/v1")

    assert (ok, code in says) == (False, True)


async def test_a_model_server_that_says_nothing_is_waited_for_for_seconds_only(
    monkeypatch: pytest.MonkeyPatch, silent: str
):
    monkeypatch.setattr("models.chat_models.PATIENCE", 0.1)

    _, ok, says = await models_row(monkeypatch, silent)

    assert not ok
    assert "does not answer" in says


async def test_it_names_the_model_that_answers_and_not_the_one_that_is_usual(
    monkeypatch: pytest.MonkeyPatch,
):
    listing = reply('{"data": [{"id": "local-7b"}]}', mime="application/json")
    async with serving(lambda _: listing) as server:
        row = await models_row(monkeypatch, f"{server.url}/v1")

    assert row[1]
    assert row[2].startswith("openai:local-7b; no price is known for openai:local-7b")


async def test_without_a_key_it_says_that_none_is_set():
    (row,) = [row for row in await doctor._checks() if row[0] == "models"]

    assert row[1:] == (True, "extractive: (no key is set)")


@pytest.fixture
def without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Need one package more than is installed."""
    named = [*packages.list_requirements(), "honey-comb[wax]>=3,<4"]
    monkeypatch.setattr(packages, "list_requirements", lambda: named)


async def test_it_names_what_the_checkout_needs_and_nobody_installed(without_one: None):
    (row,) = [row for row in await doctor._checks() if row[0] == "packages"]

    assert row[1] is False
    assert "package_missing" in row[2]
    assert "not installed: honey-comb " in row[2]
    assert "pip install 'honey-comb[wax]>=3,<4'" in row[2]


async def test_every_package_that_is_needed_is_installed_here():
    assert packages.list_missing_requirements() == []
    assert len(packages.list_requirements()) > 30


@pytest.mark.usefixtures("database")
async def test_it_names_every_mcp_server_that_does_not_start(home: Path):
    configure(home, hives={"command": "no-hives"}, bees=entry("good"), wax={"command": "no-wax"})

    with pytest.raises(Problem) as told:
        await doctor._mcp()

    assert "no-hives" in str(told.value)
    assert "no-wax" in str(told.value)


def test_a_module_that_is_not_there_is_told_as_the_package_that_is_missing(without_one: None):
    told = _to_internal_problem(ModuleNotFoundError("No module named 'honeycomb'"))

    assert told.code == "package_missing"


def test_a_module_that_no_package_has_is_a_mistake_of_the_program():
    assert _to_internal_problem(ModuleNotFoundError("No module named 'x'")).code == "internal"


@pytest.mark.parametrize(
    ("chosen", "ok", "says"),
    [
        ("off", True, "no step computes: DOSSIER_SANDBOX is off"),
        ("auto", True, "bubblewrap: bwrap is not installed (install bubblewrap"),
        ("bubblewrap", False, "install bubblewrap"),
        ("docker", False, "docker is not installed"),
    ],
)
async def test_it_says_why_no_program_can_be_run_and_how_to_mend_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chosen: str, ok: bool, says: str
):
    monkeypatch.setenv("DOSSIER_SANDBOX", chosen)
    monkeypatch.setenv("PATH", str(tmp_path))

    (row,) = [row for row in await doctor._checks() if row[0] == "sandbox"]

    assert row[1] is ok
    assert says in row[2]
