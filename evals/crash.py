"""Kill runs at every moment, resume them, and count the calls that are paid twice."""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from calls.ledger import recorded_hits
from evals.openai_server import Call, Server, digest_request
from evals.world import RESULTS, Pages, make_rules

Answer = Callable[[Request], Awaitable[Response]]

MODEL = "chatcmpl-"
"""How the name of a model call begins; what follows is a hash of its request."""


class _World(Server):
    """A model, a search and pages on loopback, and the log of what they were asked."""

    @property
    def site(self) -> str:
        """The address of all of them."""
        return self.url.removesuffix("/v1")

    def requests(self) -> Counter[str]:
        """Count the requests so far by their names."""
        return Counter(map(_asked, self.log))


@contextmanager
def make_world(seconds: float, steps: int = 4, results: int = RESULTS) -> Iterator[_World]:
    """Serve the model, the search and the pages for as long as a `with` block lasts.

    Args:
        seconds: How long each answer takes.
        steps: How many steps the plan has.
        results: How many pages each search finds.
    """
    with _World(make_rules(steps), seconds) as world:
        pages = Pages(seconds, world.site, results=results)
        world.add_routes(
            Route("/search", _noting(world, pages.search)),
            Route("/page/{number}", _noting(world, pages.page)),
        )
        yield world


def record_calls(home: Path) -> set[str]:
    """Name the calls whose results are in the ledger of a data directory."""
    home.mkdir(exist_ok=True)
    with closing(sqlite3.connect(home / "dossier.db")) as database:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'calls'").fetchone():
            return set()
        rows = database.execute("SELECT kind, result FROM calls").fetchall()
        origins = dict(database.execute("SELECT id, origin FROM pages").fetchall())
    return name_recorded_calls(rows, origins)


def name_recorded_calls(rows: Iterable[tuple[str, str]], origins: dict[str, str]) -> set[str]:
    """Name the calls of a ledger.

    Args:
        rows: The kind and the result of each.
        origins: Where each stored page is from, by its id.
    """
    return {name for kind, result in rows for name in _kept(kind, result, origins)}


def _noting(world: _World, answer: Answer) -> Answer:
    async def note(request: Request) -> Response:
        """Write a request down, then answer it."""
        query = dict(request.query_params)
        world.log.append(Call(time.monotonic(), request.url.path, query))
        return await answer(request)

    return note


def _asked(call: Call) -> str:
    """Name a request by what its answer can be told by: a search by the first page it finds."""
    if call.path == "/search":
        return f"search {random.Random(call.body['q']).randrange(10**6)}"
    is_page = call.path.startswith("/page/")
    return call.path if is_page else MODEL + digest_request(call.body)[:12].hex()


def _kept(kind: str, result: str, origins: dict[str, str]) -> set[str]:
    """Name the request behind a recorded result in the same way."""
    if kind == "model":
        return set(re.findall(MODEL + "[0-9a-f]{24}", result))
    kept: Any = json.loads(result)
    if kind == "search":
        return {f"search {hit['url'].rpartition('/')[2]}" for hit in recorded_hits(kept)[:1]}
    return {f"/page/{origins[one].rpartition('/')[2]}" for one in kept}


QUESTION = "How do bees live?"
DOSSIER = str(Path(sys.executable).with_name("dossier"))
RESUME = ["resume", "job-1", "--out", "report"]

BEGUN = "Models:"
"""What a run says when everything is loaded and its work begins."""

NOT_FOUND = 4
"""How resume ends when the kill came before the run was written down, so nothing was promised."""


class Golden(NamedTuple):
    """A run that nobody stops: its report, its seconds of work, its calls."""

    report: bytes
    seconds: float
    calls: int


class Stopped(NamedTuple):
    """What became of one run that was stopped."""

    ended: bool
    """Whether it came to its end after all."""
    same: bool
    """Whether its report is, byte by byte, the one of a run that nobody stopped."""
    recorded: int
    """How many calls were made again though the ledger held their results."""
    models: int
    """How many model calls were made again that had been sent and not recorded."""
    pages: int
    """How many searches and pages were asked for again that had been sent and not recorded."""


ROWS = (
    "came to their end in another process",
    "with the very same report",
    "recorded calls made again",
    "model calls in flight made again",
    "searches and pages in flight made again",
)
"""What the numbers of `Stopped` say of many runs."""


class _Job:
    """One question in a home of its own, put to servers that note every request."""

    def __init__(self, world: _World, folder: Path) -> None:
        self.world, self.folder, self.home = world, folder, folder / "home"
        self.said = ""
        folder.mkdir(parents=True)
        world.log.clear()
        self.environment = {
            **os.environ,
            "DOSSIER_HOME": str(self.home),
            "DOSSIER_ALLOW_PRIVATE_FETCH": "true",
            "DOSSIER_MODEL": "openai:gpt-4o",
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": world.url,
            "SEARXNG_URL": world.site,
        }

    def ask(self, way: str) -> list[str]:
        """Return the command that asks the question."""
        return ["ask", QUESTION, "--thread", "job", "--out", "report", way]

    def start(self, words: Sequence[str]) -> subprocess.Popen[str]:
        """Start a command and return when its work begins."""
        process = _launched(words, self.folder, self.environment)
        while process.stderr and (line := process.stderr.readline()):
            if BEGUN in line:
                break
        return process

    def run(self, words: Sequence[str]) -> int:
        """Run a command to its end; return its exit status, and keep what it said."""
        process = self.start(words)
        self.said = f"{words[0]}: {process.communicate()[1]} ({process.returncode})"
        return process.returncode

    def finish(self, words: Sequence[str]) -> None:
        """Run a command unless the run came to its end; ask anew if it had not begun."""
        if not self.report and self.run(words) == NOT_FOUND:
            self.run(self.ask("--yes"))

    def kill(self, words: Sequence[str], moment: float, asked: int = 0) -> None:
        """Run a command and kill it so many seconds after so many requests."""
        process = self.start(words)
        while sum(self.world.requests().values()) < asked and process.poll() is None:
            time.sleep(0.01)
        time.sleep(moment)
        process.kill()
        process.communicate()
        time.sleep(0.1)  # What was sent at the last moment is read by the servers now.

    @property
    def report(self) -> bytes:
        """Both files of the report, apart from the port of the servers; nothing without them."""
        files = [self.folder / "report" / name for name in ("report.md", "report.html")]
        if not all(file.exists() for file in files):
            return b""
        whole = b"".join(file.read_bytes() for file in files)
        return whole.replace(self.world.site.encode(), b"http://world")


