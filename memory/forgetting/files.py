"""Forget what stands in files: the traces of runs, and what agents wrote into AGENTS.md."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from config.errors import Problem
from memory.base import Query
from memory.files.backend import change
from memory.files.section import divided, replaced
from memory.files.sources import Source, on_disk
from memory.files.text import decoded
from memory.forgetting.aim import Aim
from memory.forgetting.erasure import Erasure
from memory.forgetting.reach import Reach
from memory.forgetting.tree import left
from runs.trace import trace_file


def forget_traces(runs: Iterable[str], reach: Reach) -> None:
    """Write what is left of the traces of some runs."""
    for run in runs:
        file, erasure = trace_file(run), reach.of(run)
        if erasure and file.exists():
            _forget_lines(file, erasure)


def _forget_lines(file: Path, erasure: Erasure) -> None:
    old = file.read_text(encoding="utf-8", errors="backslashreplace")
    new = "".join(_line(line, erasure) for line in old.splitlines(keepends=True))
    if new != old:
        part = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
        part.write_text(new, encoding="utf-8")
        os.replace(part, file)


def _line(line: str, erasure: Erasure) -> str:
    try:
        data = json.loads(line)
    except ValueError:
        # A killed process has left half a line, which nobody can read.
        return "" if line.strip() else line
    rest = left(data, erasure)
    return line if rest is data else json.dumps(rest, ensure_ascii=False) + "\n"


async def forget_learned(what: Aim, reach: Reach) -> None:
    """Take out of memory files what agents wrote there and is to be forgotten.

    Raises:
        Problem: What keeps a file from being read or written.
    """
    for source in await on_disk(Query(what.owner, "", "")):
        if what.files or reach.everywhere:
            await _forget_section(source, reach.everywhere, whole=source.path in what.files)


async def told_elsewhere(what: Aim, reach: Reach) -> list[str]:
    """Return the memory files in which the person's own lines say what is forgotten."""
    found = []
    for source in await on_disk(Query(what.owner, "", "")):
        held = await source.files.read(source.path)
        if held is not None and reach.everywhere:
            text = _others(decoded(held, source.path), source.path)
            found += [source.path] if reach.everywhere.left(text) != text else []
    return found


async def _forget_section(source: Source, erasure: Erasure, *, whole: bool) -> None:
    held = await source.files.read(source.path)
    if held is None or not _inside(decoded(held, source.path), source.path):
        return

    def without(now: bytes | None) -> bytes:
        text = decoded(now or b"", source.path)
        lines = _inside(text, source.path).splitlines(keepends=True)
        kept = [] if whole else [one for one in lines if not erasure or erasure.left(one) == one]
        return replaced(text, "".join(kept), source.path).encode()

    await change(source.files, source.path, without)


def _inside(text: str, where: str) -> str:
    try:
        return divided(text, where).inside
    except Problem:
        return ""


def _others(text: str, where: str) -> str:
    try:
        parts = divided(text, where)
    except Problem:
        return text
    return f"{parts.before}\n{parts.after}"
