"""The development server runs no file of the folder it is started in."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import pytest

from app.cli import serve
from app.dev import Elsewhere


def test_a_module_of_the_current_folder_is_not_found_however_the_folder_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "some_package_that_libraries_do_without.py").write_text("raise SystemExit")
    monkeypatch.setattr(sys, "path", Elsewhere([*sys.path, ""], os.getcwd()))

    sys.path.append(str(tmp_path))
    sys.path.append(f"{tmp_path}/../{tmp_path.name}")
    sys.path.insert(0, ".")
    importlib.invalidate_caches()

    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("some_package_that_libraries_do_without")


def test_other_folders_are_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    other = str(tmp_path / "other")
    monkeypatch.setattr(sys, "path", Elsewhere(sys.path, str(tmp_path)))

    sys.path.append(other)

    assert sys.path[-1] == other


def test_the_server_is_started_so(monkeypatch: pytest.MonkeyPatch):
    started: list[str] = []
    monkeypatch.setattr(os, "execve", lambda _, command, __: started.extend(command))
    monkeypatch.setattr(os, "umask", lambda _: 0)

    serve.main(host="127.0.0.1", port=8123, jobs=1)

    assert started[:3] == [sys.executable, "-P", str(serve.SERVER)]
    assert serve.SERVER.is_file()
