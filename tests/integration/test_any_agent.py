"""Anyone's agent is told what is remembered, and keeps nothing of it."""

from __future__ import annotations

import asyncio
import inspect
import textwrap
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent, factory
from langchain_core.messages import AIMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver

from memory.facts.fact import NewFact
from memory.facts.store import add_fact
from memory.middleware import MemoryMiddleware
from storage.engine import close_database
from tests.fake_model import FakeModel, Script

OWNER = "ann/"
FACT = "Ann keeps her bees in Oslo"
SAID = {"messages": [("user", "How far is it from the bees in Oslo to the sun?")]}
CONFIG: Any = {"configurable": {"thread_id": "1"}}


@pytest.fixture
def remembered(home: Path) -> None:
    """A fact, written in another event loop than the agent's."""
    del home

    async def learn() -> None:
        await add_fact(OWNER, NewFact(FACT, confidence=0.9))
        await close_database()

    asyncio.run(learn())


@pytest.fixture
def saver() -> InMemorySaver:
    return InMemorySaver()


def agent(script: Script, saver: InMemorySaver) -> Any:
    script.on("reporter", "150 million kilometres.")
    model = FakeModel(script=script)
    return create_agent(model, [], middleware=[MemoryMiddleware(OWNER)], checkpointer=saver)


def told(script: Script) -> list[str]:
    return [str(messages[0].text) for _, messages in script.asked if messages[0].type == "system"]


def everything(saver: InMemorySaver) -> str:
    """Return all that a checkpointer holds."""
    return "".join(map(repr, (saver.storage, saver.writes, saver.blobs)))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_notes_reach_the_model_and_stay_out_of_checkpoints_and_output(
    remembered: None, script: Script, saver: InMemorySaver, asynchronous: bool
):
    made = agent(script, saver)

    async def ask() -> Any:
        try:
            return await made.ainvoke(SAID, CONFIG)
        finally:
            await close_database()

    for _ in range(2):
        output = asyncio.run(ask()) if asynchronous else made.invoke(SAID, CONFIG)

    assert len(told(script)) == 2
    assert all(FACT in one for one in told(script))
    assert [one.type for one in output["messages"]] == ["human", "ai", "human", "ai"]
    assert FACT not in repr(output)
    assert "million" in everything(saver)
    assert FACT not in everything(saver)


def test_another_person_is_told_nothing_of_it(
    remembered: None, script: Script, saver: InMemorySaver
):
    script.on("reporter", AIMessage("Far."))
    other = MemoryMiddleware("bob/")
    made = create_agent(FakeModel(script=script), [], middleware=[other], checkpointer=saver)
    made.invoke(SAID, CONFIG)

    assert told(script) == []


def test_the_example_runs_as_it_is_written(
    remembered: None,
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    script.on("reporter", "150 million kilometres.")
    monkeypatch.setattr(factory, "init_chat_model", lambda _: FakeModel(script=script))
    lines = inspect.cleandoc(MemoryMiddleware.__doc__ or "").split("\n")
    example = "\n".join(line for line in lines if line.startswith("    ") or not line)

    exec(compile(textwrap.dedent(example), "example", "exec"), {})  # noqa: S102

    assert capsys.readouterr().out == "150 million kilometres.\n"
    assert FACT in told(script)[0]


async def test_an_agent_that_is_called_synchronously_in_a_running_loop_is_told_too(
    remembered: None, script: Script, saver: InMemorySaver
):
    agent(script, saver).invoke(SAID, CONFIG)

    assert FACT in told(script)[0]


def test_what_the_system_message_holds_beside_its_text_stays(
    remembered: None, script: Script, saver: InMemorySaver
):
    cached = {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}
    middleware = [MemoryMiddleware(OWNER)]
    script.on("reporter", "150 million kilometres.")
    system = SystemMessage([cached], additional_kwargs={"more": 1})
    one = create_agent(
        FakeModel(script=script),
        [],
        middleware=middleware,
        system_prompt=system,
        checkpointer=saver,
    )

    one.invoke(SAID, CONFIG)

    (_, messages), *_ = script.asked
    assert messages[0].content[0] == cached
    assert FACT in messages[0].content[1]["text"]
    assert messages[0].additional_kwargs == {"more": 1}
