"""A chat page shows the conversation, the report as it is written, and how far a run is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.messages import AIMessageChunk, HumanMessage
from langchain_core.outputs import ChatGenerationChunk
from langgraph.types import Command

from calls.streaming import HIDDEN
from graph.session import ThreadSession
from tests.chat_page import ChatPage, watched
from tests.conftest import make
from tests.fake_model import FakeModel, Script
from tests.flow.test_defects import draft

pytestmark = pytest.mark.extractive("Triage", "Checks", "Lessons")

MODES = ["values", "messages", "updates", "custom"]
DRAFT = "*Draft, not checked yet:*\n\n"
QUESTION = "How do bees dance?"
SAID = '<q s="S1">The waggle dance tells other bees the direction of food.</q> [S1]'


@pytest.fixture(autouse=True)
def word_by_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the scripted model say what it says in parts, as models do."""

    async def parts(
        self: FakeModel,
        messages: Any,
        stop: Any = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **more: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        whole = (await self._agenerate(messages, stop, None, **more)).generations[0].message
        text = str(whole.text)
        cuts = [text[at : at + 7] for at in range(0, len(text), 7)] or [""]
        for part in cuts:
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=part))
            if run_manager:
                await run_manager.on_llm_new_token(part, chunk=chunk)
            yield chunk
        yield ChatGenerationChunk(
            message=AIMessageChunk(
                content="",
                response_metadata=whole.response_metadata,
                usage_metadata=getattr(whole, "usage_metadata", None),
                tool_calls=[],
            )
        )

    monkeypatch.setattr(FakeModel, "_astream", parts)


@pytest.fixture
def scripted(script: Script) -> Script:
    script.on("Rewrite", {"question": QUESTION, "queries": ["waggle dance"]})
    script.on("Draft", draft("waggle dance", "winter cluster"))
    script.on("Verdict", {"passed": True})
    script.on("Enough", {"enough": True})
    script.on("researcher", SAID)
    script.on("reporter", SAID)
    return script


async def shown(
    thread: ThreadSession, choices: dict[str, object], given: Any = None, **more: Any
) -> ChatPage:
    """Return what a chat page has shown of a run."""
    asked = given or {"messages": [HumanMessage(QUESTION, id="h1")]}
    subgraphs = more.pop("subgraphs", True)
    stream = thread.graph.astream(
        asked, thread.config, context=make(choices, **more), stream_mode=MODES, subgraphs=subgraphs
    )
    return await watched(stream if subgraphs else _flat(stream))


