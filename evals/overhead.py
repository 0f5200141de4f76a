"""Measure what the graph itself costs for each model call, with a model that answers at once.

The run is whole: plan, four steps with reflection, report, every call in the ledger and the trace,
checkpoints with durability `sync`, all memories, in a process that is warm, as that of a server.
Beside it stands the same number of bare calls of the model.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from config.resources import replace_resources
from config.settings import settings
from evals.scripted_model import ScriptedModel, end_with, script_models
from evals.world import make_rules
from graph.context import Context
from graph.session import ThreadSession, open_session
from runs.call_site import join_owner
from tools.folder_ingestion import ingest_folder

STEPS = 4
TIMES = 5


def _reply(form: str, messages: Sequence[BaseMessage]) -> AIMessage:
    """Answer every role at once."""
    wanted = [rule for rule in make_rules(STEPS) if form and rule.get("schema") == form]
    text = str(messages[-1].text)
    cited = re.search(r"\bS\d+\b", text)
    prose = f"Bees dance [{cited[0] if cited else 'S1'}]."
    reply = wanted[0]["reply"] if wanted else prose
    if callable(reply):
        reply = reply({"messages": [{"content": text}]})
    return end_with(reply if isinstance(reply, str) else json.dumps(reply))


def main() -> None:
    """Print milliseconds for each call, with the graph and without."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DOSSIER_HOME"] = folder
        replace_resources().close()
        script_models("instant", _reply)
        asyncio.run(_measure(Path(folder)))


async def _measure(folder: Path) -> None:
    docs = folder / "docs"
    docs.mkdir()
    for number in range(8):
        text = f"Bees of hive {number} dance in summer, eat honey in winter and follow their queen."
        (docs / f"{number}.txt").write_text(text, "utf-8")
    async with open_session("ingest"):
        root = (await ingest_folder(join_owner(settings().user, ""), docs, lambda _: None)).root
    models = {"default": "instant:"}
    context = Context(auto_accept=True, again="new", files=[root], models=models)
    best, busy, calls = 1e9, 1e9, 0
    async with open_session("warm") as warm:
        await warm.begin("How do bees live?", context, lambda _: None)
        for number in range(TIMES):
            opened = ThreadSession(warm.graph, f"overhead-{number}")
            started, worked = time.perf_counter(), time.process_time()
            await opened.begin("How do bees live?", context, lambda _: None)
            best = min(best, time.perf_counter() - started)
            busy = min(busy, time.process_time() - worked)
            trace = (folder / "traces" / f"overhead-{number}-1.jsonl").read_text("utf-8")
            calls = trace.count('"kind": "model"')
    started = time.perf_counter()
    for _ in range(calls):
        await ScriptedModel(reply=_reply).ainvoke([HumanMessage("S1")])
    bare = time.perf_counter() - started
    each = {"wall": best / calls, "processor": busy / calls, "bare model": bare / calls}
    print(f"{calls} model calls; milliseconds for each, best of {TIMES} runs:")
    for name, seconds in each.items():
        print(f"  {name:12} {seconds * 1000:6.1f}")
    print(f"  graph adds   {(best - bare) / calls * 1000:6.1f}  (goal: ≤ 8)")


if __name__ == "__main__":
    main()
