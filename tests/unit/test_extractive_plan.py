from itertools import product

import pytest

from models.extractive.planning import draft_plan
from models.extractive.prompt_parser import ParsedPrompt, PromptFinding
from nodes.planner import Draft
from tests.cases import each_case
from text.answerability import SourcePassage

PLAN = {
    "steps": [
        {"id": "s1", "title": "Bees", "queries": ["bees"], "needs": []},
        {"id": "s2", "title": "Wasps", "queries": ["wasps"], "needs": []},
        {
            "id": "s3",
            "title": "Bees and wasps together",
            "queries": ["both"],
            "needs": ["s1", "s2"],
        },
    ]
}


def plan(question, **more):
    made = draft_plan(ParsedPrompt(question=question, **more))
    Draft.model_validate(made)
    return made["steps"]


def titles(steps):
    return [step["title"] for step in steps]


def revised(feedback, limit=4):
    steps = plan("Compare bees and wasps", plan=PLAN, feedback=feedback, step_limit=limit)
    return [(step["title"], step["needs"]) for step in steps]


def test_a_simple_question_gets_one_step():
    [step] = plan("What is HNSW?")

    assert (step["title"], step["queries"]) == ("What is HNSW?", ["HNSW"])
    assert step["kind"] == "research"
    assert step["need_web_search"]


def test_a_comparison_gets_a_step_for_each_side_and_one_that_needs_both():
    steps = plan("Where do Smith and Jones disagree about bee navigation?")

    assert titles(steps)[:2] == ["Smith: bee navigation", "Jones: bee navigation"]
    assert [step["needs"] for step in steps] == [[], [], [1, 2]]


def test_each_sub_question_gets_a_step_whose_query_knows_the_topic():
    steps = plan("Why do bees dance, and how do they find the hive?")

    assert titles(steps) == ["Why do bees dance", "How do they find the hive"]
    assert "bees" in steps[1]["queries"][0]


def test_listed_dimensions_share_the_steps():
    steps = plan(
        "收集整理保险公司的资料，比较融资情况、信誉度、增长幅度、实际分红、发展潜力等维度",
        step_limit=3,
    )

    assert titles(steps)[0] == "保险公司资料：融资情况、信誉度"
    assert len(steps) == 3


def test_an_open_question_is_split_by_what_the_pages_are_about():
    question = (
        "Explain how honey bees communicate with each other about food sources, threats and the "
        "state of their colony"
    )
    text = "How honey bees communicate food sources and threats in their colony."
    pages = tuple(
        SourcePassage(f"S{n}", title, "", text if n < 3 else "Football is a game.")
        for n, title in enumerate(["Waggle dance", "Pheromones", "Football"], start=1)
    )

    steps = plan(question, pages=pages)

    assert [title.partition(":")[0] for title in titles(steps)[1:]] == [
        "Waggle dance",
        "Pheromones",
    ]

    known = (PromptFinding("1/s1", "The waggle dance", "", ""),)
    others = titles(plan(question, pages=pages, earlier_findings=known))[1:]
    assert [title.partition(":")[0] for title in others] == ["Pheromones"]


@each_case(
    product(
        [
            "Compare Rust and Go",
            "Why A1? Why is B2 red? Why is C3 blue? Why is D4 green? Why is E5 pink?",
            "What do Anna Bell, Bob Cole, Dan Eck, Eve Fox and Gil Ham think?",
        ],
        [1, 2, 3, 4],
    )
)
def test_a_plan_keeps_to_the_limit_and_needs_only_earlier_steps(question, limit):
    steps = plan(question, step_limit=limit)

    assert 0 < len(steps) <= limit
    for number, step in enumerate(steps, start=1):
        assert 1 <= len(step["queries"]) <= 2
        assert all(need < number for need in step["needs"])


def test_a_plan_is_never_enough_by_itself():
    assert draft_plan(ParsedPrompt(question="What is HNSW?"))["has_enough_context"] is False


def test_the_plan_is_in_the_language_of_the_question():
    assert draft_plan(ParsedPrompt(question="蜜蜂为什么跳舞？"))["thought"] == "问题可以一步回答。"


@each_case(
    [
        ("drop step 2", [("Bees", []), ("Bees and wasps together", [1])]),
        ("不要第二步", [("Bees", []), ("Bees and wasps together", [1])]),
        ("only bees", [("Bees", [])]),
        ("without wasps", [("Bees", [])]),
        ("Remove the last step", [("Bees", []), ("Wasps", [])]),
        ("Only step 1 and 2, please.", [("Bees", []), ("Wasps", [])]),
        ("No comparison please", [("Bees", []), ("Wasps", [])]),
        ("That is too long", [("Bees", []), ("Wasps", [])]),
        ("Remove steps 2 and 3, but add climate change", [("Bees", []), ("Climate change", [])]),
        ("Drop step 3; replace wasps with hornets", [("Bees", []), ("Hornets", [])]),
        (
            "Leave out wasps, and find out who keeps bees in town",
            [("Bees", []), ("Who keeps bees in town", [])],
        ),
        (
            "Skip step 2 and step 3 and check what wasps cost a bees keeper",
            [("Bees", []), ("What wasps cost a bees keeper", [])],
        ),
    ]
)
def test_a_person_may_drop_and_swap_steps(feedback, left):
    assert revised(feedback) == left


