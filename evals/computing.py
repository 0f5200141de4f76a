"""Measure questions that need computing over tables: by programs, and by rules without a model.

Run `python -m evals.computing`. Sixty questions over the tables in `evals/tables` are answered
twice: by a run without a model, before there is a result that could be remembered, and by a run
whose scripted model plans a step that computes and runs the program of the question. Then programs
that are wrong on purpose show whether their numbers pass for verified ones.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from langchain_core.messages import AIMessage, BaseMessage

from evals.retrieval_eval import OWNER, USER, open_own_store
from evals.scripted_model import Reply, end_with, script_models
from graph.context import Context
from graph.session import open_session
from graph.state import State
from storage.engine import close_database
from text.pattern_files import read_packaged_toml
from tools.folder_ingestion import ingest_folder
from tools.sandbox.sandbox import describe_sandbox

TABLES = Path(__file__).parent / "tables"
"""The folder of the tables and of the questions about them."""

ASKED = "Work out what the step of the plan asks for."
"""What the runs with programs are asked, so that no rule answers before the step does."""

_PAGE = re.compile(r'<page id="(S\d+)"[^>]*kind="computed"[^>]*>\n(.*?)\n</page>', re.DOTALL)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_FINDING = re.compile(r"<finding[^>]*>\n(.*?)\n</finding>", re.DOTALL)


class Question(NamedTuple):
    """A question over a table, a program that answers it, and the answer, part by part."""

    id: str
    table: str
    ask: str
    answers: list[str]
    code: str
    claim: str = ""
    """What the model says instead of what the program printed."""


class Score(NamedTuple):
    """How one question came out, and the seconds it took."""

    id: str
    outcome: str
    seconds: float


def load_questions() -> list[Question]:
    """Return the questions, each with its whole program."""
    data = read_packaged_toml("evals.tables", "questions.toml")
    beginnings = data["beginnings"]
    return [
        Question(**{**one, "code": beginnings[one["table"]] + one["code"]})
        for one in data["questions"]
    ]


def load_wrong_programs() -> list[Question]:
    """Return questions with programs that are wrong on purpose."""
    data = read_packaged_toml("evals.tables", "questions.toml")
    known = {one.id: one for one in load_questions()}
    return [
        known[one["question"]]._replace(
            id=one["id"],
            code=data["beginnings"][known[one["question"]].table] + one["code"],
            claim=one.get("claim", ""),
        )
        for one in data["wrong"]
    ]


def answer_by_program(question: Question) -> Reply:
    """Return what plans one step, runs the program of a question, and says what it printed."""

    def reply(form: str, messages: Sequence[BaseMessage]) -> AIMessage | None:
        text = str(messages[-1].text)
        if form:
            return end_with(_plan(question)) if form == "Draft" else None
        if messages[-1].type == "tool":
            return end_with(_say(question, text))
        if "<step" in text:
            call = {"name": "run_python", "args": {"code": question.code}, "id": "1"}
            called = {"finish_reason": "tool_calls"}
            return AIMessage("", tool_calls=[call], response_metadata=called)
        said = [found[1] for found in _FINDING.finditer(text) if "[S" in found[1]]
        return end_with("\n".join(said) or "Nothing is known.")

    return reply


def _plan(question: Question) -> str:
    step = f'{{"title": "{question.id}", "description": "Compute it.", "kind": "compute"}}'
    return f'{{"title": "{question.id}", "steps": [{step}]}}'


def _say(question: Question, shown: str) -> str:
    """Return the lines that a program printed, each with its source."""
    page = _PAGE.search(shown)
    if page is None:
        return "Nothing could be computed."
    lines = [question.claim] if question.claim else page[2].strip().splitlines()[2:]
    return "\n\n".join(f"{line.rstrip('.')} [{page[1]}]." for line in lines if line.strip())


def has_answers(text: str, answers: Sequence[str]) -> bool:
    """Tell whether a text has every part of an answer: names as written, numbers as rounded.

    A number of two or more decimals may be rounded to fewer of them than the answer, to two at the
    least.
    """
    return all(_has(text, one) for one in answers)


def _has(text: str, answer: str) -> bool:
    if not _NUMBER.fullmatch(answer):
        return answer in text
    return any(_is_same(one, answer) for one in _NUMBER.findall(text.replace(",", "")))


def _is_same(number: str, answer: str) -> bool:
    decimals, wanted = (len(one.partition(".")[2]) for one in (number, answer))
    slack = 0.5 * 10.0**-decimals if 2 <= decimals < wanted else 0.0
    slack += 0.5 * 10.0**-wanted if wanted else 1e-9
    return abs(abs(float(number)) - abs(float(answer))) <= slack


def main() -> None:
    """Print how many questions are answered right, refused, and answered wrong without a word."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=60, help="how many of the questions")
    parser.add_argument("--only", choices=["programs", "rules", "wrong"])
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, open_own_store("none"):
        os.environ.setdefault("DOSSIER_SANDBOX_SECONDS", "30")
        asyncio.run(_measure(Path(folder), chosen.first, chosen.only))


