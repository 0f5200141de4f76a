"""Let another graph recall something, as a part of its own run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from langgraph.runtime import Runtime

from graph.context import Context
from graph.records import Source
from memory.pages.recollection import empty
from memory.pages.within import scope
from models.extractive.blocks import Page
from models.extractive.ranking import LEAST, answerable, reach
from models.extractive.topic import across, topic
from nodes.recall.graph import make_recall
from nodes.recall.state import RecallState
from nodes.streaming import inside
from retrieval.text import language
from runs.budget import beside
from runs.place import here, owner
from tools.evidence import Evidence, recollect, remembered

RELATED = 0.7
"""What is remembered is related to a question if it covers this part of what an answer has to."""

TOOL_ROUNDS = 2
"""How often memory may be searched when a tool asks it something."""

NOTHING = Evidence([], {}, [])

HANDED_ON = ("turn", "fork", "again", "revisions", "rounds", "step", "wishes")
"""What says where in the outer run a recall is made, so that its calls are paid for there."""


class Recalled(NamedTuple):
    """What memory has on a question: the notes, and word for word what they rest on."""

    notes: str
    evidence: Evidence


class AtOnce(NamedTuple):
    """What memory has on a question without asking a model."""

    hits: Evidence
    half: bool
    """Whether it is half an answer, which is worth the calls of the memory researcher."""


async def recall(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    question: str,
    rounds: int = TOOL_ROUNDS,
) -> Recalled:
    """Answer a question from memory; where there is none, no model is asked.

    Args:
        state: The state of the outer node; it says where in the run the calls are made.
        runtime: The runtime of the outer node.
        question: The question.
        rounds: How often memory may be searched.

    Raises:
        Problem: What every model call meets, such as a key that is refused.
    """
    names = remembered(runtime.context)
    if await empty(owner(runtime), scope(names)):
        return Recalled("", NOTHING)
    place = {name: state[name] for name in HANDED_ON if name in state}
    place["run"] = here(state, runtime).run
    given = {"messages": [("user", question)], "scope": names, "most": rounds, **place}
    graph = make_recall(inside=True)
    with inside() as config:
        state_left = await graph.ainvoke(given, config, context=runtime.context)
    found = cast("RecallState", state_left)
    cited = {one["source"] for one in found["extracts"]}
    sources = {name: source for name, source in found["sources"].items() if name in cited}
    return Recalled(found["notes"], Evidence(found["extracts"], _memories(sources), []))


async def related(state: Mapping[str, Any], runtime: Runtime[Context], question: str) -> Evidence:
    """Return what memory has on a question, asking a model only where that is worth it.

    What answers the question by itself is returned as it is, and what has nothing to do with it
    is left; only in between the memory researcher looks for more, in a single round.

    Raises:
        Problem: What every model call meets, such as a key that is refused.
    """
    found = await at_once(state, runtime, question)
    return (await recall(state, runtime, question, rounds=1)).evidence if found.half else found.hits


async def at_once(state: Mapping[str, Any], runtime: Runtime[Context], question: str) -> AtOnce:
    """Return what memory has on a question without asking a model."""
    place, part = here(state, runtime), scope(remembered(runtime.context))
    choices = runtime.context
    found = await recollect(place, choices, [question], about=question, part=part, run=place.run)
    shown = [
        Page(one["source"], found.sources[one["source"]]["title"], "", one["text"])
        for one in found.passages
    ]
    hits = found._replace(sources=_memories(found.sources))
    if await beside(place, choices, "recall", answerable, question, shown):
        return AtOnce(hits, half=False)
    if await beside(place, choices, "recall", _covered, question, shown) < RELATED:
        return AtOnce(NOTHING, half=False)
    return AtOnce(hits, half=True)


def _covered(question: str, shown: Sequence[Page]) -> float:
    """Return how much pages cover of what an answer has to, at most 1 for those that answer.

    Pages in another language share only names and technical terms with the question.
    """
    about, tongue = topic(question), language(question)
    others = [page for page in shown if language(page.text) != tongue]
    own = reach(about, question, shown) / LEAST[tongue]
    return max(own, reach(across(question), question, others) / LEAST["en"])


def _memories(sources: Mapping[str, Source]) -> dict[str, Source]:
    return {name: Source(**{**source, "kind": "memory"}) for name, source in sources.items()}
