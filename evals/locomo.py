"""Measure answers from memory on LoCoMo: long conversations, questions, F1 and BLEU-1."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections import Counter, defaultdict
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

from calls.gateway import ask
from config.errors import ErrorCode, ErrorKind, Problem
from evals.datasets import CorpusEntry, read_data_file
from evals.retrieval_eval import Told, mean, store_corpus
from graph.context import Context
from nodes.recall.recall_graph import make_recall_graph
from nodes.recall.recall_state import RecallState
from prompts.data_blocks import join_prompt_blocks, render_block, render_pages_block
from prompts.loader import render_prompt
from storage.engine import close_database
from text.dates import to_iso_timestamp

ARTICLES = frozenset(["a", "an", "the"])


def normalize_answer(text: str) -> list[str]:
    """Return the words of an answer: lower case, punctuation as spaces, without articles."""
    plain = re.sub(r"[^\w\s]|_", " ", text.lower())
    return [word for word in plain.split() if word not in ARTICLES]


def f1(answer: str, right: str) -> float:
    """Return the harmonic mean of precision and recall of the words, in 0..1."""
    said, wanted = normalize_answer(answer), normalize_answer(right)
    shared = _shared(said, wanted)
    return 2 * shared / (len(said) + len(wanted)) if shared else 0.0


def bleu1(answer: str, right: str) -> float:
    """Return the precision of the words, less for an answer shorter than the right one, in 0..1.

    Papineni et al., ACL 2002, with single words only.
    """
    said, wanted = normalize_answer(answer), normalize_answer(right)
    shared = _shared(said, wanted)
    if not shared:
        return 0.0
    return shared / len(said) * math.exp(min(0.0, 1 - len(wanted) / len(said)))


def _shared(said: list[str], wanted: list[str]) -> int:
    return (Counter(said) & Counter(wanted)).total()


CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
"""The kinds of questions by their numbers; those of 5 have no answer and are not asked."""

OPEN_DOMAIN = 3

AT_ONCE = 4
"""How many questions are answered at the same time."""


class _Question(NamedTuple):
    """A question about a conversation, and its answer."""

    conversation: str
    text: str
    answer: str
    category: int


class Short(BaseModel):
    """The answer alone, in a few words."""

    answer: str = ""


class _Answering(RecallState, total=False):
    """A question that is answered from what the recall graph finds."""

    category: int
    """Of which kind it is. Written by the caller."""
    answer: str
    """Written by answer."""


def read_locomo(file: Path) -> tuple[list[CorpusEntry], list[_Question]]:
    """Read LoCoMo's conversations as pages, one for each turn, and the questions about them.

    Raises:
        Problem: `file_not_found` or `locomo_unreadable`.
    """
    try:
        samples = json.loads(read_data_file(file))
        return _pages(samples), _questions(samples)
    except OSError as error:
        what = f"it cannot be read: {error.strerror}"
        raise Problem(ErrorCode.LOCOMO_UNREADABLE, what, where=str(file)) from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        hint = "it is the file that the authors of LoCoMo call locomo10.json"
        what = f"it is not LoCoMo's: {type(error).__name__}: {error}"
        raise Problem(ErrorCode.LOCOMO_UNREADABLE, what, where=str(file), hint=hint) from error


async def measure_locomo(
    corpus: Sequence[CorpusEntry], questions: Sequence[_Question], told: Told
) -> list[dict[str, float]]:
    """Keep the conversations in the store that is set and answer; return each question's scores.

    Raises:
        Problem: What keeps every model from answering, such as a key that is wrong.
    """
    gate = asyncio.Semaphore(AT_ONCE)
    rows: dict[int, dict[str, float]] = {}

    async def one(number: int, question: _Question) -> None:
        async with gate:
            answer = await _answered(number, question)
        scored = {"F1": f1(answer, question.answer), "BLEU-1": bleu1(answer, question.answer)}
        rows[number] = scored | {"answered": float(bool(answer))}
        told("Answering questions", len(rows), len(questions))

    try:
        await store_corpus(corpus, told)
        async with asyncio.TaskGroup() as tasks:
            for number, question in enumerate(questions):
                tasks.create_task(one(number, question))
    except ExceptionGroup as group:
        raise group.exceptions[0] from group
    finally:
        await close_database()
    return [rows[number] for number in range(len(questions))]


def summarize_locomo(
    questions: Sequence[_Question], rows: Sequence[dict[str, float]]
) -> dict[str, Any]:
    """Return the mean scores over all questions and for each category."""
    kinds: dict[str, list[dict[str, float]]] = defaultdict(list)
    for question, row in zip(questions, rows, strict=True):
        kinds[CATEGORIES[question.category]].append(row)
    categories = {name: _mean(kinds[name]) for name in CATEGORIES.values() if kinds[name]}
    return {**_mean(rows), "categories": categories}


def _mean(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    means = {name: round(value, 4) for name, value in mean(rows).items()}
    return {**means, "questions": len(rows)}


async def _answered(number: int, question: _Question) -> str:
    """Return the answer to one question; an empty one where the model gave none."""
    config: RunnableConfig = {"configurable": {"thread_id": f"locomo-{number}"}}
    asked = {"messages": [HumanMessage(question.text)], "category": question.category}
    try:
        choices = Context(memory=[question.conversation])
        state = await _make_answering().ainvoke(asked, config, context=choices)
    except Problem as problem:
        if problem.exit_status == ErrorKind.UNAVAILABLE.exit_status:
            raise
        return ""
    return str(state["answer"])


@cache
def _make_answering() -> CompiledStateGraph[Any, Context, Any, Any]:
    """Return the graph that looks a question up in memory and answers it in a few words."""
    graph = StateGraph(_Answering, context_schema=Context)
    graph.add_node("recall", make_recall_graph())
    graph.add_node("answer", _answer_from_memory)
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "answer")
    graph.add_edge("answer", END)
    return graph.compile(InMemorySaver())


async def _answer_from_memory(state: _Answering, runtime: Runtime[Context]) -> dict[str, str]:
    """Answer in a few words.

    Reads `question`, `notes`, `extracts`, `sources`, `category`; writes `answer`.
    """
    request = join_prompt_blocks(
        render_block("question", state["question"]),
        render_block("notes", state["notes"]),
        render_pages_block(state["extracts"], state["sources"]),
    )
    name = "likely_answer" if state["category"] == OPEN_DOMAIN else "short_answer"
    system = render_prompt(name, language=state["language"])
    short = await ask(state, runtime, "recall", system, [HumanMessage(request)], Short)
    return {"answer": short.answer}


def _pages(samples: list[dict[str, Any]]) -> list[CorpusEntry]:
    entries = []
    for sample in samples:
        talk, group = sample["conversation"], str(sample["sample_id"])
        names = [name for name in talk if name.startswith("session_") and name[8:].isdecimal()]
        for name in sorted(names, key=lambda one: int(one[8:])):
            date = talk[f"{name}_date_time"]
            entries += [_turn(turn, group, name, date) for turn in talk[name]]
    return entries


def _turn(turn: dict[str, Any], group: str, session: str, date: str) -> CorpusEntry:
    shared = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return CorpusEntry(
        id=f"{group}/{turn['dia_id']}",
        title=f"{turn['speaker']}, {date}",
        text=f"{turn['text']}{shared}",
        group=group,
        session=session,
        speaker=turn["speaker"],
        said=to_iso_timestamp(date),
    )


def _questions(samples: list[dict[str, Any]]) -> list[_Question]:
    return [
        _Question(str(sample["sample_id"]), one["question"], str(one["answer"]), one["category"])
        for sample in samples
        for one in sample["qa"]
        if one["category"] in CATEGORIES
    ]
