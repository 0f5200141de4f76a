"""What is installed beside us, and what an installation would hold."""

from __future__ import annotations

import ast
import re
import sys
import sysconfig
import tomllib
from importlib.machinery import PathFinder
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.cases import each_case

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
OURS = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
PINNED = [
    line
    for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@each_case(OURS)
def test_no_dependency_has_taken_our_name(name: str):
    installed = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]

    assert name not in sys.stdlib_module_names
    assert PathFinder.find_spec(name, installed) is None


def test_every_room_is_packaged_checked_and_stands_on_a_floor():
    rooms = {
        file.parent.name
        for file in ROOT.glob("*/__init__.py")
        if file.parent.name != "tests" and not file.parent.name.startswith(".")
    }
    contract = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    floors = {name.strip().split(".")[0] for line in contract for name in re.split("[|:]", line)}

    installed = rooms - {"benchmarks"}
    assert set(OURS) == installed == floors
    assert set(PROJECT["tool"]["mypy"]["packages"]) == rooms
    assert set(PROJECT["tool"]["importlinter"]["root_packages"]) == installed


def test_a_name_so_common_is_never_published():
    assert "Private :: Do Not Upload" in PROJECT["project"]["classifiers"]


@each_case(sorted(OURS))
def test_no_test_folder_is_named_like_a_room(folder: str):
    assert not (ROOT / "tests" / folder).exists()


def test_every_folder_of_tests_is_a_package():
    folders = {file.parent for file in (ROOT / "tests").rglob("test_*.py")}

    assert all((folder / "__init__.py").exists() for folder in folders)


def test_every_version_is_pinned_and_comes_from_nowhere_in_particular():
    strange = [line for line in PINNED if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][\w.+!]*", line)]

    assert PINNED
    assert strange == []


def test_nothing_is_pinned_twice():
    names = [canonical(line.partition("==")[0]) for line in PINNED]

    assert len(names) == len(set(names))


def test_everything_that_is_asked_for_is_pinned():
    extras = PROJECT["project"]["optional-dependencies"]
    asked_for = [*PROJECT["project"]["dependencies"], *extras["server"], *extras["dev"]]
    asked_for += extras["aegra"]
    names = {canonical(re.split(r"[\[<>=!~ ;]", one)[0]) for one in asked_for}

    assert names <= {canonical(line.partition("==")[0]) for line in PINNED}


@pytest.mark.parametrize("name", ["constraints.txt", "pyproject.toml", "Makefile", ".env.example"])
def test_no_file_of_the_installation_names_a_host_of_packages(name: str):
    text = (ROOT / name).read_text("utf-8")

    assert not re.search(r"--(extra-)?index-url|--find-links|--trusted-host|simple/", text)


def imported(file: Path) -> set[str]:
    """Return the top-level names that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return {name.partition(".")[0] for name in found}


def test_what_the_rooms_import_is_declared_and_comes_not_by_chance():
    """`evals` also imports the tools of developers, as `make evals` installs them."""
    optional = PROJECT["project"]["optional-dependencies"]
    wanted = [*PROJECT["project"]["dependencies"], *optional["server"], *optional["buckets"]]
    wanted += [*optional["postgres"], *optional["reader"], *optional["pdf"]]
    wanted += [*optional["telemetry"], *optional["aegra"]]
    declared = {canonical(re.split(r"[<>=~[]", one)[0]) for one in wanted}
    names = set().union(
        *(imported(file) for room in set(OURS) - {"evals"} for file in (ROOT / room).rglob("*.py"))
    )
    packages = packages_distributions()

    for name in names - {*sys.stdlib_module_names, *OURS}:
        assert declared & set(map(canonical, packages.get(name, [name]))), name
