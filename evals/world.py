"""A small world on loopback: a model, a web search and web pages, each as slow as it is told."""

from __future__ import annotations

import asyncio
import html
import json
import multiprocessing
import random
import re
import socket
import time
import urllib.request
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Self

import uvicorn
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from evals.openai_server import Script, configuration, text_answer

WORDS_PER_PAGE = 1_000
RESULTS = 5
BODIES = 200
TOPICS = ("dance", "winter", "queen", "honey", "hive", "mites", "swarm", "pollen")


class World:
    """Runs in a process of its own for as long as a `with` block lasts."""

    def __init__(
        self, steps: int, *, model_seconds: float, web_seconds: float, reads_on: bool = False
    ) -> None:
        self.arguments = (steps, model_seconds, web_seconds, reads_on)
        self.url = ""
        self.process: BaseProcess | None = None

    def __enter__(self) -> Self:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        spawn = multiprocessing.get_context("spawn")
        self.process = spawn.Process(target=serve_world, args=(port, *self.arguments), daemon=True)
        self.process.start()
        while True:
            try:
                self.get("/_log")
            except OSError:
                time.sleep(0.05)
            else:
                return self

    def __exit__(self, *_: object) -> None:
        if self.process:
            self.process.kill()
            self.process.join()

    def get(self, path: str) -> Any:
        """Return the JSON at a path of this world."""
        with urllib.request.urlopen(self.url + path) as answer:  # noqa: S310 - our own loopback
            return json.load(answer)


def serve_world(
    port: int, steps: int, model_seconds: float, web_seconds: float, reads_on: bool
) -> None:
    """Serve until killed; a model that reads on finds sections on the pages."""
    pages = Pages(web_seconds, f"http://127.0.0.1:{port}", headings=reads_on)
    script = Script(make_rules(steps, reads_on=reads_on), model_seconds)
    config = configuration(script, port)
    config.app.router.routes += [  # type: ignore[union-attr]
        Route("/search", pages.search),
        Route("/page/{number}", pages.page),
        Route("/v1/traces", take_spans, methods=["POST"]),
    ]
    uvicorn.Server(config).run()


async def take_spans(request: Request) -> Response:
    """Take spans as a collector of OpenTelemetry does."""
    await request.body()
    return Response(media_type="application/x-protobuf")


class Pages:
    """A web of pages made of real encyclopedic text where it is at hand, else of plain words."""

    def __init__(
        self, seconds: float, url: str, *, headings: bool = False, results: int = RESULTS
    ) -> None:
        self.seconds, self.url, self.headings, self.results = seconds, url, headings, results
        corpus = Path("../shared/data/hotpotqa/corpus.jsonl")
        lines = corpus.read_text("utf-8").splitlines() if corpus.exists() else []
        self.paragraphs = [json.loads(line)["text"] for line in lines] or [
            f"Number {number} of the plain sentences tells of bees and their hives."
            for number in range(5000)
        ]
        # The world must not be what is measured, so its pages are written before it opens.
        self.bodies = [self._body(seed) for seed in range(BODIES)]

    async def search(self, request: Request) -> Response:
        """Answer as SearXNG does, with other pages for every query."""
        await asyncio.sleep(self.seconds)
        first = random.Random(request.query_params["q"]).randrange(10**6)
        hits = [
            {
                "url": f"{self.url}/page/{first + number}",
                "title": f"Page {first + number}",
                "content": "bees",
            }
            for number in range(self.results)
        ]
        return JSONResponse({"results": hits})

    async def page(self, request: Request) -> Response:
        """Answer with a page of about a thousand words that says something about every topic."""
        await asyncio.sleep(self.seconds)
        number = request.path_params["number"]
        body = self.bodies[int(number) % len(self.bodies)]
        return HTMLResponse(
            f"<html><title>Page {number}</title><body><article>"
            f"<p>This is page {number} on bees.</p>{body}</article></body></html>"
        )

    def _body(self, seed: int) -> str:
        chance = random.Random(seed)
        body: list[str] = []
        while sum(len(one.split()) for one in body) < WORDS_PER_PAGE:
            body.append(chance.choice(self.paragraphs))
            topic = chance.choice(TOPICS)
            body.append(f"Bees and their {topic} were counted {chance.randrange(1000)} times.")
        lines = [f"<p>{html.escape(one)}</p>" for one in body]
        return "".join(_with_headings(lines) if self.headings else lines)


