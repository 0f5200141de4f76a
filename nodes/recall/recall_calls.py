"""Ask memory from the nodes of another graph: with the memory researcher, or without a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

from langgraph.runtime import Runtime

from calls.run_budget import run_within_budget
from calls.streaming import nested_config
from graph.context import Context
from graph.records import Source
from library.recall import is_scope_empty
from library.scope import parse_scope
from nodes.recall.recall_graph import make_recall_graph
from nodes.recall.recall_state import RecallState
from runs.call_site import call_site, resolve_owner
from text.answerability import LEAST_COVERAGE, SourcePassage, best_source_coverage, is_answerable
from text.script import detect_language
from text.topics import extract_cross_language_topic, extract_topic
from tools.evidence import Evidence, list_recalled_parts, recall_evidence

RELATED = 0.7
"""The share of an answer's terms that memory must cover to be related to a question."""

TOOL_ROUNDS = 2
"""How often memory may be searched for one call of the tool."""

EMPTY_EVIDENCE = Evidence([], {}, [])

PASSED_KEYS = ("turn", "fork", "again", "revisions", "rounds", "step", "wishes")
"""The keys that identify the node in the outer run to which the calls are charged."""


class RecallResult(NamedTuple):
    """The notes of memory on a question, and the passages that they cite."""

    notes: str
    evidence: Evidence


class RecallHits(NamedTuple):
    """The passages of memory on a question, found without a model call."""

    hits: Evidence
    half: bool
    """Whether they may hold a part of the answer, which is worth calling the memory researcher."""


async def recall_from_memory(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    question: str,
    rounds: int = TOOL_ROUNDS,
) -> RecallResult:
    """Answer a question from memory; without anything in scope no model is called.

    Args:
        state: The state of the outer node, to which the calls are charged.
        runtime: The runtime of the outer node.
        question: The question.
        rounds: How often memory may be searched.

    Raises:
        Problem: A problem that every model call would meet, such as a rejected key.
    """
    scope = list_recalled_parts(runtime.context)
    if await is_scope_empty(resolve_owner(runtime), parse_scope(scope)):
        return RecallResult("", EMPTY_EVIDENCE)
    inputs = {"messages": [("user", question)], "scope": scope, "most": rounds}
    inputs |= {name: state[name] for name in PASSED_KEYS if name in state}
    inputs["run"] = call_site(state, runtime).run
    graph = make_recall_graph(inside=True)
    with nested_config() as config:
        output = await graph.ainvoke(inputs, config, context=runtime.context)
    recalled = cast("RecallState", output)
    cited = {passage["source"] for passage in recalled["extracts"]}
    sources = {name: source for name, source in recalled["sources"].items() if name in cited}
    evidence = Evidence(recalled["extracts"], _as_memory(sources), [])
    return RecallResult(recalled["notes"], evidence)


async def recall_related(
    state: Mapping[str, Any], runtime: Runtime[Context], question: str
) -> Evidence:
    """Return the passages of memory on a question, calling a model only where that is worth it.

    Passages that answer the question alone are returned as they are, and unrelated ones dropped;
    only between these cases the memory researcher searches for more, in a single round.

    Raises:
        Problem: A problem that every model call would meet, such as a rejected key.
    """
    hits, half = await recall_hits(state, runtime, question)
    if half:
        return (await recall_from_memory(state, runtime, question, rounds=1)).evidence
    return hits


async def recall_hits(
    state: Mapping[str, Any], runtime: Runtime[Context], question: str
) -> RecallHits:
    """Return the passages of memory on a question without a model call."""
    place, part = call_site(state, runtime), parse_scope(list_recalled_parts(runtime.context))
    choices = runtime.context
    found = await recall_evidence(
        place, choices, [question], about=question, part=part, run=place.run
    )
    passages = [
        SourcePassage(hit["source"], found.sources[hit["source"]]["title"], "", hit["text"])
        for hit in found.passages
    ]
    hits = found._replace(sources=_as_memory(found.sources))
    size = sum(len(passage.text) for passage in passages)
    do = partial(run_within_budget, place, choices, "recall", characters=size)
    if await do(is_answerable, question, passages):
        return RecallHits(hits, half=False)
    if await do(_coverage, question, passages) < RELATED:
        return RecallHits(EMPTY_EVIDENCE, half=False)
    return RecallHits(hits, half=True)


def _coverage(question: str, passages: Sequence[SourcePassage]) -> float:
    """Return the best coverage of a source, relative to the least that counts as an answer.

    Passages in another language share only names and technical terms with the question.
    """
    topic, language = extract_topic(question), detect_language(question)
    foreign = [passage for passage in passages if detect_language(passage.text) != language]
    same = best_source_coverage(topic, question, passages) / LEAST_COVERAGE[language]
    topic = extract_cross_language_topic(question)
    return max(same, best_source_coverage(topic, question, foreign) / LEAST_COVERAGE["en"])


def _as_memory(sources: Mapping[str, Source]) -> dict[str, Source]:
    return {name: Source(**{**source, "kind": "memory"}) for name, source in sources.items()}
