"""Learn behind the answer, with the model that plays the memorizer where there is one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Mapping
from hashlib import sha256
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.runtime import Runtime

from calls.gateway import ask
from calls.run_budget import end_session
from config.errors import ErrorCode, Problem
from graph.context import Context
from graph.state import State
from library.vector_upkeep import make_due_vectors
from memory.learning.claim_extraction import MAX_ANSWER_CHARS, AskMemorizer, Learnt
from memory.learning.learner import MEMORIZER_ROLE, learn_by_rules, process_messages
from memory.learning.message_queue import PersonMessage, enqueue_message
from models.chat_models import built_in
from nodes.past_runs import learn_from_run
from runs.call_site import CallSite, call_site
from runs.trace import trace

VECTORS = 5.0
"""How many seconds may go by with making vectors at the end of a run; the next one goes on."""

LONGEST = 64
"""How many characters the id of a message may have."""

log = logging.getLogger(__name__)


async def learn(state: State, runtime: Runtime[Context]) -> State:
    """Learn from what the person said and from how the run went, behind the answer.

    Reads `messages`, `report`, `findings`, `status`; writes nothing. The person has the answer by
    now, so what goes wrong here costs no more than a lesson.
    """
    place = call_site(state, runtime)
    work: list[Awaitable[None]] = [_learn_now(state, runtime)]
    if state["report"]["title"]:
        work.append(learn_from_run(state, runtime))
    else:
        runtime.stream_writer({"event": "answered", "run": place.run, "status": state["status"]})
    for problem in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(problem, Problem):
            log.warning("%s has not learnt all it could: %s", place.run, problem)
        elif problem is not None:
            raise problem
    await _vectors(place)
    end_session(place)
    return State()


async def queue_question(state: State, place: CallSite) -> None:
    """Put the newest message of a person into the outbox, and keep what it says plainly.

    It is on the disk before the run goes on, so nothing that was said is lost with the run.
    """
    said = [one for one in state["messages"] if isinstance(one, HumanMessage)][-1]
    answers = [str(one.text) for one in state["messages"] if isinstance(one, AIMessage)]
    answer = answers[-1][:MAX_ANSWER_CHARS] if answers else ""
    heard = PersonMessage(
        place.thread, place.run, _message_id(said.id or place.run), str(said.text), answer
    )
    await enqueue_message(place.owner, heard)
    await learn_by_rules(place, heard)


def _message_id(message: str) -> str:
    """Return the id of a message; a client may choose one that is longer than a column."""
    return message if len(message) <= LONGEST else sha256(message.encode()).hexdigest()


async def _learn_now(state: Mapping[str, Any], runtime: Runtime[Context]) -> None:
    """Learn from what was said in this thread, and in the owner's others where that is due."""
    place = call_site(state, runtime)
    await process_messages(place, _memorizer(state, runtime), thread=place.thread)


async def learn_pending(state: Mapping[str, Any], runtime: Runtime[Context]) -> None:
    """Learn from what was said before this run and nobody has come to yet."""
    place = call_site(state, runtime)
    await process_messages(place, _memorizer(state, runtime), excluded_run=place.run)


def _memorizer(state: Mapping[str, Any], runtime: Runtime[Context]) -> AskMemorizer | None:
    """Return what asks the memorizer to read messages; nothing where no model is configured."""
    if built_in(MEMORIZER_ROLE, runtime.context):
        return None

    async def read(system: str, data: str) -> Learnt:
        return await ask(
            state, runtime, MEMORIZER_ROLE, system, [HumanMessage(data)], Learnt, repairs=1
        )

    return read


async def _vectors(place: CallSite) -> None:
    """Make the vectors of what the run has read, and trace what prevented it."""
    try:
        problem = (await make_due_vectors(seconds=VECTORS)).problem
    except Problem as error:
        problem = error
    if problem is not None and problem.code != ErrorCode.BUDGET_SPENT:
        await trace(place, "embed", "learn", problem.code)
