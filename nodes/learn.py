"""Learn from what a person has said, with the model that plays the memorizer where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from graph.context import Context
from graph.state import Place, State
from memory.learning.extraction import ANSWER, Ask
from memory.learning.schema import Learnt
from memory.learning.turns import Said, observe
from memory.learning.worker import ROLE, hear, work_off
from models.load import model_name
from nodes.agent import ask
from runs.budget import pause
from runs.place import Here, here

LONGEST = 64
"""How many characters the id of a message may have."""


async def hear_question(state: State, place: Here) -> None:
    """Put the newest message of a person into the outbox, and keep what it says plainly.

    It is on the disk before the run goes on, so nothing that was said is lost with the run.
    """
    said = [one for one in state["messages"] if isinstance(one, HumanMessage)][-1]
    answers = [str(one.text) for one in state["messages"] if isinstance(one, AIMessage)]
    answer = answers[-1][:ANSWER] if answers else ""
    heard = Said(place.thread, place.run, name(said.id or place.run), str(said.text), answer)
    await observe(place.owner, heard)
    await hear(place, heard)


def name(message: str) -> str:
    """Return the id of a message; a client may choose one that is longer than a column."""
    return message if len(message) <= LONGEST else sha256(message.encode()).hexdigest()


async def learn_now(state: Mapping[str, Any], runtime: Runtime[Context]) -> None:
    """Learn from what was said in this thread, and in the owner's others where that is due."""
    place = here(state, runtime)
    await work_off(place, memorizer(state, runtime), thread=place.thread)


async def learn_due(state: Mapping[str, Any], runtime: Runtime[Context]) -> None:
    """Learn from what was said before this run and nobody has come to yet."""
    place = here(state, runtime)
    await work_off(place, memorizer(state, runtime), but=place.run)


def memorizer(state: Mapping[str, Any], runtime: Runtime[Context]) -> Ask | None:
    """Return what asks the memorizer to read messages; nothing where no model is configured."""
    if model_name(ROLE, runtime.context).startswith("extractive:"):
        return None

    async def read(system: str, data: str) -> Learnt:
        return await ask(state, runtime, ROLE, system, [HumanMessage(data)], Learnt, repairs=1)

    return read


async def learn(state: Place, runtime: Runtime[Context]) -> Place:
    """Learn outside of a run, from what is waiting.

    Reads `run`, `turn`; writes nothing.
    """
    await learn_now(state, runtime)
    pause(here(state, runtime))
    return Place()


@cache
def make_learn() -> CompiledStateGraph[Any, Context, Any, Any]:
    """Return the graph that only learns; it saves nothing, and needs the name of a thread."""
    graph = StateGraph(Place, context_schema=Context)
    graph.add_node(learn)
    graph.add_edge(START, "learn")
    graph.add_edge("learn", END)
    return graph.compile(name="learn")
