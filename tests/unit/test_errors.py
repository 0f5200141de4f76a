import pytest

from config.errors import EXIT, KINDS, Problem


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
        ("a_code_nobody_listed", 2),
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
    assert set(KINDS.values()) <= set(EXIT)
