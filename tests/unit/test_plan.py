import re
from itertools import pairwise
from typing import Any

import pytest

from config.errors import Problem
from graph.plan import MOST_STEPS, refuse_compute_steps, validate_plan
from tests.cases import each_case


def step(name: str, *needs: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "title": f"Step {name}", "needs": list(needs)} | more


def refused(plan: Any) -> Problem:
    with pytest.raises(Problem) as failure:
        validate_plan(plan)
    assert failure.value.exit_status == 2
    return failure.value


def test_a_plan_that_says_only_what_it_must_is_filled_up():
    plan = validate_plan({"steps": [{"id": "a", "title": "Bees"}]})

    assert plan["steps"] == [
        {
            "id": "a",
            "title": "Bees",
            "description": "",
            "kind": "research",
            "queries": [],
            "needs": [],
            "need_web_search": True,
        }
    ]
    assert (plan["title"], plan["thought"], plan["has_enough_context"]) == ("", "", False)


def test_a_plan_that_was_checked_passes_again_as_it_is():
    plan = validate_plan({"title": "Bees", "steps": [step("a"), step("b", "a", kind="research")]})

    assert validate_plan(plan) == plan


def test_a_circle_is_told_as_a_path():
    plan = {"steps": [step("a", "b"), step("b", "c"), step("c", "a"), step("d")]}

    failure = refused(plan)
    path = failure.what.rsplit(" ", 1)[1].split("->")

    assert failure.code == "plan_cycle"
    assert path[0] == path[-1]
    needs = {step["id"]: step["needs"] for step in plan["steps"]}
    assert all(later in needs[earlier] for earlier, later in pairwise(path))


def test_a_step_that_waits_for_itself_is_a_circle():
    assert refused({"steps": [step("a", "a")]}).what.endswith(" a->a")


def test_fifty_steps_pass_and_one_more_does_not():
    steps = [step(f"s{number}") for number in range(MOST_STEPS + 1)]

    assert len(validate_plan({"steps": steps[:-1]})["steps"]) == 50
    assert refused({"steps": steps}).code == "plan_too_long"


def test_two_steps_of_one_name_are_refused():
    failure = refused({"steps": [step("a"), step("b"), step("a")]})

    assert failure.code == "plan_duplicate_id"
    assert "'a'" in failure.what


def test_a_need_that_is_no_step_is_refused_with_the_steps_there_are():
    failure = refused({"steps": [step("a"), step("b", "x")]})

    assert failure.code == "plan_unknown_need"
    assert ("'x'" in failure.what, failure.hint) == (True, "one of a, b")


@each_case(
    [
        ({"steps": [{"id": "a"}]}, "steps.0.title"),
        ({"steps": [{"id": "a", "title": ""}]}, "steps.0.title"),
        ({"steps": [{"id": "a", "title": 5}]}, "steps.0.title"),
        ({"steps": [{"id": "a", "title": "x" * 1_000_000}]}, "steps.0.title"),
        ({"steps": [{"title": "A"}]}, "steps.0.id"),
        ({"steps": [step("a/b")]}, "steps.0.id"),
        ({"steps": [step("a\n")]}, "steps.0.id"),
        ({"steps": [step("x" * 33)]}, "steps.0.id"),
        ({"steps": [step("ａ")]}, "steps.0.id"),
        ({"steps": [step("a"), step("b", kind="guess")]}, "steps.1.kind"),
        ({"steps": [step("a", queries="bees")]}, "steps.0.queries"),
        ({"steps": [step("a", needs=[1])]}, "steps.0.needs.0"),
        ({"steps": [step("a", colour="red")]}, "steps.0.colour"),
        ({"steps": [step("a", description="x" * 2001)]}, "steps.0.description"),
        ({"steps": ["a"]}, "steps.0"),
        ({"steps": "a"}, "steps"),
        ({"steps": {}}, "steps"),
        ({"steps": []}, "steps"),
        ({}, "steps"),
        ({"title": "x" * 301, "steps": [step("a")]}, "title"),
        ({"titel": "Bees", "steps": [step("a")]}, "titel"),
        ([], ""),
        ("plan", ""),
        (None, ""),
    ]
)
def test_a_field_that_cannot_be_used_is_told_with_its_place(plan: Any, where: str):
    failure = refused(plan)

    assert (failure.code, failure.where) == ("plan_field", where)
    assert not re.search(r"Input|should|valid|Form|dictionary|instance|String", failure.what)


def test_a_step_that_computes_passes_and_is_refused_by_name_where_no_program_can_run():
    plan = validate_plan({"steps": [step("a"), step("b", "a", kind="compute")]})

    with pytest.raises(Problem) as failure:
        refuse_compute_steps(plan["steps"])

    assert plan["steps"][1]["kind"] == "compute"
    assert (failure.value.code, failure.value.where) == ("plan_field", "steps.1.kind")
    assert "no sandbox" in failure.value.what
    refuse_compute_steps(plan["steps"][:1])
