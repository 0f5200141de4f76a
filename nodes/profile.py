"""Open a new turn: take the question, learn what it says of the person, clear the last turn."""

from __future__ import annotations

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from config.errors import Problem
from graph.context import Context
from graph.records import EMPTY_PLAN, EMPTY_REPORT
from graph.state import GRAPH_VERSION, State
from memory.learning.rules import asked
from nodes.learn import hear_question
from retrieval.text import language, normalise
from runs.lifecycle import opened
from runs.place import here

LONGEST = 20_000
"""The longest question, in characters."""


async def profile(state: State, runtime: Runtime[Context]) -> State:
    """Begin the next turn of the thread; what the person says of themselves is known from here on.

    Reads `messages`, `turn`; writes `run`, `turn`, `language`, `question`, `status` and resets
    what belongs to one turn.

    Raises:
        Problem: `question_empty`, `question_too_long` or `thread_taken`.
    """
    question = check_question(_last_said(state))
    turn = state.get("turn", 0) + 1
    place = here({"turn": turn}, runtime)
    run = await opened(place.owner, place.thread, turn, question, runtime.context)
    await hear_question(state, place._replace(run=run))
    return State(
        run=run,
        turn=turn,
        language=runtime.context.language or language(question),
        question=asked(question),
        queries=[],
        plan=EMPTY_PLAN,
        feedback="",
        note="",
        revisions=0,
        rounds=0,
        follow_ups=[],
        knowledge=[],
        report=EMPTY_REPORT,
        status="running",
        graph_version=GRAPH_VERSION,
    )


def check_question(text: str) -> str:
    """Return the question in a clean form.

    Raises:
        Problem: `question_empty` or `question_too_long`.
    """
    question = normalise(text).strip()
    if not question:
        raise Problem("question_empty", "there is no question", hint="ask one")
    if len(question) > LONGEST:
        what = f"the question has {len(question)} characters, the most is {LONGEST}"
        raise Problem("question_too_long", what, hint="put long texts into a file")
    return question


def _last_said(state: State) -> str:
    said = [one for one in state.get("messages", []) if isinstance(one, HumanMessage)]
    return str(said[-1].text) if said else ""
