"""The small world of `evals/world.py`, which notes every request by a name the ledger knows too."""

from __future__ import annotations

import json
import random
import re
import socket
import sqlite3
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
from runs.ledger import hits_in

Answer = Callable[[Request], Awaitable[Response]]

MODEL = "chatcmpl-"
"""How the name of a model call begins; what follows is a hash of its request."""


class Noted(NamedTuple):
    """Servers on loopback, and the log of what they were asked."""

    script: Script
    url: str

    def requests(self) -> Counter[str]:
        """Count the requests so far by their names."""
        return Counter(_asked(call) for call in self.script.log)


@contextmanager
def world(seconds: float, steps: int = 4) -> Iterator[Noted]:
    """Serve the model, the search and the pages for as long as a `with` block lasts.

    Args:
        seconds: How long each answer takes.
        steps: How many steps the plan has.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    script, pages = Script(rules(steps), seconds), Pages(seconds, url)
    config = configuration(script)
    config.app.router.routes += [  # type: ignore[union-attr]
        Route("/search", _noting(script, pages.search)),
        Route("/page/{number}", _noting(script, pages.page)),
    ]
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=[[listener]])
    thread.start()
    try:
        yield Noted(script, url)
    finally:
        server.should_exit = server.force_exit = True
        thread.join()


def recorded(home: Path) -> set[str]:
    """Name the calls whose results are in the ledger of a data directory."""
    home.mkdir(exist_ok=True)
    with closing(sqlite3.connect(home / "dossier.db")) as database:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'calls'").fetchone():
            return set()
        rows = database.execute("SELECT kind, result FROM calls").fetchall()
        origins = dict(database.execute("SELECT id, origin FROM pages").fetchall())
    return {name for kind, result in rows for name in _kept(kind, result, origins)}


def _noting(script: Script, answer: Answer) -> Answer:
    async def note(request: Request) -> Response:
        """Write a request down, then answer it."""
        query = dict(request.query_params)
        script.log.append(Call(time.monotonic(), request.url.path, query))
        return await answer(request)

    return note


def _asked(call: Call) -> str:
    """Name a request by what its answer can be told by: a search by the first page it finds."""
    if call.path == "/search":
        return f"search {random.Random(call.body['q']).randrange(10**6)}"
    return call.path if call.path.startswith("/page/") else MODEL + digest(call.body)[:12].hex()


def _kept(kind: str, result: str, origins: dict[str, str]) -> set[str]:
    """Name the request behind a recorded result in the same way."""
    if kind == "model":
        return set(re.findall(MODEL + "[0-9a-f]{24}", result))
    kept: Any = json.loads(result)
    if kind == "search":
        return {f"search {hit['url'].rpartition('/')[2]}" for hit in hits_in(kept)[:1]}
    return {f"/page/{origins[one].rpartition('/')[2]}" for one in kept}
