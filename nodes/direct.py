"""Answer what needs no research: what is computed, remembered, or only lists the documents."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.runtime import Runtime

from graph.context import Context
from graph.state import QueryState
from memory.about import Told, about, remembered, said
from memory.pages.uploads import with_uploads
from nodes.tables import of_tables
from runs.place import Here, here
from runs.trace import trace
from tools.direct import Direct, Made, direct, plain
from tools.overview import asks_overview, overview

UNSURE, FORGOT = "unsure", "not_remembered"
"""Why what was worked out is no whole answer, and why nothing could be."""


def needs_no_search(question: str) -> bool:
    """Tell whether a question asks of the person or of the documents as such, and nothing else."""
    asked = about(question)
    return bool(asked and asked.sure) or asks_overview(question)


async def worked_out(state: QueryState, runtime: Runtime[Context]) -> Direct | None:
    """Return what is known without research; nothing where all has to be researched.

    Where a person asks what was never told, there are no passages, only the reason.
    """
    place, question = here(state, runtime), state["query"]
    language = state.get("language", "en")
    found = await _person(place, question, language)
    if found is None and asks_overview(question):
        files = await with_uploads(place.owner, place.thread, runtime.context.files)
        documents = await overview(place.owner, files, language, question)
        found = await direct(place, documents) if documents else None
    if found is None:
        found = await of_tables(state, runtime)
    if found:
        status = "not_computed" if found.uncomputed else found.reason or "ok"
        await trace(place, "compute", "direct", status, query=question)
    return found


async def _person(place: Here, question: str, language: str) -> Direct | None:
    asked = about(question)
    if asked is None:
        return None
    notes, sure = await remembered(place.owner, asked)
    if not notes:
        return Direct([], {}, FORGOT) if asked.sure else None
    return await direct(place, made(notes, language), "" if sure else UNSURE)


def made(notes: Sequence[Told], language: str) -> list[Made]:
    """Return notes of the person as what was worked out, each on its own."""
    titles = {"facts": ("What you told", "你说过的话"), "profile": ("Your profile", "你的个人资料")}
    return [
        Made(
            "note",
            f"{one.memory}/{one.id}",
            f"dossier memory show {one.id[:8] if one.memory == 'facts' else 'profile'}",
            titles[one.memory][language == "zh"],
            "",
            f"- {plain(said(one, language))}",
        )
        for one in notes
    ]
