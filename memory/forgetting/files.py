"""Forget what stands in files: the traces of runs, and what agents wrote into AGENTS.md."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path

from config.errors import Problem
from memory.files.backend import change
from memory.files.reading import held
from memory.files.section import divided, replaced
from memory.files.sources import Source
from memory.files.text import decoded
from memory.forgetting.aim import Aim
from memory.forgetting.erasure import Erasure
from memory.forgetting.reach import Reach
from memory.forgetting.tree import left
from runs.trace import trace_file
from storage.private import made


def delete(paths: Iterable[str]) -> None:
    """Delete files, those too that are gone already."""
    for path in paths:
        Path(path).unlink(missing_ok=True)


def forget_traces(runs: Iterable[str], reach: Reach) -> None:
    """Write what is left of the traces of some runs."""
    for run in runs:
        file, erasure = trace_file(run), reach.of(run)
        if erasure and file.exists():
            _forget_lines(file, erasure)


def traces(runs: Iterable[str], reach: Reach) -> list[str]:
    """Return the traces that `forget_traces` would rewrite."""
    every = ((trace_file(run), reach.of(run)) for run in runs)
    return [
        str(file) for file, erasure in every if erasure and file.exists() and _hit(file, erasure)
    ]


def _hit(file: Path, erasure: Erasure) -> bool:
    old, new = _before_and_after(file, erasure)
    return new != old


def _before_and_after(file: Path, erasure: Erasure) -> tuple[str, str]:
    old = file.read_text(encoding="utf-8", errors="backslashreplace")
    # Other characters that end a line, such as U+2028, stand within the JSON of one.
    lines = re.findall("[^\n]*\n|[^\n]+", old)
    return old, "".join(_line(line, erasure) for line in lines)


def _forget_lines(file: Path, erasure: Erasure) -> None:
    old, new = _before_and_after(file, erasure)
    if new != old:
        part = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
        with open(part, "x", encoding="utf-8", newline="", opener=made) as opened:
            opened.write(new)
        os.replace(part, file)


def _line(line: str, erasure: Erasure) -> str:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        # A killed process has left half a line, which nobody can read.
        return "" if line.strip() else line
    rest = left(data, erasure)
    return line if rest is data else json.dumps(rest, ensure_ascii=False) + "\n"


async def forget_learned(what: Aim, reach: Reach) -> None:
    """Take out of memory files what agents wrote there and is to be forgotten.

    What cannot be read is left as it is (`memory.files.reading.unreadable`).

    Raises:
        Problem: What keeps a file from being written.
    """
    for one in await held(what.owner):
        if _inside(one.text, one.source.path) and (what.files or reach.everywhere):
            whole = one.source.path in what.files
            await _forget_section(one.source, reach.everywhere, whole=whole)


async def rewritten(what: Aim, reach: Reach) -> list[str]:
    """Return the memory files of which lines go that agents wrote."""
    says, found = reach.everywhere, []
    for one in await held(what.owner):
        inside = _inside(one.text, one.source.path)
        if inside and (one.source.path in what.files or (says and says.left(inside) != inside)):
            found.append(one.source.path)
    return found


async def told_elsewhere(what: Aim, reach: Reach) -> list[str]:
    """Return the memory files in which the person's own lines say what is forgotten."""
    others = {one.source.path: _others(one.text, one.source.path) for one in await held(what.owner)}
    says = reach.everywhere
    return [path for path, text in others.items() if says and says.left(text) != text]


async def _forget_section(source: Source, erasure: Erasure, *, whole: bool) -> None:
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
