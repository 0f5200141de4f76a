"""Open a new turn: take the question, learn what it says of the person, clear the last turn."""

from __future__ import annotations

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from graph.context import Context
from graph.records import EMPTY_PLAN, EMPTY_REPORT
from graph.state import GRAPH_VERSION, State
from memory.learning.questions import without_secrets
from memory.learning.rules import asked
from nodes.learn import hear_question
from nodes.shown_plan import plans_away
from retrieval.text import language
from runs.lifecycle import check_question, opened
from runs.masking import masked_talk
from runs.place import fork_of, here


async def profile(state: State, runtime: Runtime[Context]) -> State:
    """Begin the next turn of the thread; what the person says of themselves is known from here on.

    Reads `messages`, `turn`; writes `run`, `turn`, `language`, `question`, `status`, `messages`
    where they held secrets or a plan, and resets what belongs to one turn.

    Raises:
        Problem: `question_empty`, `question_too_long` or `thread_taken`.
    """
    said = state.get("messages", [])
    safe = masked_talk(said)
    state = State(**{**state, "messages": safe})
    question = check_question(_last_said(state))
    turn = state.get("turn", 0) + 1
    place = here({"turn": turn}, runtime)
    run = await opened(place.owner, place.thread, turn, question, runtime.context)
    await hear_question(state, place._replace(run=run))
    changed = [new for old, new in zip(said, safe, strict=True) if new is not old]
    return State(
        # A turn that was left at its plan leaves it in the conversation.
        messages=[*changed, *plans_away(state)],
        run=run,
        turn=turn,
        fork=fork_of(run),
        language=runtime.context.language or language(question),
        question=asked(without_secrets(question)),
        queries=[],
        plan=EMPTY_PLAN,
        feedback="",
        wishes=[],
        note="",
        decision="",
        revisions=0,
        rounds=0,
        follow_ups=[],
        knowledge=[],
        report=EMPTY_REPORT,
        status="running",
        graph_version=GRAPH_VERSION,
    )


def _last_said(state: State) -> str:
    said = [one for one in state.get("messages", []) if isinstance(one, HumanMessage)]
    return str(said[-1].text) if said else ""
