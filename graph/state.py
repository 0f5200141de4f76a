"""What flows through the graph: references and short text, plain data only."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

Status = Literal["ok", "partial", "failed", "skipped"]
"""How a result came out; the reason stands beside it, never inside its text."""

RunStatus = Literal[
    "running",
    "waiting_review",
    "paused",
    "succeeded",
    "partial",
    "insufficient_evidence",
    "failed",
    "cancelled",
]

Value = TypeVar("Value")


def merge(old: dict[str, Value] | None, new: dict[str, Value]) -> dict[str, Value]:
    """Join two tables by key; the newer entry wins, so that a redo replaces."""
    return {**(old or {}), **new}


class Source(TypedDict):
    """A page that may be cited in this thread."""

    id: str
    page: str
    title: str
    location: str
    kind: Literal["file", "web", "memory"]


class Passage(TypedDict):
    """Some sentences of a source."""

    source: str
    text: str


class Background(TypedDict):
    """What one query found before the plan was made."""

    query: str
    status: Status
    reason: str
    passages: list[Passage]


class Step(TypedDict):
    """One part of the plan, researched on its own."""

    id: str
    title: str
    description: str
    kind: Literal["research", "compute"]
    queries: list[str]
    needs: list[str]
    need_web_search: bool


class Plan(TypedDict):
    """What will be researched, in which steps."""

    title: str
    thought: str
    has_enough_context: bool
    steps: list[Step]


class Finding(TypedDict):
    """What a step found out."""

    step: str
    title: str
    status: Status
    reason: str
    text: str
    sources: list[str]
    queries: list[str]
    attempts: int
    review: Literal["", "passed", "failed", "unverified"]


class Answer(TypedDict):
    """What a turn answered, for the turns behind it: the checked text keeps the registry's ids."""

    question: str
    text: str
    sources: list[str]
    open: list[str]
    """What could not be found out, each with the reason."""
    message: str
    """The id of the message that shows it."""


class Summary(TypedDict):
    """What stands for the older part of a conversation, up to the message with an id."""

    text: str
    until: str


class Quote(TypedDict):
    """Words that stand in a source exactly so."""

    source: str
    text: str


class Removed(TypedDict):
    """A sentence that the checks took out of a report."""

    text: str
    reason: str


class Report(TypedDict):
    """The finished report before it is rendered: its body keeps the ids of the registry."""

    title: str
    body: str
    cited: list[str]
    quotes: list[Quote]
    removed: list[Removed]
    doubted: list[str]
    """Sentences with a number that none of the sources they cite has."""
    notices: list[str]
    language: str


class Place(TypedDict, total=False):
    """Where in a thread something is done; the same again after a crash.

    Every state that reaches a model call has these keys, so the ledger can name the call.
    """

    run: str
    turn: int
    language: Literal["en", "zh"]
    revisions: int
    rounds: int
    step: Step
    attempt: int


class State(TypedDict, total=False):
    """The state of the main graph; each key is written by the node named beside it."""

    messages: Annotated[list[AnyMessage], add_messages]
    """The conversation. Written by the caller, coordinator and reporter."""
    summary: Summary
    """What stands for messages that are too many to be shown. Written by coordinator."""
    run: str
    """The name of the run that answers this question. Written by profile."""
    turn: int
    """The question's number in its thread, from 1. Written by profile."""
    language: Literal["en", "zh"]
    """The language of the question and of the report. Written by profile."""
    question: str
    """The question in a form that stands alone. Written by profile, then by rewrite."""
    queries: list[str]
    """What to search for before planning. Written by rewrite."""
    background: Annotated[dict[str, Background], merge]
    """What was found before planning, by turn and query. Written by background."""
    plan: Plan
    """What will be researched. Written by planner; a person's edit by human_feedback."""
    feedback: str
    """What a person said against the plan. Written by human_feedback."""
    note: str
    """Why the review is shown again. Written by human_feedback."""
    revisions: int
    """How often the plan was rejected. Written by human_feedback."""
    findings: Annotated[dict[str, Finding], merge]
    """What the steps found, by turn and step. Written by step."""
    rounds: int
    """How often steps were added because something was missing. Written by team."""
    follow_ups: list[Step]
    """The steps that were added to the approved plan. Written by team."""
    sources: Annotated[dict[str, Source], merge]
    """The registry of everything that may be cited, by id. Written by background and step."""
    unsearched: Annotated[dict[str, str], merge]
    """Why providers of web search did not answer, by turn and name. By background and step."""
    knowledge: list[Passage]
    """Passages from knowledge bases. Written by knowledge."""
    report: Report
    """The finished report. Written by reporter."""
    answers: Annotated[dict[str, Answer], merge]
    """What each turn answered and left open, by turn. Written by reporter."""
    status: RunStatus
    """How the run stands. Written by profile, planner, coordinator and reporter."""
    graph_version: str
    """Which shape of the graph this thread was started with. Written by profile."""


class Asked(TypedDict):
    """What a caller may bring: words, never sources or findings."""

    messages: Annotated[list[AnyMessage], add_messages]


class StepState(Place, total=False):
    """The state of one step's branch; only what `StepOutput` names leaves it."""

    question: str
    needed: list[Finding]
    earlier: list[Finding]
    feedback: str
    more_queries: list[str]
    passages: list[Passage]
    finding: Finding
    findings: Annotated[dict[str, Finding], merge]
    sources: Annotated[dict[str, Source], merge]
    unsearched: Annotated[dict[str, str], merge]


class StepOutput(TypedDict, total=False):
    """What leaves a step's branch."""

    findings: dict[str, Finding]
    sources: dict[str, Source]
    unsearched: dict[str, str]


class QueryState(Place, total=False):
    """What one branch of background is sent."""

    query: str
    number: int


GRAPH_VERSION = "1"
"""The shape of the graph; raised when a node is renamed, so that no old thread is lost silently."""

EMPTY_PLAN = Plan(title="", thought="", has_enough_context=False, steps=[])

EMPTY_REPORT = Report(
    title="", body="", cited=[], quotes=[], removed=[], doubted=[], notices=[], language="en"
)


def key(turn: int, name: str) -> str:
    """Name something of this turn, so that no other turn takes it for its own."""
    return f"{turn}/{name}"


def keyed(turn: int, table: dict[str, Value]) -> dict[str, Value]:
    """Return a table with the names of its entries made those of one turn."""
    return {key(turn, name): value for name, value in table.items()}


def of_turn(table: dict[str, Any] | None, turn: int) -> dict[str, Any]:
    """Return the entries of one turn by their short names, in the order of their keys."""
    start = f"{turn}/"
    return {
        name.removeprefix(start): value
        for name, value in (table or {}).items()
        if name.startswith(start)
    }
