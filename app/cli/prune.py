"""dossier runs prune: let go of old runs, after asking; what was learnt and reported stays."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

from app.cli.output import has_terminal, print_json
from config.errors import Problem
from config.settings import settings
from runs.place import owned
from runs.retention import Old, finished, let_go
from storage.engine import close

UNITS = {"h": 3_600, "d": 86_400, "w": 7 * 86_400, "y": 365 * 86_400}
"""The seconds of the units in which an age is said."""


def main(*, keep: str, sure: bool, project: str, as_json: bool) -> int:
    """Let go of the threads that ended longer ago than `keep`; return the exit status.

    Raises:
        Problem: `usage`, `prune_unconfirmed`, or what the storage tells of.
    """
    seconds, owner = _seconds(keep), owned(settings().user, project)
    old = asyncio.run(_finished(owner, seconds))
    count = sum(len(one.runs) for one in old)
    if not old or not (sure or _agreed(count, len(old))):
        told = f"No run ended more than {keep} ago." if not old else "Every run is kept."
        _tell({"runs": 0, "threads": 0, "freed": 0, "busy": 0}, told, as_json=as_json)
        return 0
    before = _size(settings().home)
    busy = asyncio.run(_let_go(old))
    freed = max(0, before - _size(settings().home))
    gone = len(old) - len(busy)
    numbers = {"runs": count, "threads": gone, "freed": freed, "busy": len(busy)}
    left = f" {len(busy)} at work now are kept." if busy else ""
    what = f"{_counted(gone, 'thread')} let go, {freed / 1e6:.1f} MB freed.{left}"
    _tell(numbers, what, as_json=as_json)
    return 0


async def _finished(owner: str, seconds: float) -> list[Old]:
    try:
        return await finished(owner, seconds)
    finally:
        await close()


async def _let_go(old: list[Old]) -> list[Problem]:
    try:
        return await let_go(old)
    finally:
        await close()


def _seconds(age: str) -> float:
    found = re.fullmatch(r"(\d{1,6})([hdwy])", age.strip().lower())
    if not found:
        hint = "a number and h, d, w or y, such as 90d"
        raise Problem("usage", f"{age!r} is no length of time", where="--keep", hint=hint)
    return int(found[1]) * float(UNITS[found[2]])


def _agreed(count: int, threads: int) -> bool:
    if not has_terminal():
        raise Problem("prune_unconfirmed", "nobody can be asked", hint="say --yes")
    runs = f"{_counted(count, 'run')} in {_counted(threads, 'thread')}"
    asked = f"Let go of {runs}? They can be neither resumed nor asked further. [y/N] "
    print(asked, end="", file=sys.stderr, flush=True)
    try:
        return input().strip().lower() in ("y", "yes")
    except EOFError:
        print(file=sys.stderr)
        return False


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _size(home: Path) -> int:
    return sum(file.stat().st_size for file in home.rglob("*") if file.is_file())


def _tell(numbers: dict[str, int], told: str, *, as_json: bool) -> None:
    if as_json:
        print_json(numbers)
    else:
        print(told)
