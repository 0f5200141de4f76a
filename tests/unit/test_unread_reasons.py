"""Why a file is not read, in the language of the person."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.cases import each_case
from tools.files.formats import MEDIA_TYPES, explain_unread_type
from tools.folder_ingestion import NEVER_INGESTED
from tools.unread_reasons import translate_reason

TOOLS = Path(__file__).parents[2] / "tools"


def written(node: ast.expr, known: dict[str, str]) -> str:
    """What an expression says, with a number where something is put in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        parts = node.values
        return "".join(str(one.value) if isinstance(one, ast.Constant) else "7" for one in parts)
    return known.get(node.id, "") if isinstance(node, ast.Name) else ""


def functions() -> Iterator[ast.AST]:
    """Every function of the tools in a file that refuses or skips one."""
    for file in TOOLS.rglob("*.py"):
        text = file.read_text("utf-8")
        if "FileRefused(" not in text and "SkippedFile(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node


def reasons() -> Iterator[str]:
    """Every reason that is written anywhere in the tools."""
    for function in functions():
        tree = list(ast.walk(function))
        known = {
            target.id: written(node.value, {})
            for node in tree
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in tree:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                if node.func.id == "FileRefused" and len(node.args) == 2:
                    yield written(node.args[1], known)
                if node.func.id == "SkippedFile" and len(node.args) == 3:
                    yield written(node.args[2], known)
    yield from [*MEDIA_TYPES.values(), explain_unread_type("a.blend"), NEVER_INGESTED]


ALL = sorted({one for one in reasons() if one})


@each_case(ALL)
def test_every_reason_is_told_in_chinese_with_what_it_names(reason: str):
    told = translate_reason("zh", reason)

    assert re.search("[\u4e00-\u9fff]", told)
    assert ("7" in told) == ("7" in reason) or "files like this" in reason


def test_enough_reasons_were_found():
    assert len(ALL) > 20


def test_in_english_and_where_none_is_known_a_reason_stays():
    assert translate_reason("en", "it is empty") == "it is empty"
    assert translate_reason("zh", "the moon is full") == "the moon is full"
