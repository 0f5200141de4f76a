"""What flows through the graph: references and short text, plain data only."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar, cast

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from graph.pauses import Consultation, Pause
from graph.records import (
    Background,
    DoubtedSentence,
    EarlierRun,
    Finding,
    Objection,
    Passage,
    Plan,
    RemovedSentence,
    Report,
    Revision,
    RunStatus,
    ShownSpan,
    Source,
    Step,
    Summary,
    TurnAnswer,
)

Value = TypeVar("Value")


def merge_entries(old: dict[str, Value] | None, new: dict[str, Value]) -> dict[str, Value]:
    """Join two tables by key; the newer entry wins, so that a redo replaces.

    A newer entry that is `None` deletes the older one.
    """
    return {name: one for name, one in {**(old or {}), **new}.items() if one is not None}


def clear_entries(table: dict[str, Value] | None) -> dict[str, Value]:
    """Return the update that empties a table."""
    return cast("dict[str, Value]", dict.fromkeys(table or {}))


def _keep_highest(old: int, new: int) -> int:
    """Join two counts of the same thing: the higher one is the later one."""
    return max(old, new)


class CallSiteState(TypedDict, total=False):
    """Where in a thread something is done; the same again after a crash.

    Every state that reaches a model call has these keys, so the ledger can name the call.
    """

    turn: int
    fork: int
    again: Annotated[int, _keep_highest]
    language: Literal["en", "zh"]
    revisions: int
    rounds: int
    wishes: list[str]
    step: Step
    attempt: int
    """What threads of versions 1 to 3 have in the place of `redo` and `recall_round`."""


class State(TypedDict, total=False):
    """The state of the main graph; each key is written by the node named beside it."""

    messages: Annotated[list[AnyMessage], add_messages]
    """The conversation. Written by the caller, coordinator, reporter and deliver."""
    summary: Summary
    """What stands for messages that are too many to be shown. Written by coordinator."""
    run: str
    """The name of the run that answers this question. Written by profile."""
    turn: int
    """The question's number in its thread, from 1. Written by profile."""
    fork: int
    """Which question with that number it is: a thread may be forked. Written by profile."""
    again: Annotated[int, _keep_highest]
    """How often a client had something done again from an earlier state, or a resume repeated a
    step whose model gave no usable answer, so that the ledger does not answer. Written by team."""
    language: Literal["en", "zh"]
    """The language of the question and of the report. Written by profile."""
    question: str
    """The question in a form that stands alone. Written by profile, then with `queries`."""
    earlier_run: EarlierRun | None
    """An earlier run that answered the same question, and what to do with its answer. Written by
    profile, and decided by same_question."""
    revision: Revision | None
    """What makes the report a new version of an earlier one. Written by coordinator for what the
    person asks to change, and by same_question for an answer that is refreshed or deepened."""
    queries: list[str]
    """What to search for before planning. Written by coordinator, or by rewrite."""
    background: Annotated[dict[str, Background], merge_entries]
    """What was found before planning, by turn and query. Written by background; what was computed
    over tables of knowledge bases by knowledge."""
    plan: Plan
    """What will be researched. Written by planner; a person's edit by human_feedback."""
    outline: str
    """Which documents were in scope when the plan was made, as a block. Written by planner."""
    feedback: str
    """What a person said against the plan. Written by human_feedback."""
    wishes: list[str]
    """What a person said against the plans of this turn, and answered to questions about them,
    oldest first; it holds for every later call of the run. Written by human_feedback."""
    note: str
    """Why the review is shown again. Written by human_feedback and human_input."""
    decision: Literal["", "approve", "edit", "reject"]
    """What was decided on the plan. Written by human_feedback; cleared by planner, which approves a
    plan that nobody is to review."""
    revisions: int
    """How often the plan was rejected. Written by human_feedback."""
    findings: Annotated[dict[str, Finding], merge_entries]
    """What the steps found, by turn and step. Written by step."""
    pauses: Annotated[dict[str, Pause], merge_entries]
    """The steps that wait for the person, by turn and step. Written by step, decided by
    human_input, and removed by team."""
    consulted: Annotated[dict[str, Consultation], merge_entries]
    """What steps wanted of the person and what came of it, by turn, step and number. Written by
    step and human_input."""
    rounds: int
    """How often steps were added because something was missing. Written by team."""
    follow_ups: list[Step]
    """The steps that were added to the approved plan. Written by team."""
    sources: Annotated[dict[str, Source], merge_entries]
    """The registry of everything that may be cited, by id. Written by background and step."""
    unsearched: Annotated[dict[str, str], merge_entries]
    """Why providers of web search did not answer, by turn and name. By background and step."""
    knowledge: list[Passage]
    """Passages from the knowledge bases that the plan names. Written by knowledge."""
    report: Report
    """The finished report. Written by reporter; its date by deliver."""
    answers: Annotated[dict[str, TurnAnswer], merge_entries]
    """What each turn answered and left open, by turn. Written by reporter."""
    status: RunStatus
    """How the run stands. Written by profile, planner, team, human_input, coordinator, reporter."""
    graph_version: str
    """Which shape of the graph this thread was started with. Written by profile."""


