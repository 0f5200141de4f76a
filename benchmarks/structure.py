"""Measure the structure of the tree: files, lines, importers, and names that mean two things.

`python -m benchmarks.structure [--tree FOLDER]` prints the figures; `--check` lists the public
names that stand in more than one module and ends with 1 if there are any. A public name is a class
or a function at the top of a module, or the name of a module.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).parents[1]

NO_ROOMS = frozenset({"tests", "examples", "docs"})
"""Folders with Python files that are not part of the program."""

SHARED_NAMES = frozenset({"main"})
"""Functions that mean the same in every module that has them: what a command runs."""

SHARED_MODULES = frozenset({"memory", "store", "tables", "undo"})
"""Modules that are in several memories and mean the same in each: see docs/architecture.md."""


class Module(NamedTuple):
    """A module of the tree, parsed."""

    name: str
    path: Path
    lines: int
    tree: ast.Module


def main() -> None:
    """Print the figures, or the names that mean two things."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, default=ROOT)
    parser.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    modules = list(_modules(chosen.tree))
    twice = [*_repeated(_public_names(modules)), *_repeated(_module_names(modules))]
    if chosen.check:
        for name, places in twice:
            print(f"{name} means two things: {', '.join(places)}")
        sys.exit(1 if twice else 0)
    for label, figure in _figures(modules, len(twice)).items():
        print(f"{label:34} {figure}")


def _modules(root: Path) -> Iterator[Module]:
    for path in sorted(root.glob("*/**/*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        room = root / parts[0]
        if parts[0] in NO_ROOMS or parts[0].startswith(".") or not (room / "__init__.py").exists():
            continue
        text = path.read_text("utf-8")
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        yield Module(name, path, len(text.splitlines()), ast.parse(text))


def _public_names(modules: Iterable[Module]) -> Iterator[tuple[str, str]]:
    """Yield the public names at the top of modules, each with its module."""
    for module in modules:
        for node in module.tree.body:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            if not node.name.startswith("_") and node.name not in SHARED_NAMES:
                yield node.name, module.name


def _module_names(modules: Iterable[Module]) -> Iterator[tuple[str, str]]:
    for module in modules:
        name = module.path.stem
        if not name.startswith("__") and name not in SHARED_MODULES:
            yield f"module {name}", module.name


def _repeated(names: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """Return the names that stand in more than one place, each with its places."""
    places = defaultdict(list)
    for name, place in names:
        places[name].append(place)
    return [(name, several) for name, several in sorted(places.items()) if len(several) > 1]


def _figures(modules: list[Module], twice: int) -> dict[str, str]:
    importers = _importers(modules)
    lengths = sorted(length for module in modules for length in _lengths(module.tree))
    sizes = sorted(module.lines for module in modules)
    single = [one for one in modules if importers[one.name] == 1 and one.path.stem[:2] != "__"]
    return {
        "modules": str(len(modules)),
        "lines": f"{sum(sizes):,}",
        "lines of code": f"{sum(_code_lines(one) for one in modules):,}",
        "longest module": str(sizes[-1]),
        "modules below 80 lines": str(sum(size < 80 for size in sizes)),
        "modules with one importer": str(len(single)),
        "public names with two meanings": str(twice),
        "functions": str(len(lengths)),
        "function median / p90 / longest": (
            f"{median(lengths):.0f} / {lengths[int(0.9 * len(lengths))]} / {lengths[-1]} lines"
        ),
    }


def _importers(modules: list[Module]) -> Counter[str]:
    """Return how many modules import each."""
    known = {module.name for module in modules}
    found = {
        (target, module.name)
        for module in modules
        for name in _imports(module.tree)
        for target in [name if name in known else name.rpartition(".")[0]]
        if target in known and target != module.name
    }
    return Counter(target for target, _ in found)


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _lengths(tree: ast.Module) -> Iterator[int]:
    """Return how many lines each function has, without its docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield _span(node) - (_span(node.body[0]) if ast.get_docstring(node) else 0)


def _span(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _code_lines(module: Module) -> int:
    """Return how many lines hold code: neither empty, nor a comment, nor part of a docstring."""
    said = {
        line
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = module.path.read_text("utf-8").splitlines()
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in said
        for number, line in enumerate(lines, 1)
    )


if __name__ == "__main__":
    main()
