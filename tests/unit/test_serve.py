"""The development server is started in a folder of the home, and runs nothing of another one."""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
from pathlib import Path
from stat import S_IMODE
from typing import NamedTuple

import pytest

import app
from app.cli import serve
from app.server_token import NAME
from config.errors import Problem
from config.settings import settings
from tests.places import new_process


class Started(NamedTuple):
    """How the server was started."""

    command: list[str]
    environment: dict[str, str]
    folder: Path


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "theirs"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    told: list[Started] = []

    def become(_: str, command: list[str], environment: dict[str, str]) -> None:
        told.append(Started(command, environment, Path.cwd()))

    monkeypatch.setattr(os, "execve", become)
    monkeypatch.setattr(os, "umask", lambda _: 0)
    serve.serve(host="127.0.0.1", port=0, jobs=1)
    return told[0]


def test_the_server_finds_neither_modules_nor_pickles_of_the_current_folder(
    stranger: Path, monkeypatch: pytest.MonkeyPatch
):
    done = started(monkeypatch)

    assert done.command[:4] == [sys.executable, "-P", "-m", "langgraph_cli"]
    assert done.folder.is_relative_to(settings().home.resolve())
    assert not done.folder.is_relative_to(stranger)
    assert S_IMODE(done.folder.stat().st_mode) == 0o700


def test_the_server_is_told_of_graphs_that_are_named_in_the_package_itself(
    stranger: Path, monkeypatch: pytest.MonkeyPatch
):
    command = started(monkeypatch).command
    config = Path(command[command.index("--config") + 1])

    told = json.loads(config.read_text("utf-8"))
    assert config.parent == Path(app.__file__).parent
    named = [one["path"] for one in told["graphs"].values()]
    for place in (*named, told["checkpointer"]["path"], told["http"]["app"]):
        module, _, name = place.replace(".open", ":open").partition(":")
        assert hasattr(importlib.import_module(module), name)


def test_a_server_for_each_folder_keeps_what_it_was_sent_apart_and_finds_it_again(
    stranger: Path, monkeypatch: pytest.MonkeyPatch
):
    here = started(monkeypatch).folder
    monkeypatch.chdir(stranger.parent)
    there = started(monkeypatch).folder
    monkeypatch.chdir(stranger)

    assert here != there
    assert started(monkeypatch).folder == here


def test_relative_paths_of_the_environment_begin_where_the_command_was_given(
    stranger: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DOSSIER_HOME", "mine")
    monkeypatch.setenv("DOSSIER_DATABASE_URL", "sqlite:///data/own.db")
    monkeypatch.setenv("DOSSIER_EMBEDDINGS", "minilm:vectors")
    new_process()

    environment = started(monkeypatch).environment

    assert environment["DOSSIER_HOME"] == f"{stranger}/mine"
    assert environment["DOSSIER_DATABASE_URL"] == f"sqlite:///{stranger}/data/own.db"
    assert environment["DOSSIER_EMBEDDINGS"] == f"minilm:{stranger}/vectors"


@pytest.mark.parametrize("host", ["999.1.1.1", "192.0.2.1", "a..b", "x" * 300, "", "\0", "[::1"])
def test_a_host_that_is_not_this_machine_is_refused_by_name(
    stranger: Path, monkeypatch: pytest.MonkeyPatch, host: str
):
    monkeypatch.setattr(os, "execve", lambda *_: pytest.fail("it was started"))

    with pytest.raises(Problem) as failure:
        serve.serve(host=host, port=0, jobs=1)

    assert failure.value.code == "address_unusable"
    assert failure.value.hint


def test_a_port_that_is_taken_is_refused_by_name(stranger: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "execve", lambda *_: pytest.fail("it was started"))

    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(Problem) as failure:
        serve.serve(host="127.0.0.1", port=taken.getsockname()[1], jobs=1)

    assert failure.value.code == "address_unusable"


@pytest.mark.parametrize("content", ["", "short", "no token\n" * 9])
def test_a_server_without_a_token_is_not_started(
    stranger: Path, monkeypatch: pytest.MonkeyPatch, content: str
):
    monkeypatch.setattr(os, "execve", lambda *_: pytest.fail("it was started"))
    settings().home.mkdir(parents=True, exist_ok=True)
    (settings().home / NAME).write_text(content)

    with pytest.raises(Problem) as failure:
        serve.serve(host="127.0.0.1", port=0, jobs=1)

    assert failure.value.code == "token_unusable"
