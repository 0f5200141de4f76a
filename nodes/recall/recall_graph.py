"""Wire the memory researcher, and let another graph recall something as a part of its own run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, cast

from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from calls.embedding_meter import meter_embeddings
from calls.run_budget import run_within_budget
from calls.streaming import nested_config
from graph.context import Context
from graph.records import Source
from graph.state import InputState
from library.recall import is_scope_empty
from library.scope import parse_scope
from nodes.recall.recall_nodes import check, integrate, plan, search
from nodes.recall.recall_state import RecallState
from runs.call_site import call_site, resolve_owner
from text.answerability import LEAST_COVERAGE, SourcePassage, best_source_coverage, is_answerable
from text.script import detect_language
from text.topics import extract_cross_language_topic, extract_topic
from tools.evidence import Evidence, list_recalled_parts, recall_evidence


@cache
def make_recall_graph(*, inside: bool = False) -> CompiledStateGraph[Any, Context, Any, Any]:
    """Return the graph that answers a question from memory alone.

    Inside another graph it is told for which run it works, and saves nothing of its own.
    """
    given = RecallState if inside else InputState
    graph = StateGraph(RecallState, context_schema=Context, input_schema=given)
    graph.add_node("plan", meter_embeddings(plan))
    graph.add_node("search", meter_embeddings(search))
    graph.add_node("integrate", meter_embeddings(integrate))
    graph.add_node("check", meter_embeddings(check))
    graph.add_edge(START, "plan")
    graph.add_edge("plan", "search")
    graph.add_edge("search", "integrate")
    graph.add_edge("integrate", "check")
    return graph.compile(checkpointer=False if inside else None, name="recall")


RELATED = 0.7
"""What is remembered is related to a question if it covers this part of what an answer has to."""

TOOL_ROUNDS = 2
"""How often memory may be searched when a tool asks it something."""

EMPTY_EVIDENCE = Evidence([], {}, [])

PASSED_KEYS = ("turn", "fork", "again", "revisions", "rounds", "step", "wishes")
"""What says where in the outer run a recall is made, so that its calls are paid for there."""


class RecallResult(NamedTuple):
    """What memory has on a question: the notes, and word for word what they rest on."""

    notes: str
    evidence: Evidence


class RecallHits(NamedTuple):
    """What memory has on a question without asking a model."""

    hits: Evidence
    half: bool
    """Whether it is half an answer, which is worth the calls of the memory researcher."""


async def recall_from_memory(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    question: str,
    rounds: int = TOOL_ROUNDS,
) -> RecallResult:
    """Answer a question from memory; where there is none, no model is asked.

    Args:
        state: The state of the outer node; it says where in the run the calls are made.
        runtime: The runtime of the outer node.
        question: The question.
        rounds: How often memory may be searched.

    Raises:
        Problem: What every model call meets, such as a key that is refused.
    """
    names = list_recalled_parts(runtime.context)
    if await is_scope_empty(resolve_owner(runtime), parse_scope(names)):
        return RecallResult("", EMPTY_EVIDENCE)
    place = {name: state[name] for name in PASSED_KEYS if name in state}
    place["run"] = call_site(state, runtime).run
    given = {"messages": [("user", question)], "scope": names, "most": rounds, **place}
    graph = make_recall_graph(inside=True)
    with nested_config() as config:
        state_left = await graph.ainvoke(given, config, context=runtime.context)
    found = cast("RecallState", state_left)
    cited = {one["source"] for one in found["extracts"]}
    sources = {name: source for name, source in found["sources"].items() if name in cited}
    return RecallResult(found["notes"], Evidence(found["extracts"], _memories(sources), []))


async def recall_related(
    state: Mapping[str, Any], runtime: Runtime[Context], question: str
) -> Evidence:
    """Return what memory has on a question, asking a model only where that is worth it.

    What answers the question by itself is returned as it is, and what has nothing to do with it
    is left; only in between the memory researcher looks for more, in a single round.

    Raises:
        Problem: What every model call meets, such as a key that is refused.
    """
    found = await recall_hits(state, runtime, question)
    return (
        (await recall_from_memory(state, runtime, question, rounds=1)).evidence
        if found.half
        else found.hits
    )


async def recall_hits(
    state: Mapping[str, Any], runtime: Runtime[Context], question: str
) -> RecallHits:
    """Return what memory has on a question without asking a model."""
    place, part = call_site(state, runtime), parse_scope(list_recalled_parts(runtime.context))
    choices = runtime.context
    found = await recall_evidence(
        place, choices, [question], about=question, part=part, run=place.run
    )
    shown = [
        SourcePassage(one["source"], found.sources[one["source"]]["title"], "", one["text"])
        for one in found.passages
    ]
    hits = found._replace(sources=_memories(found.sources))
    if await run_within_budget(place, choices, "recall", is_answerable, question, shown):
        return RecallHits(hits, half=False)
    if await run_within_budget(place, choices, "recall", _covered, question, shown) < RELATED:
        return RecallHits(EMPTY_EVIDENCE, half=False)
    return RecallHits(hits, half=True)


def _covered(question: str, shown: Sequence[SourcePassage]) -> float:
    """Return how much pages cover of what an answer has to, at most 1 for those that answer.

    Pages in another language share only names and technical terms with the question.
    """
    about, tongue = extract_topic(question), detect_language(question)
    others = [page for page in shown if detect_language(page.text) != tongue]
    own = best_source_coverage(about, question, shown) / LEAST_COVERAGE[tongue]
    return max(
        own,
        best_source_coverage(extract_cross_language_topic(question), question, others)
        / LEAST_COVERAGE["en"],
    )


def _memories(sources: Mapping[str, Source]) -> dict[str, Source]:
    return {name: Source(**{**source, "kind": "memory"}) for name, source in sources.items()}
