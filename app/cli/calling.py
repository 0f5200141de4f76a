"""Run a subcommand, which is imported only then."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import typer

from app.cli.projects import named
from app.cli.start import imported
from config.environment import FILE

began = 0.0
"""When the command was started, by the clock that only goes forward; 0 outside of a command."""


def call(command: str, function: str = "main", **options: Any) -> None:
    """Run a command and exit with its status.

    Of a project it is told the name, whether that was given or the project's folder. A command that
    takes `trust` reads the memory files of a folder, so a person is asked first. A `.env` in the
    current folder is read as far as the folder is trusted; what is ignored is reported.

    Args:
        command: The module in `app.cli` that does it.
        function: What is called there; it returns the status.
        **options: What it is given.
    """
    if "project" in options:
        options["project"] = named(options["project"], trust=options.pop("trust", None))
    if command != "folders" and os.path.exists(FILE):
        # Few folders have the file.
        imported("app.cli.folders").apply_trusted()
    run: Callable[..., int] = getattr(imported(f"app.cli.{command}"), function)
    status = run(**options)
    sys.stdout.flush()  # What cannot be written can only be told before Python ends.
    raise typer.Exit(status)
