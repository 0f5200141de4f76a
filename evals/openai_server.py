"""Serve scripted answers over the wire format of OpenAI, with faults and delays."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

Json = dict[str, Any]


async def write_answer(rule: Json, body: Json) -> tuple[str, list[str]]:
    """Return the media type of the answer to `body`, and its text in pieces to be sent in turn."""
    if rule.get("garbage"):
        return "text/html", re.findall(".{1,20}", "<html><h1>502 Bad Gateway</h1></html>")
    if body.get("stream") and "error" not in rule:
        events = [rule["body"]] if "body" in rule else _chunks(body, await _spoken(rule, body))
        lines = [*map(json.dumps, events), "[DONE]"]
        return "text/event-stream", [f"data: {line}\n\n" for line in lines]
    whole = rule["body"] if "body" in rule else await _spoken(rule, body)
    return "application/json", re.findall(".{1,40}", json.dumps(whole))


async def _spoken(rule: Json, body: Json) -> Json:
    """Return the whole answer to a request: an error, vectors, or what the rule says."""
    if "error" in rule:
        said = f"told to fail with {rule['error']}"
        return {"error": {"message": said, "type": "test_error", "code": rule.get("code")}}
    if "input" in body:
        return _embeddings(body)
    if callable(rule.get("tool_calls")):
        rule = rule | {"tool_calls": await run_in_threadpool(rule["tool_calls"], body)}
    silent = "tool_calls" in rule or "refusal" in rule
    reply = rule.get("reply", "" if silent else f"echo: {text_answer(body['messages'][-1])}")
    if callable(reply):
        reply = await run_in_threadpool(reply, body)
    return _completion(rule, body, reply if isinstance(reply, str) else json.dumps(reply))


def text_answer(message: Json) -> str:
    """Return the text of a message, whose content may be a string or a list of parts."""
    content = message.get("content") or ""
    parts = [content] if isinstance(content, str) else content
    return "".join(part.get("text", "") if isinstance(part, dict) else str(part) for part in parts)


def _completion(rule: Json, body: Json, content: str) -> Json:
    """Return a whole chat answer; its ids are a hash of the request."""
    name = digest_request(body)[:12].hex()
    message: Json = {"role": "assistant", "content": content}
    if "refusal" in rule:
        message |= {"content": None, "refusal": rule["refusal"]}
    if "tool_calls" in rule:
        message["tool_calls"] = [
            {"id": f"call_{name}_{number}", "type": "function", "function": tool_call_answer(call)}
            for number, call in enumerate(rule["tool_calls"])
        ]
    finish = rule.get("finish", "tool_calls" if "tool_calls" in rule else "stop")
    return {
        "id": f"chatcmpl-{name}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": rule.get("usage", count_usage(body["messages"], message)),
    }


def tool_call_answer(call: Json) -> dict[str, str]:
    """Return the name and the arguments of a tool call, the arguments as text."""
    args = call.get("args", {})
    return {"name": call["name"], "arguments": args if isinstance(args, str) else json.dumps(args)}


def count_usage(asked: Any, said: Any) -> dict[str, int]:
    """Return the bill, in tokens of four characters."""
    prompt, answer = len(json.dumps(asked)) // 4, len(json.dumps(said)) // 4
    total = prompt + answer
    return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": total}


def _chunks(body: Json, whole: Json) -> Iterator[Json]:
    """Cut a whole answer into the chunks of a stream: the role, the message bit by bit, the end."""
    head = {"object": "chat.completion.chunk"}
    head |= {key: whole[key] for key in ("id", "created", "model")}
    choice = whole["choices"][0]
    for delta in [{"role": "assistant", "content": ""}, *_deltas(choice["message"])]:
        yield head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield head | {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    if whole["usage"] and body.get("stream_options", {}).get("include_usage"):
        yield head | {"choices": [], "usage": whole["usage"]}


def _deltas(message: Json) -> Iterator[Json]:
    """Cut a message into words, and the arguments of its tool calls into seven characters each."""
    for key in ("content", "refusal"):
        for word in re.findall(r"\S+\s*|\s+", message.get(key) or ""):
            yield {key: word}
    for index, call in enumerate(message.get("tool_calls", [])):
        opening = call["function"] | {"arguments": ""}
        yield {"tool_calls": [call | {"index": index, "function": opening}]}
        for piece in re.findall(r"(?s).{1,7}", call["function"]["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _embeddings(body: Json) -> Json:
    """Return a vector of 8 numbers for each input: equal texts get equal vectors, no more."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    made = ([n / 255 for n in digest_request(text)[:8]] for text in texts)
    data = [
        {"object": "embedding", "index": index, "embedding": vector}
        for index, vector in enumerate(made)
    ]
    return {"object": "list", "model": body["model"], "data": data, "usage": count_usage(texts, "")}


