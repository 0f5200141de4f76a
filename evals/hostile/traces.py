"""Traces with lines of every form."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from evals.hostile.trial import Trial
from evals.hostile.values import LINES


def of_traces() -> Iterator[Trial]:
    """Spoil the lines of a trace, one field at a time."""
    names = ("at", "run", "kind", "role", "step", "status", "seconds", "dollars", "injected", "why")
    for value in LINES:
        for name in (None, *names):
            for words in (["runs", "show", "over-1"], ["memory", "why", "over-1"]):
                spoil = with_lines(name, value)
                yield Trial(f"trace {name}={value!r:.40}", words, spoil, {})


def with_lines(name: str | None, value: Any) -> Callable[[Path], None]:
    """Return what puts a value into every line of a trace, or in the place of each."""

    def spoil(folder: Path) -> None:
        """Put a value into each line, or in its place."""
        file = folder / "home/traces/over-1.jsonl"
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        kept = next(iter(value), "") if isinstance(value, bytes) else value
        new = [kept if name is None else {**line, name: kept} for line in lines]
        file.write_text("".join(json.dumps(line) + "\n" for line in new), "utf-8")

    return spoil
