"""What is typed after `make ask` reaches the command as it was typed, and nothing else happens."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integration.command import ROOT

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed"),
]

EXAMPLES = "examples/docs"

OURS = {"ARGS", "DOCS", "FOLDER", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "Q", "QUESTION"}
"""What a `make` around the tests leaves in the environment."""

QUESTIONS = [
    'What does $HOME cost in "quotes" & `ticks`?',
    "it's \\ # ; | > < ${HOME} $$ % * ~ end\\",
    "$(shell true)",
    "$(error no)",
    "$(unclosed",
    "two\nlines\n\tthree",
    "-5 degrees: what happens?",
    "--help",
    "蜜蜂 = a:b := c",
    "",
]


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """A folder that make takes for its installation; its `dossier` writes down its words."""
    (tmp_path / "bin").mkdir()
    dossier = tmp_path / "bin" / "dossier"
    dossier.write_text('#!/bin/sh\nfor word; do printf "%s\\0" "$word"; done >"$WORDS"\n')
    dossier.chmod(0o755)
    (tmp_path / ".base").touch()
    return tmp_path


def words(venv: Path, *typed: str, **more: str) -> list[str]:
    """Return the words that `make ask` gives to the command."""
    kept = {name: value for name, value in os.environ.items() if name not in OURS}
    told = venv / "words"
    subprocess.run(
        ["make", "-s", "ask", f"VENV={venv}", *typed],
        cwd=ROOT,
        env={**kept, "WORDS": str(told), **more},
        check=True,
        capture_output=True,
    )
    return told.read_text("utf-8").split("\0")[:-1]


@pytest.mark.parametrize("question", QUESTIONS, ids=json.dumps)
def test_a_question_arrives_as_it_was_typed(venv: Path, question: str):
    asked = words(venv, f"Q={question}")

    assert asked == ["ask", "--docs", EXAMPLES, "--", question]


@pytest.mark.parametrize("question", [one for one in QUESTIONS if one], ids=json.dumps)
def test_a_question_of_the_environment_arrives_as_it_is(venv: Path, question: str):
    assert words(venv, Q=question)[-1] == question


def test_nothing_in_a_question_or_a_folder_is_executed(venv: Path):
    canary = venv / "canary"
    harm = f"$(shell touch {canary})`touch {canary}`$(touch {canary})"

    asked = words(venv, f"Q={harm}", f"DOCS={harm}")

    assert asked == ["ask", "--docs", harm, "--", harm]
    assert not canary.exists()


@pytest.mark.parametrize("folder", ["", " "])
def test_an_empty_folder_name_means_that_none_was_given(venv: Path, folder: str):
    assert words(venv, f"DOCS={folder}")[1:3] == ["--docs", EXAMPLES]


def test_more_options_stand_before_the_question(venv: Path):
    asked = words(venv, "Q=Why?", "DOCS=my papers", 'ARGS=--quick --out "a b"')

    assert asked[1:] == ["--docs", "my papers", "--quick", "--out", "a b", "--", "Why?"]
