import ast
import pickle
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from config.errors import ErrorCode, ErrorKind, Problem, read_messages
from tests.cases import each_case

ROOT = Path(__file__).parents[2]
ROOMS = (
    "app calls config evals graph library memory models nodes privacy prompts report runs storage"
    " text tools"
)


def test_a_problem_is_told_in_one_line():
    problem = Problem(
        ErrorCode.BAD_THREAD_ID, "'x/y' is no id", where="--thread", hint="use letters"
    )

    assert str(problem) == "error[bad_thread_id]: 'x/y' is no id (--thread) — use letters"


def test_what_is_not_known_leaves_no_gap():
    assert str(Problem(ErrorCode.INTERNAL, "it broke")) == "error[internal]: it broke"


def test_the_same_words_are_there_as_plain_data():
    problem = Problem(ErrorCode.PLAN_FIELD, "too long", where="steps.0.title", hint="shorten it")

    told = {"code": "plan_field", "detail": "too long", "where": "steps.0.title"}
    assert problem.as_dict() == told | {"hint": "shorten it"}


def test_a_problem_is_the_same_in_another_process():
    problem = Problem(ErrorCode.NO_TABLES, "no table", where="bees-1", hint="choose another")

    copied = pickle.loads(pickle.dumps(problem))  # noqa: S301

    assert (copied.as_dict(), copied.error) == (problem.as_dict(), ErrorCode.NO_TABLES)


@each_case(
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
        ("tool_limit", 1),
        ("embedder_changed", 5),
        ("memory_file_unreadable", 7),
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
    ]
)
def test_a_code_has_its_exit_status(code: str, status: int):
    problem = Problem(ErrorCode.parse(code), "")

    assert (problem.code, problem.exit_status) == (code, status)


def test_a_code_is_its_name_in_small_letters_and_has_one_kind():
    assert [one.value for one in ErrorCode] == [one.name.lower() for one in ErrorCode]
    assert [one for one in ErrorCode if not isinstance(one.kind, ErrorKind)] == []


def test_no_two_kinds_have_the_same_exit_status():
    assert sorted(one.exit_status for one in ErrorKind) == list(range(1, 8))


def test_a_stored_code_that_this_program_does_not_know_is_a_defect():
    told = {"code": "of_next_year", "detail": "it broke", "where": "", "hint": ""}

    assert Problem.from_dict(told).code == "internal"


@pytest.mark.parametrize("code", [ErrorCode.STORAGE_FULL, ErrorCode.MODEL_AUTH])
def test_what_a_problem_hands_on_is_plain_text_which_a_thread_can_store(code: ErrorCode):
    problem = Problem(code, "it broke")

    assert {type(problem.code), type(problem.as_dict()["code"])} == {str}
    assert Problem.from_dict(problem.as_dict()).error is code


def test_no_code_is_listed_that_nothing_uses():
    text = "\n".join(
        file.read_text("utf-8") for room in ROOMS.split() for file in (ROOT / room).rglob("*.py")
    )
    used = set(re.findall(r"ErrorCode\.([A-Z_]+)", text))

    # The status of a run that ended so is stored as its code.
    assert {one.name for one in ErrorCode} - used <= {"INSUFFICIENT_EVIDENCE"}


@cache
def told() -> list[tuple[str, ast.Call]]:
    """Return every place where a problem is made."""
    return list(_made())


def _made() -> Iterator[tuple[str, ast.Call]]:
    for room in ROOMS.split():
        for file in (ROOT / room).rglob("*.py"):
            text = file.read_text("utf-8")
            # To parse a file takes a hundred times as long as to look for a name in it.
            for node in ast.walk(ast.parse(text)) if "Problem(" in text else ():
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Problem":
                    yield f"{file.relative_to(ROOT)}:{node.lineno}", node


def codes(code: ast.expr) -> set[str]:
    """Return every code that an expression can be; none where a table or a variable has them."""
    every = [one for one in ast.walk(code) if isinstance(one, ast.Attribute)]
    return {one.attr.lower() for one in every if ast.unparse(one.value) == "ErrorCode"}


def test_no_error_leaves_a_person_without_a_hint():
    bare = {
        place: codes(call.args[0]) or {"?"}
        for place, call in told()
        if not any(one.arg in ("hint", None) for one in call.keywords)
    }
    unhelped = {place: code - set(read_messages("hints")) for place, code in bare.items()}

    assert len(bare) > 20
    assert {place: code for place, code in unhelped.items() if code} == {}


def test_every_usual_hint_is_one_of_a_code():
    assert set(read_messages("hints")) <= set(ErrorCode)


def test_no_error_is_made_with_an_empty_hint():
    said = {
        place: one.value for place, call in told() for one in call.keywords if one.arg == "hint"
    }

    assert [place for place, hint in said.items() if ast.unparse(hint) == "''"] == []


def test_a_hint_that_is_given_counts_more_than_the_usual_one():
    assert Problem(ErrorCode.STORAGE_BUSY, "it is held").hint == ErrorCode.STORAGE_BUSY.hint
    assert Problem(ErrorCode.STORAGE_BUSY, "it is held", hint="wait").hint == "wait"


def test_where_no_file_can_be_opened_a_problem_is_told_without_its_usual_hint(
    monkeypatch: pytest.MonkeyPatch,
):
    def full(*_: str) -> bytes:
        raise OSError(24, "Too many open files")

    read_messages.cache_clear()
    monkeypatch.setattr("config.errors.get_data", full)

    problem = Problem(ErrorCode.STORAGE_UNAVAILABLE, "it cannot be opened")

    assert (problem.code, problem.hint) == ("storage_unavailable", "")
