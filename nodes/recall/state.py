"""What flows through the memory researcher."""

from __future__ import annotations

from typing import Annotated

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages

from graph.state import Finding, Passage, Place, Source


class RecallState(Place, total=False):
    """A question, and what memory has on it so far."""

    messages: Annotated[list[AnyMessage], add_messages]
    """The question. Written by the caller; the answer by check."""
    question: str
    """The question. Written by the caller or by plan; `step`, which asks for it, by plan."""
    queries: list[str]
    """What to search for next. Written by plan and check."""
    passages: list[Passage]
    """What was found so far. Written by search."""
    sources: dict[str, Source]
    """Where it is from, by id. Written by search."""
    fresh: bool
    """Whether the last search found anything new. Written by search."""
    finding: Finding
    """What the passages say about the question, each sentence with its source. By integrate."""
