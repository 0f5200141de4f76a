"""Answer the questions of LoCoMo (Maharana et al., ACL 2024) from memory, with the recall graph."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel

from config.errors import EXIT, Problem
from config.named_files import read_text
from evals.answers import bleu1, f1
from evals.judged import Entry
from evals.metrics import mean
from evals.retrieving import Told, kept
from graph.context import Context
from nodes.agent import ask
from nodes.recall.graph import make_recall
from nodes.recall.state import RecallState
from prompts.loader import render
from prompts.marks import block, blocks, pages_block
from storage.engine import close
from tools.dates import iso

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
"""The kinds of questions by their numbers; those of 5 have no answer and are not asked."""

OPEN_DOMAIN = 3

AT_ONCE = 4
"""How many questions are answered at the same time."""


class Question(NamedTuple):
    """A question about a conversation, and its answer."""

    conversation: str
    text: str
    answer: str
    category: int


class Short(BaseModel):
    """The answer alone, in a few words."""

    answer: str = ""


class Answering(RecallState, total=False):
    """A question that is answered from what the recall graph finds."""

    category: int
    """Of which kind it is. Written by the caller."""
    answer: str
    """Written by answer."""


def read_locomo(file: Path) -> tuple[list[Entry], list[Question]]:
    """Read LoCoMo's conversations as pages, one for each turn, and the questions about them.

    Raises:
        Problem: `file_not_found` or `locomo_unreadable`.
    """
    try:
        samples = json.loads(read_text(file))
        return _pages(samples), _questions(samples)
    except FileNotFoundError as error:
        what = "there is no such file"
        raise Problem("file_not_found", what, where=str(file), hint="check the path") from error
    except OSError as error:
        what = f"it cannot be read: {error.strerror}"
        raise Problem("locomo_unreadable", what, where=str(file)) from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        hint = "it is the file that the authors of LoCoMo call locomo10.json"
        what = f"it is not LoCoMo's: {type(error).__name__}: {error}"
        raise Problem("locomo_unreadable", what, where=str(file), hint=hint) from error


async def measure(
    corpus: Sequence[Entry], questions: Sequence[Question], told: Told
) -> list[dict[str, float]]:
    """Keep the conversations in the store that is set and answer; return each question's scores.

    Raises:
        Problem: What keeps every model from answering, such as a key that is wrong.
    """
    gate = asyncio.Semaphore(AT_ONCE)
    rows: dict[int, dict[str, float]] = {}

    async def one(number: int, question: Question) -> None:
        async with gate:
            answer = await _answered(number, question)
        scored = {"F1": f1(answer, question.answer), "BLEU-1": bleu1(answer, question.answer)}
        rows[number] = scored | {"answered": float(bool(answer))}
        told("Answering questions", len(rows), len(questions))

    try:
        await kept(corpus, told)
        async with asyncio.TaskGroup() as tasks:
            for number, question in enumerate(questions):
                tasks.create_task(one(number, question))
    except ExceptionGroup as group:
        raise group.exceptions[0] from group
    finally:
        await close()
    return [rows[number] for number in range(len(questions))]


def summary(questions: Sequence[Question], rows: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Return the mean scores over all questions and for each category."""
    kinds: dict[str, list[dict[str, float]]] = defaultdict(list)
    for question, row in zip(questions, rows, strict=True):
        kinds[CATEGORIES[question.category]].append(row)
    categories = {name: _mean(kinds[name]) for name in CATEGORIES.values() if kinds[name]}
    return {**_mean(rows), "categories": categories}


def _mean(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    means = {name: round(value, 4) for name, value in mean(rows).items()}
    return {**means, "questions": len(rows)}


async def _answered(number: int, question: Question) -> str:
    """Return the answer to one question; an empty one where the model gave none."""
    config: RunnableConfig = {"configurable": {"thread_id": f"locomo-{number}"}}
    asked = {"messages": [HumanMessage(question.text)], "category": question.category}
    try:
        choices = Context(memory=[question.conversation])
        state = await make_answering().ainvoke(asked, config, context=choices)
    except Problem as problem:
        if problem.exit_status == EXIT["unavailable"]:
            raise
        return ""
    return str(state["answer"])


@cache
def make_answering() -> CompiledStateGraph[Any, Context, Any, Any]:
    """Return the graph that looks a question up in memory and answers it in a few words."""
    graph = StateGraph(Answering, context_schema=Context)
    graph.add_node("recall", make_recall())
    graph.add_node(answer)
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "answer")
    graph.add_edge("answer", END)
    return graph.compile(InMemorySaver())


async def answer(state: Answering, runtime: Runtime[Context]) -> dict[str, str]:
    """Answer in a few words.

    Reads `question`, `notes`, `extracts`, `sources`, `category`; writes `answer`.
    """
    request = blocks(
        block("question", state["question"]),
        block("notes", state["notes"]),
        pages_block(state["extracts"], state["sources"]),
    )
    name = "likely_answer" if state["category"] == OPEN_DOMAIN else "short_answer"
    system = render(name, language=state["language"])
    short = await ask(state, runtime, "recall", system, [HumanMessage(request)], Short)
    return {"answer": short.answer}


def _pages(samples: list[dict[str, Any]]) -> list[Entry]:
    entries = []
    for sample in samples:
        talk, group = sample["conversation"], str(sample["sample_id"])
        names = [name for name in talk if name.startswith("session_") and name[8:].isdecimal()]
        for name in sorted(names, key=lambda one: int(one[8:])):
            date = talk[f"{name}_date_time"]
            entries += [_turn(turn, group, name, date) for turn in talk[name]]
    return entries


def _turn(turn: dict[str, Any], group: str, session: str, date: str) -> Entry:
    shared = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return Entry(
        id=f"{group}/{turn['dia_id']}",
        title=f"{turn['speaker']}, {date}",
        text=f"{turn['text']}{shared}",
        group=group,
        session=session,
        speaker=turn["speaker"],
        said=iso(date),
    )


def _questions(samples: list[dict[str, Any]]) -> list[Question]:
    return [
        Question(str(sample["sample_id"]), one["question"], str(one["answer"]), one["category"])
        for sample in samples
        for one in sample["qa"]
        if one["category"] in CATEGORIES
    ]
