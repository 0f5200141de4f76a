"""What steps ask the person: a question, or leave to use a tool; and what the person decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, NotRequired

from typing_extensions import TypedDict

ASK_USER = "ask_user"
"""The tool with which a step asks the person a question."""

MOST_ASKED = 3
"""So many questions may be asked by one step."""

MOST_ANSWERS = 6
"""So many likely answers may be offered to one question."""

LONGEST_QUESTION = 300
"""The most characters of a question and of each likely answer."""


class ToolDecision(TypedDict):
    """What a person decided on one call of a tool, as LangChain's human-in-the-loop says it."""

    type: Literal["approve", "edit", "reject", "respond"]
    message: NotRequired[str]
    """An answer, or why they refuse."""
    args: NotRequired[dict[str, Any]]
    """The arguments of the person's own, for `edit`."""
    for_run: NotRequired[bool]
    """Whether all further calls of the tool in the run are approved with this one."""


class ToolRequest(TypedDict):
    """One call of a tool that waits for a person."""

    call: str
    """The id of the call in its conversation."""
    name: str
    args: dict[str, Any]
    about: NotRequired[str]
    """What the tool says of itself, in one line."""
    decision: NotRequired[ToolDecision]
    """Missing until the person has decided."""


class Pause(TypedDict):
    """A step that waits for a person, and what it goes on from."""

    step: str
    title: str
    conversation: str
    """The key of the ledger under which the conversation of its model is recorded."""
    requests: list[ToolRequest]
    queries: list[str]
    """The queries that the step has sent."""
    skipped: list[str]
    """The titles of documents that it found and did not read."""
    sources: list[str]
    """The ids of the sources that it knows."""
    written: dict[str, Any]
    """What the step has written into its state so far."""


class Consultation(TypedDict):
    """What a step wanted of the person, and what came of it."""

    step: str
    outcome: Literal["answered", "assumed", "approved", "allowed", "rejected", "refused"]
    """`assumed` without an answer; `allowed` for all calls of a tool in the run; `refused` where
    nobody could be asked for leave."""
    question: str
    """The question, the call of the tool in one line, or the name of the tool that is allowed."""
    answer: str
    """The answer, or what is assumed; for a tool why it was rejected, or ""."""


class NumberedRequest(NamedTuple):
    """A request with the name by which a person answers it, such as `q2`."""

    id: str
    key: str
    """The key of its pause."""
    pause: Pause
    request: ToolRequest


def number_requests(pauses: Mapping[str, Pause]) -> list[NumberedRequest]:
    """Return all requests of pauses in their order, also those decided already.

    So a request keeps its number while others are decided before it.
    """
    every = [(key, pause, one) for key, pause in pauses.items() for one in pause["requests"]]
    return [NumberedRequest(f"q{at}", *one) for at, one in enumerate(every, start=1)]


def list_pending_requests(pauses: Mapping[str, Pause]) -> list[NumberedRequest]:
    """Return the requests that the person has not decided on."""
    return [one for one in number_requests(pauses) if "decision" not in one.request]


def list_open_pauses(state: Mapping[str, Any]) -> dict[str, Pause]:
    """Return the pauses of this turn whose steps have no finding yet, in the order of the plan."""
    turn, findings = state.get("turn", 1), state.get("findings") or {}
    pauses: dict[str, Pause] = state.get("pauses") or {}
    steps = [*(state.get("plan") or {}).get("steps", []), *state.get("follow_ups", [])]
    keys = [f"{turn}/{step['id']}" for step in steps]
    return {key: pauses[key] for key in keys if key in pauses and key not in findings}


def list_consultations(state: Mapping[str, Any]) -> list[Consultation]:
    """Return what the steps of this turn wanted of the person."""
    start = f"{state.get('turn', 1)}/"
    every: dict[str, Consultation] = state.get("consulted") or {}
    return [one for key, one in every.items() if key.startswith(start)]


def list_allowed_tools(state: Mapping[str, Any]) -> list[str]:
    """Return the names of the tools that the person has allowed for the rest of the run."""
    return [one["question"] for one in list_consultations(state) if one["outcome"] == "allowed"]


def key_consultations(
    turn: int, before: Mapping[str, Consultation], noted: Iterable[Consultation]
) -> dict[str, Consultation]:
    """Return new consultations by turn, step, and their number in the step.

    Args:
        turn: The turn.
        before: Those that there are.
        noted: The new ones.
    """
    keyed: dict[str, Consultation] = {}
    for one in noted:
        start = f"{turn}/{one['step']}/"
        count = sum(key.startswith(start) for key in [*before, *keyed])
        keyed[f"{start}{count + 1}"] = one
    return keyed


def list_wishes(state: Mapping[str, Any]) -> list[str]:
    """Return what a person said in this turn that holds for every later call, each once."""
    return list(dict.fromkeys([*state.get("wishes", []), *_answers(state)]))


def list_asked(state: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the questions of plan and steps that a person answered in this turn, with answers."""
    plan = [one for one in (state.get("plan") or {}).get("questions", []) if one.get("answer")]
    steps = [one for one in list_consultations(state) if one["outcome"] == "answered"]
    asked = [(one["question"], one["answer"]) for one in (*plan, *steps)]
    return list(dict.fromkeys(asked))


def _answers(state: Mapping[str, Any]) -> Iterator[str]:
    for one in list_consultations(state):
        if one["outcome"] == "answered":
            yield f"{one['question']} {one['answer']}"
        elif one["outcome"] == "rejected" and one["answer"]:
            yield f"{one['question']}: {one['answer']}"
