"""Print rows in columns and differences: as wide as the terminal, or one line a row without one."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Column, Table
from rich.text import Text

from app.cli.output import one_line

COLOURS = {"+": "green", "-": "red", "@": "cyan"}
"""The colours of the lines of a difference, by their first character."""

ENDLESS = 10_000
"""The characters in a line of what is no terminal."""

SHORT_ID = 12
"""So many characters of an id are listed; they are enough to name it."""


def make_table(*columns: Column | str) -> Table:
    """Return a table without rows; a column that is only named is shown whole."""
    whole = (Column(one, no_wrap=True) if isinstance(one, str) else one for one in columns)
    return Table(*whole, box=None, header_style="bold", pad_edge=False)


def truncate_cell(text: str) -> Text:
    """Return a text for a column that is cut off where the line ends."""
    return Text(one_line(text), no_wrap=True, overflow="ellipsis")


def shorten_id(id: str) -> str:
    """Return so much of an id as is listed: of a path the name of the file."""
    return id.rpartition("/")[2] if "/" in id else id[:SHORT_ID]


def local_time(at: float) -> datetime:
    """Return a time as the clock on the wall shows it."""
    return datetime.fromtimestamp(at, UTC).astimezone()


def describe_fields(fields: Mapping[str, Any], empty: Collection[str]) -> Text:
    """Return a line for each field, without those whose value says nothing.

    Args:
        fields: The values by their names.
        empty: What is written where there is no value.
    """
    shown = {name: one_line(str(value)) for name, value in fields.items()}
    lines = [f"{name:13} {value}" for name, value in shown.items() if value not in empty]
    return Text("\n".join(lines))


def color_diff_line(line: str, *, indent: str = "") -> Text:
    """Return a line of a difference as it is written, without what a terminal takes for a command.

    Args:
        line: With its sign.
        indent: What stands before it.
    """
    safe = "".join(one if one.isprintable() else "�" for one in line.replace("\t", "    "))
    return Text(indent + safe, COLOURS.get(line[:1], ""))


def print_renderables(*parts: RenderableType) -> None:
    """Print tables and lines on standard output, where each line ends with its last word."""
    console = Console(soft_wrap=True, emoji=False, width=None if sys.stdout.isatty() else ENDLESS)
    with console.capture() as shown:
        for part in parts:
            console.print(part)
    print("\n".join(line.rstrip() for line in shown.get().splitlines()))
