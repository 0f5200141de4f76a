"""Put the question into words that stand alone, and into queries."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from calls.compaction import summary_of_message
from calls.gateway import ask
from calls.replies import SearchText, SearchTexts
from calls.streaming import show_progress
from graph.context import Context
from graph.state import State
from library.spelling import apply_corrections
from memory.learning.self_statements import is_only_statements
from models.extractive.query_rewriting import rewrite_question
from models.extractive.schema_answers import extractive_answer
from nodes.concurrency import together
from nodes.conversation import recent_messages
from nodes.direct import needs_no_search
from nodes.past_runs import recall_past_runs
from prompts.data_blocks import join_prompt_blocks, render_block
from prompts.loader import render_prompt
from runs.call_site import resolve_owner
from text.question_parts import is_context_dependent
from tools.evidence import suggest_spellings


@extractive_answer(rewrite_question)
class Rewrite(BaseModel):
    """The question as it can be searched."""

    question: SearchText = Field(description="the question in a form that needs no conversation")
    queries: SearchTexts = Field(description="different search queries for it")


async def rewrite(state: State, runtime: Runtime[Context]) -> State:
    """Write the queries of a question that the coordinator has left without any.

    Reads `messages`, `question`, `answers`, `summary`; writes `question`, `queries`.
    """
    return await rewritten(state, runtime)


async def rewritten(state: State, runtime: Runtime[Context]) -> State:
    """Return the queries, each of which is searched for; words that nothing holds are put right.

    Beside that, earlier runs are looked for that can teach this one something.
    """
    show_progress(state, "rewriting")
    state = State(**{**state, "question": await _respelt(state, runtime)})
    count = runtime.context.query_count
    look = recall_past_runs(state, runtime, _about(state))
    answer, _ = await together(_asked(state, runtime, count), look)
    question = answer.question.strip() or state["question"]
    queries = [one for one in dict.fromkeys([question, *answer.queries]) if one.strip()]
    queries = queries[: 1 + count]
    return State(question=question, queries=queries)


async def _respelt(state: State, runtime: Runtime[Context]) -> str:
    """Return the question with the words that nothing holds spelt as what is searched does."""
    question = state["question"]
    if needs_no_search(question):
        return question
    return apply_corrections(
        question, await suggest_spellings(resolve_owner(runtime), runtime.context, question)
    )


async def _asked(state: State, runtime: Runtime[Context], count: int) -> Rewrite:
    earlier = _needed(recent_messages(state)[:-1], state["question"])
    as_asked = Rewrite(question=state["question"], queries=[])
    if needs_no_search(state["question"]) or (not earlier and count == 0):
        return as_asked
    system = render_prompt("rewrite", language=state["language"])
    data = join_prompt_blocks(
        render_block("conversation", "\n".join(_line(message) for message in earlier)),
        render_block("question", state["question"]),
        render_block("count", str(count)),
    )
    said = [HumanMessage(data)]
    return await ask(state, runtime, "rewriter", system, said, Rewrite, default=as_asked)


def _needed(earlier: Sequence[AnyMessage], question: str) -> list[AnyMessage]:
    """Return earlier messages without those that only tell of the person.

    Where nothing else was said, a question that points back may speak of them.
    """
    rest = [one for one in earlier if one.type != "human" or not is_only_statements(str(one.text))]
    alone = all(one.type != "human" for one in rest)
    return list(earlier) if alone and is_context_dependent(question) else rest


def _about(state: State) -> str:
    """Return the question, behind the one before it in the thread if it points back to that."""
    question = state["question"]
    before = (state.get("answers") or {}).get(str(state["turn"] - 1))
    return (
        f"{before['question']} {question}"
        if before and is_context_dependent(question)
        else question
    )


def _line(message: AnyMessage) -> str:
    if summary := summary_of_message(message):
        return "\n".join(f"summary: {line}" for line in summary.splitlines() if line.strip())
    who = "person" if isinstance(message, HumanMessage) else "dossier"
    return f"{who}: {' '.join(str(message.text).split())}"
