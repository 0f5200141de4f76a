"""Let a step wait for the person, and go on where it was."""

from __future__ import annotations

from collections.abc import Sequence

from calls.tool_requests import HumanInput, resume_conversation
from graph.context import Context
from graph.pauses import Pause, key_consultations, list_allowed_tools, list_consultations
from graph.records import turn_key
from graph.state import StepState
from nodes.step_finding import StepAnswer, compose_finding, merge_tool_results
from tools.reading_choice import list_spans

WRITTEN_KEYS = (
    *("redo", "feedback", "objection", "more_queries", "finding"),
    *("draft", "upheld", "removed", "doubted"),
)
"""What the nodes of a step write into its state, and still need when it goes on."""


async def open_human_input(state: StepState, context: Context) -> HumanInput:
    """Return what the tools of a step may ask the person.

    A step that has waited goes on with its conversation.
    """
    human = HumanInput(
        step=state["step"]["id"],
        reachable=context.stop_to_ask or not context.auto_accept,
        asks=context.ask,
        allowed=[*context.allow_tools, *list_allowed_tools(state)],
        consulted=list_consultations(state),
    )
    pause = state.get("pause")
    if pause is None:
        return human
    return await resume_conversation(human, pause["conversation"], pause["requests"])


async def end_or_pause(answer: StepAnswer) -> StepState:
    """Return what a step writes of an answer, or its pause if a tool needs the person."""
    if answer.written.conversation:
        ended = _pause(merge_tool_results(answer))
    else:
        ended = await compose_finding(answer)
    return ended | _note_consultations(answer.state, answer.human)


def _note_consultations(state: StepState, human: HumanInput) -> StepState:
    """Return what a step wanted of the person, as an update of its state."""
    if not human.noted:
        return StepState()
    before = state.get("consulted") or {}
    return StepState(consulted=key_consultations(state["turn"], before, human.noted))


def _pause(answer: StepAnswer) -> StepState:
    """Return the update with which a step ends for now, and waits for the person."""
    state = answer.state
    step, sources = state["step"], state["sources"]
    kept = {name: one for name, one in state.items() if name in WRITTEN_KEYS}
    pause = Pause(
        step=step["id"],
        title=step["title"],
        conversation=answer.written.conversation,
        requests=answer.human.requests,
        queries=[*answer.queries],
        skipped=[],
        sources=sorted(sources),
        written={**kept, "read": list_spans(answer.passages, sources)},
    )
    paused = {turn_key(state["turn"], step["id"]): pause}
    return StepState(pauses=paused, sources=sources, unsearched=state["unsearched"])


def with_skipped_documents(update: StepState, skipped: Sequence[str]) -> StepState:
    """Return the update of a step that waits, with the documents that it did not read."""
    pauses = {key: one | {"skipped": [*skipped]} for key, one in update["pauses"].items()}
    return update | StepState(pauses=pauses)
