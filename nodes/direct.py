"""Answer questions that need no research.

These ask for a computation over tables, for the notes about the person, or for the list of
documents.
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
from tools.run_files import RunFile, list_folder_files
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


async def answer_from_tables(
    state: QueryState, runtime: Runtime[Context], files: Sequence[RunFile]
) -> DirectAnswer | None:
    """Compute an answer over the tables of some files; None if the question asks about none."""
    place, question = call_site(state, runtime), state["query"]
    language = state.get("language", "en")
    candidates = await find_candidate_tables(files, question)
    answers = await answer_table_question(place, runtime.context, candidates, question, language)
    if answers is None or not answers.whole:
        named = list_named_tables(candidates.pairs, question)
        answers = await _answer_by_model(state, runtime, named) or answers
    if answers is None:
        return None
    answer = await record_direct_answer(place, answers.computed)
    return answer._replace(whole=answers.whole, uncomputed=tuple(answers.uncomputed))


async def _answer_by_model(
    state: QueryState, runtime: Runtime[Context], pairs: Sequence[FileTable]
) -> TableAnswers | None:
    """Run the queries that a model writes; return None without such a model, table or query."""
    if not pairs or built_in(TABLE_ROLE, runtime.context):
        return None
    language = state.get("language", "en")
    tables = [render_block("table", describe_table(table), name=table.name) for _, table in pairs]
    data = join_prompt_blocks(
        render_block("question", state["query"]), wrap_blocks("tables", tables)
    )
    system, messages = render_prompt("tables", language=language), [HumanMessage(data)]
    default = TableQueries()
    asked = await ask(state, runtime, TABLE_ROLE, system, messages, TableQueries, default=default)
    if not asked.queries:
        return None
    return await answer_model_queries(
        call_site(state, runtime), runtime.context, pairs, asked, language
    )


UNSURE, FORGOT = "unsure", "not_remembered"
"""The reasons of an answer that may be incomplete, and of one that finds no notes."""


def needs_no_search(question: str) -> bool:
    """Tell whether a question asks only about the person or about the documents as such."""
    self_question = parse_self_question(question)
    return bool(self_question and self_question.is_certain) or asks_overview(question)


async def answer_directly(state: QueryState, runtime: Runtime[Context]) -> DirectAnswer | None:
    """Return the answer that needs no research; None if the whole question needs it.

    A question about something that the person never told gets a reason instead of passages.
    """
    place, question = call_site(state, runtime), state["query"]
    language = state.get("language", "en")
    answer = await _answer_from_notes(place, question, language)
    if answer is None and asks_overview(question):
        files = await with_uploads(place.owner, place.thread, runtime.context.files)
        documents = await describe_folders(place.owner, files, language, question)
        answer = await record_direct_answer(place, documents) if documents else None
    if answer is None:
        roots = await with_uploads(place.owner, place.thread, runtime.context.files)
        tables = await list_folder_files(place.owner, roots)
        answer = await answer_from_tables(state, runtime, tables)
    if answer:
        status = "not_computed" if answer.uncomputed else answer.reason or "ok"
        await trace(place, "compute", "direct", status, query=question)
    return answer


async def _answer_from_notes(place: CallSite, question: str, language: str) -> DirectAnswer | None:
    """Answer a question about the person; return None if it is none or no note may fit."""
    self_question = parse_self_question(question)
    if self_question is None:
        return None
    notes, is_sure = await answer_self_question(place.owner, self_question)
    if not notes:
        return DirectAnswer([], {}, FORGOT) if self_question.is_certain else None
    reason = "" if is_sure else UNSURE
    return await record_direct_answer(place, notes_as_results(notes, language), reason)


def notes_as_results(notes: Sequence[PersonalNote], language: str) -> list[DerivedText]:
    """Return each note about the person as a text of a direct answer."""
    return [
        DerivedText(
            "note",
            f"{note.memory}/{note.id}",
            f"dossier memory show {note.id[:8] if note.memory == 'facts' else 'profile'}",
            render_prompt(f"told_{note.memory}", language=language),
            "",
            f"- {to_plain_line(render_personal_note(note, language))}",
        )
        for note in notes
    ]
