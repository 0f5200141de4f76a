"""Let Dossier answer the tasks of the benchmark; what was stopped goes on where it was.

Each task is a project of its own, so that no report is remembered for another task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import anyio

from config.errors import Problem
from config.settings import settings
from evals.deep_research_bench.benchmark_data import BenchmarkTask
from evals.retrieval_eval import Told
from graph.context import Context, build_context
from graph.records import RunStatus
from graph.session import NOT_STARTED_NODES, ThreadSession, open_session, pending_nodes
from graph.state import State, is_delivered
from models.faults import raise_if_fatal
from report.export import ReportTarget
from runs.call_site import join_owner
from runs.incomplete import find_resume_node, find_unchanged_limit
from runs.lifecycle import REPORT_FILES, create_run

THREAD = "drb"
"""The beginning of the names of threads."""


@dataclass
class TaskReports:
    """What came out: reports by the prompts of their tasks, and why others failed."""

    articles: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    """The code of what went wrong, by the id of the task."""


def task_context(task: BenchmarkTask, choices: Mapping[str, Any]) -> Context:
    """Return the choices of the run for a task.

    Raises:
        Problem: What `build_context` raises for choices that are none.
    """
    mine = {"auto_accept": True, "language": task.language, "project": f"{THREAD}-{task.id}"}
    return build_context({**mine, **choices})


async def answer_tasks(
    tasks: Sequence[BenchmarkTask],
    choices: Mapping[str, Any],
    folder: Path,
    name: str,
    parallel: int,
    told: Told,
) -> TaskReports:
    """Answer tasks, several side by side, and return their reports.

    Args:
        tasks: The tasks.
        choices: The choices of every run.
        folder: Where the reports go, each into a folder named by the id of its task.
        name: What is evaluated; other choices have another name, and so other runs.
        parallel: How many runs work side by side.
        told: Is told of the progress.

    Raises:
        Problem: What every other run would meet too, such as a wrong key.
    """
    reports, gate = TaskReports(), asyncio.Semaphore(parallel)

    async def one(opened: ThreadSession, task: BenchmarkTask) -> None:
        async with gate:
            thread = f"{THREAD}-{sha256(f'{name}{task.prompt}'.encode()).hexdigest()[:16]}"
            session = ThreadSession(opened.graph, thread)
            await _answer_one(session, thread, task, choices, folder, reports)
        done = len(reports.articles) + len(reports.failed)
        told("Answering tasks", done, len(tasks))

    async with open_session(THREAD) as opened:
        try:
            async with asyncio.TaskGroup() as group:
                for task in tasks:
                    group.create_task(one(opened, task))
        except ExceptionGroup as error:
            raise error.exceptions[0] from error
    return reports


async def _answer_one(
    session: ThreadSession,
    thread: str,
    task: BenchmarkTask,
    choices: Mapping[str, Any],
    folder: Path,
    reports: TaskReports,
) -> None:
    """Answer one task, and note its report or why there is none."""
    place = folder / str(task.id)
    session.set_report_target(ReportTarget(place, force=True))
    try:
        status = await _work(session, thread, task, task_context(task, choices))
    except Problem as problem:
        raise_if_fatal(problem)
        reports.failed[str(task.id)] = problem.error
        return
    file = anyio.Path(place / REPORT_FILES["md"])
    if status == "failed" or not await file.exists():
        reports.failed[str(task.id)] = status
        return
    reports.articles[task.prompt] = await file.read_text("utf-8")


async def _work(
    session: ThreadSession, thread: str, task: BenchmarkTask, context: Context
) -> RunStatus:
    """Begin a run, go on with it, or repeat what failed in it; return how it ended."""
    snapshot = await session.current()
    pending = set(pending_nodes(snapshot))
    state = cast("State", snapshot.values)
    if is_delivered(state) and not pending and not _is_worth_resuming(state, context):
        return state["status"]
    if snapshot.values.get("run") and not NOT_STARTED_NODES & pending:
        outcome = await session.resume(context, _ignore)
    else:
        owner = join_owner(context.user or settings().user, context.project)
        await create_run(owner, thread, 1, task.prompt, context)
        outcome = await session.begin(task.prompt, context, _ignore)
    return outcome.state["status"]


def _is_worth_resuming(state: State, context: Context) -> bool:
    """Tell whether a finished run has parts that would come out otherwise now."""
    return bool(find_resume_node(state)) and not find_unchanged_limit(state, context)


def _ignore(_: dict[str, Any]) -> None:
    """Watch the events of a run without showing them."""
