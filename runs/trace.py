"""Write down every call of a run as one line of JSON."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import anyio

from config.names import check_name
from config.settings import settings
from runs.place import Here

_writing = threading.Lock()


def trace_file(run: str) -> Path:
    """Return the file that holds the trace of a run.

    Raises:
        Problem: `bad_file_name`.
    """
    return settings().traces / f"{check_name(run)}.jsonl"


async def trace(here: Here, kind: str, role: str, status: str, **more: Any) -> None:
    """Append one line: when, where, what kind of call, how it came out.

    Args:
        here: The point of the run.
        kind: `model`, `memory`, `embed`, `search`, `fetch`, `sandbox` or `status`.
        role: Who called.
        status: `ok`, `recorded` for a result of the ledger, `stored` for a page that was read
            before, or the code of a failure.
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
    # A killed process may leave half a line, and the next one goes on behind it.
    return [line for line in map(_read, text.split("\n")) if line is not None]


def _read(line: str) -> dict[str, Any] | None:
    try:
        told: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    return told


def _append(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    # What cannot be encoded becomes an escape, which JSON understands.
    line = text.encode("utf-8", errors="backslashreplace")
    with _writing, file.open("a+b") as out:
        # A process that was killed may have left half a line.
        torn = out.tell() > 0 and out.seek(-1, os.SEEK_END) and out.read(1) != b"\n"
        out.write(b"\n" + line if torn else line)
