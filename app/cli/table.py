"""Print rows in columns: as wide as the terminal, and one line a row where there is none."""

from __future__ import annotations

import sys

from rich.console import Console, RenderableType
from rich.table import Column, Table

ENDLESS = 10_000
"""The characters in a line of what is no terminal."""


def table(*columns: Column | str) -> Table:
    """Return a table without rows; a column that is only named is shown whole."""
    whole = (Column(one, no_wrap=True) if isinstance(one, str) else one for one in columns)
    return Table(*whole, box=None, header_style="bold", pad_edge=False)


def show(*parts: RenderableType) -> None:
    """Print tables and lines on standard output, where each line ends with its last word."""
    console = Console(soft_wrap=True, width=None if sys.stdout.isatty() else ENDLESS)
    with console.capture() as shown:
        for part in parts:
            console.print(part)
    print("\n".join(line.rstrip() for line in shown.get().splitlines()))