async def _measure(folder: Path, first: int, only: str | None) -> None:
    for file in TABLES.iterdir():
        if file.suffix in (".csv", ".xlsx"):
            await asyncio.to_thread(shutil.copy, file, folder)
    questions = load_questions()[:first]
    try:
        async with open_session("ingest"):
            root = (await ingest_folder(OWNER, folder, lambda _: None)).root
        if only != "rules":
            status = await describe_sandbox()
            print(f"sandbox: {status.backend or status.obstacle}")
        if only in (None, "rules"):
            _print("rules, no model", [await _by_rules(root, one) for one in questions])
        if only in (None, "programs"):
            _print("programs", [await _by_program(root, one) for one in questions])
        if only in (None, "wrong"):
            _print(
                "wrong programs", [await _by_program(root, one) for one in load_wrong_programs()]
            )
    finally:
        await close_database()


def _print(name: str, scores: Sequence[Score]) -> None:
    outcomes = sorted({score.outcome for score in scores})
    told = ", ".join(f"{sum(score.outcome == one for score in scores)} {one}" for one in outcomes)
    middle = statistics.median(score.seconds for score in scores)
    print(f"{name:<16} of {len(scores):>2}: {told} (median {middle:.2f} s)")
    for score in scores:
        if score.outcome not in ("right", "refused"):
            print(f"  {score.outcome}: {score.id}")


async def _by_program(root: str, question: Question) -> Score:
    """Let the scripted model run the program of a question."""
    script_models("scripted", answer_by_program(question))
    models = {"default": f"scripted:{question.id}"}
    state, seconds = await _run(f"p-{question.id}", ASKED, root, models)
    report = state["report"]
    if not report["body"]:
        return Score(question.id, "no number", seconds)
    if report["doubted"]:
        return Score(question.id, "doubted", seconds)
    if has_answers(report["body"], question.answers):
        same = [one["outcome"] == "same" for one in report.get("recomputed", [])]
        return Score(question.id, "right" if same and all(same) else "not run again", seconds)
    return Score(question.id, "SILENT WRONG", seconds)


async def _by_rules(root: str, question: Question) -> Score:
    """Ask a question in a run without a model."""
    models = {"default": "extractive:"}
    state, seconds = await _run(f"r-{question.id}", question.ask, root, models)
    report = state["report"]
    computed = any(
        state["sources"][name]["kind"] == "computed"
        for name in report["cited"]
        if name in state["sources"]
    )
    if computed and has_answers(report["body"], question.answers):
        return Score(question.id, "right", seconds)
    if computed or state["status"] == "succeeded":
        return Score(question.id, "SILENT WRONG", seconds)
    return Score(question.id, "refused", seconds)


async def _run(thread: str, asked: str, root: str, models: dict[str, str]) -> tuple[State, float]:
    context = Context(files=[root], models=models, auto_accept=True, max_reflections=0, user=USER)
    began = time.perf_counter()
    async with open_session(thread) as session:
        outcome = await session.begin(asked, context, lambda _: None)
    return outcome.state, time.perf_counter() - began


if __name__ == "__main__":
    main()
