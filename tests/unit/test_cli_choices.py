import re
from dataclasses import fields
from itertools import product
from typing import Any

import pytest

from app.cli.choices import ELSEWHERE, double_cap, read_caps, read_choices
from config.errors import Problem
from graph.context import Context
from tests.cases import each_case


def read(*choices: str, **flags: Any) -> dict[str, Any]:
    plain = {"yes": False, "review": False, "quick": False, "named": {}}
    return read_choices(list(choices), **{**plain, **flags})


def test_what_is_not_said_is_left_open():
    assert read() == {}


def test_a_value_is_read_as_what_the_choice_is():
    read_ones = read("max_steps=2", "depth=deep", 'search=["brave"]', "style=short: 2 pages = good")

    assert read_ones == {
        "max_steps": 2,
        "depth": "deep",
        "search": ["brave"],
        "style": "short: 2 pages = good",
    }


@pytest.mark.parametrize("written", ["2", "true", "null", '["a"]', '"\\ud800"'])
def test_a_text_is_what_was_written_unless_it_is_written_as_text(written):
    assert read(f"style={written}") == {"style": written}
    assert read('style="a \\"b\\""') == {"style": 'a "b"'}


@pytest.mark.parametrize(
    ("flags", "meant"),
    [
        ({"yes": True}, {"auto_accept": True}),
        ({"review": True}, {"auto_accept": False}),
        ({"quick": True}, {"depth": "quick", "auto_accept": True}),
        ({"named": {"project": "bees", "depth": ""}}, {"project": "bees"}),
        ({"named": {"depth": "deep", "length": "long"}}, {"depth": "deep", "length": "long"}),
        ({"yes": True, "quick": True}, {"depth": "quick", "auto_accept": True}),
    ],
)
def test_an_option_says_a_choice_shortly(flags, meant):
    assert read(**flags) == meant


def test_the_same_may_be_said_twice():
    assert read("auto_accept=true", "project=a", yes=True, named={"project": "a"})["project"] == "a"


@pytest.mark.parametrize(
    ("choices", "flags", "named"),
    [
        ([], {"yes": True, "review": True}, "--review and --yes"),
        ([], {"quick": True, "review": True}, "--review and --quick"),
        (["auto_accept=true"], {"review": True}, "--review and --set auto_accept"),
        (["depth=deep"], {"quick": True}, "--quick and --set depth"),
        ([], {"quick": True, "named": {"depth": "deep"}}, "--depth and --quick"),
        (["project=a"], {"named": {"project": "b"}}, "--project and --set project"),
    ],
)
def test_contradictions_are_refused_by_their_names(choices, flags, named):
    with pytest.raises(Problem) as refused:
        read(*choices, **flags)

    assert (refused.value.code, refused.value.exit_status) == ("usage", 2)
    assert refused.value.what == f"{named} contradict each other"


@pytest.mark.parametrize(
    ("choice", "hint"), [('files=["a"]', "--docs"), ("user=ada", "DOSSIER_USER")]
)
def test_what_is_chosen_elsewhere_is_said_to_be(choice, hint):
    with pytest.raises(Problem) as refused:
        read(choice)

    assert refused.value.code == "bad_choice"
    assert hint in refused.value.hint


STRANGE = re.compile(r"Input|should be|pydantic|valid|<class|None|Context|Literal|\bstr\b|dict\b")
"""What a person is never told: words of libraries, and names of classes."""


def refusal(choice: str) -> Problem | None:
    try:
        read(choice)
    except Problem as problem:
        return problem
    return None


NAMES = [one.name for one in fields(Context) if one.name not in ELSEWHERE]

WRONG = ["", "x", "0", "-1", "1e99", "NaN", "null", "true", "[]", "[1]", '["a"]', "{}", '{"a": 1}']


@each_case(product(NAMES, WRONG))
def test_whatever_a_choice_is_set_to_is_taken_or_refused_in_plain_words(name: str, written: str):
    problem = refusal(f"{name}={written}")

    if problem:
        assert (problem.exit_status, problem.where) == (2, name)
        assert problem.hint
        assert not STRANGE.search(str(problem).replace(repr(written), ""))


def test_knowledge_bases_are_chosen_by_their_names():
    assert read('knowledge=["papers"]') == {"knowledge": ["papers"]}
    assert read("knowledge=[]") == {"knowledge": []}


@pytest.mark.parametrize(
    ("choice", "code", "told"),
    [
        ("max_calls=4", "bad_choice", "the run may use 4 already (max_calls)"),
        ("max_calls=2", "bad_choice", "give more: --set max_calls=8"),
        ("max_tokens=900000", "bad_choice", "the run may use 1000000 already"),
        ("max_calls=many", "out_of_range", "max_calls"),
        ("max_minutes=100000", "out_of_range", "max_minutes"),
        ("max_steps=9", "bad_choice", "resume takes max_cost, max_tokens, max_calls, max_minutes"),
        ("max_call=9", "unknown_field", "max_calls"),
    ],
)
def test_a_limit_of_a_run_that_has_begun_can_be_raised_and_nothing_else(
    choice: str, code: str, told: str
):
    with pytest.raises(Problem) as refused:
        read_caps([choice], vars(Context(max_calls=4, max_tokens=1_000_000)))

    assert refused.value.code == code
    assert told in str(refused.value)


def test_twice_a_limit_is_no_more_than_it_may_be():
    assert read_caps(["max_cost=0.6", "max_calls=9"], Context(max_calls=4).limits._asdict()) == {
        "max_cost": 0.6,
        "max_calls": 9,
    }
    assert (double_cap("max_calls", 4), double_cap("max_cost", 0.5)) == (
        "max_calls=8",
        "max_cost=1",
    )
    assert double_cap("max_tokens", 40_000_000) == "max_tokens=50000000"


@pytest.mark.parametrize(
    ("written", "share"),
    [
        ("queries", ["queries"]),
        ("queries|files", ["queries", "files"]),
        ("queries, files", ["queries", "files"]),
        ('["files"]', ["files"]),
    ],
)
def test_what_is_shared_is_named_by_words(written: str, share: list[str]):
    chosen = read_choices([f"share={written}"], yes=False, review=False, quick=False, named={})

    assert chosen == {"share": share}
