"""Learn after the answer, with the memorizer model if one is configured."""

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
from calls.run_progress import show_progress
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
"""Time limit in seconds for making vectors at the end of a run; the next run makes the rest."""

LONGEST = 64
"""The largest number of characters of a stored message id."""

log = logging.getLogger(__name__)


async def learn(state: State, runtime: Runtime[Context]) -> State:
    """Learn from the messages of the person and from the outcome of the run.

    Reads `messages`, `report`, `findings`, `status`; writes nothing. The answer is delivered
    already, so a problem here only loses a lesson.
    """
    place = call_site(state, runtime)
    work: list[Awaitable[None]] = [_learn_messages(state, runtime)]
    if state["report"]["title"]:
        work.append(learn_from_run(state, runtime))
    else:
        show_progress(state, "answered", status=state["status"])
    for problem in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(problem, Problem):
            log.warning("%s has not learnt all it could: %s", place.run, problem)
        elif problem is not None:
            raise problem
    await _make_vectors(place)
    end_session(place)
    return State()


async def queue_question(state: State, place: CallSite) -> None:
    """Put the newest message of the person into the outbox, and learn its plain statements.

    It is on disk before the run continues, so no message is lost with the run.
    """
    newest = [message for message in state["messages"] if isinstance(message, HumanMessage)][-1]
    answers = [str(message.text) for message in state["messages"] if isinstance(message, AIMessage)]
    answer = answers[-1][:MAX_ANSWER_CHARS] if answers else ""
    name = newest.id or place.run
    # A client may choose an id that is longer than the column.
    name = name if len(name) <= LONGEST else sha256(name.encode()).hexdigest()
    message = PersonMessage(place.thread, place.run, name, str(newest.text), answer)
    await enqueue_message(place.owner, message)
    await learn_by_rules(place, message)


async def _learn_messages(state: Mapping[str, Any], runtime: Runtime[Context]) -> None:
    """Learn from the messages of this thread, and from due messages of the owner's others."""
    place = call_site(state, runtime)
    await process_messages(place, _memorizer(state, runtime), thread=place.thread)


async def learn_pending(state: Mapping[str, Any], runtime: Runtime[Context]) -> None:
    """Learn from messages before this run that are still in the queue."""
    place = call_site(state, runtime)
    await process_messages(place, _memorizer(state, runtime), excluded_run=place.run)


def _memorizer(state: Mapping[str, Any], runtime: Runtime[Context]) -> AskMemorizer | None:
    """Return a function that asks the memorizer about messages; None without a model."""
    if built_in(MEMORIZER_ROLE, runtime.context):
        return None

    async def read(system: str, data: str) -> Learnt:
        """Ask what is to be learnt; an invalid answer may be repaired once."""
        return await ask(
            state, runtime, MEMORIZER_ROLE, system, [HumanMessage(data)], Learnt, repairs=1
        )

    return read


async def _make_vectors(place: CallSite) -> None:
    """Make the vectors of pages that the run has read, and trace a problem that prevented it."""
    try:
        problem = (await make_due_vectors(seconds=VECTORS)).problem
    except Problem as error:
        problem = error
    if problem is not None and problem.code != ErrorCode.BUDGET_SPENT:
        await trace(place, "embed", "learn", problem.code)
