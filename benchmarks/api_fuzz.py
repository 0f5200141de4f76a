"""Send made-up requests to every route of the API, and count those over which it fails.

Requests are made from the OpenAPI document: values that fit and values that do not, ids that exist,
broken JSON, wrong types, half characters, huge numbers, deep nesting, repeated parameters. A second
user has things of their own: no answer may have a word of them, or say where files of the server
are. `python -m benchmarks.api_fuzz [--requests 10000] [--seed 1]`; ends with 1 if anything failed.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

Application = Callable[[Any, Any, Any], Awaitable[None]]

SECRET = "zebra-quagga-9131"  # noqa: S105 - a word that only the other user has said
"""What the other user has said, and nobody else."""

TEXTS = (
    *("", " ", "a", "null", "true", "-1", "0", "1e309", "NaN", "..", "../../etc/passwd", "/", "\\"),
    *("%00", "\x00", "a\x00b", "\r\nX-Evil: 1", "'; DROP TABLE runs; --", '" OR 1=1', "<script>"),
    *(
        "%",
        "_",
        "*",
        "?",
        "#",
        "&",
        "=",
        "{}",
        "[]",
        "\u202e\u200b\ufeff",
        "𝕏" * 40,
        "ü",
        "龍" * 90,
    ),
    *("x" * 81, "x" * 5_000, "👩‍👩‍👧", "\x7f\x1b[2J", "\ufffe\uffff"),
)
"""Texts that something may trip over."""

HALVES = ("\ud800", "a\udfffb", "\udc80")
"""Texts that only JSON can bring: halves of characters."""

NUMBERS: tuple[Any, ...] = (
    *(-1, 0, 1, 2, 50, 2**31, -(2**31), 2**63, 2**64, 10**30, -(10**300), 1.5, 1e308, -0.0),
)

ODD: tuple[Any, ...] = (None, True, False, [], {}, [[]], [None], {"": ""}, "x", 7, *NUMBERS)

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")

BODIES = (
    *(
        b"",
        b"{",
        b"[",
        b"nul",
        b'{"a":1}{',
        b"\xff\xfe\xfd",
        b'"\xc3\x28"',
        b'{"text": "\xed\xa0\x80"}',
    ),
    *(b"[" * 5_000 + b"]" * 5_000, b'{"a":' * 900 + b"1" + b"}" * 900, b"1" * 6_000, b"\x00" * 100),
    *(b'{"text": 1e999}', b'{"hours": NaN}', b'{"hours": -Infinity}', b"--x\r\n\r\n--x--"),
)

TYPES = (
    *("application/json", "application/json; charset=utf-16", "text/plain", "", "application/xml"),
    *("application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "a/b/c", "x"),
    "application/offset+octet-stream",
)


class Operation(NamedTuple):
    """What can be asked, by the OpenAPI document."""

    method: str
    path: str
    parameters: Sequence[Mapping[str, Any]]
    body: Mapping[str, Any] | None
    """The schema of the body; `None` for none."""


class FuzzedRequest(NamedTuple):
    """A request as it is sent."""

    method: str
    path: str
    query: str
    headers: Sequence[tuple[str, str]]
    body: bytes

    def describe(self) -> str:
        """Return it in a line."""
        return f"{self.method} {self.path}?{self.query} {self.headers} {self.body[:200]!r}"


class FuzzedAnswer(NamedTuple):
    """What came back."""

    status: int
    media_type: str
    body: bytes


def list_operations(document: Mapping[str, Any]) -> list[Operation]:
    """Return everything that can be asked."""
    schemas = document["components"]["schemas"]
    found = []
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            content = told.get("requestBody", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema")
            parameters = [_resolve(one, schemas) for one in told.get("parameters", [])]
            body = _resolve(schema, schemas) if schema is not None else ({} if content else None)
            found.append(Operation(method.upper(), path, parameters, body))
    return found


def _resolve(value: Any, schemas: Mapping[str, Any], depth: int = 0) -> Any:
    """Return a schema with what its references stand for."""
    if isinstance(value, list):
        return [_resolve(one, schemas, depth) for one in value]
    if not isinstance(value, dict):
        return value
    if isinstance(named := value.get("$ref"), str):
        known = schemas.get(named.rpartition("/")[2], {})
        return _resolve(known, schemas, depth + 1) if depth < 5 else {}
    return {name: _resolve(one, schemas, depth) for name, one in value.items()}


class RequestMaker:
    """Makes requests, the same ones for the same seed."""

    def __init__(
        self, operations: Sequence[Operation], known: Mapping[str, Sequence[str]], seed: int
    ) -> None:
        """Set what can be asked, and the ids that exist by the names of parameters."""
        self.operations, self.known = operations, known
        self.random = random.Random(seed)

    def make(self) -> FuzzedRequest:
        """Return the next request."""
        one = self.random.choice(self.operations)
        method = one.method if self._chance(0.95) else self.random.choice(METHODS)
        path, pairs = one.path, list[tuple[str, str]]()
        for parameter in one.parameters:
            if parameter["in"] == "path":
                path = path.replace(f"{{{parameter['name']}}}", self._part(parameter))
            elif parameter["in"] == "query" and self._chance(0.4):
                pairs += [
                    (parameter["name"], self._query_value(parameter))
                    for _ in range(self.random.choice((1, 1, 1, 2, 3)))
                ]
        if self._chance(0.05):
            pairs.append((self.random.choice(TEXTS), self.random.choice(TEXTS)))
        query = "&".join(f"{self._escape(name)}={self._escape(value)}" for name, value in pairs)
        body = self._body(one)
        return FuzzedRequest(method, path, query, [*self._headers(one, body)], body)

    def _chance(self, share: float) -> bool:
        return self.random.random() < share

    def _part(self, parameter: Mapping[str, Any]) -> str:
        """Return a part of a path: often an id that exists."""
        known = self.known.get(parameter["name"], ())
        if known and self._chance(0.6):
            return quote(self.random.choice(known), "")
        return self._escape(self._text()) or "x"

    def _query_value(self, parameter: Mapping[str, Any]) -> str:
        known = self.known.get(parameter["name"], ())
        if known and self._chance(0.5):
            return self.random.choice(known)
        if parameter["name"] == "cursor" and self._chance(0.7):
            return self._cursor()
        value = self._value(parameter.get("schema", {}))
        return value if isinstance(value, str) else json.dumps(value)

    def _cursor(self) -> str:
        values = [self.random.choice(ODD) for _ in range(self.random.randint(0, 3))]
        data = json.dumps(values).encode() if self._chance(0.8) else self.random.randbytes(9)
        return base64.urlsafe_b64encode(data).decode().rstrip("=" if self._chance(0.5) else "")

    def _text(self) -> str:
        every = [one for some in self.known.values() for one in some]
        return self.random.choice(every if every and self._chance(0.2) else TEXTS)

    def _escape(self, text: str) -> str:
        """Return a text as it stands in an address, at times with bytes that are no UTF-8."""
        if self._chance(0.03):
            return "%ff%fe%80"
        return quote(text.encode("utf-8", "surrogatepass"), "")

    def _headers(self, one: Operation, body: bytes) -> Iterator[tuple[str, str]]:
        if body or one.body is not None:
            fits = one.body and self._chance(0.85)
            yield "content-type", "application/json" if fits else self.random.choice(TYPES)
        if self._chance(0.95):
            yield "content-length", str(len(body))
        if "upload" in one.path or self._chance(0.02):
            yield from self._tus_headers(body)
        for name in ("if-none-match", "if-match"):
            if self._chance(0.05):
                yield name, self.random.choice(('"x"', "*", "W/,,", "\x01", "é" * 90))

    def _tus_headers(self, body: bytes) -> Iterator[tuple[str, str]]:
        if self._chance(0.6):
            yield "tus-resumable", self.random.choice(("1.0.0", "1.0.0", "1.0.0", "0.2", ""))
        counts = (str(len(body)), "0", "5", "-1", "x", "9" * 40, "1e3", "٣")
        for name in ("upload-length", "upload-offset"):
            if self._chance(0.7):
                yield name, self.random.choice(counts)
        if self._chance(0.5):
            said = (
                "filename YS50eHQ=",
                "filename",
                "filename !!",
                ",",
                "folder eA==",
                "é",
                "a b c",
            )
            yield "upload-metadata", self.random.choice(said)

    def _body(self, one: Operation) -> bytes:
        if one.body is None:
            return b"" if self._chance(0.9) else self.random.choice(BODIES)
        if self._chance(0.2):
            return self.random.choice(BODIES)
        if not one.body:
            sizes = (0, 1, 20, 70_000)
            return self.random.choice((b"A pump. ", b"\x00", b"%PDF-")) * self.random.choice(sizes)
        return json.dumps(self._value(one.body)).encode("utf-8", "surrogatepass")

    def _value(self, schema: Mapping[str, Any], depth: int = 0) -> Any:
        """Return a value of a schema, or one that does not fit."""
        if self._chance(0.12) or depth > 4:
            return self.random.choice((*ODD, *HALVES, *TEXTS))
        for several in ("anyOf", "oneOf", "allOf"):
            if several in schema:
                return self._value(self.random.choice(schema[several]), depth + 1)
        if "enum" in schema and self._chance(0.8):
            return self.random.choice(schema["enum"])
        return self._value_of_type(schema, depth)

    def _value_of_type(self, schema: Mapping[str, Any], depth: int) -> Any:
        match schema.get("type"):
            case "object":
                return self._object(schema, depth)
            case "array":
                items = schema.get("items", {})
                return [self._value(items, depth + 1) for _ in range(self.random.randint(0, 3))]
            case "integer" | "number":
                return self.random.choice(NUMBERS)
            case "boolean":
                return self._chance(0.5)
            case _:
                return self.random.choice(HALVES) if self._chance(0.03) else self._text()

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        named = schema.get("properties", {})
        made = {
            name: self._value(one, depth + 1) for name, one in named.items() if self._chance(0.85)
        }
        return made | ({self._text(): self._text()} if self._chance(0.05) else {})


async def send_request(app: Application, request: FuzzedRequest, user: str = "") -> FuzzedAnswer:
    """Hand a request to an application as a server does; an error that it raises is status 0."""
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(request.path),
        "raw_path": request.path.encode(),
        "query_string": request.query.encode(),
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1"), *_encode_headers(request.headers)],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    } | ({"user": SimpleNamespace(identity=user)} if user else {})
    waiting = [{"type": "http.request", "body": request.body, "more_body": False}]
    messages: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return waiting.pop() if waiting else {"type": "http.disconnect"}

    async def answer(message: dict[str, Any]) -> None:
        messages.append(message)

    try:
        await app(scope, receive, answer)
    except Exception:  # noqa: BLE001 - a server logs it after its answer
        if not messages:
            return FuzzedAnswer(0, "", b"")
    head = dict(messages[0]["headers"])
    body = b"".join(one.get("body", b"") for one in messages[1:])
    return FuzzedAnswer(messages[0]["status"], head.get(b"content-type", b"").decode(), body)


def _encode_headers(headers: Sequence[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode("utf-8")) for name, value in headers]


def find_api_fault(request: FuzzedRequest, answer: FuzzedAnswer, hidden: Sequence[str]) -> str:
    """Return what is wrong with an answer; empty if nothing is.

    Args:
        request: What was asked.
        answer: What came back.
        hidden: What no answer may have in it.
    """
    if answer.status in (0, 500) or answer.status >= 600:
        return f"status {answer.status}"
    if any(one.encode() in answer.body for one in hidden):
        return "it tells what it may not"
    bodiless = request.method == "HEAD" or answer.status < 400 or "/api/ready" in request.path
    if not bodiless and answer.media_type != "application/problem+json":
        return f"a refusal as {answer.media_type or 'nothing'}: {answer.status}"
    return ""


async def fuzz_routes(
    app: Application, maker: RequestMaker, count: int, hidden: Sequence[str]
) -> tuple[Counter[int], list[tuple[str, FuzzedRequest, FuzzedAnswer]]]:
    """Send made-up requests; return how many had which status, and the faults."""
    statuses: Counter[int] = Counter()
    faults = []
    for _ in range(count):
        request = maker.make()
        answer = await send_request(app, request)
        statuses[answer.status] += 1
        if fault := find_api_fault(request, answer, hidden):
            faults.append((fault, request, answer))
    return statuses, faults


async def prepare_things(app: Application) -> dict[str, list[str]]:
    """Store some things of two users; return the ids of the first one by names of parameters."""

    async def post(path: str, body: Any, user: str = "") -> Any:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = "text/plain" if isinstance(body, bytes) else "application/json"
        headers = [("content-type", kind), ("content-length", str(len(content)))]
        path, _, query = path.partition("?")
        answer = await send_request(app, FuzzedRequest("POST", path, query, headers, content), user)
        return json.loads(answer.body)

    ids: dict[str, list[str]] = {}
    for user, word in (("", "tulip"), ("eve", SECRET)):
        fact = await post("/api/memories", {"text": f"I keep {word} in Graz."}, user)
        folder = await post("/api/upload-folders", {"name": f"About {word}"}, user)
        name = f"/api/uploads?name={word}.txt&folder={folder['id']}"
        upload = await post(name, f"The {word} stands in hall 7.".encode(), user)
        base = {"name": f"kb-{word}", "about": f"All of {word}", "folder": folder["id"]}
        await post("/api/knowledge-bases", base, user)
        if not user:
            ids = {"id": [fact["id"]], "upload": [upload["id"]], "folder": [folder["id"]]}
            ids |= {"name": [base["name"], "person"], "event": ["1", "2"], "item": [fact["id"]]}
    return ids


async def _answer_question(folder: Path) -> str:
    """Ask a question of a folder; return the run, which has a report."""
    from graph.context import Context  # noqa: PLC0415
    from graph.session import open_session  # noqa: PLC0415
    from tools.folder_ingestion import ingest_folder  # noqa: PLC0415

    root = (await ingest_folder("local/", folder, lambda _: None)).root
    models = {"default": "extractive:"}
    context = Context(models=models, files=[root], auto_accept=True, web="off")
    async with open_session("fuzzed") as thread:
        outcome = await thread.begin("How high is the tower of Graz?", context, lambda _: None)
    return str(outcome.state["run"])


async def _main(count: int, seed: int) -> int:
    from app.api.application import make_api  # noqa: PLC0415
    from config.resources import close_resources  # noqa: PLC0415
    from config.settings import settings  # noqa: PLC0415

    app = make_api()
    folder = settings().home.parent / "texts"
    folder.mkdir()
    (folder / "tower.md").write_text("# Towers\n\nThe clock tower of Graz is 28 metres high.\n")
    run = await _answer_question(folder)
    known = await prepare_things(app)
    known |= {"run": [run, "fuzzed"], "to": [run], "source": ["1", "S1"]}
    operations = list_operations(app.openapi())
    began = time.perf_counter()
    hidden = (SECRET, str(settings().home))
    maker = RequestMaker(operations, known, seed)
    statuses, faults = await fuzz_routes(app, maker, count, hidden)
    seconds = time.perf_counter() - began
    told = ", ".join(f"{number}× {status}" for status, number in sorted(statuses.items()))
    print(f"{count:,} requests to {len(operations)} operations in {seconds:.0f} s: {told}")
    print(f"faults: {len(faults)}")
    for fault, request, answer in faults[:20]:
        print(f"  {fault}: {request.describe()}\n    {answer.body[:300]!r}")
    await close_resources()
    return 1 if faults else 0


def main() -> None:
    """Send the requests to a server with a home of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        os.environ |= {"DOSSIER_HOME": f"{place}/home", "DOSSIER_MODEL": "extractive:"}
        sys.exit(asyncio.run(_main(chosen.requests, chosen.seed)))


if __name__ == "__main__":
    main()
