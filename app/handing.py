"""Hand over what a run found out as a few fields, to clients that read no state."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from app.guard import Guarded
from graph.context import Context
from graph.records import RunStatus
from report.document import answer_of

DONE = ("succeeded", "partial", "insufficient_evidence")
"""How a run stands that has said what it has to say."""


class Cited(TypedDict):
    """A source that a report cites."""

    id: str
    title: str
    location: str


class Handed(TypedDict, total=False):
    """What a client of MCP or A2A gets: all but the conversation only when the run is done."""

    status: RunStatus
    answer: str
    """The report's answer, or the reply to small talk; its citations are ids of sources."""
    report: str
    """The whole report as Markdown."""
    sources: list[Cited]
    messages: list[AnyMessage]
    """The conversation; once it is done, only the last message."""


def unreviewed(graph: CompiledStateGraph[Any, Any, Any, Any]) -> Unreviewed:
    """Return a graph that shows nobody its plan."""
    return Unreviewed(**vars(graph))


class Unreviewed(Guarded):
    """A graph that accepts its own plans, and whose output is few and short."""

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **more: Any
    ) -> AsyncIterator[Any]:
        """Run the graph to its end."""
        choices = _accepting(more.pop("context", None))
        async for part in super().astream(input, config, context=choices, **more):
            yield _handed_over(part)

    def get_output_jsonschema(self, config: RunnableConfig | None = None) -> dict[str, Any]:
        """Return the form of what is handed over."""
        del config
        return TypeAdapter(Handed).json_schema()


def handed(values: Mapping[str, Any]) -> Handed:
    """Return what is handed over of a state."""
    said = list(values.get("messages", []))
    status = values.get("status", "running")
    if status not in DONE or not said or said[-1].type != "ai":
        return Handed(status=status, messages=said)
    report, sources = values["report"], values.get("sources", {})
    cited = [sources[name] for name in report["cited"] if name in sources]
    return Handed(
        status=status,
        answer=answer_of(report["body"]) if report["title"] else str(said[-1].text),
        report=str(said[-1].text) if report["title"] else "",
        sources=[Cited(id=s["id"], title=s["title"], location=s["location"]) for s in cited],
        messages=said[-1:],
    )


def _accepting(choices: Any) -> Any:
    if isinstance(choices, Context):
        return replace(choices, auto_accept=True)
    return {**(choices or {}), "auto_accept": True}


def _handed_over(part: Any) -> Any:
    """Return a part of the stream, with the state of the graph itself made short."""
    if not isinstance(part, tuple) or part[-2] != "values" or "__interrupt__" in part[-1]:
        return part
    inner = len(part) > 2 and part[0]
    return part if inner else (*part[:-1], handed(part[-1]))
