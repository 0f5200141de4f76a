"""The documentation names only files, functions and floors that exist."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from tests.cases import each_case

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "AGENTS.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
FOLDERS = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "."}


@cache
def existing() -> set[str]:
    """Return the paths of all files and folders of the house, folders with a slash at their end."""
    found = [path for name in FOLDERS for path in (ROOT / name).rglob("*")]
    files = {str(path.relative_to(ROOT)) for path in found if not path.is_dir()}
    return files | {f"{parent}/" for path in files for parent in Path(path).parents}


def named(text: str) -> set[str]:
    """Return what a page names in code marks that looks like a file or a folder of this house."""
    marked = re.findall(r"`([\w./-]+)`", text)
    rooms = tuple(f"{room}/" for room in FOLDERS)
    return {one for one in marked if one.endswith(".py") or one.startswith(rooms)}


@each_case(PAGES)
def test_every_file_that_a_page_names_exists(page: Path):
    paths = existing()
    ends = {path[at + 1 :] for path in paths for at, sign in enumerate(path) if sign == "/"}
    names = named(page.read_text("utf-8"))
    gone = {name for name in names if not {name, f"{name}/"} & (paths | ends)}

    assert not gone


@each_case(PAGES)
def test_every_link_between_pages_leads_to_one(page: Path):
    links = re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8"))

    assert not [link for link in links if not (page.parent / link).exists()]


@each_case(PAGES)
def test_a_name_said_to_be_in_a_file_is_in_it(page: Path):
    pairs = re.findall(r"`(\w+)` in `([\w/]+/[\w/]+\.py)`", page.read_text("utf-8"))

    assert not [
        (name, path)
        for name, path in pairs
        if not re.search(rf"\b{name}\b", (ROOT / path).read_text("utf-8"))
    ]


@each_case(PAGES)
def test_every_module_that_a_page_has_one_run_exists(page: Path):
    text = page.read_text("utf-8")
    modules = re.findall(r"python -m ([\w.]+)|`(benchmarks\.\w+)`", text)
    paths = [ROOT / (one or other).replace(".", "/") for one, other in modules]

    assert not [
        path
        for path in paths
        if not path.with_suffix(".py").exists() and not (path / "__main__.py").exists()
    ]


def test_the_floors_of_the_architecture_are_those_that_are_checked():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = contracts["contracts"][0]["layers"]
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    table = text.partition("| floor |")[2].partition("\n\n")[0].splitlines()[2:]

    assert [re.findall(r"`([\w.]+)`", row.split("|")[1]) for row in table] == [
        [name.strip() for name in re.split(r"[|:]", layer)] for layer in layers
    ]


def test_the_architecture_has_a_place_for_every_module():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    rooms = {*contracts["root_packages"]} - {"evals"}
    modules = [path for room in rooms for path in (ROOT / room).rglob("*.py")]

    assert not [
        str(path.relative_to(ROOT))
        for path in modules
        if path.name not in ("__init__.py", "tables.py", "undo.py", "view.py")
        and not re.search(rf"[`/]{re.escape(path.name)}`", text)
    ]


def test_the_glossary_has_at_most_fifty_words():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")

    assert 0 < len(text.partition("## Glossary")[2].strip().splitlines()) - 2 <= 50
