"""Requests for every operation of an OpenAPI document that name what belongs to somebody."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

METHODS = ("get", "head", "post", "put", "patch", "delete")

QUESTION = {"messages": [{"role": "user", "content": "Hello."}]}


SAMPLES = {"integer": 1, "number": 1, "boolean": False, "string": "x"}
"""A value of each type."""


class Operation(NamedTuple):
    """One operation of a server."""

    method: str
    path: str
    about: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.method.upper()} {self.path}"


class Sent(NamedTuple):
    """One request."""

    operation: str
    method: str
    path: str
    query: dict[str, Any]
    body: Any


def list_operations(document: Mapping[str, Any]) -> list[Operation]:
    """Return every operation of a document."""
    return [
        Operation(method, path, about)
        for path, methods in document["paths"].items()
        for method, about in methods.items()
        if method in METHODS
    ]


class Requests:
    """Makes the requests for operations, in which known names have the values of somebody."""

    def __init__(self, document: Mapping[str, Any], known: Mapping[str, Any]) -> None:
        self.document, self.known = document, known

    def of(self, operation: Operation) -> Iterator[Sent]:
        """Yield requests: with what is required, with what is known, and with everything."""
        path = re.sub(r"\{(\w+)[^}]*\}", self._in_path, operation.path)
        query = dict(self._query(operation))
        seen: list[Any] = []
        for body in self._bodies(operation):
            if body not in seen:
                seen.append(body)
                yield Sent(operation.name, operation.method, path, query, body)
        if query:
            yield Sent(operation.name, operation.method, path, {}, seen[0])

    def _in_path(self, found: re.Match[str]) -> str:
        return str(self.known.get(found[1], self.known["thread_id"]))

    def _query(self, operation: Operation) -> Iterator[tuple[str, Any]]:
        for parameter in map(self._resolved, operation.about.get("parameters", [])):
            name = parameter.get("name", "")
            if parameter.get("in") == "query" and name in self.known:
                value = self.known[name]
                yield name, ".".join(value) if isinstance(value, list) else value

    def _bodies(self, operation: Operation) -> Iterator[Any]:
        if operation.method in ("get", "head"):
            yield None
            return
        yield {}
        yield dict(self.known)
        yield from TEMPLATES.get(operation.path, lambda _: [])(self.known)
        content = self._resolved(operation.about.get("requestBody", {})).get("content", {})
        schema = content.get("application/json", {}).get("schema")
        if schema:
            yield self._filled(schema, "", whole=False)
            yield self._filled(schema, "", whole=True)

    def _resolved(self, part: Any) -> dict[str, Any]:
        """Follow a reference within the document."""
        while isinstance(part, dict) and "$ref" in part:
            target: Any = self.document
            for name in part["$ref"].removeprefix("#/").split("/"):
                target = target[name]
            part = target
        return part if isinstance(part, dict) else {}

    def _filled(self, schema: Any, name: str, *, whole: bool, depth: int = 0) -> Any:
        """Return a value of a schema."""
        schema = self._chosen(schema)
        kind = _only_kind(schema.get("type"))
        if kind == "array":
            item = self._filled(schema.get("items", {}), name, whole=whole, depth=depth + 1)
            return item if isinstance(item, list) else [item]
        if name in self.known:
            return self.known[name]
        if "enum" in schema or "const" in schema:
            return schema.get("const", (schema.get("enum") or [None])[0])
        if kind in SAMPLES:
            return schema.get("default", schema.get("minimum", SAMPLES[kind]))
        return self._object(schema, whole=whole, depth=depth)

    def _chosen(self, schema: Any) -> dict[str, Any]:
        """Return the schema of a value, or the first of several that is not null."""
        schema = self._resolved(schema)
        for choice in ("anyOf", "oneOf", "allOf"):
            if choice in schema:
                options = [one for one in map(self._resolved, schema[choice]) if one]
                return next((one for one in options if one.get("type") != "null"), options[0])
        return schema

    def _object(self, schema: dict[str, Any], *, whole: bool, depth: int) -> dict[str, Any]:
        needed = set(schema.get("required", ()))
        return {
            name: self._filled(one, name, whole=whole, depth=depth + 1)
            for name, one in schema.get("properties", {}).items()
            if name in needed or name in self.known or (whole and depth < 3)
        }


def _only_kind(kinds: Any) -> Any:
    """Return the type of a schema, the first of several that is not null."""
    several = kinds if isinstance(kinds, list) else [kinds]
    return next((one for one in several if one != "null"), None)


def _rpc(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}


def _runs(known: Mapping[str, Any]) -> list[Any]:
    run = {"assistant_id": "research"}
    at = {"checkpoint_id": known["checkpoint_id"]}
    return [
        {**run, "input": QUESTION},
        {**run, "input": None},
        {**run, "command": {"resume": "go ahead"}},
        {**run, "input": QUESTION, **at},
        {**run, "input": QUESTION, "if_not_exists": "create"},
        {**run, "input": QUESTION, "config": {"configurable": {"thread_id": known["thread_id"]}}},
        {
            **run,
            "input": QUESTION,
            "config": {"configurable": {"langgraph_auth_user": {"identity": known["owner"]}}},
        },
        {**run, "input": QUESTION, "context": {"user": known["owner"]}},
        {**run, "input": QUESTION, "metadata": {"owner": known["owner"]}},
    ]


def _searches(known: Mapping[str, Any]) -> list[Any]:
    return [
        {"ids": [known["thread_id"]], "limit": 100},
        {"limit": 1000, "offset": 0},
        {"limit": 1, "offset": 1},
        {"metadata": {"owner": known["owner"]}},
        {"thread_id": known["thread_id"]},
        {"assistant_id": "research"},
    ]


def _items(known: Mapping[str, Any]) -> list[Any]:
    own, his = known["namespace"], [known["owner"], *known["namespace"]]
    key = known["key"]
    value = {"text": "changed"}
    return [
        *({"namespace": one, "key": key, "value": value} for one in (own, his)),
        *({"namespace_prefix": one, "limit": 100} for one in (own, his, [])),
        *({"prefix": one, "limit": 100} for one in (own, his, [])),
        {"suffix": own},
        {"prefix": ["*"], "max_depth": 5},
        {"namespace_prefix": ["..", known["owner"]]},
    ]


def _crons(known: Mapping[str, Any]) -> list[Any]:
    cron = {"assistant_id": "research", "schedule": "0 0 1 1 *", "input": QUESTION}
    stolen = {"configurable": {"langgraph_auth_user": {"identity": known["owner"]}}}
    return [
        cron,
        {**cron, "thread_id": known["thread_id"]},
        {**cron, "config": stolen},
        {**cron, "metadata": {"owner": known["owner"]}},
        {"schedule": "0 0 2 2 *", "enabled": False},
        {"metadata": {"owner": known["owner"]}},
    ]


def _states(known: Mapping[str, Any]) -> list[Any]:
    checkpoint = {"thread_id": known["thread_id"], "checkpoint_id": known["checkpoint_id"]}
    return [
        {"values": QUESTION, "as_node": "__start__"},
        {"values": None},
        {"checkpoint": checkpoint, "checkpoint_id": known["checkpoint_id"]},
        {"limit": 10, "before": {"configurable": checkpoint}},
        {"limit": 10, "checkpoint": checkpoint},
    ]


def _agents(known: Mapping[str, Any]) -> list[Any]:
    """Return messages of A2A that name a conversation and a task of somebody."""
    thread, run = known["thread_id"], known["run_id"]
    part = {"kind": "text", "text": "Go on."}
    message = {"role": "user", "parts": [part], "messageId": "m1", "contextId": thread}
    return [
        _rpc("message/send", message=message),
        _rpc("message/send", message={**message, "taskId": run}),
        _rpc("message/stream", message=message),
        _rpc("tasks/get", id=run, contextId=thread),
        _rpc("tasks/get", id=run, contextId=thread, historyLength=50),
        _rpc("tasks/list", contextId=thread, pageSize=100),
        _rpc("tasks/list", pageSize=100),
        _rpc("tasks/cancel", id=run, contextId=thread),
        _rpc("tasks/resubscribe", id=run, contextId=thread),
        _rpc("ListTasks", contextId=thread),
        _rpc("GetTask", id=run, contextId=thread),
        _rpc("SendMessage", message=message),
    ]


def _tools(known: Mapping[str, Any]) -> list[Any]:
    asked = {"name": "research", "arguments": QUESTION}
    return [
        _rpc("tools/list"),
        _rpc("tools/call", name="recall", arguments={"question": "What do you know of me?"}),
        _rpc("tools/call", **asked, thread_id=known["thread_id"]),
    ]


def _commands(known: Mapping[str, Any]) -> list[Any]:
    start = {"assistant_id": "research", "input": QUESTION}
    return [
        {"id": 1, "method": "run.start", "params": start},
        {"id": 2, "method": "run.input", "params": {"value": "go ahead"}},
        {"id": 3, "method": "run.cancel", "params": {"run_id": known["run_id"]}},
        {"id": 4, "method": "run.attach", "params": {"run_id": known["run_id"]}},
        {"id": 5, "method": "state.get", "params": {}},
        {"id": 6, "method": "state.list_checkpoints", "params": {}},
        {"id": 7, "method": "agent.get_tree", "params": {}},
        {"id": 8, "method": "input.respond", "params": {"interrupt_id": "x", "response": "yes"}},
        {"channels": ["values", "messages", "updates", "custom", "lifecycle"], "since": 0},
    ]


def _batch(known: Mapping[str, Any]) -> list[Any]:
    return [[{**one, "thread_id": known["thread_id"]}] for one in _runs(known)[:2]]


def _cancels(known: Mapping[str, Any]) -> list[Any]:
    run = {"thread_id": known["thread_id"], "run_ids": [known["run_id"]]}
    return [run, {"status": "all"}, {"status": "pending"}]


def _threads(known: Mapping[str, Any]) -> list[Any]:
    mine = {"thread_id": known["thread_id"]}
    stolen = {"metadata": {"owner": known["owner"]}}
    return [
        mine,
        {**mine, "if_exists": "do_nothing"},
        {**mine, **stolen, "if_exists": "do_nothing"},
        stolen,
        {"thread_ids": [known["thread_id"]], "strategy": "delete"},
        {"thread_ids": [known["thread_id"]], "strategy": "keep_latest"},
        {"updates": [{"values": QUESTION, "as_node": "__start__"}]},
    ]


_THREAD, _RUN = "/threads/{thread_id}", "/threads/{thread_id}/runs"

TEMPLATES = {
    "/threads": _threads,
    "/threads/search": _searches,
    "/threads/count": _searches,
    "/threads/prune": _threads,
    _THREAD: _threads,
    f"{_THREAD}/state": _states,
    f"{_THREAD}/state/checkpoint": _states,
    f"{_THREAD}/history": _states,
    f"{_THREAD}/commands": _commands,
    f"{_THREAD}/stream/events": _commands,
    _RUN: _runs,
    f"{_RUN}/stream": _runs,
    f"{_RUN}/wait": _runs,
    f"{_RUN}/crons": _crons,
    "/runs": _runs,
    "/runs/stream": _runs,
    "/runs/wait": _runs,
    "/runs/batch": _batch,
    "/runs/cancel": _cancels,
    "/runs/crons": _crons,
    "/runs/crons/search": _searches,
    "/runs/crons/count": _searches,
    "/runs/crons/{cron_id}": _crons,
    "/store/items": _items,
    "/store/items/search": _items,
    "/store/namespaces": _items,
    "/a2a/{assistant_id}": _agents,
    "/mcp": _tools,
    "/mcp/": _tools,
    "/assistants/search": _searches,
}
"""Bodies that make sense to LangGraph's own operations, whose schemas a document may lack."""
