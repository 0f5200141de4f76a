"""dossier ingest --chat: read a chat into memory, with abstracts by a model where there is one."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.progress import Progress

from app.cli.dispatch import Invocation
from app.cli.ingest_command import (
    MAX_NAMED_FILES,
    IngestReport,
    make_ingest_bar,
    make_page_vectors,
    run_ingestion,
)
from app.cli.output import one_line
from config.errors import ErrorKind
from graph.context import Context
from graph.session import open_session
from nodes.ingest import make_ingest_graph
from text.pluralization import pluralize


def print_chat_ingestion(chat: Path, invocation: Invocation) -> int:
    """Read a chat; return the exit status."""
    bar = make_ingest_bar()
    work = _chat(invocation.owner, os.path.realpath(chat), invocation.project, bar)
    return run_ingestion(work, bar, as_json=invocation.as_json)


async def _chat(owner: str, path: str, project: str, bar: Progress) -> IngestReport:
    """Read a chat in a thread of its own: what a model wrote of it is never asked for again."""
    task = bar.add_task(one_line(os.path.basename(path)), total=None)
    async with open_session(_thread(owner, path), make_ingest_graph) as opened:
        stream = opened.graph.astream(
            {"file": path}, opened.config, context=Context(project=project), stream_mode="custom"
        )
        async for _ in stream:
            bar.advance(task)
        talk = (await opened.graph.aget_state(opened.config)).values["conversation"]
        vectors = await make_page_vectors(bar)
    result = {"status": "partial" if talk["skipped"] else "succeeded", **talk}
    return (
        result,
        [*_said(talk), *[vectors] * bool(vectors)],
        ErrorKind.PARTIAL.exit_status * bool(talk["skipped"]),
    )


def _thread(owner: str, path: str) -> str:
    """Return the name of the thread in which a chat is read, each time it is."""
    name = f"{owner}\n{path}".encode(errors="replace")
    return f"chat-{hashlib.sha256(name).hexdigest()[:16]}"


def _said(talk: Mapping[str, Any]) -> list[str]:
    counts = ", ".join(pluralize(talk[f"{one}s"], one) for one in ("message", "session"))
    bad = [f"  left out line {one['number']}: {one['reason']}" for one in talk["skipped"]]
    counts += f"; {pluralize(talk['added'], 'new page')}"
    lines = [one_line(talk["name"]), f"  {counts}", *bad[:MAX_NAMED_FILES]]
    if len(bad) > MAX_NAMED_FILES:
        lines.append(f"  … and {len(bad) - MAX_NAMED_FILES} more; --json names them all")
    if talk["masked"]:
        lines.append(f"  in {talk['masked']:,} of them a password, a key or a card was taken out")
    return lines
