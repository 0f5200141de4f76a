"""A step that is stopped while it uses its tools goes on where it was, and pays nothing twice."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.messages import AIMessage

from graph.session import ThreadSession
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.places import new_process

pytestmark = pytest.mark.extractive("Triage", "Rewrite", "Enough", "Checks", "Verdict")


def calling(*calls: tuple[str, dict[str, str]]) -> AIMessage:
    return AIMessage(
        "",
        tool_calls=[
            {"name": name, "args": args, "id": str(at)} for at, (name, args) in enumerate(calls)
        ],
        response_metadata={"finish_reason": "tool_calls"},
    )


async def test_a_step_goes_on_in_the_middle_of_its_tools(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    looked = calling(
        ("search", {"query": "queen eggs", "scope": "files"}),
        ("read", {"source": "queen.txt"}),
        ("read", {"source": "winter.md"}),
        ("outline", {"source": "queen.txt"}),
    )
    again = calling(("read", {"source": "dance.md"}), ("read", {"source": "dance.md"}))
    replies = [looked, again, "The queen lays up to 2000 eggs a day in summer [S1]."]

    stuck = asyncio.Event()

    def answer(_: object) -> AIMessage | str:
        if len(replies) == 2 and not stuck.is_set():
            script.seconds = 60
            stuck.set()
        return replies.pop(0)

    script.on("Draft", draft("winter cluster"))
    script.on("researcher", answer)
    script.on("reporter", "The queen lays up to 2000 eggs a day in summer [S1].")
    context = make(choices, max_reflections=0)
    run = asyncio.create_task(thread.begin("How many eggs does the queen lay?", context, quiet))
    await stuck.wait()
    await asyncio.sleep(0.5)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    new_process()
    script.seconds = 0

    outcome = await thread.resume(context, quiet)

    assert outcome.state["status"] == "succeeded"
    researchers = [talk for name, talk in script.asked if name == "researcher"]
    assert len(researchers) == 3
    answers = [str(one.text) for one in researchers[-1] if one.type == "tool"]
    assert len(answers) == 6
    assert sum("shown above already" in answer for answer in answers) == 5
