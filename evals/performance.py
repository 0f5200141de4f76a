"""Measure one research job: calls, chain, wall time, tokens and memory.

The job: a plan of N steps with two searches each, five pages of about a thousand words for every
query, findings of 300 words, a report of 800 words. The model takes 0.3 s for a call, a search and
a page 0.1 s each; all of them are servers on loopback. The wall time ends when the report is handed
over; what is learnt behind it takes the seconds of the last column, and its calls and tokens are
counted too. The figures of other systems for the same job stand below ours.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

from evals.world import World

OTHERS = [
    ("Open Deep Research, lean", 4, 57, 9, 4.28, 146_000),
    ("DeerFlow 1.x, lean", 4, 15, 15, 11.4, 77_000),
    ("GPT-Researcher deep", 4, 15, 6, 5.0, 41_000),
    ("Open Deep Research, 8 units", 8, 109, 9, 4.65, 287_000),
    ("DeerFlow 1.x, lean", 8, 27, 27, 19.6, 170_000),
    ("GPT-Researcher deep", 8, 27, 9, 6.6, 78_000),
]
"""System, steps, calls, chain, wall seconds, prompt tokens: measured on the same job, elsewhere."""

GOALS = {4: (16, 3.3, 60_000), 8: (24, 3.8, 110_000)}
"""The most calls, seconds and prompt tokens for a plan of so many steps."""


def main() -> None:
    """Run the job at N = 4 and N = 8 and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, nargs="*", default=[4, 8])
    parser.add_argument("--model-seconds", type=float, default=0.3)
    parser.add_argument("--web-seconds", type=float, default=0.1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [_measure(n, options.model_seconds, options.web_seconds) for n in options.steps]
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{'system':30} N  calls chain  wall s  prompt tokens  written  peak MB  words  behind s")
    for row in rows:
        print(
            f"{'Dossier':30} {row['steps']:<2} {row['calls']:5} {row['chain']:5} "
            f"{row['wall']:7.2f} {row['prompt']:14} {row['written']:8} {row['peak_mb']:8} "
            f"{row['words']:6} {row['behind']:9.2f}"
        )
    for name, steps, calls, chain, wall, prompt in OTHERS:
        print(f"{name:30} {steps:<2} {calls:5} {chain:5} {wall:7.2f} {prompt:14}")
    for row in rows:
        calls, wall, prompt = GOALS.get(row["steps"], (0, 0.0, 0))
        print(f"N={row['steps']}: goal ≤ {calls} calls, ≤ {wall} s, ≤ {prompt} prompt tokens")


def _measure(steps: int, model_seconds: float, web_seconds: float) -> dict[str, Any]:
    """Run the job once to warm up and once to measure, in a fresh data folder."""
    with (
        tempfile.TemporaryDirectory() as folder,
        World(steps, model_seconds=model_seconds, web_seconds=web_seconds) as world,
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
        }
        return asyncio.run(_jobs(world, steps, Path(folder)))


async def _jobs(world: World, steps: int, folder: Path) -> dict[str, Any]:
    # What is imported here is part of what a warm process has behind it.
    from config.settings import settings  # noqa: PLC0415
    from graph.context import Context  # noqa: PLC0415
    from graph.session import open_session  # noqa: PLC0415
    from runs.trace import read_trace  # noqa: PLC0415

    settings.cache_clear()
    context = Context(auto_accept=True, max_steps=steps, search=["searxng"], parallelism=8)
    async with open_session("warm") as warm:
        await warm.begin("How do bees live?", context, lambda _: None)
    before = len(world.get("/_log"))
    answers: list[float] = []

    async def answered(_: Any) -> None:
        answers.append(time.perf_counter())

    async with open_session("job") as opened:
        opened.on_answer = answered
        started = time.perf_counter()
        outcome = await opened.begin("How do bees live?", context, lambda _: None)
        ended = time.perf_counter()
    calls = world.get("/_log")[before:]
    return {
        "steps": steps,
        "status": outcome.state["status"],
        "calls": len(calls),
        "chain": _chain([call["at"] for call in calls]),
        "wall": round(answers[0] - started, 2),
        "behind": round(ended - answers[0], 2),
        "prompt": sum(_tokens(call["body"]["messages"]) for call in calls),
        "written": sum(line.get("tokens_out", 0) for line in await read_trace("job-1")),
        "words": len(str(outcome.state["messages"][-1].text).split()),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "checkpoints_mb": round((folder / "checkpoints.db").stat().st_size / 1e6, 1),
    }


def _chain(starts: list[float], seconds: float = 0.3) -> int:
    """Return how many calls at least followed each other: a call that began after another ended."""
    chain, free = 0, 0.0
    for start in sorted(starts):
        if start >= free:
            chain, free = chain + 1, start + seconds
    return chain


def _tokens(messages: list[dict[str, Any]]) -> int:
    from text.tokens import count_tokens  # noqa: PLC0415

    return sum(count_tokens(str(message["content"])) for message in messages)


if __name__ == "__main__":
    main()
