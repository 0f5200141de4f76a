"""What the command line sets up before any command."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.cli import serve
from app.cli.main import TRACING, _keep_to_itself


@pytest.fixture(autouse=True)
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that says nothing of tracing; what a test sets there is gone after it."""
    for name in (*TRACING, "ANONYMIZED_TELEMETRY"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def started(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment that the server is started with."""
    seen: dict[str, str] = {}

    def become(program: str, command: list[str], environment: dict[str, str]) -> None:
        seen.update(environment)

    monkeypatch.setattr(os, "execve", become)
    serve.main(host="127.0.0.1", port=8123)
    return seen


def test_unasked_nobody_is_told_of_a_run(monkeypatch: pytest.MonkeyPatch):
    _keep_to_itself()

    environment = started(monkeypatch)
    assert environment["LANGSMITH_TRACING"] == "false"
    assert environment["ANONYMIZED_TELEMETRY"] == "False"


@pytest.mark.parametrize("name", TRACING)
def test_tracing_that_the_person_has_switched_on_stays_on(
    monkeypatch: pytest.MonkeyPatch, name: str
):
    monkeypatch.setenv(name, "true")
    _keep_to_itself()

    environment = started(monkeypatch)
    assert environment[name] == "true"
    assert environment.get("LANGSMITH_TRACING", "true") == "true"


def test_tracing_that_is_switched_on_in_the_file_of_settings_stays_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    (tmp_path / ".env").write_text("LANGSMITH_TRACING=true\n")
    _keep_to_itself()

    assert started(monkeypatch)["LANGSMITH_TRACING"] == "true"


def test_a_file_of_settings_that_cannot_be_read_is_left_to_the_settings(tmp_path: Path):
    (tmp_path / ".env").write_bytes(b"\xff\xfe")

    _keep_to_itself()

    assert os.environ["LANGSMITH_TRACING"] == "false"
