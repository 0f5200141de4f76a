"""Forms of the console: plans, answers to steps, choices; and its words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import FormData

import app.web
from app.web.console_route import SentForm
from app.web.console_words import find_words, list_word_names, say
from app.web.live_runs import LiveRun
from app.web.pause_forms import list_asked_requests, read_pause_answers
from app.web.plan_forms import read_plan_decision
from app.web.question_forms import read_question_form, read_run_choices
from config.errors import ErrorCode, Problem
from graph.plan import validate_plan
from runs.progress_events import NOTHING_SPENT, UNKNOWN_LEFT, ProgressEvent
from tests.cases import each_case

TEMPLATES = Path(app.web.__file__).parent / "templates"


def form(*pairs: tuple[str, str], **fields: str) -> SentForm:
    return SentForm(FormData([*fields.items(), *pairs]))


def step(id: str, title: str, *needs: str, **more: Any) -> dict[str, Any]:
    plain = {"description": f"About {title}.\nAll of it.", "kind": "research", "queries": [title]}
    return {"id": id, "title": title, **plain, "needs": [*needs], "need_web_search": True, **more}


def asked(*steps: dict[str, Any], **plan: Any) -> dict[str, Any]:
    made = {"title": "Bees", "thought": "", "has_enough_context": False, "steps": [*steps], **plan}
    return {"plan": made, "revision": 1, "action_requests": [{"name": "research_plan"}]}


def as_shown(request: dict[str, Any], **changes: str) -> SentForm:
    """Return the form of a plan as a browser sends it back."""
    fields = {"revision": str(request["revision"]), "title": request["plan"]["title"]}
    for number, one in enumerate(request["plan"]["steps"], start=1):
        fields[f"step_{number}_place"] = str(number)
        fields[f"step_{number}_title"] = one["title"]
        fields[f"step_{number}_description"] = one["description"].replace("\n", "\r\n")
    bases = [("knowledge", name) for name in request["plan"].get("knowledge", [])]
    return form(*bases, **{**fields, **changes})


PLAN = asked(step("s1", "Dances"), step("s2", "Hives", "s1"), step("s3", "Honey", kind="compute"))


def edited(request: dict[str, Any], **changes: str) -> Any:
    (decision,) = read_plan_decision(as_shown(request, **changes), request)["decisions"]
    assert decision["type"] == "edit"
    return decision["edited_action"]["args"]


def test_a_plan_that_was_left_as_it_is_is_approved():
    assert read_plan_decision(as_shown(PLAN), PLAN) == {
        "decisions": [{"type": "approve", "answers": {}}]
    }


def test_a_step_with_a_new_title_searches_for_it_and_the_others_stay():
    steps = edited(PLAN, step_1_title="Waggle dances")["steps"]

    assert (steps[0]["title"], steps[0]["queries"]) == ("Waggle dances", ["Waggle dances"])
    assert steps[1:] == PLAN["plan"]["steps"][1:]
    assert validate_plan({**PLAN["plan"], "steps": steps})


def test_steps_are_dropped_moved_and_added():
    changes = {"step_1_drop": "1", "step_3_place": "0", "new_1_title": "Wax"}
    steps = edited(PLAN, **changes, new_1_description="What it is made of")["steps"]

    assert [one["title"] for one in steps] == ["Honey", "Hives", "Wax"]
    assert steps[1]["needs"] == []
    assert steps[0]["kind"] == "compute"
    assert steps[2]["id"] not in {"s1", "s2", "s3"}
    assert validate_plan({**PLAN["plan"], "steps": steps})


def test_title_and_knowledge_bases_of_a_plan_are_changed():
    request = asked(step("s1", "Dances"), knowledge=["hives", "honey"])
    changed = SentForm(
        FormData(
            [
                (name, value)
                for name, value in as_shown(request, title="Wasps").fields.multi_items()
                if value != "honey"
            ]
        )
    )
    (decision,) = read_plan_decision(changed, request)["decisions"]

    assert decision["edited_action"]["args"] == {"title": "Wasps", "knowledge": ["hives"]}


def test_a_plan_without_steps_and_one_that_was_replaced_are_refused():
    every = {f"step_{number}_drop": "1" for number in (1, 2, 3)}
    for changes in (every, {"revision": "0"}):
        with pytest.raises(Problem) as refused:
            read_plan_decision(as_shown(PLAN, **changes), PLAN)
        assert refused.value.error is ErrorCode.BAD_FEEDBACK


def test_a_plan_is_sent_back_with_words_and_answers():
    request = {**PLAN, "questions": [{"id": "q1"}, {"id": "q2"}]}
    given = {"q1_option": "Austria", "q2_option": "", "words": "Fewer steps\r\nplease"}
    (decision,) = read_plan_decision(as_shown(request, decision="reject", **given), request)[
        "decisions"
    ]

    assert decision == {
        "type": "reject",
        "message": "Fewer steps\nplease",
        "answers": {"q1": "Austria"},
    }


PAUSE = {
    "action_requests": [
        {"name": "ask_user", "args": {"question": "Where?", "options": ["A"], "answer": "B"}},
        {"name": "send_mail", "args": {"to": "ada"}, "description": "send a mail"},
    ],
    "requests": [{"id": "q1", "step": "s1"}, {"id": "q2", "step": "s2"}],
}


@each_case(
    [
        ({}, {}),
        ({"q1_option": "A"}, {"q1": "A"}),
        ({"q1_option": "A", "q1_words": "C"}, {"q1": "C"}),
        ({"q2_leave": "yes"}, {"q2": "yes"}),
        ({"q2_leave": "always"}, {"q2": "always"}),
        ({"q2_leave": "no"}, {"q2": "no"}),
        ({"q2_leave": "no", "q2_words": "call her"}, {"q2": "no, call her"}),
        ({"q2_leave": "yes", "q2_arguments": '{"to": "ben"}'}, {"q2": '{"to": "ben"}'}),
        ({"q2_leave": "evil"}, {}),
    ]
)
def test_what_steps_ask_is_answered(fields: dict[str, str], answers: dict[str, str]):
    assert read_pause_answers(form(**fields), PAUSE) == {"answers": answers}


def test_arguments_that_were_left_as_they_are_are_a_plain_yes():
    shown = list_asked_requests(PAUSE)[1].arguments
    sent = form(q2_leave="yes", q2_arguments=shown.replace("\n", "\r\n"))

    assert read_pause_answers(sent, PAUSE) == {"answers": {"q2": "yes"}}


def test_choices_that_were_left_as_they_are_are_left_out():
    plain = form(depth="standard", length="standard", web="", review="yes", max_cost="")

    assert read_run_choices(plain) == {}
    chosen = form(("knowledge", "hives"), depth="deep", review="no", max_cost="0,5")
    assert read_run_choices(chosen) == {
        "depth": "deep",
        "knowledge": ["hives"],
        "max_cost": 0.5,
        "auto_accept": True,
        "stop_to_ask": True,
    }
    for wrong in ("x", "-1", "nan"):
        with pytest.raises(Problem):
            read_run_choices(form(max_cost=wrong))


async def test_an_empty_question_is_refused_and_secrets_of_one_are_masked():
    with pytest.raises(Problem) as refused:
        await read_question_form(form(question=" \r\n"))
    assert refused.value.error is ErrorCode.QUESTION_EMPTY
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    assert key not in str(await read_question_form(form(question=f"Is {key} a key?")))


def event(name: str, kind: Any = "stage", **data: Any) -> ProgressEvent:
    spent = {**NOTHING_SPENT, "calls": 2}
    told: Any = {"kind": kind, "event": name, "run": "r", "step": "", "text": name, "data": data}
    return ProgressEvent(**told, seconds=1.0, spent=spent, left=UNKNOWN_LEFT)  # type: ignore[typeddict-item]


def test_progress_counts_searches_and_pages_and_follows_steps():
    live = LiveRun("r")
    for one in (
        event("plan", titles=["Dances", "Hives"]),
        event("researching", "step", number=1, title="Dances"),
        event("searching", "search"),
        event("reading", "read"),
        event("called", "cost"),
        event("step_done", "step", number=1, title="Dances"),
    ):
        live.take(one)

    assert [(one.title, one.state) for one in live.steps.values()] == [
        ("Dances", "done"),
        ("Hives", "waiting"),
    ]
    assert (live.counts["searching"], live.counts["reading"]) == (1, 1)
    assert "called" not in {one["event"] for one in live.lines}
    assert live.stage == "step_done"


def test_a_draft_is_collected_piece_by_piece():
    live = LiveRun("r")
    for text in ("Bees ", "dance."):
        live.take_draft({"type": "AIMessageChunk", "content": text})
    live.take_draft({"type": "human", "content": "no"})
    live.take_draft({"type": "AIMessageChunk", "content": "Searching", "name": "progress"})

    assert live.draft == "Bees dance."


def test_all_words_are_there_in_both_languages():
    for name in list_word_names():
        english, chinese = find_words("en", name), find_words("zh", name)
        assert english, name
        assert chinese, name
        fields = [sorted(re.findall(r"\{(\w+)\}", words)) for words in (english, chinese)]
        assert fields[0] == fields[1], name


def test_templates_use_no_words_that_there_are_not():
    known = set(list_word_names())
    for file in TEMPLATES.glob("*.html"):
        for name in re.findall(r"""\bt\(["']([a-z_]+\.[a-z_]+)["']\s*[,)]""", file.read_text()):
            assert name in known, f"{file.name}: {name}"


def test_values_stand_in_words():
    assert say("en", "review.step", number=3) == "Step 3"
    assert find_words("en", "status.what_nobody_knows") == "what nobody knows"