async def _flat(stream: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for mode, data in stream:
        yield (), mode, data


@pytest.mark.parametrize("subgraphs", [True, False])
async def test_no_prompt_and_no_page_is_ever_taken_for_the_conversation(
    thread: ThreadSession, choices: dict[str, object], scripted: Script, subgraphs: bool
):
    page = await shown(thread, choices, subgraphs=subgraphs)

    assert len(page.screens) > 20
    assert "<question>" not in page.seen
    assert "<page" not in page.seen
    assert '"research"' not in page.seen
    assert '"steps"' not in page.seen
    assert '"passed"' not in page.seen
    assert "winter cluster below" not in page.seen


@pytest.mark.parametrize("subgraphs", [True, False])
async def test_the_question_never_leaves_the_screen(
    thread: ThreadSession, choices: dict[str, object], scripted: Script, subgraphs: bool
):
    page = await shown(thread, choices, subgraphs=subgraphs)

    first = next(at for at, screen in enumerate(page.screens) if screen)
    assert all(screen[0] == ("human", QUESTION) for screen in page.screens[first:])


@pytest.mark.parametrize("subgraphs", [True, False])
async def test_the_report_is_read_while_it_is_written_and_the_checked_one_takes_its_place(
    thread: ThreadSession, choices: dict[str, object], scripted: Script, subgraphs: bool
):
    page = await shown(thread, choices, subgraphs=subgraphs)

    written = HIDDEN.sub("", SAID)
    drafts = [text for screen in page.screens for _, text in screen if text.startswith(DRAFT)]
    growing = {text for text in drafts if f"{DRAFT}{written}".startswith(text)}
    assert len(growing) > 5
    assert len(growing) == len(set(drafts))
    assert not any("<q" in text for text in growing)
    (question, report) = page.screens[-1]
    assert question == ("human", QUESTION)
    assert report[0] == "ai"
    assert "[1]" in report[1]
    assert DRAFT not in report[1]


@pytest.mark.parametrize("subgraphs", [True, False])
async def test_every_stage_says_how_far_it_is_and_the_report_stands_alone_in_the_end(
    thread: ThreadSession, choices: dict[str, object], scripted: Script, subgraphs: bool
):
    page = await shown(thread, choices, subgraphs=subgraphs)

    for told in (
        "Searching: waggle dance",
        "Planning",
        "Researching 1 of 2: waggle dance",
        "Researching 2 of 2: winter cluster",
        "Writing the report",
    ):
        assert told in page.seen
    assert [kind for kind, _ in page.screens[-1]] == ["human", "ai"]
    assert "Researching" not in page.screens[-1][1][1]


async def test_progress_speaks_the_language_of_the_run(
    thread: ThreadSession, choices: dict[str, object], scripted: Script
):
    page = await shown(thread, choices, language="zh")

    assert "正在研究第 1 步（共 2 步）" in page.seen
    assert "Researching" not in page.seen


async def test_a_plan_that_waits_is_the_last_message_of_the_assistant(
    thread: ThreadSession, choices: dict[str, object], scripted: Script
):
    page = await shown(thread, choices, auto_accept=False)

    kind, text = page.screens[-1][-1]
    assert page.interrupts
    assert kind == "ai"
    assert "1. waggle dance" in text
    assert "2. winter cluster" in text


async def test_another_plan_takes_the_place_of_the_first_one(
    thread: ThreadSession, choices: dict[str, object], scripted: Script
):
    scripted.on("Draft", draft("waggle dance"), draft("the queen"))
    await shown(thread, choices, auto_accept=False)

    rejected = Command(resume={"decisions": [{"type": "reject", "message": "the queen"}]})
    page = await shown(thread, choices, rejected, auto_accept=False)

    kinds, (_, text) = [kind for kind, _ in page.screens[-1]], page.screens[-1][-1]
    assert kinds == ["human", "ai"]
    assert "1. the queen" in text
    assert "waggle" not in text


async def test_the_plan_gives_way_to_the_report(
    thread: ThreadSession, choices: dict[str, object], scripted: Script
):
    await shown(thread, choices, auto_accept=False)

    approved = Command(resume={"decisions": [{"type": "approve"}]})
    page = await shown(thread, choices, approved, auto_accept=False)

    assert any("1. waggle dance" in text for _, text in page.screens[0])
    assert [kind for kind, _ in page.screens[-1]] == ["human", "ai"]
    assert "1. waggle dance" not in page.screens[-1][-1][1]


async def test_a_follow_up_shows_its_plan_below_the_first_report(
    thread: ThreadSession, choices: dict[str, object], scripted: Script
):
    await shown(thread, choices)

    again = {"messages": [HumanMessage("And in winter?", id="h2")]}
    page = await shown(thread, choices, again, auto_accept=False)

    assert [kind for kind, _ in page.screens[-1]] == ["human", "ai", "human", "ai"]
    assert page.interrupts


async def test_a_question_asked_instead_of_a_decision_takes_the_plan_away(
    thread: ThreadSession, choices: dict[str, object], scripted: Script
):
    await shown(thread, choices, auto_accept=False)

    again = {"messages": [HumanMessage("And in winter?", id="h2")]}
    page = await shown(thread, choices, again)

    assert [kind for kind, _ in page.screens[-1]] == ["human", "human", "ai"]


async def test_what_a_model_thinks_aloud_is_not_shown(
    thread: ThreadSession, choices: dict[str, object], scripted: Script
):
    scripted.on("reporter", f"<think>Hm, quorvix < 3?</think>{SAID}")

    page = await shown(thread, choices)

    assert "quorvix" not in page.seen
    assert "[1]" in page.screens[-1][-1][1]


async def reloaded(thread: ThreadSession) -> tuple[list[tuple[str, str]], int]:
    """Return the conversation that a page shows when it is opened anew, and what waits below it."""
    state = await thread.current()
    said = [(one.type, str(one.text)) for one in state.values["messages"]]
    return said, len(state.interrupts)


async def test_a_session_reads_the_same_after_every_reload(
    thread: ThreadSession, choices: dict[str, object], scripted: Script
):
    scripted.on("Draft", draft("waggle dance"), draft("waggle run"), draft("dance"))
    rejected = Command(resume={"decisions": [{"type": "reject", "message": "the queen"}]})
    again = {"messages": [HumanMessage("And in winter?", id="h2")]}
    asked = ["human", "ai"]
    steps: list[tuple[Any, list[str], int, str]] = [
        (None, asked, 1, "1. waggle dance"),
        (rejected, asked, 1, "1. waggle run"),
        (Command(resume="go ahead"), asked, 0, "## Sources"),
        (again, asked * 2, 1, "1. dance"),
        (Command(resume="yes"), asked * 2, 0, "# Bees"),
    ]
    for given, kinds, waiting, last in steps:
        page = await shown(thread, choices, given, auto_accept=False)

        assert [kind for kind, _ in page.screens[-1]] == kinds
        assert last in page.screens[-1][-1][1]
        assert len(page.interrupts) == waiting
        assert await reloaded(thread) == (page.screens[-1], waiting)


async def test_no_picture_and_no_address_is_shown_while_a_report_is_written(
    thread: ThreadSession, choices: dict[str, object], scripted: Script
):
    live = "![dance](https://collect.test/p.png?d=Zorblatt) and [more](//collect.test) at"
    scripted.on("reporter", f"{SAID} {live} https://collect.test/q. {SAID}")

    page = await shown(thread, choices)

    assert "collect.test" not in page.seen
    assert "![" not in page.seen


async def test_a_plan_that_waits_draws_no_picture(
    thread: ThreadSession, choices: dict[str, object], scripted: Script
):
    plan = draft("waggle dance")
    plan["steps"][0]["description"] = "![](https://collect.test/p.png?d=Zorblatt)"
    plan["steps"][0]["queries"] = ["<img src=https://collect.test/q>", "dance"]
    scripted.on("Draft", plan | {"thought": "[now](https://collect.test/t)"})

    page = await shown(thread, choices, auto_accept=False)

    (waiting,) = (await thread.current()).interrupts
    assert "collect.test" not in page.seen + str(waiting.value)
