"""A plan as lines of text: what is written is read back, and what is wrong is told by its line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.errors import Problem
from graph.plan import (
    PLAN_LEGEND,
    parse_plan,
    parse_steps,
    render_plan,
    render_steps,
    validate_plan,
)
from tests.cases import each_case

WORDS = st.text("abc xyz,-()é花蜜", min_size=1, max_size=30).map(str.strip).filter(bool)


def step(name: str, *needs: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "title": f"Part {name}", "needs": list(needs)} | more


def refused(text: str) -> Problem:
    with pytest.raises(Problem) as failure:
        parse_plan(text)
    assert failure.value.exit_status == 2
    assert failure.value.hint
    return failure.value


def test_a_plan_is_written_as_a_person_would():
    plan = validate_plan(
        {
            "title": "Rivers of Norway",
            "steps": [
                step("s1", title="Length", queries=["longest river", "Glomma length"]),
                step("s2", "s1", title="Use", description="Power and timber.\nSince when?")
                | {"need_web_search": False},
            ],
        }
    )

    assert render_plan(plan) == (
        "# Rivers of Norway\n\n"
        "1. Length\n   search: longest river\n   search: Glomma length\n"
        "2. Use\n   Power and timber.\n   Since when?\n   after: 1\n   files only\n"
    )


def test_what_was_written_is_read_back_under_the_legend():
    plan = validate_plan(
        {
            "title": "Rivers",
            "steps": [
                step("s1", queries=["a", "b"], need_web_search=False),
                step("s2", "s1", description="x\ny"),
                step("s3", "s2", "s1"),
                step("s4", "s3", kind="compute"),
            ],
        }
    )

    assert parse_plan(PLAN_LEGEND + "\n" + render_plan(plan)) == plan
    assert parse_steps(render_steps(plan["steps"])) == plan["steps"]


@given(
    st.lists(st.tuples(WORDS, st.lists(WORDS, max_size=2), st.booleans()), min_size=1, max_size=5)
)
def test_any_plan_is_read_back_as_it_was_written(parts: list[tuple[str, list[str], bool]]):
    steps = [
        step(f"s{place}", *[f"s{place - 1}"] * (place > 1), title=" ".join(title.split()))
        | {"queries": [" ".join(query.split()) for query in queries], "need_web_search": web}
        for place, (title, queries, web) in enumerate(parts, start=1)
    ]
    plan = validate_plan({"steps": list(steps)})

    back = parse_plan(render_plan(plan))

    for before, after in zip(plan["steps"], back["steps"], strict=True):
        before["queries"] = [] if before["queries"] == [before["title"]] else before["queries"]
        assert after == before


LINES = [
    *("files only", "No web", "仅文件", "compute", "计算", "search: bees", "after: 2", "网页：否"),
    *("web: maybe", "serach: bees", "aftr: 2", "2. Honey", "- Honey", "# Honey", "{", "[1]"),
    *("\\files only", "\\\\search: bees", "\\alpha", "<!-- hidden -->", "<!--", "-->", "<\\!--"),
    *("knowledge: hives", "\ufeff1. A", "a\tb", "Part s1", "after: 2 (files only)"),
]
"""What may stand in a plan as words and looks like something else."""

ODD = st.one_of(st.sampled_from(LINES), st.text(max_size=12))


def words_of(text: str) -> str:
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


@settings(max_examples=40)
@given(st.lists(st.lists(ODD, max_size=4), min_size=1, max_size=3), ODD, ODD)
def test_any_words_are_read_back_as_words(told: list[list[str]], title: str, query: str):
    title, query = " ".join(title.split()) or "Part", " ".join(query.split()) or "bees"
    steps = [
        step(f"s{place}", title=title, queries=["a", query], description=words_of("\n".join(lines)))
        for place, lines in enumerate(told, start=1)
    ]
    plan = validate_plan({"title": title, "steps": steps})
    for one in plan["steps"]:
        repeats = one["description"].casefold() == title.casefold()
        one["description"] = "" if repeats else one["description"]

    assert parse_plan(PLAN_LEGEND + render_plan(plan)) == plan
    assert parse_steps(render_steps(plan["steps"])) == plan["steps"]


def test_words_that_look_like_a_property_are_written_with_a_backslash():
    plan = validate_plan({"steps": [step("s1", description="files only\nsearch: x\nserach: y")]})

    shown = "1. Part s1\n   \\files only\n   \\search: x\n   \\serach: y\n"
    assert render_steps(plan["steps"]) == shown


def test_ids_of_a_plan_need_not_be_known():
    plan = validate_plan({"steps": [step("mine"), step("yours", "mine")]})

    assert [one["id"] for one in parse_plan(render_plan(plan))["steps"]] == ["s1", "s2"]
    assert parse_plan(render_plan(plan))["steps"][1]["needs"] == ["s1"]


def test_numbers_mean_the_steps_as_they_are_written_wherever_these_stand():
    plan = parse_plan("3. Last\n   after: 7\n7. First\n")

    assert [(one["id"], one["title"], one["needs"]) for one in plan["steps"]] == [
        ("s1", "Last", ["s2"]),
        ("s2", "First", []),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "- Nectar\n- Honey\n  after: 1",
        "1. Nectar\n1. Honey\n   after: 1",
        "* Nectar\n\n* Honey\n\n  needs: step 1",
        "Nectar\nHoney\n    after: 1",
        "  1) Nectar\n  2) Honey\n     after: s1",
        "1、Nectar\n2、Honey\n   之后：1",
        "Step 1. Nectar\nStep 2. Honey\nafter: 1",
        "\ufeff1. Nectar\r\n2. Honey\r\n\tafter: 1\r\n",
    ],
)
def test_steps_are_taken_as_people_write_lists(text: str):
    first, second = parse_steps(text)

    assert (first["title"], second["title"]) == ("Nectar", "Honey")
    assert (first["needs"], second["needs"]) == ([], ["s1"])


def test_a_step_may_say_that_it_stays_off_the_web_in_several_ways():
    text = "1. A\n   web: no\n2. B\n   no web\n3. C\n   web: yes\n4. D\n   网页：否\n"

    assert [one["need_web_search"] for one in parse_steps(text)] == [False, False, True, False]


def test_a_list_below_a_step_belongs_to_it():
    (one,) = parse_steps("1. Honey\n   - what it weighs\n   1. and why\n")

    assert one["description"] == "- what it weighs\n1. and why"


@each_case(
    [
        ("", "plan_field", "line 1"),
        ("# Only a title\n", "plan_field", "line 1"),
        ("# A\n# B\n1. C\n", "plan_field", "line 2"),
        ("1. A\nand this\n", "plan_field", "line 2"),
        ("\n   indented\n1. A\n", "plan_field", "line 2"),
        ("1. A\n   serach: bees\n", "plan_field", "line 2"),
        ("1. A\n   web: maybe\n", "plan_field", "line 2"),
        ("1. A\n2. B\n\n   after: 9\n", "plan_unknown_need", "line 4"),
        ("1. A\n2. B\n   after: the first\n", "plan_unknown_need", "line 3"),
        ("1. A\n2. B\n2. C\n3. D\n   after: 2\n", "plan_field", "line 5"),
        ("1. A\n   after: 2\n2. B\n   after: 1\n", "plan_cycle", "line 1"),
        ("1. A\n2. B\n   after: 2\n", "plan_cycle", "line 2"),
        (f"1. A\n\n2. {'x' * 301}\n", "plan_field", "line 3"),
        ("".join(f"{number}. A\n" for number in range(1, 52)), "plan_too_long", "line 1"),
        ('{"steps": [\n', "plan_field", "line 2"),
    ]
)
def test_what_is_wrong_is_told_with_its_line(text: str, code: str, where: str):
    problem = refused(text)

    assert (problem.code, problem.where) == (code, where)


def test_a_circle_is_told_by_the_numbers_that_were_written():
    assert refused("1. A\n   after: 2\n2. B\n   after: 1\n").what.endswith(("1->2->1", "2->1->2"))


def test_comments_are_not_read_and_move_no_line():
    assert refused("<!-- 1. not\nread -->\n1. A\n   web: perhaps\n").where == "line 4"


def test_the_json_of_a_plan_is_read_too():
    plan = {"title": "Bees", "steps": [step("mine")]}

    assert parse_plan(json.dumps(plan))["steps"][0]["id"] == "mine"
    assert parse_steps(json.dumps(plan["steps"]))[0]["id"] == "mine"


def test_a_description_that_only_repeats_the_title_is_not_written():
    plan = {
        "title": "Bees",
        "steps": [step("s1", title="How bees dance", description="how bees dance")],
    }

    assert render_steps(validate_plan(plan)["steps"]).count("bees dance") == 1


@pytest.mark.parametrize("names", [["hives"], ["hives", "wiki.2"], []])
def test_the_knowledge_bases_of_a_plan_are_written_and_read_back(names: list[str]):
    plan = validate_plan({"title": "Bees", "steps": [step("s1")], "knowledge": names})

    assert parse_plan(render_plan(plan))["knowledge"] == names


def test_a_plan_that_says_nothing_of_knowledge_bases_changes_nothing_about_them():
    plan = validate_plan({"title": "Bees", "steps": [step("s1")]})

    assert "knowledge" not in plan
    assert "knowledge" not in render_plan(plan)
    assert "knowledge" not in parse_plan(render_plan(plan))


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("knowledge: hives, wiki", ["hives", "wiki"]),
        ("Knowledge：hives、wiki", ["hives", "wiki"]),
        ("知识库：hives", ["hives"]),
        ("知识库：无", []),
        ("knowledge: none", []),
        ("knowledge:", []),
    ],
)
def test_a_person_names_bases_above_the_steps(line: str, names: list[str]):
    assert parse_plan(f"# Bees\n\n{line}\n\n1. How bees dance\n")["knowledge"] == names


def test_a_chat_page_sends_the_names_as_one_line():
    plan = validate_plan({"steps": [step("s1")], "knowledge": "hives, wiki"})

    assert plan["knowledge"] == ["hives", "wiki"]
