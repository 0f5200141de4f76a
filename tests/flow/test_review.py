"""The plan review is a real gate, for every client alike."""

from __future__ import annotations

import pytest

from config.errors import Problem
from graph.session import ThreadSession, open_session
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks"
)


@pytest.fixture
def reviewed(choices: dict[str, object]) -> dict[str, object]:
    return {**choices, "auto_accept": False}


async def test_the_pause_speaks_langchains_human_in_the_loop_schema(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))

    outcome = await thread.begin("How do bees dance?", make(reviewed), quiet)

    assert outcome.request
    (request,) = outcome.request["action_requests"]
    (config,) = outcome.request["review_configs"]
    assert config["action_name"] == request["name"]
    assert config["allowed_decisions"] == ["approve", "edit", "reject"]
    plan = outcome.request["plan"]
    fields = {"step_1": "waggle dance", "add_steps": ""}
    assert request["args"] == {"title": plan["title"], **fields}
    assert "\n1. waggle dance" in request["description"]


async def test_an_edited_plan_is_researched_exactly_as_edited(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    outcome = await thread.begin("How do bees dance?", make(reviewed), quiet)
    assert outcome.request
    plan = {**outcome.request["plan"], "title": "Mine"}
    plan["steps"] = [{**plan["steps"][0], "id": "mine", "title": "winter", "queries": ["winter"]}]

    decision = {"type": "edit", "edited_action": {"name": "research_plan", "args": plan}}
    outcome = await thread.answer_review(decision, make(reviewed), quiet)

    assert outcome.state["plan"] == plan
    assert list(outcome.state["findings"]) == ["1/mine"]


def typed(**args: object) -> dict[str, object]:
    """Return the decision to research the plan that was typed into the fields of a chat page."""
    return {"type": "edit", "edited_action": {"name": "research_plan", "args": args}}


@pytest.mark.parametrize(
    "steps",
    [
        "1. winter cluster\n2. the queen\n   search: eggs a day\n   after: 1\n",
        '[{"id": "a", "title": "winter cluster"},'
        ' {"id": "b", "title": "the queen", "queries": ["eggs a day"], "needs": ["a"]}]',
        [
            {"id": "a", "title": "winter cluster"},
            {"id": "b", "title": "the queen", "queries": ["eggs a day"], "needs": ["a"]},
        ],
        "- winter cluster\n- the queen\n   search: eggs a day\n   after: 1",
    ],
    ids=["lines", "JSON text", "JSON", "bullets"],
)
async def test_steps_are_edited_as_text_or_as_json_without_an_id_to_invent(
    thread: ThreadSession, reviewed: dict[str, object], script: Script, steps: object
):
    script.on("Draft", draft("waggle dance"))
    await thread.begin("How do bees live?", make(reviewed), quiet)

    edit = typed(title="Mine", steps=steps)
    plan = (await thread.answer_review(edit, make(reviewed), quiet)).state["plan"]

    assert plan["title"] == "Mine"
    assert [step["title"] for step in plan["steps"]] == ["winter cluster", "the queen"]
    assert plan["steps"][1]["queries"] == ["eggs a day"]
    assert plan["steps"][1]["needs"] == [plan["steps"][0]["id"]]


async def test_a_field_that_was_not_touched_leaves_the_steps_as_they_are(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance", "winter"))
    outcome = await thread.begin("How do bees live?", make(reviewed), quiet)
    assert outcome.request
    (request,) = outcome.request["action_requests"]

    edit = typed(**{**request["args"], "title": "Mine"})
    plan = (await thread.answer_review(edit, make(reviewed), quiet)).state["plan"]

    assert plan == {**outcome.request["plan"], "title": "Mine"}


async def test_the_lines_of_a_chat_page_are_edited_dropped_moved_and_added(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance", "winter", "honey"))
    outcome = await thread.begin("How do bees live?", make(reviewed), quiet)
    assert outcome.request
    (request,) = outcome.request["action_requests"]
    args = request["args"] | {"step_1": "honey", "step_2": "", "step_3": "waggle dance"}

    edit = typed(**args, step_4="the queen (after 1)")
    outcome = await thread.answer_review(edit, make(reviewed), quiet)

    assert outcome.state["decision"] == "edit"
    steps = outcome.state["plan"]["steps"]
    assert [step["title"] for step in steps] == ["honey", "waggle dance", "the queen"]
    # The number is that of the field in which the step was shown.
    assert steps[2]["needs"] == [steps[1]["id"]]
    assert len(outcome.state["findings"]) == 3


@pytest.mark.parametrize("steps", ["", "   after: 1", '[{"id": "a"', "7", '"steps"'])
async def test_text_that_holds_no_steps_is_told_and_the_review_waits_on(
    thread: ThreadSession, reviewed: dict[str, object], script: Script, steps: str
):
    script.on("Draft", draft("waggle dance"))
    outcome = await thread.begin("How do bees live?", make(reviewed), quiet)
    assert outcome.request
    before = outcome.request["plan"]

    outcome = await thread.answer_review(typed(steps=steps), make(reviewed), quiet)

    if outcome.request:
        assert "plan_" in outcome.request["note"]
        assert outcome.request["plan"] == before
    else:
        assert [step["title"] for step in outcome.state["plan"]["steps"]] == [steps]


async def test_a_rejection_reaches_the_planner_in_the_persons_words(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"), draft("winter cluster"))
    await thread.begin("How do bees live?", make(reviewed), quiet)

    rejection = {"type": "reject", "message": "only about <winter>"}
    outcome = await thread.answer_review(rejection, make(reviewed), quiet)

    assert "only about <winter>" in script.prompts("Draft")[-1]
    assert outcome.request
    assert outcome.request["plan"]["steps"][0]["title"] == "winter cluster"


async def test_the_last_plan_waits_when_enough_plans_were_made(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    context = make(reviewed, max_revisions=1)
    await thread.begin("How do bees dance?", context, quiet)
    for _ in range(3):
        outcome = await thread.answer_review({"type": "reject", "message": "no"}, context, quiet)

    assert script.names().count("Draft") == 2
    assert outcome.request
    assert outcome.request["review_configs"][0]["allowed_decisions"] == ["approve", "edit"]


async def test_an_impossible_edit_is_told_and_the_review_waits_on(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance", "winter"))
    outcome = await thread.begin("How do bees dance?", make(reviewed), quiet)
    assert outcome.request
    plan = outcome.request["plan"]
    steps = [
        {**step, "needs": need} for step, need in zip(plan["steps"], (["s2"], ["s1"]), strict=True)
    ]

    args = {**plan, "steps": steps}
    decision = {"type": "edit", "edited_action": {"name": "research_plan", "args": args}}
    outcome = await thread.answer_review(decision, make(reviewed), quiet)

    assert outcome.request
    assert "plan_cycle" in outcome.request["note"]
    assert outcome.request["plan"] == plan


async def test_a_review_waits_for_another_process(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    await thread.begin("How do bees dance?", make(reviewed), quiet)

    async with open_session("t1") as other:
        outcome = await other.answer_review({"type": "approve"}, make(reviewed), quiet)

    assert outcome.state["status"] == "succeeded"


async def test_a_new_question_does_not_throw_a_waiting_review_away(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    await thread.begin("How do bees dance?", make(reviewed), quiet)

    with pytest.raises(Problem) as problem:
        await thread.begin("And in winter?", make(reviewed), quiet)

    assert problem.value.code == "waiting_review"


async def test_a_decision_on_a_plan_that_has_changed_since_is_not_taken_for_one_on_the_new_plan(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"), draft("winter cluster"))
    first = await thread.begin("How do bees live?", make(reviewed), quiet)
    await thread.answer_review({"type": "reject"}, make(reviewed), quiet)

    with pytest.raises(Problem) as problem:
        await thread.answer_review({"type": "approve"}, make(reviewed), quiet, first.request)

    assert problem.value.code == "stale_plan"
    assert (await thread.current()).interrupts


async def test_a_run_that_does_not_wait_takes_no_answer(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await thread.begin("How do bees dance?", make(choices), quiet)
    asked = len(script.asked)

    with pytest.raises(Problem) as problem:
        await thread.answer_review({"type": "approve"}, make(choices), quiet)

    assert problem.value.code == "not_waiting"
    assert len(script.asked) == asked
