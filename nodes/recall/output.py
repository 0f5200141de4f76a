"""Hand over what a recall rests on."""

from __future__ import annotations

from graph.records import Passage
from memory.pages import store as pages
from nodes.recall.state import RecallState
from prompts.loader import render

DOUBT = "⚠"
"""What stands behind a note that its pages do not seem to say."""


def answer(state: RecallState) -> str:
    """Return what a person is told: the notes, and which earlier reports are about the question."""
    nothing = render("nothing_remembered", language=state["language"])
    told = state["notes"] or nothing.strip()
    if DOUBT in told:
        told = f"{told}\n\n{render('noted_doubt', language=state['language'], mark=DOUBT).strip()}"
    reports = "\n".join(
        f"- **{one['title']}** {one['abstract']}" for one in state.get("reports", [])
    )
    if not reports:
        return told
    return f"{told}\n\n{render('earlier_reports', language=state['language'], reports=reports)}"


async def output(owner: str, state: RecallState, *, whole: bool = False) -> list[Passage]:
    """Return the passages that the notes of a recall rest on, word for word, each with its source.

    Args:
        owner: Whose memory it is.
        state: What the graph left.
        whole: Whether whole pages are wanted instead; they are read from the store, for no state
            holds them. A page that was forgotten since is left out.
    """
    if not whole:
        return list(state["extracts"])
    texts = await pages.texts(owner, state["pages"])
    sources = {source["page"]: source["id"] for source in state["sources"].values()}
    return [
        Passage(source=sources[page], text=texts[page]) for page in state["pages"] if page in texts
    ]
