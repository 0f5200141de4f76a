"""Run jobs under random caps with a provider that bills whatever it does, and see which caps hold.

`python -m benchmarks.caps --seeds 100 --beside TREE`: each seed is a question with a plan, branches
that work side by side, steps that are done again, retries and a second model. The provider fills
the limit it is given, answers with nothing, breaks off, refuses, hangs and fails, and bills for
that; a provider of vectors bills for its answers and failures, too; processes are killed at random
moments and the run is resumed in new ones. What the provider has billed is compared with the caps
of the run. `TREE` is another state of the program, which is put to the same jobs.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing, suppress
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import openai
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import ConfigDict

from config.errors import Problem
from config.resources import replace_resources
from config.settings import settings
from evals.world import make_rules
from graph.context import Context
from graph.session import open_session
from models.chat_models import chat_model_providers
from runs.call_site import join_owner
from text.tokens import count_tokens
from tools.folder_ingestion import ingest_folder

STEPS = 3
SESSIONS = 6
"""How many processes may work on one run."""

OWN_LIMIT = 12_000
"""How many tokens the provider's models write at most when nobody sets a limit."""

LATE = 0.25
"""How many seconds behind its end the minutes of a run may be noticed on a busy machine."""

MODELS = """default = "scripted:"
fallback = "spare:"
[prices]
"scripted:" = [2.0, 8.0]
"spare:" = [0.5, 2.0]
"openai:vectors" = [20.0, 0.0]
"""

PRICES = {"scripted": (2.0, 8.0), "spare": (0.5, 2.0), "vectors": (20.0, 0.0)}

WAYS = {
    "good": 50,
    "full": 18,
    "empty": 6,
    "cut": 6,
    "refused": 4,
    "unread": 5,
    "down": 8,
    "hang": 3,
}
"""How often the provider answers in which way."""


VECTOR_WAYS = {"good": 70, "mute": 10, "down": 8, "billed": 6, "broken": 6}
"""The same for the provider of vectors."""


