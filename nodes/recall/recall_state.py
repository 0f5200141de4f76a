"""What flows through the memory researcher, and what it hands over."""

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
    """What memory is searched for on behalf of one request."""

    request: str
    keywords: list[str]
    meanings: list[str]
    pages: list[str]


class EarlierReport(TypedDict):
    """A report of the same person that is about a question, and what it says in short."""

    page: str
    title: str
    abstract: str


class RecallState(CallSiteState, total=False):
    """A question, and what memory has on it so far."""

    run: str
    """The run that it works for. Written by an outer graph."""

    recall_round: int
    """How often memory was searched before, for this question. Written by plan and check."""
    messages: Annotated[list[AnyMessage], add_messages]
    """The question. Written by the caller; the answer by check."""
    question: str
    """The question. Written by plan."""
    scope: list[str]
    """The kinds and groups of pages that are looked at. Written by plan, or by an outer graph."""
    most: int
    """How many rounds there may be. Written by an outer graph."""
    requests: list[str]
    """What to find out in this round: first the question itself. Written by plan and check."""
    asked: list[str]
    """Every request so far. Written by plan."""
    searches: list[PlannedSearch]
    """What to search for in this round. Written by plan."""
    passages: list[Passage]
    """What was found so far. Written by search."""
    sources: dict[str, Source]
    """Where it is from, by id. Written by search."""
    fresh: bool
    """Whether the last round found anything to judge. Written by search and integrate."""
    notes: str
    """What is known so far, each fact with its sources. Written by integrate."""
    extracts: list[Passage]
    """The passages that the notes rest on, word for word. Written by integrate."""
    pages: list[str]
    """The ids of the pages that the notes rest on. Written by integrate."""
    reports: list[EarlierReport]
    """The earlier reports on the question: no sources, but what a person may go on reading.

    Written by search, outside of runs."""


def round_of(state: RecallState) -> int:
    """Return how often memory was searched before this round, in a thread of any version."""
    return state.get("recall_round", state.get("attempt", 0))


NOTE_DOUBT_MARK = "⚠"
"""What stands behind a note that its pages do not seem to say."""


def render_recall(state: RecallState) -> str:
    """Return what a person is told: the notes, and which earlier reports are about the question."""
    nothing = render_prompt("nothing_remembered", language=state["language"])
    told = state["notes"] or nothing.strip()
    if NOTE_DOUBT_MARK in told:
        doubt = render_prompt("noted_doubt", language=state["language"], mark=NOTE_DOUBT_MARK)
        told = f"{told}\n\n{doubt.strip()}"
    reports = "\n".join(
        f"- **{one['title']}** {one['abstract']}" for one in state.get("reports", [])
    )
    if not reports:
        return told
    return (
        f"{told}\n\n{render_prompt('earlier_reports', language=state['language'], reports=reports)}"
    )


async def recalled_passages(
    owner: str, state: RecallState, *, whole: bool = False
) -> list[Passage]:
    """Return the passages that the notes of a recall rest on, word for word, each with its source.

    Args:
        owner: Whose memory it is.
        state: What the graph left.
        whole: Whether whole pages are wanted instead; they are read from the store, for no state
            holds them. A page that was forgotten since is left out.
    """
    if not whole:
        return list(state["extracts"])
    texts = await pages.read_page_texts(owner, state["pages"])
    sources = {source["page"]: source["id"] for source in state["sources"].values()}
    return [
        Passage(source=sources[page], text=texts[page]) for page in state["pages"] if page in texts
    ]