def _with_headings(lines: list[str]) -> list[str]:
    """Return the lines of a page as one section for each topic."""
    starts = {len(lines) * at // len(TOPICS): topic for at, topic in enumerate(TOPICS)}
    return [
        f"<h2>The {starts[at]} of bees</h2>{line}" if at in starts else line
        for at, line in enumerate(lines)
    ]


def make_rules(
    steps: int, finding: int = 300, report: int = 800, *, reads_on: bool = False
) -> list[dict[str, Any]]:
    """Return what the model answers to each role.

    Args:
        steps: The steps of its plan.
        finding: About how many words it writes on a step.
        report: About how many words its report has.
        reads_on: Whether it searches once and reads a section before it writes on a step, and
            writes a long report in sections.
    """
    plan = [
        {
            "title": f"Bees and their {topic}",
            "description": f"Find out about the {topic}.",
            "queries": [f"bees {topic}", f"{topic} of bees"],
        }
        for topic in TOPICS[:steps]
    ]
    return [
        {"schema": "Triage", "reply": {"research": True, "reply": ""}},
        {
            "schema": "Rewrite",
            "reply": {
                "question": "How do bees live?",
                "queries": ["bees in summer", "bees in winter"],
            },
        },
        {"schema": "Draft", "reply": {"title": "Bees", "thought": "By topic.", "steps": plan}},
        {"schema": "Verdict", "reply": {"passed": True, "feedback": "", "queries": []}},
        {"schema": "Enough", "reply": {"enough": True, "missing": []}},
        {"schema": "Checks", "reply": {"verdicts": []}},
        {"schema": "Lookup", "reply": {"keywords": ["bees"], "meanings": ["How do bees live?"]}},
        {"schema": "Notes", "reply": _notes},
        {"schema": "Lessons", "reply": {"lessons": []}},
        *(_deep_rules(finding) if reads_on else []),
        {"match": "<step", "reply": lambda body: _prose(_last_text(body), finding)},
        {"match": "<findings>", "reply": lambda body: _prose(_last_text(body), report)},
    ]


def _deep_rules(words: int) -> list[dict[str, Any]]:
    """Return what a researcher does with tools before it writes, and how a report gets sections.

    Args:
        words: About how many words a finding has, and a section.
    """
    return [
        {"schema": "ReportOutline", "reply": _outline},
        {"schema": "WholePass", "reply": lambda body: {"opening": _prose(_last_text(body), 60)}},
        {"match": "<section ", "reply": lambda body: _prose(_last_text(body), words)},
        {"match": "<step", "tool_calls": _search},
        {"after_tool": True, "answered": 1, "tool_calls": _read_section},
        {"after_tool": True, "reply": lambda body: _prose(_whole_text(body), words)},
    ]


def _outline(body: dict[str, Any]) -> dict[str, Any]:
    """Plan a section for every two findings."""
    ids = re.findall(r'<finding id="([^"]+)"', _last_text(body))
    pairs = [ids[at : at + 2] for at in range(0, len(ids), 2)]
    sections = [
        {"title": f"Bees, part {number}", "says": "What was counted.", "findings": pair}
        for number, pair in enumerate(pairs, start=1)
    ]
    return {"sections": sections}


def _search(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Search for more on the topic of the step."""
    return [{"name": "search", "args": {"query": f"counts of the {_topic(body)} of bees"}}]


def _read_section(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Read a section of the first page that the search found, one that it does not show."""
    shown = re.findall(r'<page id="(S\d+)"(.*?)</page>', _last_text(body), re.DOTALL)
    source = shown[0][0] if shown else "S1"
    text = "".join(inside for name, inside in shown if name == source)
    headings = [f"The {topic} of bees" for topic in TOPICS]
    section = next((one for one in headings if one not in text), headings[0])
    return [{"name": "read", "args": {"source": source, "section": section}}]


def _topic(body: dict[str, Any]) -> str:
    """Return the topic of the step that a conversation is about."""
    found = re.search(r'<step title="Bees and their (\w+)"', _whole_text(body))
    return found[1] if found else TOPICS[0]


def _last_text(body: dict[str, Any]) -> str:
    return text_answer(body["messages"][-1])


def _whole_text(body: dict[str, Any]) -> str:
    """Return all that a conversation shows the model, without its instructions."""
    return "\n".join(text_answer(one) for one in body["messages"] if one["role"] != "system")


def _notes(body: dict[str, Any]) -> str:
    """Note a sentence of each page of the prompt, verbatim."""
    pages = re.findall(
        r'id="(S\d+)".*?(Bees and their \w+ were counted \d+ times\.)',
        _last_text(body),
        re.DOTALL,
    )
    return json.dumps({"facts": [{"text": text, "pages": [page]} for page, text in pages]})


def _prose(prompt: str, words: int) -> str:
    """Write about so many words that cite the sources of a prompt, one of them verbatim."""
    cited = list(dict.fromkeys(re.findall(r'id="(S\d+)"|\[(S\d+)\]', prompt)))
    ids = [one or other for one, other in cited] or ["S1"]
    seen = "the bees were seen at work all day long"
    sentences = [
        f"In hive number {number} {seen} [{ids[number % len(ids)]}]."
        for number in range(words // 14)
    ]
    return "\n\n".join(" ".join(sentences[at : at + 6]) for at in range(0, len(sentences), 6))
