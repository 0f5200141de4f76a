from dataclasses import fields
from itertools import product

import pytest

from config.errors import Problem
from graph.context import CHOICE_BOUNDS, Context, build_context, non_default_choices
from graph.depth import ADJUSTABLE, DEPTHS, LIMITS
from tests.cases import each_case

MONEY_OR_TIME = {"max_cost", "max_minutes"}


def problem(**choices: object) -> Problem:
    with pytest.raises(Problem) as failure:
        build_context(choices)
    return failure.value


@pytest.mark.parametrize("name", ADJUSTABLE)
def test_a_limit_that_nobody_chose_follows_the_depth(name: str):
    chosen = [build_context({"depth": depth, name: None}) for depth in DEPTHS]

    assert [getattr(one.limits, name) for one in chosen] == [
        getattr(LIMITS[depth], name) for depth in DEPTHS
    ]
    assert getattr(chosen[0], name) is None


def test_a_limit_that_was_chosen_holds_at_every_depth():
    chosen = [build_context({"depth": depth, "max_steps": 3}) for depth in DEPTHS]

    assert [one.limits.max_steps for one in chosen] == [3, 3, 3]


@pytest.mark.parametrize(("deep", "depth"), [(True, "standard"), (False, "quick")])
def test_the_depth_of_a_run_of_an_earlier_version_is_read(deep: bool, depth: str):
    assert build_context({"deep": deep}).depth == depth


@pytest.mark.parametrize("name", ["depth", "length", "guide"])
def test_a_word_that_is_no_choice_is_refused_with_those_that_are(name: str):
    refused = problem(**{name: "deeper"})

    assert (refused.code, refused.where) == ("bad_choice", name)
    assert refused.hint.startswith("one of ")


@each_case(product(CHOICE_BOUNDS, [-1, 1e9, "3", True, float("nan"), float("inf"), [3]]))
def test_what_is_no_number_within_the_bounds_is_refused(name: str, value: object):
    refused = problem(**{name: value})

    assert (refused.code, refused.where, refused.exit_status) == ("out_of_range", name, 2)


@pytest.mark.parametrize("name", sorted(set(CHOICE_BOUNDS) - MONEY_OR_TIME))
def test_a_count_is_a_whole_number(name: str):
    least, most = CHOICE_BOUNDS[name]

    assert problem(**{name: (least + most) / 2 + 0.25}).code == "out_of_range"


@pytest.mark.parametrize("name", CHOICE_BOUNDS)
def test_the_bounds_themselves_are_allowed_and_nothing_beyond(name: str):
    least, most = CHOICE_BOUNDS[name]

    assert getattr(build_context({name: least}), name) == least
    assert getattr(build_context({name: most}), name) == most
    assert problem(**{name: most + 1}).code == "out_of_range"


@pytest.mark.parametrize("name", ["max_steps", "parallelism", "max_calls", "max_cost"])
def test_zero_is_refused_where_nothing_could_be_done(name: str):
    assert problem(**{name: 0}).code == "out_of_range"


def test_a_refusal_names_the_least_and_the_most():
    refused = problem(max_steps=51)

    assert refused.what == "51 is not a number from 1 to 50"
    assert refused.hint == "choose 1..50"


def test_an_unknown_choice_is_told_with_the_closest_name():
    refused = problem(max_step=3)

    assert (refused.code, refused.hint) == ("unknown_field", "did you mean max_steps?")


def test_a_choice_that_is_like_no_other_is_told_with_all_of_them():
    assert "max_steps" in problem(zzzzzz=3).hint


def test_a_language_without_prompts_is_refused():
    refused = problem(language="fr")

    assert (refused.code, refused.where) == ("bad_locale", "language")
    assert refused.hint == "one of en, zh"


@pytest.mark.parametrize(
    ("name", "value"),
    [("files", [5]), ("search", [None]), ("models", {"planner": 5}), ("memory", "chat")],
)
def test_a_choice_of_several_things_holds_texts(name: str, value: object):
    refused = problem(**{name: value})

    assert (refused.code, refused.where) == ("bad_choice", name)


def test_only_what_differs_from_the_defaults_is_stored():
    assert non_default_choices(Context()) == {}
    assert non_default_choices(Context(max_steps=2, files=["/docs"])) == {
        "max_steps": 2,
        "files": ["/docs"],
    }


def test_what_is_stored_makes_the_same_context_again():
    before = Context(max_cost=2.5, models={"planner": "a:b"}, depth="quick", language="zh")

    assert build_context(non_default_choices(before)) == before


def test_two_runs_share_no_list():
    first, second = Context(), Context()

    assert first.files is not second.files
    assert first.models is not second.models


def test_every_choice_has_words_for_its_form():
    assert all(one.metadata["description"].endswith((".", ").")) for one in fields(Context))


@pytest.mark.parametrize(
    ("stored", "share"),
    [
        ({"private_queries": True}, ["queries"]),
        ({"private_queries": False}, []),
        ({"private_queries": True, "share": ["files"]}, ["files", "queries"]),
        ({}, []),
    ],
)
def test_what_an_earlier_version_allowed_in_queries_is_shared(
    stored: dict[str, object], share: list[str]
):
    assert build_context(stored).share == share


def test_only_what_may_be_shared_can_be_chosen():
    with pytest.raises(Problem, match="one of queries, files"):
        Context(share=["everything"])
