"""Answer what needs no research.

What is computed over tables, remembered of the person, or only lists the documents.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from calls.gateway import ask
from graph.context import Context
from graph.state import QueryState
from library.uploaded_files import with_uploads
from memory.self_questions import (
    PersonalNote,
    answer_self_question,
    parse_self_question,
    render_personal_note,
)
from models.chat_models import built_in
from prompts.data_blocks import join_prompt_blocks, render_block, wrap_blocks
from prompts.loader import render_prompt
from runs.call_site import CallSite, call_site
from runs.trace import trace
from tools.computed_pages import DerivedText, DirectAnswer, record_direct_answer, to_plain_line
from tools.overview import asks_overview, describe_folders
from tools.tables.query import TableQueries, describe_table
from tools.tables.table_answers import (
    TABLE_ROLE,
    FileTable,
    TableAnswers,
    answer_model_queries,
    answer_table_question,
    find_candidate_tables,
    list_named_tables,
)


async def _answer_from_tables(state: QueryState, runtime: Runtime[Context]) -> DirectAnswer | None:
    """Return what is computed over tables for a question; nothing where no table is asked."""
    place, question, language = (
        call_site(state, runtime),
        state["query"],
        state.get("language", "en"),
    )
    files = await with_uploads(place.owner, place.thread, runtime.context.files)
    looked = await find_candidate_tables(place.owner, files, question)
    found = await answer_table_question(place, runtime.context, looked, question, language)
    if found is None or not found.whole:
        found = (
            await _model_answers(state, runtime, list_named_tables(looked.pairs, question)) or found
        )
    if found is None:
        return None
    made = [
        DerivedText("file", one.file.sha256, one.file.path, one.title, one.place, one.text)
        for one in found.computed
    ]
    left = tuple((one.asked, one.why) for one in found.uncomputed)
    return (await record_direct_answer(place, made))._replace(whole=found.whole, uncomputed=left)


async def _model_answers(
    state: QueryState, runtime: Runtime[Context], pairs: Sequence[FileTable]
) -> TableAnswers | None:
    """Return what a model's queries give; nothing where none reads it, or no table is near."""
    if not pairs or built_in(TABLE_ROLE, runtime.context):
        return None
    language = state.get("language", "en")
    shown = [render_block("table", describe_table(table), name=table.name) for _, table in pairs]
    said = HumanMessage(
        join_prompt_blocks(render_block("question", state["query"]), wrap_blocks("tables", shown))
    )
    system = render_prompt("tables", language=language)
    none = TableQueries()
    read = await ask(state, runtime, TABLE_ROLE, system, [said], TableQueries, default=none)
    if not read.queries:
        return None
    return await answer_model_queries(
        call_site(state, runtime), runtime.context, pairs, read, language
    )


UNSURE, FORGOT = "unsure", "not_remembered"
"""Why what was worked out is no whole answer, and why nothing could be."""


def needs_no_search(question: str) -> bool:
    """Tell whether a question asks of the person or of the documents as such, and nothing else."""
    asked = parse_self_question(question)
    return bool(asked and asked.is_certain) or asks_overview(question)


async def answer_directly(state: QueryState, runtime: Runtime[Context]) -> DirectAnswer | None:
    """Return what is known without research; nothing where all has to be researched.

    Where a person asks what was never told, there are no passages, only the reason.
    """
    place, question = call_site(state, runtime), state["query"]
    language = state.get("language", "en")
    found = await _person(place, question, language)
    if found is None and asks_overview(question):
        files = await with_uploads(place.owner, place.thread, runtime.context.files)
        documents = await describe_folders(place.owner, files, language, question)
        found = await record_direct_answer(place, documents) if documents else None
    if found is None:
        found = await _answer_from_tables(state, runtime)
    if found:
        status = "not_computed" if found.uncomputed else found.reason or "ok"
        await trace(place, "compute", "direct", status, query=question)
    return found


async def _person(place: CallSite, question: str, language: str) -> DirectAnswer | None:
    asked = parse_self_question(question)
    if asked is None:
        return None
    notes, sure = await answer_self_question(place.owner, asked)
    if not notes:
        return DirectAnswer([], {}, FORGOT) if asked.is_certain else None
    return await record_direct_answer(
        place, notes_as_results(notes, language), "" if sure else UNSURE
    )


def notes_as_results(notes: Sequence[PersonalNote], language: str) -> list[DerivedText]:
    """Return notes of the person as what was worked out, each on its own."""
    titles = {"facts": ("What you told", "你说过的话"), "profile": ("Your profile", "你的个人资料")}
    return [
        DerivedText(
            "note",
            f"{one.memory}/{one.id}",
            f"dossier memory show {one.id[:8] if one.memory == 'facts' else 'profile'}",
            titles[one.memory][language == "zh"],
            "",
            f"- {to_plain_line(render_personal_note(one, language))}",
        )
        for one in notes
    ]
