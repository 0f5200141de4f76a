"""Shape answers the way the OpenAI API sends them: whole, or as the chunks of a stream.

A rule is a dict; what its keys mean stands in `evals/openai_server.py`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from starlette.concurrency import run_in_threadpool

Json = dict[str, Any]


async def written(rule: Json, body: Json) -> tuple[str, list[str]]:
    """Return the media type of the answer to `body`, and its text in pieces to be sent in turn."""
    if rule.get("garbage"):
        return "text/html", re.findall(".{1,20}", "<html><h1>502 Bad Gateway</h1></html>")
    if body.get("stream") and "error" not in rule:
        events = [rule["body"]] if "body" in rule else chunks(body, await spoken(rule, body))
        lines = [*map(json.dumps, events), "[DONE]"]
        return "text/event-stream", [f"data: {line}\n\n" for line in lines]
    whole = rule["body"] if "body" in rule else await spoken(rule, body)
    return "application/json", re.findall(".{1,40}", json.dumps(whole))


async def spoken(rule: Json, body: Json) -> Json:
    """Return the whole answer to a request: an error, vectors, or what the rule says."""
    if "error" in rule:
        said = f"told to fail with {rule['error']}"
        return {"error": {"message": said, "type": "test_error", "code": rule.get("code")}}
    if "input" in body:
        return embeddings(body)
    silent = "tool_calls" in rule or "refusal" in rule
    reply = rule.get("reply", "" if silent else f"echo: {text(body['messages'][-1])}")
    if callable(reply):
        reply = await run_in_threadpool(reply, body)
    return completion(rule, body, reply if isinstance(reply, str) else json.dumps(reply))


def text(message: Json) -> str:
    """Return the text of a message, whose content may be a string or a list of parts."""
    content = message.get("content") or ""
    parts = [content] if isinstance(content, str) else content
    return "".join(part.get("text", "") if isinstance(part, dict) else str(part) for part in parts)


def completion(rule: Json, body: Json, content: str) -> Json:
    """Return a whole chat answer; its ids are a hash of the request."""
    name = digest(body)[:12].hex()
    message: Json = {"role": "assistant", "content": content}
    if "refusal" in rule:
        message |= {"content": None, "refusal": rule["refusal"]}
    if "tool_calls" in rule:
        message["tool_calls"] = [
            {"id": f"call_{name}_{number}", "type": "function", "function": function(call)}
            for number, call in enumerate(rule["tool_calls"])
        ]
    finish = rule.get("finish", "tool_calls" if "tool_calls" in rule else "stop")
    return {
        "id": f"chatcmpl-{name}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": rule.get("usage", usage(body["messages"], message)),
    }


def function(call: Json) -> dict[str, str]:
    """Return the name and the arguments of a tool call, the arguments as text."""
    args = call.get("args", {})
    return {"name": call["name"], "arguments": args if isinstance(args, str) else json.dumps(args)}


def usage(asked: Any, said: Any) -> dict[str, int]:
    """Return the bill, in tokens of four characters."""
    prompt, answer = len(json.dumps(asked)) // 4, len(json.dumps(said)) // 4
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "total_tokens": prompt + answer,
    }


def chunks(body: Json, whole: Json) -> Iterator[Json]:
    """Cut a whole answer into the chunks of a stream: the role, the message bit by bit, the end."""
    head = {"object": "chat.completion.chunk"}
    head |= {key: whole[key] for key in ("id", "created", "model")}
    choice = whole["choices"][0]
    for delta in [{"role": "assistant", "content": ""}, *deltas(choice["message"])]:
        yield head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield head | {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    if whole["usage"] and body.get("stream_options", {}).get("include_usage"):
        yield head | {"choices": [], "usage": whole["usage"]}


def deltas(message: Json) -> Iterator[Json]:
    """Cut a message into words, and the arguments of its tool calls into seven characters each."""
    for key in ("content", "refusal"):
        for word in re.findall(r"\S+\s*|\s+", message.get(key) or ""):
            yield {key: word}
    for index, call in enumerate(message.get("tool_calls", [])):
        opening = call["function"] | {"arguments": ""}
        yield {"tool_calls": [call | {"index": index, "function": opening}]}
        for piece in re.findall(r"(?s).{1,7}", call["function"]["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def embeddings(body: Json) -> Json:
    """Return a vector of 8 numbers for each input: equal texts get equal vectors, no more."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    data = [
        {"object": "embedding", "index": index, "embedding": [n / 255 for n in digest(text)[:8]]}
        for index, text in enumerate(texts)
    ]
    return {"object": "list", "model": body["model"], "data": data, "usage": usage(texts, "")}


def digest(value: Any) -> bytes:
    """Return the SHA-256 of a piece of JSON."""
    return sha256(json.dumps(value, sort_keys=True).encode()).digest()
