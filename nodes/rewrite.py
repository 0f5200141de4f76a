"""Rewrite the question so that it stands alone, and write its queries."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel

from calls.compaction import summary_of_message
from calls.gateway import ask
from calls.replies import SearchText, SearchTexts
from calls.run_progress import show_progress
from graph.context import Context
from graph.state import State
from library.spelling import apply_corrections
from memory.learning.self_statements import is_only_statements
from models.extractive.query_rewriting import rewrite_question
from models.extractive.schema_answers import extractive_answer
from nodes.concurrency import gather_both
from nodes.conversation import recent_messages
from nodes.direct import needs_no_search
from nodes.past_runs import recall_past_runs
from prompts.data_blocks import join_prompt_blocks, render_block
from prompts.loader import render_prompt
from runs.call_site import call_site, resolve_owner
from text.question_parts import is_context_dependent
from tools.evidence import suggest_spellings
from tools.scope_outline import outline_scope, render_outline_block


@extractive_answer(rewrite_question)
class Rewrite(BaseModel):
    """The question as it can be searched."""

    question: SearchText = ""
    queries: SearchTexts


async def rewrite(state: State, runtime: Runtime[Context]) -> State:
    """Write the queries of a question for which the coordinator wrote none.

    Reads `messages`, `question`, `answers`, `summary`; writes `question`, `queries`.
    """
    return await rewritten(state, runtime)


async def rewritten(state: State, runtime: Runtime[Context]) -> State:
    """Return the question and its queries, with misspelt words corrected.

    Earlier runs from which this one can learn are searched for concurrently.
    """
    show_progress(state, "rewriting")
    state = State(**{**state, "question": await _correct_spelling(state, runtime)})
    count = runtime.context.query_count
    past_runs = recall_past_runs(state, runtime, _subject(state))
    answer, _ = await gather_both(_ask(state, runtime, count), past_runs)
    question = answer.question.strip() or state["question"]
    queries = [query for query in dict.fromkeys([question, *answer.queries]) if query.strip()]
    return State(question=question, queries=queries[: 1 + count])


async def _correct_spelling(state: State, runtime: Runtime[Context]) -> str:
    """Return the question with unknown words spelt as in the searched documents."""
    question = state["question"]
    if needs_no_search(question):
        return question
    corrections = await suggest_spellings(resolve_owner(runtime), runtime.context, question)
    return apply_corrections(question, corrections)


async def _ask(state: State, runtime: Runtime[Context], count: int) -> Rewrite:
    earlier = _relevant(recent_messages(state)[:-1], state["question"])
    default = Rewrite(queries=[])
    if needs_no_search(state["question"]) or (not earlier and count == 0):
        return default
    system = render_prompt("rewrite", language=state["language"])
    place, language = call_site(state, runtime), state["language"]
    outline = await outline_scope(place, runtime.context, _subject(state), language)
    data = join_prompt_blocks(
        render_block("conversation", "\n".join(_line(message) for message in earlier)),
        render_outline_block(outline),
        render_block("question", state["question"]),
        render_block("count", str(count)),
    )
    messages = [HumanMessage(data)]
    return await ask(state, runtime, "rewriter", system, messages, Rewrite, default=default)


def _relevant(earlier: Sequence[AnyMessage], question: str) -> list[AnyMessage]:
    """Return earlier messages without those in which the person only described themselves.

    If the person wrote nothing else, a question that points back may refer to them.
    """
    rest = [
        message
        for message in earlier
        if message.type != "human" or not is_only_statements(str(message.text))
    ]
    no_words = all(message.type != "human" for message in rest)
    return list(earlier) if no_words and is_context_dependent(question) else rest


def _subject(state: State) -> str:
    """Return the question, after the previous one of the thread if it points back to that."""
    question = state["question"]
    previous = (state.get("answers") or {}).get(str(state["turn"] - 1))
    if previous and is_context_dependent(question):
        return f"{previous['question']} {question}"
    return question


def _line(message: AnyMessage) -> str:
    if summary := summary_of_message(message):
        return "\n".join(f"summary: {line}" for line in summary.splitlines() if line.strip())
    who = "person" if isinstance(message, HumanMessage) else "dossier"
    return f"{who}: {' '.join(str(message.text).split())}"