GROWING_CHANNELS = ("messages", "background", "findings", "sources", "answers")
"""The keys to which every turn adds entries that stay as they are; each entry is saved once."""


class InputState(TypedDict):
    """What a caller may bring: words, never sources or findings."""

    messages: Annotated[list[AnyMessage], add_messages]


class StepState(CallSiteState, total=False):
    """The state of one step's branch; only what `StepOutput` names leaves it."""

    redo: int
    """How often the step was sent back. Written by reflection."""
    question: str
    number: int
    """The place of the step in the plan, from 1."""
    count: int
    """How many steps there are."""
    needed: list[Finding]
    earlier: list[Finding]
    others: list[str]
    """The titles of the other steps."""
    feedback: str
    objection: Objection
    """What the last review held against the finding. Written by reflection."""
    more_queries: list[str]
    seen: list[ShownSpan]
    """What was shown before the plan was made."""
    outline: str
    bases: list[str]
    """The names of the knowledge bases that are searched for the step, too."""
    passages: list[Passage]
    """What threads of versions 1 to 5 have in the place of `read`."""
    read: list[ShownSpan]
    """What the step has read so far. Written by researcher."""
    pause: Pause | None
    """What the step waited for and goes on from. Written by the caller; taken by researcher."""
    pauses: Annotated[dict[str, Pause], merge_entries]
    consulted: Annotated[dict[str, Consultation], merge_entries]
    finding: Finding
    draft: str
    """The newest draft of the step, before the checks. Written by researcher."""
    upheld: list[str]
    """Sentences that a review has found right against the checks. Written by reflection."""
    removed: list[RemovedSentence]
    """What the checks took out of the newest draft of the step. Written by researcher."""
    doubted: list[DoubtedSentence]
    """What they left in it although it is doubtful. Written by researcher."""
    findings: Annotated[dict[str, Finding], merge_entries]
    sources: Annotated[dict[str, Source], merge_entries]
    unsearched: Annotated[dict[str, str], merge_entries]


class StepOutput(TypedDict, total=False):
    """What leaves a step's branch."""

    findings: dict[str, Finding]
    sources: dict[str, Source]
    unsearched: dict[str, str]
    pauses: dict[str, Pause]
    consulted: dict[str, Consultation]


class QueryState(CallSiteState, total=False):
    """What one branch of background is sent."""

    query: str
    number: int
    known: list[str]
    """The ids of the sources that are known already, for the memory researcher."""


def redo_count(state: StepState) -> int:
    """Return how often a step was sent back, in a thread of any version."""
    return state.get("redo", state.get("attempt", 0))


def is_delivered(state: State) -> bool:
    """Tell whether the person has the report of this turn."""
    report = state.get("report")
    return bool(report and report.get("created"))


GRAPH_VERSION = "7"
"""The shape of the graph; raised when a node is renamed, so that no old thread is lost silently.

Checkpoints of version 3 store growing channels separately, which older versions cannot read; in
version 4 the coordinator writes the queries, too, and `redo` and `recall_round` stand for what was
one `attempt` before. In version 5 `deliver` hands the report over. In version 6 `same_question`
offers an earlier answer, and the state of a step has references to what it reads. In version 7
`knowledge` stands before the steps, which may pause, and `human_input` asks the person for them.
"""

RESUMABLE_VERSIONS = ("1", "2", "3", "4", "5", "6", GRAPH_VERSION)
"""The versions whose threads go on: of the older ones every node stands under its name."""
