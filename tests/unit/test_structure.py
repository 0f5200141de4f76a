"""A public name means one thing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import structure


def check(tree: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["structure", "--check", "--tree", str(tree)])
    with pytest.raises(SystemExit) as ended:
        structure.main()
    return int(str(ended.value.code))


def module(tree: Path, name: str, text: str) -> None:
    path = tree / name
    path.parent.mkdir(exist_ok=True)
    (path.parent / "__init__.py").touch()
    path.write_text(text)


def test_a_function_that_stands_in_two_modules_is_named_with_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    module(tmp_path, "bees/hive.py", "def dance(): ...\n")
    module(tmp_path, "wasps/nest.py", "def dance(): ...\n")

    assert check(tmp_path, monkeypatch) == 1
    assert capsys.readouterr().out == "dance means two things: bees.hive, wasps.nest\n"


def test_a_module_name_that_stands_in_two_rooms_is_named_with_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    module(tmp_path, "bees/home.py", "")
    module(tmp_path, "wasps/home.py", "")

    assert check(tmp_path, monkeypatch) == 1
    assert capsys.readouterr().out == "module home means two things: bees.home, wasps.home\n"


def test_private_names_and_tests_may_be_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    module(tmp_path, "bees/hive.py", "def _dance(): ...\ndef buzz(): ...\n")
    module(tmp_path, "wasps/nest.py", "def _dance(): ...\n")
    module(tmp_path, "tests/test_hive.py", "def buzz(): ...\n")

    assert check(tmp_path, monkeypatch) == 0


def test_a_tree_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    module(tmp_path, "bees/hive.py", '"""A hive."""\n\n\ndef dance():\n    """Dance."""\n    ...\n')
    module(tmp_path, "bees/queen.py", "from bees.hive import dance\n")
    monkeypatch.setattr(sys, "argv", ["structure", "--tree", str(tmp_path)])

    structure.main()

    figures = dict(line.rsplit("  ", 1) for line in capsys.readouterr().out.splitlines())
    told = {name.strip(): figure.strip() for name, figure in figures.items()}
    assert told["modules"] == "3"
    assert told["modules with one importer"] == "1"
    assert told["lines of code"] == "3"
    assert told["function median / p90 / longest"] == "2 / 2 / 2 lines"
