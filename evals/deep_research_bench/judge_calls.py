"""Ask the judge: typed answers that are stored before they are used, so none is paid for twice.

A judge answers through the same stack as every role (`calls/gateway.py`), with retries, records of
attempts and the ledger, in a store of its own, where there is nothing to remember. No other model
takes its place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import ExecutionInfo, Runtime
from pydantic import BaseModel

from calls.attempts import list_attempts
from calls.gateway import ask, work
from config.errors import ErrorCode, Problem
from evals.deep_research_bench.benchmark_data import BenchmarkTask
from graph.context import CHOICE_BOUNDS, Context
from prompts.data_blocks import join_prompt_blocks, render_block
from prompts.loader import render_prompt
from runs.call_site import run_id

Answer = TypeVar("Answer", bound=BaseModel)

ROLE = "checker"
"""The role that a judge plays: it gets no memories, and the built-in model never stands in."""

CORRECTIONS = 2
"""How often a judge is told what is missing in an answer that can be read."""

MOST_RETRIES = 20
"""How often a failed judgement can be asked for anew, over all starts of an evaluation."""


class Spent(NamedTuple):
    """What calls have used."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float = 0.0


class JudgeStage(NamedTuple):
    """One kind of question to a judge."""

    name: str
    """As it is in the estimate of the price."""
    prompt: str
    """The prompt that says what is to be judged."""


class Judge:
    """A model that judges, at most so many calls at a time.

    Args:
        model: Its name, as `provider:name`.
        gate: Limits how many calls are made side by side.
        retry_failed: Whether what it could not judge before is asked for once more.
    """

    def __init__(self, model: str, gate: asyncio.Semaphore, *, retry_failed: bool = False) -> None:
        most = {name: CHOICE_BOUNDS[f"max_{name}"][1] for name in ("cost", "minutes")}
        counts = {name: int(CHOICE_BOUNDS[f"max_{name}"][1]) for name in ("tokens", "calls")}
        self.context = Context(
            models={ROLE: model},
            max_cost=most["cost"],
            max_minutes=most["minutes"],
            max_tokens=counts["tokens"],
            max_calls=counts["calls"],
        )
        self.model, self.gate, self.retry_failed = model, gate, retry_failed
        self.threads: set[str] = set()
        """The threads of all calls so far, also of those that the ledger answered."""

    def thread(self, stage: JudgeStage, task: BenchmarkTask, about: str) -> str:
        """Name the thread of the calls of a stage for a task; `about` is what is judged."""
        digest = sha256(f"{self.model}\0{task.prompt}\0{about}".encode()).hexdigest()[:16]
        return f"{stage.name}-{digest}"

    async def ask(
        self,
        stage: JudgeStage,
        task: BenchmarkTask,
        about: str,
        blocks: Mapping[str, object],
        schema: type[Answer],
        find_fault: Callable[[Answer], str] = lambda _: "",
        **values: object,
    ) -> Answer:
        """Return a typed answer in which nothing is missing.

        Args:
            stage: What is asked.
            task: The task.
            about: What is judged; it names the thread of the calls.
            blocks: What the judge is shown.
            schema: The form of the answer.
            find_fault: Returns what is missing in an answer; "" if it can be used.
            values: The variables of the prompt.

        Raises:
            Problem: `answer_invalid`, or whatever keeps the model from answering.
        """
        system = render_prompt(stage.prompt, language=task.language, **values)
        talk: list[AnyMessage] = [HumanMessage(_request(blocks))]
        thread = self.thread(stage, task, about)

        async def asked(again: int) -> Answer:
            return await self._ask_checked(thread, task, again, system, talk, schema, find_fault)

        async with self.gate:
            return await self._repeat(thread, asked)

    async def write(
        self, stage: JudgeStage, task: BenchmarkTask, about: str, blocks: Mapping[str, object]
    ) -> str:
        """Return what the model writes; "" if it did not come to the end.

        Raises:
            Problem: Whatever keeps the model from answering.
        """
        system = render_prompt(stage.prompt, language=task.language)
        thread = self.thread(stage, task, about)
        said = [HumanMessage(_request(blocks))]
        async with self.gate:
            result = await work(
                _state(task), self._runtime(thread), ROLE, system, said, fallback=False
            )
        return result.text if result.complete else ""

    async def _ask_checked(
        self,
        thread: str,
        task: BenchmarkTask,
        again: int,
        system: str,
        talk: list[AnyMessage],
        schema: type[Answer],
        find_fault: Callable[[Answer], str],
    ) -> Answer:
        said, runtime, fault = list(talk), self._runtime(thread), ""
        for _ in range(1 + CORRECTIONS):
            answer = await ask(
                _state(task, again), runtime, ROLE, system, said, schema, fallback=False
            )
            fault = find_fault(answer)
            if not fault:
                return answer
            more = render_prompt("bench_incomplete", language=task.language, missing=fault)
            said += [AIMessage(answer.model_dump_json()), HumanMessage(more)]
        what = f"the judge's answer is incomplete: {fault[:200]}"
        raise Problem(ErrorCode.ANSWER_INVALID, what)

    async def _repeat(self, thread: str, asked: Callable[[int], Awaitable[Answer]]) -> Answer:
        """Ask; where recorded answers cannot be used, ask for a new one if that is wanted."""
        for again in range(MOST_RETRIES):
            before = await list_attempts(run_id(thread, 1))
            try:
                return await asked(again)
            except Problem as problem:
                made = len(await list_attempts(run_id(thread, 1))) - len(before)
                if problem.code != ErrorCode.ANSWER_INVALID or made or not self.retry_failed:
                    raise
        raise Problem(ErrorCode.ANSWER_INVALID, f"no usable answer in {MOST_RETRIES} tries")

    def _runtime(self, thread: str) -> Runtime[Context]:
        self.threads.add(thread)
        place = ExecutionInfo(checkpoint_id="", checkpoint_ns="", task_id="", thread_id=thread)
        return Runtime(context=self.context, execution_info=place)


async def count_spent(threads: Iterable[str]) -> Spent:
    """Return what the calls in some threads have used, over all starts of an evaluation."""
    made = [one for thread in threads for one in await list_attempts(run_id(thread, 1))]
    return Spent(
        len(made),
        sum(one.tokens_in for one in made),
        sum(one.tokens_out for one in made),
        sum(one.cost for one in made),
    )


async def count_answered(thread: str) -> int:
    """Return how many calls in a thread brought an answer that could be read."""
    return sum(one.status == "ok" for one in await list_attempts(run_id(thread, 1)))


def _request(blocks: Mapping[str, object]) -> str:
    return join_prompt_blocks(*(render_block(tag, data) for tag, data in blocks.items()))


def _state(task: BenchmarkTask, again: int = 0) -> dict[str, Any]:
    return {"turn": 1, "language": task.language, **({"again": again} if again else {})}