def digest_request(value: Any) -> bytes:
    """Return the SHA-256 of a piece of JSON."""
    return sha256(json.dumps(value, sort_keys=True).encode()).digest()


Rule = Json
"""When to speak, what to say and how to fail; every key may be left out.

When: `path` (end of the URL: "chat/completions", the default, or "embeddings"), `match` (is in the
last message), `system` (is in a system message), `schema` (name of the JSON schema asked for),
`after_tool` (whether the last message is a tool's), `answered` (how many messages are a tool's),
`times` (how often it may still fire).

What: `reply` (text, a dict for JSON text, or a function of the request body that returns one of
them), `refusal`, `tool_calls` (`{name, args}` each, or a function of the request body that returns
them; args that are text are sent untouched), `finish` (the finish_reason), `usage` (None: no
usage), `body` (JSON sent instead of all this).

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
            if rule.get("times", 1) > 0 and _fits(rule, call):
                if "times" in rule:
                    rule["times"] -= 1
                return rule
        return {}


def _fits(rule: Rule, call: Call) -> bool:
    """Tell whether a rule is meant for this request."""
    messages = call.body.get("messages") or [{"content": call.body["input"]}]
    system = [text_answer(each) for each in messages if each.get("role") in ("system", "developer")]
    schema = call.body.get("response_format", {}).get("json_schema", {}).get("name")
    is_tool = messages[-1].get("role") == "tool"
    answered = sum(each.get("role") == "tool" for each in messages)
    return (
        call.path.endswith(rule.get("path", "chat/completions"))
        and rule.get("match", "") in text_answer(messages[-1])
        and rule.get("system", "") in "\n".join(system)
        and rule.get("schema", schema) == schema
        and rule.get("after_tool", is_tool) == is_tool
        and rule.get("answered", answered) == answered
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

    def add_routes(self, *routes: Route) -> None:
        """Serve something else, too."""
        self._uvicorn.config.app.router.routes += routes  # type: ignore[union-attr]

    def __exit__(self, *exception: object) -> None:
        self._uvicorn.should_exit = self._uvicorn.force_exit = True
        self._thread.join()


def configuration(script: Script, port: int = 0) -> uvicorn.Config:
    """Return how uvicorn serves a script; a mistake in a rule is told in full to the client."""
    models = JSONResponse({"object": "list", "data": [{"id": "gpt-4o", "object": "model"}]})
    routes = [
        Route("/v1/chat/completions", _answer, methods=["POST"]),
        Route("/v1/embeddings", _answer, methods=["POST"]),
        Route("/v1/models", models),
        Route("/_script", replace_text, methods=["POST"]),
        Route("/_log", _log),
    ]
    app = Starlette(debug=True, routes=routes)
    app.state.script = script
    return uvicorn.Config(app, port=port, ws="none", lifespan="off", log_level="critical")


async def _answer(request: Request) -> Response:
    """Log a request and answer it by its rule."""
    script: Script = request.app.state.script
    body = await request.json()
    call = Call(time.monotonic(), request.url.path, body)
    script.log.append(call)
    rule = script.pick(call)
    await asyncio.sleep(script.latency + rule.get("hang", 0))
    kind, pieces = await write_answer(rule, body)
    sent = pieces[: rule.get("cut")] + ([rule["tail"]] if "tail" in rule else [])
    if not sent and not rule.get("clean"):
        await _hang_up(request)
    # A client that keeps a connection beyond the end of its event loop makes Python warn.
    headers = {"content-type": kind, "connection": "close", **rule.get("headers", {})}
    if kind != "text/event-stream":
        promised = sent if rule.get("clean") else pieces
        headers["content-length"] = str(len("".join(promised).encode()))
    return StreamingResponse(_paced(sent, rule, request), rule.get("error", 200), headers)


async def _paced(sent: list[str], rule: Rule, request: Request) -> AsyncIterator[str]:
    """Send the pieces at the speed of the rule, and drop the connection where it says so."""
    for number, piece in enumerate(sent):
        await asyncio.sleep(rule.get("stall" if number else "delay", 0))
        yield piece
    if "cut" in rule and not rule.get("clean"):
        await _hang_up(request)


async def _hang_up(request: Request) -> None:
    """Drop the connection, whatever was promised."""
    # ASGI has no word for this; uvicorn's `receive` is a method of the object with the transport.
    request.receive.__self__.transport.close()  # type: ignore[attr-defined]
    await request.receive()


async def replace_text(request: Request) -> Response:
    """Take new rules and clear the log."""
    request.app.state.script.replace(await request.json())
    return JSONResponse({})


async def _log(request: Request) -> Response:
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
