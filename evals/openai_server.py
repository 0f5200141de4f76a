"""Serve the OpenAI API on loopback, with answers and failures that were written down before.

In a test: `with Server([{"match": "bees", "reply": "They dance."}]) as server: … server.url …`.
As a process: `python -m evals.openai_server --port 8100 --rules rules.json --latency 0.3`; there
`POST /_script` takes new rules and clears the log, and `GET /_log` shows every request so far.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from evals.openai_answers import Json, text, written

Rule = Json
"""When to speak, what to say and how to fail; every key may be left out.

When: `path` (end of the URL: "chat/completions", the default, or "embeddings"), `match` (is in the
last message), `system` (is in a system message), `schema` (name of the JSON schema asked for),
`after_tool` (whether the last message is a tool's), `times` (how often it may still fire).

What: `reply` (text, a dict for JSON text, or a function of the request body that returns one of
them), `refusal`, `tool_calls` (`{name, args}` each; args that are text are sent untouched),
`finish` (the finish_reason), `usage` (None: no usage), `body` (JSON sent instead of all this).

Failure: `error` (HTTP status) with `code` (of the error) and `headers`; `garbage` (HTML with
status 200); `hang` (seconds before the headers), `delay` (seconds from there to the first piece),
`stall` (seconds before each later piece); `cut` (pieces sent before the connection drops; 0: not
even headers) with `tail` (text sent after them) and `clean` (the answer ends as if it were whole).
A piece is an event of a stream, or 40 characters of a plain answer.
"""


@dataclass(frozen=True)
class Call:
    """A request that arrived; `at` is in seconds of the machine's monotonic clock."""

    at: float
    path: str
    body: Json


@dataclass
class Script:
    """The rules, of which the first that fits a request wins, and the log of all requests."""

    rules: list[Rule] = field(default_factory=list)
    latency: float = 0.0
    """Seconds before the headers of every answer."""
    log: list[Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.replace(self.rules)

    def replace(self, rules: Iterable[Rule]) -> None:
        """Take a copy of new rules and clear the log."""
        self.rules = [dict(rule) for rule in rules]
        self.log = []

    def pick(self, call: Call) -> Rule:
        """Return the rule for a request and count that it fired; the empty rule echoes."""
        for rule in self.rules:
            if rule.get("times", 1) > 0 and fits(rule, call):
                if "times" in rule:
                    rule["times"] -= 1
                return rule
        return {}


def fits(rule: Rule, call: Call) -> bool:
    """Tell whether a rule is meant for this request."""
    messages = call.body.get("messages") or [{"content": call.body["input"]}]
    system = [text(each) for each in messages if each.get("role") in ("system", "developer")]
    schema = call.body.get("response_format", {}).get("json_schema", {}).get("name")
    is_tool = messages[-1].get("role") == "tool"
    return (
        call.path.endswith(rule.get("path", "chat/completions"))
        and rule.get("match", "") in text(messages[-1])
        and rule.get("system", "") in "\n".join(system)
        and rule.get("schema", schema) == schema
        and rule.get("after_tool", is_tool) == is_tool
    )


@dataclass
class Server(Script):
    """A script that is served on a port of its own, for as long as a `with` block lasts."""

    url: str = ""

    def __enter__(self) -> Self:
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        self._uvicorn = uvicorn.Server(configuration(self))
        self._thread = threading.Thread(target=self._uvicorn.run, args=[[listener]])
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._uvicorn.should_exit = self._uvicorn.force_exit = True
        self._thread.join()


def configuration(script: Script, port: int = 0) -> uvicorn.Config:
    """Return how uvicorn serves a script; a mistake in a rule is told in full to the client."""
    models = JSONResponse({"object": "list", "data": [{"id": "gpt-4o", "object": "model"}]})
    routes = [
        Route("/v1/chat/completions", answer, methods=["POST"]),
        Route("/v1/embeddings", answer, methods=["POST"]),
        Route("/v1/models", models),
        Route("/_script", replace, methods=["POST"]),
        Route("/_log", log),
    ]
    app = Starlette(debug=True, routes=routes)
    app.state.script = script
    return uvicorn.Config(app, port=port, ws="none", lifespan="off", log_level="critical")


async def answer(request: Request) -> Response:
    """Log a request and answer it by its rule."""
    script: Script = request.app.state.script
    body = await request.json()
    call = Call(time.monotonic(), request.url.path, body)
    script.log.append(call)
    rule = script.pick(call)
    await asyncio.sleep(script.latency + rule.get("hang", 0))
    kind, pieces = await written(rule, body)
    sent = pieces[: rule.get("cut")] + ([rule["tail"]] if "tail" in rule else [])
    if not sent and not rule.get("clean"):
        await hang_up(request)
    # A client that keeps a connection beyond the end of its event loop makes Python warn.
    headers = {"content-type": kind, "connection": "close", **rule.get("headers", {})}
    if kind != "text/event-stream":
        promised = sent if rule.get("clean") else pieces
        headers["content-length"] = str(len("".join(promised).encode()))
    return StreamingResponse(paced(sent, rule, request), rule.get("error", 200), headers)


async def paced(sent: list[str], rule: Rule, request: Request) -> AsyncIterator[str]:
    """Send the pieces at the speed of the rule, and drop the connection where it says so."""
    for number, piece in enumerate(sent):
        await asyncio.sleep(rule.get("stall" if number else "delay", 0))
        yield piece
    if "cut" in rule and not rule.get("clean"):
        await hang_up(request)


async def hang_up(request: Request) -> None:
    """Drop the connection, whatever was promised."""
    # ASGI has no word for this; uvicorn's `receive` is a method of the object with the transport.
    request.receive.__self__.transport.close()  # type: ignore[attr-defined]
    await request.receive()


async def replace(request: Request) -> Response:
    """Take new rules and clear the log."""
    request.app.state.script.replace(await request.json())
    return JSONResponse({})


async def log(request: Request) -> Response:
    """Show every request so far, in order of arrival."""
    return JSONResponse([asdict(call) for call in request.app.state.script.log])


def main() -> None:
    """Serve the rules of a file until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--rules", type=Path, help="a JSON list of rules")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    options = parser.parse_args()
    rules = json.loads(options.rules.read_text("utf-8")) if options.rules else []
    uvicorn.Server(configuration(Script(rules, options.latency), options.port)).run()


if __name__ == "__main__":
    main()
