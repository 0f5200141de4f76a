"""Kill processes that hear and learn, and count what is lost; ask what questions teach.

`python -m benchmarks.learning_quality --kills 200`: one process puts messages into the outbox as
fast as it can and says which are on the disk, another reads them; both are killed at random moments
and begun again. In the end every message that was acknowledged must be a fact, once, and the
database whole. `--questions FILE…` reads files with a question on each line as JSON (`text` or
`prompt`) and counts those of which anything would be learnt: by rules, and by a model that claims
each of them whole.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from sqlalchemy import text

from memory.facts.queries import list_facts
from memory.learning.claim_checks import ValidatedClaim, is_worth_reading, validate_claim
from memory.learning.learner import process_messages
from memory.learning.message_queue import PersonMessage, enqueue_message
from memory.learning.self_statements import extract_statements
from runs.call_site import CallSite
from storage import outbox
from storage.engine import close_database, run_read

OWNER = "eval/"

LEASE = 0.5
"""Seconds after which the work of a killed process is taken by another."""

PLACE = CallSite(OWNER, "t0", "t0-1", "", "")


def _said(number: int) -> str:
    """Return a statement that no other number makes."""
    return f"Remember that my hive number {number} stands in field {number}."


async def _hear(start: int) -> None:
    """Put messages into the outbox for ever; print the number of each that is on the disk."""
    for number in range(start, start + 1_000_000):
        message = PersonMessage(f"t{number % 5}", f"t{number % 5}-1", f"m{number}", _said(number))
        await enqueue_message(OWNER, message)
        print(number, flush=True)


async def _learn() -> None:
    """Read messages for ever; what a killed process had taken is there again after a moment."""
    outbox.JOB_LEASE = LEASE
    while True:
        if not await process_messages(PLACE, None):
            await asyncio.sleep(0.01)


def _killed(kills: int, home: Path, chance: random.Random) -> None:
    """Kill both processes again and again, then see what is left."""
    heard: set[int] = set()
    start, begun = 0, time.monotonic()
    for _ in range(kills // 2):
        workers = [_start("hear", start, home), _start("learn", 0, home)]
        for line in workers[0].stdout or ():
            heard.add(int(line))
            break
        time.sleep(chance.uniform(0, 0.3))
        for worker in workers:
            worker.kill()
        heard |= {int(line) for line in (workers[0].stdout or ()) if line.endswith("\n")}
        workers[1].communicate()
        start = max(heard, default=0) + 10
    print(f"{kills} kills in {time.monotonic() - begun:.0f} s; {len(heard)} messages acknowledged")
    asyncio.run(_left(heard))


def _start(what: str, start: int, home: Path) -> subprocess.Popen[str]:
    quick = {"DOSSIER_HOME": str(home), "DOSSIER_LEARN_SECONDS": "0"}
    words = [
        sys.executable,
        "-m",
        "benchmarks.learning_quality",
        "--as",
        what,
        "--start",
        str(start),
    ]
    return subprocess.Popen(  # noqa: S603 - our own command
        words, env={**os.environ, **quick}, stdout=subprocess.PIPE, encoding="utf-8"
    )


async def _left(heard: set[int]) -> None:
    """Read what is still waiting, then compare what is known with what was heard."""
    try:
        await asyncio.sleep(2 * LEASE)
        while await process_messages(PLACE, None):
            pass
        facts = Counter(one.content for one in await list_facts(OWNER))
        whole = await run_read(lambda c: c.execute(text("PRAGMA integrity_check")).scalar())
    finally:
        await close_database()
    wanted = {_said(number).removeprefix("Remember that ").rstrip(".") for number in heard}
    twice = sum(times > 1 for times in facts.values())
    print(f"lost {len(wanted - facts.keys())}, doubled {twice}, database {whole}")


def _asked(files: list[Path]) -> None:
    """Count the questions of which anything would be learnt."""
    lines = [json.loads(line) for file in files for line in file.open(encoding="utf-8")]
    questions = {str(one.get("text") or one.get("prompt")) for one in lines}
    begun = time.monotonic()
    rules = sum(bool(extract_statements(one)) for one in questions)
    seconds = time.monotonic() - begun
    model = sum(is_worth_reading(one) for one in questions)
    gate = sum(isinstance(validate_claim(one, one, one), ValidatedClaim) for one in questions)
    print(f"{len(questions)} questions, {1e6 * seconds / len(questions):.0f} µs each by the rules")
    print(f"learnt from by rules {rules}, worth a call {model}, claimed whole and kept {gate}")


def main() -> None:
    """Do what the options say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--questions", type=Path, nargs="*", default=[])
    parser.add_argument("--as", dest="what", choices=["hear", "learn"])
    parser.add_argument("--start", type=int, default=0)
    options = parser.parse_args()
    if options.what:
        with suppress(KeyboardInterrupt):
            asyncio.run(_hear(options.start) if options.what == "hear" else _learn())
        return
    if options.questions:
        _asked(options.questions)
    if options.kills:
        with tempfile.TemporaryDirectory() as home:
            os.environ |= {"DOSSIER_HOME": home, "DOSSIER_LEARN_SECONDS": "0"}
            _killed(options.kills, Path(home), random.Random(1))


if __name__ == "__main__":
    main()