@pytest.mark.parametrize(
    ("feedback", "title"),
    [
        ("Please also look at honey production", "Honey production"),
        ("I care about queen survival", "Queen survival"),
        ("增加关于蜂蜜产量的内容", "蜂蜜产量"),
    ],
)
def test_what_a_person_asks_for_becomes_a_step(feedback, title):
    assert revised(feedback)[3][0] == title


def test_a_new_step_takes_the_place_of_the_last_one_when_the_plan_is_full():
    assert revised("add honey", limit=3) == [("Bees", []), ("Wasps", []), ("Honey", [])]


def test_what_is_in_the_plan_already_is_not_added_again():
    assert len(revised("please look at wasps")) == 3


def test_a_plan_is_never_emptied():
    assert len(revised("drop steps 1, 2 and 3")) == 3


def test_without_an_earlier_plan_the_words_change_a_new_one():
    assert titles(plan("Compare Rust and Go", feedback="add memory safety"))[-1] == "Memory safety"


def test_pages_do_not_pad_the_plan_of_a_simple_question():
    pages = (
        SourcePassage("S1", "Waggle dance", "", "Bees dance."),
        SourcePassage("S2", "Hives", "", "Bees dance."),
    )

    assert len(plan("Why do bees dance?", pages=pages)) == 1


def test_a_disagreement_is_searched_for_its_theses_too():
    [step] = plan("How do the two papers disagree about forgetting?")

    assert step["queries"] == ["forgetting", "forgetting argues conclusion abstract"]


def test_a_sub_question_that_points_back_is_asked_of_what_the_first_one_is_about():
    steps = plan("What is the forgetting curve and who discovered it?")

    assert titles(steps) == ["What is the forgetting curve", "Who discovered the forgetting curve"]


def test_a_plan_is_framed_in_the_language_that_is_wanted():
    made = draft_plan(ParsedPrompt(question="What is the waggle dance?", prompt_language="zh"))

    assert (made["title"], made["thought"]) == ("关于“waggle dance”", "问题可以一步回答。")


@pytest.mark.parametrize(
    ("question", "feedback", "about", "wanted"),
    [
        ("How do honey bees dance?", "only the angles, skip the history", "honey", "angles"),
        ("How do honey bees dance?", "nothing on wasps, just the speed", "honey", "speed"),
        ("蜜蜂怎样跳舞？", "只看角度，不要历史", "蜜蜂", "角度"),
    ],
)
def test_a_plan_that_is_rejected_in_words_keeps_its_subject(question, feedback, about, wanted):
    made = {"steps": [{"id": "s1", "title": question, "queries": [question], "needs": []}]}
    (step,) = plan(question, plan=made, feedback=feedback)

    assert all(about in query and wanted in query for query in step["queries"])
    assert about in step["description"]


def test_what_stays_does_not_search_for_what_was_struck_out():
    question = "How do I use libffi closures, and how do I build zstd with CMake?"
    before = plan(question)
    drafted = {"steps": [{"id": f"s{at}", **one} for at, one in enumerate(before, start=1)]}

    [step] = plan(question, plan=drafted, feedback="only libffi, skip zstd")

    searched = " ".join(step["queries"])
    assert "zstd" in " ".join(before[0]["queries"])
    assert "libffi closures" in searched
    assert "zstd" not in searched
    assert "CMake" not in searched


def test_what_is_added_does_not_search_for_what_was_struck_out():
    question = "Did Sunday opening pay off, and how much did the flood cost?"
    drafted = {"steps": [{"id": f"s{at}", **one} for at, one in enumerate(plan(question), start=1)]}

    kept, added = plan(
        question, plan=drafted, feedback="Leave out the flood, and find out who voted against it"
    )

    assert kept["title"] == "Did Sunday opening pay off"
    assert added["title"] == "Who voted against it"
    assert "flood" not in " ".join([*kept["queries"], *added["queries"], added["description"]])


@pytest.mark.parametrize(
    ("asked", "second"),
    [
        (
            "Who built the lighthouse at Cape Merrin, and how high is it?",
            "How high is the lighthouse at Cape Merrin",
        ),
        (
            "When was the market hall in Bergen opened, and who owns it?",
            "Who owns the market hall in Bergen",
        ),
        ("How high is Mont Blanc, and who climbed it first?", "Who climbed Mont Blanc first"),
        ("Did Sunday opening pay off, and what did it cost?", "What did Sunday opening cost"),
        ("Is Python spreading in schools, and who uses it?", "Who uses Python"),
    ],
)
def test_a_part_that_points_back_names_the_thing_and_not_only_its_place(asked: str, second: str):
    assert [
        one["title"] for one in draft_plan(ParsedPrompt(question=asked, step_limit=4))["steps"]
    ][1] == second


@pytest.mark.parametrize(
    ("languages", "more"), [(("en", "zh"), ["Mux default port"]), (("zh",), [])]
)
def test_a_step_searches_in_the_other_language_if_sources_are_in_it(languages, more):
    (step,) = plan("mux 的默认端口是多少？", source_languages=languages)

    assert step["queries"][1:] == more
