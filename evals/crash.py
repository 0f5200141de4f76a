"""Stop research runs in every way, go on with them in a new process, and compare the reports.

`python -m evals.crash --times 20`: so many runs are closed at the review of the plan and approved
later, and so many are killed with SIGKILL at random moments and resumed. The job is the one of
`evals/performance.py`: a plan of four steps, two searches each, five pages for every query. Every
request is logged by the servers, which are on loopback, and compared with what the ledger held.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evals.openai_answers import digest
from evals.openai_server import Call, Script, configuration
from evals.world import Pages, rules

QUESTION = "How do bees live?"
DOSSIER = str(Path(sys.executable).with_name("dossier"))

BEGUN = "Models:"
"""What a run says when everything is loaded and its work begins."""


class Stopped(NamedTuple):
    """What became of one run that was stopped."""

    moment: float
    """When it was stopped, in seconds after its work began."""
    ended: bool
    """Whether it came to its end after all."""
    same: bool
    """Whether its report is, byte by byte, the one of a run that nobody stopped."""
    recorded: int
    """How many calls were made again though the ledger held their results."""
    models: int
    """How many model calls were made again that had been sent and not yet recorded."""
    pages: int
    """How many searches and pages were asked for again that had been so before, unrecorded."""


class Job:
    """One question in a home of its own, put to servers that note every request."""

    def __init__(self, world: Script, url: str, folder: Path) -> None:
        self.world, self.url, self.folder = world, url, folder
        folder.mkdir(parents=True)
        self.environment = {
            **os.environ,
            "DOSSIER_HOME": str(folder / "home"),
            "DOSSIER_ALLOW_PRIVATE_FETCH": "true",
            "DOSSIER_MODEL": "openai:gpt-4o",
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": f"{url}/v1",
            "SEARXNG_URL": url,
        }

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command and return when its work begins."""
        process = subprocess.Popen(  # noqa: S603 - our own command
            [DOSSIER, *words],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        assert process.stderr  # noqa: S101 - for the type checker
        for line in process.stderr:
            if BEGUN in line:
                break
        return process

    def run(self, *words: str) -> int:
        """Run a command to its end; return its exit status."""
        process = self.start(*words)
        process.communicate()
        return process.returncode

    def ask(self, *words: str) -> list[str]:
        """Return the command that asks the question."""
        return ["ask", QUESTION, "--thread", "job", "--out", "report", *words]

    @property
    def report(self) -> bytes:
        """Both files of the report, apart from the port of the servers; nothing without them."""
        files = [self.folder / "report" / name for name in ("report.md", "report.html")]
        whole = b"".join(file.read_bytes() for file in files if file.exists())
        return whole.replace(self.url.encode(), b"http://world")

    def requests(self) -> Counter[str]:
        """Count what was asked of the servers so far, by name."""
        return Counter(_asked(call) for call in self.world.log)

    def recorded(self) -> set[str]:
        """Name the calls whose results are in the ledger, as the servers name them."""
        file = self.folder / "home" / "dossier.db"
        file.parent.mkdir(exist_ok=True)
        with closing(sqlite3.connect(file)) as database:
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'calls'").fetchone():
                return set()
            rows = database.execute("SELECT kind, result FROM calls").fetchall()
            origins = dict(database.execute("SELECT id, origin FROM pages").fetchall())
        return {name for kind, result in rows for name in _kept(kind, result, origins)}


def main() -> None:
    """Stop the runs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--latency", type=float, default=0.05, help="seconds before every answer")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, world(options.latency) as (script, url):
        golden = uninterrupted(script, url, Path(folder))
        closed = [
            close_at_review(script, url, Path(folder, f"closed{number}"), golden.report)
            for number in range(options.times)
        ]
        moments = spread(options.times, golden.seconds, options.seed)
        killed = [
            kill(script, url, Path(folder, f"killed{number}"), golden.report, moment)
            for number, moment in enumerate(moments)
        ]
    print(f"{golden.calls} calls in {golden.seconds:.1f} s when nobody stops it\n")
    print("                 |       |     same | recorded | in flight: | in flight:")
    print("                 |  runs | ended  report | calls repeated | model calls | searches, pages")
    _print("closed at review", closed)
    _print("killed (-9)", killed)


class Golden(NamedTuple):
    """A run that nobody stops."""

    report: bytes
    seconds: float
    calls: int


def uninterrupted(script: Script, url: str, folder: Path) -> Golden:
    """Run the job once to its end.

    Raises:
        RuntimeError: When it fails, asks twice for the same, or asks for what the ledger does not
            hold: what is asked again could not be told then.
    """
    job = Job(script, url, folder / "golden")
    script.log.clear()
    process = job.start(*job.ask("--yes"))
    started = time.monotonic()
    process.communicate()
    seconds = time.monotonic() - started
    twice = [name for name, times in job.requests().items() if times > 1]
    unknown = set(job.requests()) ^ job.recorded()
    if process.returncode or twice or unknown:
        message = f"the run that nobody stops: {process.returncode}, {twice=}, {unknown=}"
        raise RuntimeError(message)
    return Golden(job.report, seconds, len(script.log))


def close_at_review(script: Script, url: str, folder: Path, golden: bytes) -> Stopped:
    """Stop at the plan, and approve it in another process."""
    job = Job(script, url, folder)
    script.log.clear()
    job.run(*job.ask("--review"))
    return _resumed(job, golden, 0.0, ["resume", "job-1", "--approve", "--out", "report"])


def kill(
    script: Script, url: str, folder: Path, golden: bytes, moment: float, *, asked: int = 0
) -> Stopped:
    """Kill a run at some moment, and go on with it in another process.

    Args:
        script: The servers' log.
        url: Where they are.
        folder: The home of the run, which is made.
        golden: The report of a run that nobody stopped.
        moment: So many seconds after its work began, or after the last of the requests asked for.
        asked: How many requests are waited for.
    """
    job = Job(script, url, folder)
    script.log.clear()
    process = job.start(*job.ask("--yes"))
    while len(script.log) < asked and process.poll() is None:
        time.sleep(0.01)
    time.sleep(moment)
    process.kill()
    process.communicate()
    time.sleep(0.1)  # What was sent at the last moment is read by the servers now.
    return _resumed(job, golden, moment, ["resume", "job-1", "--out", "report"])


def _resumed(job: Job, golden: bytes, moment: float, command: list[str]) -> Stopped:
    recorded, sent = job.recorded(), job.requests()
    status = 0 if job.report else job.run(*command)
    if status == 4:  # It was killed before the run was written down, so it was never accepted.
        status = job.run(*job.ask("--yes"))
    repeated = set(job.requests() - sent) & set(sent)
    models = {name for name in repeated - recorded if name.startswith("chatcmpl")}
    return Stopped(
        moment=moment,
        ended=status == 0,
        same=job.report == golden,
        recorded=len(repeated & recorded),
        models=len(models),
        pages=len(repeated - recorded - models),
    )


def spread(times: int, seconds: float, seed: int) -> list[float]:
    """Return random moments of a duration, one in each of as many equal parts of it."""
    chance = random.Random(seed)
    return [seconds * (part + chance.random()) / times for part in range(times)]


@contextmanager
def world(seconds: float, steps: int = 4) -> Iterator[tuple[Script, str]]:
    """Serve the model, the search and the pages of `evals/world.py`, noting every request.

    Args:
        seconds: How long each answer takes.
        steps: How many steps the plan has.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    script, pages = Script(rules(steps), seconds), Pages(seconds, url)
    config = configuration(script)
    config.app.router.routes += [  # type: ignore[union-attr]
        Route("/search", _noted(script, pages.search)),
        Route("/page/{number}", _noted(script, pages.page)),
    ]
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=[[listener]])
    thread.start()
    try:
        yield script, url
    finally:
        server.should_exit = server.force_exit = True
        thread.join()


