"""Let the model fail at each role in each way, and see what a run says, and whether it goes on.

`python -m benchmarks.failing`: a question is asked of a server that answers every role but one. The
run must not call the failure a lack of evidence, must name it, and must be whole once the model
works again. A cell says how the run ended, and behind an arrow how it ended when it was resumed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from config.errors import Problem
from config.resources import replace_resources
from config.settings import settings
from evals.openai_server import Server
from evals.world import make_rules
from graph.context import Context
from graph.session import ThreadSession, open_session
from graph.state import State
from report.labels import describe_reason
from runs.call_site import join_owner
from runs.incomplete import find_resume_node
from tools.folder_ingestion import ingest_folder

STEPS = 2

QUESTION = "How do bees live in the winter? My name is Ada."

FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "401": ({"error": 401}, "model_auth"),
    "403": ({"error": 403}, "model_auth"),
    "404": ({"error": 404}, "unknown_model"),
    "429": ({"error": 429}, "rate_limited"),
    "500": ({"error": 500}, "model_unavailable"),
    "timeout": ({"hang": 20}, "model_timeout"),
    "hung up": ({"cut": 0}, "model_unavailable"),
    "empty": ({"reply": ""}, "answer_empty"),
    "refused": ({"refusal": "I cannot help with that."}, "model_refused"),
    "unreadable": ({"reply": "I would rather not."}, "answer_invalid"),
}
"""What the server does, and the code of it."""

ROLES: dict[str, dict[str, Any]] = {
    "coordinator": {"schema": "Triage"},
    "rewriter": {"schema": "Rewrite"},
    "planner": {"schema": "Draft"},
    "researcher": {"match": "<step"},
    "reflector": {"schema": "Verdict"},
    "judge": {"schema": "Enough"},
    "reporter": {"match": "<findings>"},
    "checker": {"schema": "Checks"},
    "memorizer": {"schema": "Learnt"},
}
"""How the requests of a role are known."""

QUIET = ("memorizer",)
"""Roles whose failure costs no part of the answer, so that a report does not name it."""


def _wrong(role: str, code: str, problem: Problem | None, state: State) -> str:
    """Return what is wrong with how a run told a failure; "" if nothing is."""
    if problem:
        return "" if problem.code == code else f"told as {problem.code}"
    status, notices = state["status"], " ".join(state["report"]["notices"])
    if status == "insufficient_evidence":
        return "told as a lack of evidence"
    if role in QUIET:
        return "" if status == "succeeded" else status
    why = describe_reason(code, "failed", "en")
    return "" if why in notices else f"not named: {notices or 'no notice'}"


async def _cell(server: Server, files: list[str], role: str, fault: str) -> tuple[str, str]:
    """Return how a run ended that met a fault, and what was wrong with it."""
    rule, code = FAULTS[fault]
    good = make_rules(STEPS)
    if fault == "unreadable" and role in ("researcher", "reporter"):
        rule, code = {"reply": "<think>I would rather not."}, "answer_empty"
    server.replace([{**rule, **ROLES[role]}, *good])
    models = {"default": "openai:gpt-4o"}
    context = Context(auto_accept=True, again="new", files=files, models=models)
    thread = f"{role}-{fault.replace(' ', '')}"
    async with open_session(thread) as opened:
        problem, state = await _ended(opened.begin(QUESTION, context, lambda _: None), opened)
        first = problem.code if problem else state["status"]
        wrong = _wrong(role, code, problem, state)
        server.replace(good)
        if not problem and not find_resume_node(state):
            return first, wrong
        problem, state = await _ended(opened.resume(context, lambda _: None), opened)
    then = problem.code if problem else state["status"]
    if then != "succeeded":
        wrong = wrong or f"then {then}: {problem or state['report']['notices']}"
    return f"{first} → {then}", wrong


async def _ended(work: Any, opened: ThreadSession) -> tuple[Problem | None, State]:
    try:
        return None, (await work).state
    except Problem as problem:
        values: Any = (await opened.current()).values
        return problem, values


async def _measure(folder: Path, server: Server, roles: list[str], faults: list[str]) -> int:
    docs = folder / "docs"
    docs.mkdir()
    for number in range(4):
        text = f"Bees of hive {number} dance in summer, eat honey in winter and keep warm."
        (docs / f"{number}.txt").write_text(text, "utf-8")
    async with open_session("ingest"):
        root = (await ingest_folder(join_owner(settings().user, ""), docs, lambda _: None)).root
    wrong: list[str] = []
    print(f"{'':12}" + "".join(f"{fault:36}" for fault in faults))
    for role in roles:
        cells = [await _cell(server, [root], role, fault) for fault in faults]
        print(f"{role:12}" + "".join(f"{cell:36}" for cell, _ in cells), flush=True)
        named = zip(faults, cells, strict=True)
        wrong += [f"{role}, {fault}: {what}" for fault, (_, what) in named if what]
    cells_of = len(roles) * len(faults)
    print(f"\n{cells_of - len(wrong)} of {cells_of} told as they should be and whole in the end")
    for line in wrong:
        print(f"  wrong: {line}")
    return len(wrong)


def main() -> None:
    """Print a line for each role; fail if a cell is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--roles", nargs="+", default=[*ROLES], choices=[*ROLES])
    parser.add_argument("--faults", nargs="+", default=[*FAULTS], choices=[*FAULTS])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, Server(make_rules(STEPS)) as server:
        folder = Path(name)
        (folder / "models.toml").write_text('default = "openai:gpt-4o"\n')
        os.environ |= {
            "DOSSIER_HOME": str(folder / "home"),
            "DOSSIER_MODELS": str(folder / "models.toml"),
            "DOSSIER_RETRY_SECONDS": "0",
            "DOSSIER_CALL_SECONDS": "1",
            "DOSSIER_EMBEDDINGS": "hashing",
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": server.url,
        }
        replace_resources().close()
        sys.exit(bool(asyncio.run(_measure(folder, server, options.roles, options.faults))))


if __name__ == "__main__":
    main()
