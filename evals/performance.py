"""Measure one research job: calls, chain, time to the plan, wall time, tokens and memory.

The job: a plan of N steps with two searches each, five pages of about a thousand words for every
query, findings of 300 words, a report of 800 words. The model takes 0.3 s for a call, a search and
a page 0.1 s each; all of them are servers on loopback. With `--depth deep` a step has two rounds of
tools before its finding: a search, then a section of a page that it found; a report on many steps
is written in sections of 300 words. A deep run of eight steps reaches its cap of two dollars, at
the prices of `gpt-4o`, before its report is compared with the sources. The process is warm, as that
of a server: a run of another project goes before. The job is measured with nothing in memory, and
again after three earlier runs on the subject. The chain and the wall time end when the report is
handed over; what is learnt behind it takes the seconds of the last column, and its calls and tokens
are counted too. With `--collector` each job is measured again with spans that are sent to a
collector on loopback; the processor's seconds are those of the main process until all are sent. The
figures of other systems for the same job stand below ours.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from config.errors import ErrorCode
from config.garbage_collection import spare_loaded_objects
from config.resources import replace_resources
from evals.world import World
from graph.depth import DEPTHS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graph.context import Context
    from graph.session import ThreadSession

OTHERS = [
    ("Open Deep Research, lean", 4, 57, 9, 4.28, 146_000),
    ("DeerFlow 1.x, lean", 4, 15, 15, 11.4, 77_000),
    ("GPT-Researcher deep", 4, 15, 6, 5.0, 41_000),
    ("Open Deep Research, 8 units", 8, 109, 9, 4.65, 287_000),
    ("DeerFlow 1.x, lean", 8, 27, 27, 19.6, 170_000),
    ("GPT-Researcher deep", 8, 27, 9, 6.6, 78_000),
]
"""System, steps, calls, chain, wall seconds, prompt tokens: measured on the same job, elsewhere."""

GOALS = {4: (13, 6, 1.2, 2.7, 40_000, 200), 8: (21, 6, 1.2, 2.9, 70_000, 200)}
"""The most calls, calls one after the other, seconds to the plan and to the report, prompt tokens
and megabytes for a plan of so many steps."""

BESIDE = ("recall", "memorizer")
"""Roles that no other waits for."""

EARLIER = ("How do bees live?", "How do bees live in winter?", "How do bees in a hive live?")
"""What the earlier runs ask."""


def main() -> None:
    """Run the job at N = 4 and N = 8 and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, nargs="*", default=[4, 8])
    parser.add_argument("--model-seconds", type=float, default=0.3)
    parser.add_argument("--web-seconds", type=float, default=0.1)
    parser.add_argument("--earlier", type=int, nargs="*", default=[0, len(EARLIER)])
    parser.add_argument("--depth", nargs="*", default=["standard"], choices=DEPTHS)
    parser.add_argument("--collector", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [
        apart(n, options.model_seconds, options.web_seconds, earlier, depth, spans)
        for depth in options.depth
        for n in options.steps
        for earlier in options.earlier
        for spans in ((False, True) if options.collector else (False,))
    ]
    if options.json:
        print(json.dumps(rows))
        return
    columns = "N  calls chain  plan s  wall s  cpu s  prompt  written  peak MB  behind s"
    print(f"{'system':28} {columns}")
    for row in rows:
        spans = ", spans" if row["spans"] else ""
        name = f"Dossier {row['depth']}, {row['earlier']} earlier{spans}"
        print(
            f"{name:28} {row['steps']:<2} {row['calls']:5} {row['chain']:5} {row['plan']:7.2f} "
            f"{row['wall']:7.2f} {row['cpu']:6.2f} {row['prompt']:7} {row['written']:8} "
            f"{row['peak_mb']:8} {row['behind']:9.2f}"
        )
    for name, steps, calls, chain, wall, prompt in OTHERS:
        print(f"{name:28} {steps:<2} {calls:5} {chain:5} {'':7} {wall:7.2f} {'':6} {prompt:7}")
    for steps in options.steps:
        if steps in GOALS:
            calls, chain, plan, wall, prompt, peak = GOALS[steps]
            print(
                f"N={steps}: goal ≤ {calls} calls, chain ≤ {chain}, ≤ {plan} s to the plan, "
                f"≤ {wall} s, ≤ {prompt} prompt tokens, ≤ {peak} MB"
            )


def apart(*job: Any) -> dict[str, Any]:
    """Run the job in a process of its own, whose peak of memory is that of the job alone."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measure, *job).result()


def _measure(
    steps: int, model_seconds: float, web_seconds: float, earlier: int, depth: str, spans: bool
) -> dict[str, Any]:
    """Run a job to warm up, some before it and the one to measure, in a fresh data folder."""
    with (
        tempfile.TemporaryDirectory() as folder,
        World(
            steps,
            model_seconds=model_seconds,
            web_seconds=web_seconds,
            reads_on=depth == "deep",
        ) as world,
    ):
        os.environ |= {
            "DOSSIER_HOME": folder,
            "DOSSIER_ALLOW_PRIVATE_FETCH": "true",
            # The run that warms up reads the same pages, and the job shall read them itself.
            "DOSSIER_FETCH_HOURS": "0",
            "DOSSIER_MODEL": "openai:gpt-4o",
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": f"{world.url}/v1",
            "SEARXNG_URL": world.url,
            "LANGSMITH_TRACING": "false",
            "OTEL_EXPORTER_OTLP_ENDPOINT": world.url if spans else "",
        }
        job = _jobs(world, steps, earlier, Path(folder), depth)
        return {**asyncio.run(job), "depth": depth, "spans": spans}


async def _jobs(world: World, steps: int, earlier: int, folder: Path, depth: str) -> dict[str, Any]:
    # What is imported here is part of what a warm process has behind it.
    from graph.session import ThreadSession, open_session  # noqa: PLC0415
    from runs.spans import find_span_export  # noqa: PLC0415
    from runs.trace import read_trace  # noqa: PLC0415

    replace_resources().close()
    context = _choices(steps, depth)
    times: dict[str, float] = {}

    def watch(event: dict[str, Any]) -> None:
        times.setdefault(str(event.get("event")), time.perf_counter())

    async with open_session("warm") as warm:
        await _warm_up(warm, context, EARLIER[:earlier])
        before = len(world.get("/_log"))
        started, begun, worked = time.perf_counter(), time.time(), time.process_time()
        outcome = await ThreadSession(warm.graph, "job").begin("How do bees live?", context, watch)
        ended = time.perf_counter()
        if export := find_span_export():
            await asyncio.to_thread(export.close)
        worked = time.process_time() - worked
        made = [line for line in await read_trace("job-1") if _is_made(line)]
    # Before the prompts are counted: the vocabulary takes 70 MB, and the job may need none.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    wall = times["answered"] - started
    return {
        "steps": steps,
        "earlier": earlier,
        "status": outcome.state["status"],
        **_cost(world.get("/_log")[before:], made, begun + wall),
        "plan": round(times["plan"] - started, 2),
        "wall": round(wall, 2),
        "cpu": round(worked, 2),
        "behind": round(ended - times["answered"], 2),
        "peak_mb": peak,
        "checkpoints_mb": round((folder / "checkpoints.db").stat().st_size / 1e6, 1),
    }


async def _warm_up(warm: ThreadSession, context: Context, questions: Sequence[str]) -> None:
    """Run a job of another project, as a server has run some, and the earlier ones of this one."""
    from graph.session import ThreadSession  # noqa: PLC0415

    await warm.begin("How do bees live?", replace(context, project="other"), lambda _: None)
    spare_loaded_objects()
    for number, question in enumerate(questions):
        earlier = ThreadSession(warm.graph, f"earlier{number}")
        await earlier.begin(question, context, lambda _: None)


def _choices(steps: int, depth: str) -> Context:
    """Return the choices of the job, which finds its plan accepted."""
    from graph.context import build_context  # noqa: PLC0415

    choices = {"auto_accept": True, "max_steps": steps, "search": ["searxng"], "parallelism": 8}
    # One of the earlier runs asks the same, and the job is to be done as if it were new.
    return build_context({**choices, "depth": depth, "again": "new"})


def _is_made(line: dict[str, Any]) -> bool:
    """Tell whether a line of the trace is a call of a model, and not one that a cap forbade."""
    return bool(line["kind"] == "model" and line["status"] != ErrorCode.BUDGET_SPENT)


def _cost(
    calls: list[dict[str, Any]], made: list[dict[str, Any]], answered: float
) -> dict[str, int]:
    """Return what a run cost: its calls as the server saw them, and the lines of its trace."""
    return {
        "calls": len(calls),
        "chain": _chain([one for one in made if one["at"] - one["seconds"] <= answered]),
        "prompt": sum(_tokens(call["body"]["messages"]) for call in calls),
        "written": sum(line["tokens_out"] for line in made),
    }


def _chain(calls: list[dict[str, Any]]) -> int:
    """Return how many calls at least followed each other, by the lines of the trace.

    No call of one step waits for one of another, nor for those of the memory.
    """
    longest: list[tuple[float, str, int]] = []
    for call in sorted(calls, key=lambda one: one["at"] - one["seconds"]):
        begun, branch = call["at"] - call["seconds"], _branch(call)
        before = [
            length
            for ended, other, length in longest
            if ended <= begun + 0.01 and (branch == other or "" in (branch, other))
        ]
        longest.append((call["at"], branch, 1 + max(before, default=0)))
    return max((length for _, _, length in longest), default=0)


def _branch(call: dict[str, Any]) -> str:
    """Return what a call belongs to that goes on beside others; "" if all others are awaited.

    The sections of a report are written side by side, and its other parts are not.
    """
    prefix, _, part = call["step"].rpartition(".")
    if prefix and not part.isdecimal():
        return ""
    return str(call["step"] or (call["role"] if call["role"] in BESIDE else ""))


def _tokens(messages: list[dict[str, Any]]) -> int:
    from text.tokens import count_tokens  # noqa: PLC0415

    return sum(count_tokens(str(message["content"])) for message in messages)


if __name__ == "__main__":
    main()
