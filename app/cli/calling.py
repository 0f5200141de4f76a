"""Run a subcommand, which is imported only then."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import typer


def call(command: str, function: str = "main", **options: Any) -> None:
    """Run a command and exit with its status.

    Args:
        command: The module in `app.cli` that does it.
        function: What is called there; it returns the status.
        **options: What it is given.
    """
    run: Callable[..., int] = getattr(importlib.import_module(f"app.cli.{command}"), function)
    status = run(**options)
    sys.stdout.flush()  # What cannot be written can only be told before Python ends.
    raise typer.Exit(status)
