"""A question comes as the words of the command, or on standard input."""

from __future__ import annotations

import io

import pytest

from app.cli import ask
from app.cli.output import LARGEST_QUESTION, read_question
from config.errors import Problem


def pipe(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    """Have something come in on standard input."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.mark.parametrize("question", ["-", ""])
def test_a_question_is_read_from_a_pipe(monkeypatch: pytest.MonkeyPatch, question: str):
    pipe(monkeypatch, "\ufeff蜜蜂怎样过冬？\n".encode())

    assert read_question(question) == "蜜蜂怎样过冬？\n"


def test_words_of_the_command_come_before_a_pipe(monkeypatch: pytest.MonkeyPatch):
    pipe(monkeypatch, b"How do bees dance?")

    assert read_question("How do wasps dance?") == "How do wasps dance?"


def test_a_long_text_is_cut_within_a_character_and_still_read(monkeypatch: pytest.MonkeyPatch):
    pipe(monkeypatch, "蜂".encode() * LARGEST_QUESTION)

    assert set(read_question("-")) == {"蜂"}


@pytest.mark.parametrize("data", [b"bees \xff dance", "蜂".encode()[:2]])
def test_what_is_no_text_is_refused(monkeypatch: pytest.MonkeyPatch, data: bytes):
    pipe(monkeypatch, data)

    with pytest.raises(Problem) as refused:
        read_question("-")

    assert refused.value.code == "usage"


def test_a_terminal_shows_that_the_command_has_started_before_the_graph_is_imported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    shown: dict[str, str] = {}
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(
        ask, "import_frozen", lambda name: shown.update({name: capsys.readouterr().err})
    )

    ask._load_run("auto")

    assert "Starting" in shown["app.cli.question_run"]
