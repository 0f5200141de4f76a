"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from text.regex import regex, replace_spans

ROOMS = (
    "calls",
    "library",
    "memory",
    "models",
    "nodes",
    "privacy",
    "report",
    "runs",
    "text",
    "tools",
)
"""The rooms that have hundreds of patterns, most of which a command never uses."""


def _at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is executed when a module is imported."""
    for one in ast.iter_child_nodes(node):
        yield one
        if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _at_import(one)


@pytest.mark.parametrize("room", ROOMS)
def test_no_module_compiles_a_pattern_of_text_when_it_is_imported(room: str):
    root = Path(__file__).parents[2]
    compiling = [
        f"{file.relative_to(root)}:{one.lineno}"
        for file in (root / room).rglob("*.py")
        # To parse a file takes a hundred times as long as to look for a name in it.
        if "re.compile(" in (text := file.read_text("utf-8"))
        for one in _at_import(ast.parse(text))
        if isinstance(one, ast.Call) and ast.unparse(one.func) == "re.compile"
        if not ast.unparse(one.args[0]).startswith("b")
    ]

    assert compiling == []


def test_a_pattern_is_compiled_once_and_only_when_it_is_used(monkeypatch: pytest.MonkeyPatch):
    compiled: list[str] = []
    real = re.compile

    def counting(text: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(text)
        return real(text, flags)

    monkeypatch.setattr(re, "compile", counting)
    bee = regex(r"bees?")
    before = list(compiled)
    found = [bee.search(text) for text in ("a bee", "wasps", "bees")]

    assert before == []
    assert [one and one[0] for one in found] == ["bee", None, "bees"]
    assert compiled == ["bees?"]


def test_a_pattern_keeps_its_flags_and_its_text():
    name = regex(r"(?P<who>[a-z]+)", re.IGNORECASE)

    assert name.pattern == r"(?P<who>[a-z]+)"
    assert name.sub("x", "KARL") == "x"
    assert name.groupindex["who"] == 1


def test_a_pattern_that_is_none_is_told_when_it_is_used():
    broken = regex("(")

    with pytest.raises(re.error):
        broken.search("text")


def test_spans_are_replaced_in_order_and_one_that_overlaps_the_last_is_left():
    assert replace_spans("bees dance", [(0, 4, "Wasps"), (2, 6, "x"), (10, 10, "!")]) == (
        "Wasps dance!"
    )
    assert replace_spans("bees", []) == "bees"