class _Vectors(BaseHTTPRequestHandler):
    """A provider of vectors that writes down what it bills before it answers or fails."""

    ledger = Path()
    chance = random.Random(0)

    def do_POST(self) -> None:
        """Answer a request for vectors."""
        length = int(self.headers["content-length"])
        texts = json.loads(self.rfile.read(length))["input"]
        read = sum(count_tokens(text) for text in texts)
        (way,) = self.chance.choices([*VECTOR_WAYS], [*VECTOR_WAYS.values()])
        line = {"at": time.time(), "process": 0, "model": "vectors"}
        billed = (0, 0) if way == "down" else (read, 0)
        with self.ledger.open("a") as out:
            out.write(json.dumps({**line, "billed": billed}) + "\n")
        if way == "broken":
            self.close_connection = True
            return
        vectors = [hashlib.sha256(text.encode()).digest()[:8] for text in texts]
        data = [{"embedding": [*one], "index": at} for at, one in enumerate(vectors)]
        body: dict[str, Any] = {"object": "list", "data": data, "model": "vectors"}
        if way != "mute":
            body["usage"] = {"prompt_tokens": read, "total_tokens": read}
        if way in ("down", "billed"):
            body = {"error": {"message": "no"}, **({"usage": body["usage"]} if billed[0] else {})}
        said = json.dumps(body).encode()
        self.send_response(503 if way in ("down", "billed") else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Provider(BaseChatModel):
    """A model whose provider writes down what it bills before it answers."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    name_of: str
    chance: random.Random
    ledger: Path
    kill: list[int]
    max_tokens: int | None = None

    @property
    def _llm_type(self) -> str:
        return self.name_of

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Take the tools and use none."""
        return self.bind(**kwargs)

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError

    async def _agenerate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        form = kwargs.get("response_format", {}).get("json_schema", {})
        way = self.chance.choices([*WAYS], [*WAYS.values()])[0]
        read = sum(3 + count_tokens(str(one.text)) for one in messages) + count_tokens(
            json.dumps(form)
        )
        most = min(self.max_tokens or OWN_LIMIT, OWN_LIMIT)
        written = most if way in ("full", "hang") else min(most, self.chance.randint(20, 1_500))
        bill = (0, 0) if way == "down" else (read, 0 if way == "empty" else written)
        self._note(billed=bill)
        self._die(0)
        await asyncio.sleep(30 if way == "hang" else self.chance.uniform(0, 0.03))
        self._note(ended=True)
        self._die(1)
        if way == "down":
            raise _down()
        return _said(way, str(messages[-1].text), form.get("name"), *bill, self.chance)

    def _note(self, **what: Any) -> None:
        line = {"at": time.time(), "process": os.getpid(), "model": self.name_of, **what}
        with self.ledger.open("a") as out:
            out.write(json.dumps(line) + "\n")

    def _die(self, when: int) -> None:
        """Kill this process at its moment: on a call's arrival, its answer, or a little later."""
        calls, moment, later = self.kill
        self.kill[0] = calls - (when == 0)
        if calls == 0 and moment == when:
            os.kill(os.getpid(), signal.SIGKILL)
        elif calls == 0 and moment > 1:
            alarm = later / 1000 or 0.001
            signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
            signal.setitimer(signal.ITIMER_REAL, alarm)


def _down() -> Exception:
    request = httpx2.Request("POST", "http://127.0.0.1/v1/chat/completions")
    return openai.InternalServerError(
        "no", response=httpx2.Response(503, request=request), body=None
    )


def _said(
    way: str, text: str, form: str | None, read: int, written: int, chance: random.Random
) -> ChatResult:
    """Return the reply to a request, with what it is billed."""
    cited = re.search(r"\bS\d+\b", text)
    said = f"Bees dance [{cited[0] if cited else 'S1'}]."
    if form:
        wanted = [rule["reply"] for rule in make_rules(STEPS) if rule.get("schema") == form]
        reply: Any = dict(wanted[0]) if wanted else {}
        if form == "Verdict" and chance.random() < 0.4:
            reply = {"passed": False, "feedback": "Say more of the winter.", "queries": ["winter"]}
        said = json.dumps(reply)
    said = {"empty": "", "unread": "{", "refused": "no"}.get(way, said)
    finish = {"full": "length", "refused": "content_filter", "cut": ""}.get(way, "stop")
    usage: Any = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    message = AIMessage(said, response_metadata={"finish_reason": finish}, usage_metadata=usage)
    return ChatResult(generations=[ChatGeneration(message=message)])


def _caps(seed: int) -> dict[str, Any]:
    """Return the caps of a seed."""
    chance = random.Random(f"caps {seed}")
    return {
        "max_tokens": int(10_000 * 20 ** chance.random()),
        "max_cost": round(0.02 * 30 ** chance.random(), 4),
        "max_calls": chance.choice([8, 12, 16, 24, 40]),
        "max_minutes": chance.choice([0.05, 0.2, 20, 20, 20, 20, 20, 20]),
    }


async def _work(seed: int, number: int, folder: Path) -> None:
    """Begin the run of a seed, or go on with it."""
    docs = folder / "docs"
    chance = random.Random(f"{seed} {number}")
    kill = [chance.randint(0, 12), chance.randint(0, 2), chance.randint(0, 40)]
    kill = kill if number < chance.randint(0, 3) else [-1, 0, 0]
    ledger = folder / "billed.jsonl"
    for name in PRICES:
        made = _Provider(name_of=name, chance=chance, ledger=ledger, kill=kill)
        chat_model_providers[name] = lambda _, made=made: made  # type: ignore[misc]
    context = Context(
        auto_accept=True,
        files=[str(docs)],
        models={"default": "scripted:"},
        parallelism=random.Random(seed).choice([1, 2, 8]),
        **_caps(seed),
    )
    if number == 0:
        async with open_session("read"):
            await ingest_folder(join_owner(settings().user, ""), docs, lambda _: None)
    async with open_session("caps") as opened:
        if (await opened.current()).values.get("turn"):
            await opened.resume(context, lambda _: None)
        else:
            await opened.begin("How do bees live in the winter?", context, lambda _: None)


def _forked(seed: int, number: int, folder: Path) -> int:
    """Work on a run in a process of its own; return how it ended: 0 done, 1 failed, -9 killed."""
    process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    replace_resources().close()
    try:
        asyncio.run(_work(seed, number, folder))
    except Problem:
        os._exit(1)
    except BaseException as error:  # noqa: BLE001 - a fork must not go on with its parent's work
        print(f"seed {seed}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(2)
    os._exit(0)


def _one(seed: int) -> dict[str, Any]:
    """Run the job of a seed to its end; return what was billed, and what the ledger knows of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "models.toml").write_text(MODELS)
        (folder / "docs").mkdir()
        for number in range(4):
            text = f"Bees of hive {number} dance in summer, eat honey in winter and keep warm."
            (folder / "docs" / f"{number}.txt").write_text(text)
        _Vectors.ledger, _Vectors.chance = folder / "billed.jsonl", random.Random(f"vectors {seed}")
        os.environ |= {
            "DOSSIER_EMBEDDINGS": "openai:vectors",
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": _served(),
            "DOSSIER_HOME": str(folder / "home"),
            "DOSSIER_MODELS": str(folder / "models.toml"),
            "DOSSIER_RETRY_SECONDS": "0.01",
            "DOSSIER_CALL_SECONDS": "1",
        }
        kills = failed = 0
        for number in range(SESSIONS):
            ended = _forked(seed, number, folder)
            kills, failed = kills + (ended == -signal.SIGKILL), failed + (ended == 1)
            if ended in (0, 2) or failed > 1:
                break
        billed = folder / "billed.jsonl"
        lines = billed.read_text().splitlines() if billed.exists() else []
        return {"kills": kills, **_billed([json.loads(line) for line in lines]), **_known(folder)}


@cache
def _served() -> str:
    """Return the address of the provider of vectors, which this process serves."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Vectors)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1"


def _billed(lines: list[dict[str, Any]]) -> dict[str, float]:
    calls = [line for line in lines if "billed" in line]
    times: dict[int, list[float]] = defaultdict(list)
    for line in lines:
        if line["process"]:
            times[line["process"]].append(line["at"])
    dollars = (
        sum(
            tokens * price
            for tokens, price in zip(one["billed"], PRICES[one["model"]], strict=True)
        )
        for one in calls
    )
    return {
        "vectors": sum(one["model"] == "vectors" for one in calls),
        "max_calls": len(calls),
        "max_tokens": sum(sum(one["billed"]) for one in calls),
        "max_cost": sum(dollars) / 1e6,
        "max_minutes": sum(each[-1] - each[0] for each in times.values()) / 60,
    }


def _known(folder: Path) -> dict[str, int]:
    """Return how many calls and tokens the ledger holds."""
    with closing(sqlite3.connect(folder / "home" / "dossier.db")) as database:
        for table in ("attempts", "calls WHERE kind = 'model'"):
            with suppress(sqlite3.OperationalError):
                wanted = f"SELECT COUNT(*), SUM(tokens_in + tokens_out) FROM {table}"  # noqa: S608
                calls, tokens = database.execute(wanted).fetchone()
                return {"calls": calls, "tokens": tokens or 0}
    return {"calls": 0, "tokens": 0}


def _passed(seed: int, one: dict[str, Any]) -> list[str]:
    """Return the caps that a run has passed."""
    spare = {"max_minutes": LATE / 60, "max_cost": 1e-9}
    return [name for name, cap in _caps(seed).items() if one[name] > cap + spare.get(name, 0)]


def _rows(seeds: Sequence[int]) -> dict[str, str]:
    """Run the jobs; return each line of the table."""
    runs = [(seed, _one(seed)) for seed in seeds]
    passed = [(seed, _passed(seed, one), one) for seed, one in runs]
    for seed, names, one in passed:
        for name in names:
            print(f"seed {seed}: {name} {one[name]:.4f} of {_caps(seed)[name]}", file=sys.stderr)
    lost = [max(0, one["max_tokens"] - one["tokens"]) for _, one in runs]
    told = {
        f"passed {name}": str(sum(name in names for _, names, _ in passed)) for name in _caps(0)
    }
    return {
        "runs": str(len(runs)),
        "processes killed": str(sum(one["kills"] for _, one in runs)),
        "calls billed": str(sum(one["max_calls"] for _, one in runs)),
        "of them for vectors": str(sum(one["vectors"] for _, one in runs)),
        **told,
        "runs that passed a cap": f"{sum(bool(names) for _, names, _ in passed)} of {len(runs)}",
        "runs with tokens billed that no row holds": str(sum(one > 0 for one in lost)),
        "tokens billed that no row holds": f"{sum(lost):,}",
    }


def main() -> None:
    """Run the jobs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--beside", type=Path, help="another tree of the program")
    parser.add_argument("--plain", action="store_true", help="print the numbers as JSON")
    options = parser.parse_args()
    columns = [_rows(range(options.seeds))]
    if options.plain:
        print(json.dumps(columns[0]))
        return
    if options.beside:
        words = [sys.executable, "-P", __file__, "--plain", "--seeds", str(options.seeds)]
        there = {**os.environ, "PYTHONPATH": str(options.beside)}
        done = subprocess.run(words, env=there, stdout=subprocess.PIPE, check=True)  # noqa: S603
        columns.append(json.loads(done.stdout))
    for name in columns[0]:
        print(f"{name:44}" + "".join(f"{column[name]:>12}" for column in columns))


if __name__ == "__main__":
    main()