def _launched(
    words: Sequence[str], folder: Path, environment: dict[str, str]
) -> subprocess.Popen[str]:
    """Start a command in a new process, whose standard error can be read."""
    return subprocess.Popen(  # noqa: S603 - our own command
        [DOSSIER, *words],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def uninterrupted(world: _World, folder: Path) -> Golden:
    """Run the job once to its end.

    Raises:
        RuntimeError: When it fails, asks twice for the same, or asks for what the ledger does not
            hold: what is asked again could not be told then.
    """
    job = _Job(world, folder / "golden")
    process = job.start(job.ask("--yes"))
    started = time.monotonic()
    process.communicate()
    seconds = time.monotonic() - started
    requests = world.requests()
    twice = [name for name, times in requests.items() if times > 1]
    unknown = requests.keys() ^ record_calls(job.home)
    if process.returncode or twice or unknown:
        message = f"the run that nobody stops: {process.returncode}, {twice=}, {unknown=}"
        raise RuntimeError(message)
    return Golden(job.report, seconds, len(requests))


def closed_at_review(world: _World, folder: Path, golden: Golden) -> Stopped:
    """Stop at the plan, and approve it in another process."""
    job = _Job(world, folder)
    job.run(job.ask("--review"))
    return _stopped(job, golden, [partial(job.finish, [*RESUME, "--approve"])])


def kill_run(
    world: _World, folder: Path, golden: Golden, *moments: float, asked: int = 0
) -> Stopped:
    """Kill a run at some moments, and go on with it in another process each time.

    Args:
        world: The servers.
        folder: Where the run has its home, which is made.
        golden: The run that nobody stopped.
        moments: The seconds after which each process is killed, from the beginning of its work.
        asked: How many requests the first process makes before its seconds begin.
    """
    job = _Job(world, folder)
    job.kill(job.ask("--yes"), moments[0], asked)
    ways = [partial(job.kill, RESUME, moment) for moment in moments[1:]]
    return _stopped(job, golden, [*ways, partial(job.finish, RESUME)])


def _stopped(job: _Job, golden: Golden, ways: Sequence[Callable[[], None]]) -> Stopped:
    """Go on with a stopped run in some ways, one after the other, and see what became of it."""
    again = sum((_made_again(job, way) for way in ways), Counter[str]())
    report = job.report
    if not report:
        print(f"a run did not come to its end: {job.said}", file=sys.stderr)
    return Stopped(
        ended=bool(report),
        same=report == golden.report,
        recorded=again["recorded"],
        models=again["models"],
        pages=again["pages"],
    )


def _made_again(job: _Job, way: Callable[[], None]) -> Counter[str]:
    """Count the calls that are made again, by what was known of them before."""
    held, sent = record_calls(job.home), job.world.requests()
    way()
    repeated = (job.world.requests() - sent).keys() & sent.keys()
    models = {name for name in repeated - held if name.startswith(MODEL)}
    pages = repeated - held - models
    return Counter(recorded=len(repeated & held), models=len(models), pages=len(pages))


def _spread(times: int, seconds: float, chance: random.Random) -> list[float]:
    """Return random moments of a duration, one in each of as many equal parts of it."""
    return [seconds * (part + chance.random()) / times for part in range(times)]


def main() -> None:
    """Stop the runs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--latency", type=float, default=0.05, help="seconds before every answer")
    options = parser.parse_args()
    chance, times = random.Random(options.seed), range(options.times)
    with tempfile.TemporaryDirectory() as name, make_world(options.latency) as servers:
        folder = Path(name)
        golden = uninterrupted(servers, folder)
        print(f"{golden.calls} calls in {golden.seconds:.1f} s when nobody stops it\n")
        moments = _spread(options.times, golden.seconds, chance)
        later = [chance.uniform(0, golden.seconds - moment) for moment in moments]
        stopped = {
            "closed at review": [
                closed_at_review(servers, folder / f"closed{n}", golden) for n in times
            ],
            "killed": [kill_run(servers, folder / f"once{n}", golden, moments[n]) for n in times],
            "killed twice": [
                kill_run(servers, folder / f"twice{n}", golden, moments[n], later[n]) for n in times
            ],
        }
    _print(stopped)


def _print(stopped: dict[str, list[Stopped]]) -> None:
    print(" " * 40 + "".join(f"{name:>18}" for name in stopped))
    print(f"{'runs':40}" + "".join(f"{len(runs):18}" for runs in stopped.values()))
    for number, row in enumerate(ROWS):
        sums = [sum(run[number] for run in runs) for runs in stopped.values()]
        print(f"{row:40}" + "".join(f"{one:18}" for one in sums))


if __name__ == "__main__":
    main()
