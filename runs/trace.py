"""Write down every call of a run as one line of JSON."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import anyio

from config.settings import settings
from runs.place import Here


def trace_file(run: str) -> Path:
    """Return the file that holds the trace of a run."""
    return settings().traces / f"{run}.jsonl"


async def trace(here: Here, kind: str, role: str, status: str, **more: Any) -> None:
    """Append one line: when, where, what kind of call, how it came out.

    Args:
        here: The point of the run.
        kind: `model`, `search`, `fetch`, `sandbox` or `status`.
        role: Who called.
        status: `ok`, `recorded` for a result of the ledger, or the code of a failure.
        more: Seconds, tokens and whatever else is known; plain data, never a secret.
    """
    line = {
        "at": round(time.time(), 3),
        "run": here.run,
        "step": here.step,
        "attempt": here.attempt,
        "kind": kind,
        "role": role,
        "status": status,
        **more,
    }
    text = json.dumps(line, ensure_ascii=False) + "\n"
    await anyio.to_thread.run_sync(_append, trace_file(here.run), text)


async def read_trace(run: str) -> list[dict[str, Any]]:
    """Return the lines of a run's trace, oldest first; none if it has none."""
    file = anyio.Path(trace_file(run))
    if not await file.exists():
        return []
    text = await file.read_text(encoding="utf-8")
    # A killed process may leave a half-written last line.
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def _append(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as out:
        out.write(text)
