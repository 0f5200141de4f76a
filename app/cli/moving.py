"""Show how far work of many parts is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from evals.retrieving import Told


@contextmanager
def moving() -> Iterator[Told]:
    """Tell on standard error how far work is: by bars on a terminal, else by one line a part."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    tasks: dict[str, Any] = {}
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:

        def told(what: str, done: int, count: int) -> None:
            """Show how much of something is done."""
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=count)
                if not console.is_terminal:
                    console.print(f"{what}: {count}", highlight=False)
            bar.update(tasks[what], completed=done)

        yield told
