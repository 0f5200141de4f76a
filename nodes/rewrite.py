"""Put the question into words that stand alone, and into queries."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from graph.context import Context
from graph.state import State
from memory.learning.rules import only_tells
from models.extractive.followups import points_back
from nodes.agent import ask
from nodes.beside import together
from nodes.conversation import recent
from nodes.direct import needs_no_search
from nodes.experience import look_back
from nodes.streaming import tell
from nodes.typed import Searches, Sought
from prompts.loader import render
from prompts.marks import block, blocks
from retrieval.spelling import respelt
from runs.compacting import summary_in
from runs.place import owner
from tools.evidence import misspelt


class Rewrite(BaseModel):
    """The question as it can be searched."""

    question: Sought = Field(description="the question in a form that needs no conversation")
    queries: Searches = Field(description="different search queries for it")


async def rewrite(state: State, runtime: Runtime[Context]) -> State:
    """Write the queries of a question that the coordinator has left without any.

    Reads `messages`, `question`, `answers`, `summary`; writes `question`, `queries`.
    """
    return await rewritten(state, runtime)


async def rewritten(state: State, runtime: Runtime[Context]) -> State:
    """Return the queries, each of which is searched for; words that nothing holds are put right.

    Beside that, earlier runs are looked for that can teach this one something.
    """
    tell(state, "rewriting")
    state = State(**{**state, "question": await _respelt(state, runtime)})
    count = runtime.context.query_count
    look = look_back(state, runtime, _about(state))
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
    return respelt(question, await misspelt(owner(runtime), runtime.context, question))


async def _asked(state: State, runtime: Runtime[Context], count: int) -> Rewrite:
    earlier = _needed(recent(state)[:-1], state["question"])
    as_asked = Rewrite(question=state["question"], queries=[])
    if needs_no_search(state["question"]) or (not earlier and count == 0):
        return as_asked
    system = render("rewrite", language=state["language"])
    data = blocks(
        block("conversation", "\n".join(_line(message) for message in earlier)),
        block("question", state["question"]),
        block("count", str(count)),
    )
    said = [HumanMessage(data)]
    return await ask(state, runtime, "rewriter", system, said, Rewrite, otherwise=as_asked)


def _needed(earlier: Sequence[AnyMessage], question: str) -> list[AnyMessage]:
    """Return earlier messages without those that only tell of the person.

    Where nothing else was said, a question that points back may speak of them.
    """
    rest = [one for one in earlier if one.type != "human" or not only_tells(str(one.text))]
    alone = all(one.type != "human" for one in rest)
    return list(earlier) if alone and points_back(question) else rest


def _about(state: State) -> str:
    """Return the question, behind the one before it in the thread if it points back to that."""
    question = state["question"]
    before = (state.get("answers") or {}).get(str(state["turn"] - 1))
    return f"{before['question']} {question}" if before and points_back(question) else question


def _line(message: AnyMessage) -> str:
    if summary := summary_in(message):
        return "\n".join(f"summary: {line}" for line in summary.splitlines() if line.strip())
    who = "person" if isinstance(message, HumanMessage) else "dossier"
    return f"{who}: {' '.join(str(message.text).split())}"
