import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from config.errors import EXIT_STATUS, PROBLEM_HINTS, PROBLEM_KINDS, Problem

ROOT = Path(__file__).parents[2]
ROOMS = (
    "app calls config evals graph library memory models nodes privacy prompts report runs storage"
    " text tools"
)


def test_a_problem_is_told_in_one_line():
    problem = Problem("bad_thread_id", "'x/y' is no id", where="--thread", hint="use letters")

    assert str(problem) == "error[bad_thread_id]: 'x/y' is no id (--thread) — use letters"


def test_what_is_not_known_leaves_no_gap():
    assert str(Problem("internal", "it broke")) == "error[internal]: it broke"


def test_the_same_words_are_there_as_plain_data():
    problem = Problem("plan_field", "too long", where="steps.0.title", hint="shorten it")

    told = {"code": "plan_field", "detail": "too long", "where": "steps.0.title"}
    assert problem.as_dict() == told | {"hint": "shorten it"}


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("internal", 1),
        ("insufficient_evidence", 1),
        ("answer_invalid", 1),
        ("question_empty", 2),
        ("unknown_model", 2),
        ("schema_newer", 7),
        ("storage_corrupt", 7),
        ("output_exists", 5),
        ("docs_not_found", 4),
        ("output_not_writable", 7),
        ("a_code_nobody_listed", 1),
        ("insight_not_found", 4),
        ("text_timeout", 1),
        ("checkpoints_unsafe", 7),
        ("editor_failed", 7),
        ("memory_section_broken", 5),
        ("file_unreadable", 2),
        ("url_blocked", 3),
        ("run_not_found", 4),
        ("thread_not_found", 4),
        ("run_in_progress", 5),
        ("not_waiting", 5),
        ("waiting_review", 5),
        ("run_unfinished", 5),
        ("storage_busy", 5),
        ("budget_spent", 6),
        ("model_auth", 7),
        ("model_key_missing", 7),
        ("model_timeout", 7),
        ("rate_limited", 7),
        ("storage_unavailable", 7),
        ("storage_full", 7),
    ],
)
def test_a_code_has_its_exit_status(code: str, status: int):
    assert Problem(code, "").exit_status == status


def test_every_kind_has_an_exit_status():
    assert set(PROBLEM_KINDS.values()) <= set(EXIT_STATUS)


RAISED = ("Problem", "FileRefused", "SearchUnanswered", "confirm")
"""What is called with a code: as its first argument, or as the second of `confirm`."""

PASSED_ON = {"problem.code", "refused.code", "draft.failed_role.status", "unconfirmed"}
"""Expressions for a code that was given elsewhere."""


def trees() -> Iterator[ast.AST]:
    """Yield the code of every room, parsed."""
    for room in ROOMS.split():
        for file in (ROOT / room).rglob("*.py"):
            yield ast.parse(file.read_text("utf-8"))


def values_of(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """Return what each name of a module is set to."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = zip(*map(parts, (target, node.value)), strict=False)
                for name, value in pairs:
                    found.setdefault(ast.unparse(name), []).append(value)
    return found


def parts(one: ast.expr) -> list[ast.expr]:
    return one.elts if isinstance(one, ast.Tuple) else [one]


def possible(code: ast.expr, known: dict[str, list[ast.expr]]) -> set[str]:
    """Return every code that an expression can be; the expression itself where that is unclear."""
    if isinstance(code, ast.Constant):
        return {str(code.value)}
    if isinstance(code, ast.IfExp):
        return possible(code.body, known) | possible(code.orelse, known)
    if isinstance(code, ast.Dict):
        return set().union(*(possible(one, known) for one in code.values))
    if isinstance(code, ast.Call) and isinstance(code.func, ast.Attribute):
        return possible(code.func.value, known) | possible(code.args[1], known)
    if isinstance(code, ast.Name) and code.id in known:
        return set().union(*(possible(one, known) for one in known[code.id]))
    return {ast.unparse(code)} - PASSED_ON


def raised() -> set[str]:
    """Return every code with which a problem, or a refused file, is made."""
    every = list(trees())
    common = {"WITHHELD": values_of_room(every, "WITHHELD")}
    found = set()
    for tree in every:
        known = common | values_of(tree)
        for node in ast.walk(tree):
            name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Call) and name in RAISED and node.args:
                found |= possible(node.args[name == "confirm"], known)
    return found


def values_of_room(every: list[ast.AST], name: str) -> list[ast.expr]:
    return [value for tree in every for value in values_of(tree).get(name, [])]


def test_every_code_that_is_raised_anywhere_is_listed_with_its_kind():
    codes = raised()

    assert {"insight_not_found", "query_withheld", "file_bomb", "storage_full"} <= codes
    assert codes - set(PROBLEM_KINDS) == set()


def test_every_hint_is_for_a_listed_code():
    assert set(PROBLEM_HINTS) <= set(PROBLEM_KINDS)


@cache
def told() -> list[tuple[str, ast.Call]]:
    """Return every place where a problem is made."""
    return list(_made())


def _made() -> Iterator[tuple[str, ast.Call]]:
    for room in ROOMS.split():
        for file in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Problem":
                    yield f"{file.relative_to(ROOT)}:{node.lineno}", node


def codes(code: ast.expr) -> set[str]:
    """Return every code that an expression can be; none where a table or a variable has them."""
    every = [one for one in ast.walk(code) if isinstance(one, ast.Constant)]
    return {one.value for one in every if isinstance(one.value, str)}


def test_no_error_leaves_a_person_without_a_hint():
    bare = {
        place: codes(call.args[0]) or {"?"}
        for place, call in told()
        if not any(one.arg in ("hint", None) for one in call.keywords)
    }
    unhelped = {place: code - set(PROBLEM_HINTS) for place, code in bare.items()}

    assert len(bare) > 20
    assert {place: code for place, code in unhelped.items() if code} == {}


def test_no_error_is_made_with_an_empty_hint():
    said = {
        place: one.value for place, call in told() for one in call.keywords if one.arg == "hint"
    }

    assert [place for place, hint in said.items() if codes(hint) == {""}] == []


def test_a_hint_that_is_given_counts_more_than_the_usual_one():
    assert Problem("storage_busy", "it is held").hint == PROBLEM_HINTS["storage_busy"]
    assert Problem("storage_busy", "it is held", hint="wait").hint == "wait"