Answer = Callable[[Request], Awaitable[Response]]


def _noted(script: Script, answer: Answer) -> Answer:
    async def note(request: Request) -> Response:
        query = dict(request.query_params)
        script.log.append(Call(time.monotonic(), request.url.path, query))
        return await answer(request)

    return note


def _asked(call: Call) -> str:
    """Name a request by what its answer can be told by."""
    if call.path == "/search":
        return f"search {random.Random(call.body['q']).randrange(10**6)}"
    if call.path.startswith("/page/"):
        return call.path
    return f"chatcmpl-{digest(call.body)[:12].hex()}"


def _kept(kind: str, result: str, origins: dict[str, str]) -> set[str]:
    """Name the request behind a recorded result in the same way."""
    if kind == "model":
        return set(re.findall(r"chatcmpl-[0-9a-f]{24}", result))
    kept: Any = json.loads(result)
    if kind == "search":
        return {f"search {kept[0]['url'].rpartition('/')[2]}"} if kept else set()
    return {f"/page/{origins[one].rpartition('/')[2]}" for one in kept}


def _print(name: str, stopped: list[Stopped]) -> None:
    sums = [sum(numbers) for numbers in zip(*stopped, strict=True)][1:]
    print("".join(f"{word:>{width}}" for word, width in zip([len(stopped), *sums], WIDTHS, strict=True)), name)


if __name__ == "__main__":
    main()
