"""The state of the memory researcher, and its results."""

from __future__ import annotations

from typing import Annotated

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from graph.records import Passage, Source
from graph.state import CallSiteState
from library import store as pages
from prompts.loader import render_prompt


class PlannedSearch(TypedDict):
    """The searches for one request."""

    request: str
    keywords: list[str]
    meanings: list[str]
    pages: list[str]


class EarlierReport(TypedDict):
    """An earlier report of the same person on a question, with its abstract."""

    page: str
    title: str
    abstract: str


class RecallState(CallSiteState, total=False):
    """A question, and the results of memory on it so far."""

    run: str
    """The id of the outer run. Written by an outer graph."""

    recall_round: int
    """How often memory was searched for this question before. Written by plan and check."""
    messages: Annotated[list[AnyMessage], add_messages]
    """The question. Written by the caller; the answer by check."""
    question: str
    """The question. Written by plan."""
    scope: list[str]
    """The kinds and groups of pages to search. Written by plan, or by an outer graph."""
    most: int
    """The largest number of rounds. Written by an outer graph."""
    requests: list[str]
    """The requests of this round; in the first, the question. Written by plan and check."""
    asked: list[str]
    """All requests so far. Written by plan."""
    searches: list[PlannedSearch]
    """The searches of this round. Written by plan."""
    passages: list[Passage]
    """All passages found so far. Written by search."""
    sources: dict[str, Source]
    """The sources of the passages, by id. Written by search."""
    fresh: bool
    """Whether this round brought anything new. Written by search and integrate."""
    notes: str
    """A list of facts, each with its sources. Written by integrate."""
    extracts: list[Passage]
    """The passages of the sources that the notes cite. Written by integrate."""
    pages: list[str]
    """The ids of the pages that the notes cite. Written by integrate."""
    reports: list[EarlierReport]
    """Earlier reports on the question, for further reading. Written by search, outside of runs."""


def round_of(state: RecallState) -> int:
    """Return how often memory was searched before this round, in a thread of any version."""
    return state.get("recall_round", state.get("attempt", 0))


NOTE_DOUBT_MARK = "⚠"
"""The mark after a note that its pages may not support."""


def render_recall(state: RecallState) -> str:
    """Render the answer to a person: the notes, and the earlier reports on the question."""
    language = state["language"]
    parts = [state["notes"] or render_prompt("nothing_remembered", language=language).strip()]
    if NOTE_DOUBT_MARK in parts[0]:
        parts.append(render_prompt("noted_doubt", language=language, mark=NOTE_DOUBT_MARK).strip())
    entries = [
        f"- **{report['title']}** {report['abstract']}" for report in state.get("reports", [])
    ]
    if entries:
        reports = "\n".join(entries)
        parts.append(render_prompt("earlier_reports", language=language, reports=reports))
    return "\n\n".join(parts)


async def recalled_passages(
    owner: str, state: RecallState, *, whole: bool = False
) -> list[Passage]:
    """Return the passages of the sources that the notes of a recall cite.

    Args:
        owner: Whose memory it is.
        state: The final state of the graph.
        whole: Whether to return whole pages instead, read from the page store. A page that was
            forgotten since is left out.
    """
    if not whole:
        return list(state["extracts"])
    texts = await pages.read_page_texts(owner, state["pages"])
    sources = {source["page"]: source["id"] for source in state["sources"].values()}
    return [
        Passage(source=sources[page], text=texts[page]) for page in state["pages"] if page in texts
    ]
