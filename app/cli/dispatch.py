"""Run a subcommand, which is imported only then, for a project named by a word or its folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import typer

from app.cli.start import import_frozen
from config.environment import ENV_FILE_NAME
from config.errors import ErrorCode, Problem


def resolve_project(written: str, *, trust: bool | None) -> str:
    """Return the name of a project that was given by name or by its folder.

    Args:
        written: What was given; a folder exists or has a separator in it.
        trust: Whether its memory files may be read without a question; `None` where none are read.

    Raises:
        Problem: `project_not_found`, or `usage` for trust in what is no folder.
    """
    folder = os.path.expanduser(written)
    if os.path.isdir(folder):
        # A command that names no folder loads no database for it.
        from app.cli.folder_trust import settle_folder_trust  # noqa: PLC0415

        return settle_folder_trust(os.path.realpath(folder), trust=trust)
    if os.sep in written or (os.altsep and os.altsep in written):
        hint = "check the path; a name without a slash is a project without a folder"
        raise Problem(
            ErrorCode.PROJECT_NOT_FOUND, "there is no such folder", where=written, hint=hint
        )
    if trust:
        hint = "--project FOLDER --trust"
        raise Problem(ErrorCode.USAGE, "--trust is for the folder of a project", hint=hint)
    return written


started_at = 0.0
"""When the command was started, by the clock that only goes forward; 0 outside of a command."""


def run_command(command: str, function: str = "main", **options: Any) -> None:
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
        options["project"] = resolve_project(options["project"], trust=options.pop("trust", None))
    if command != "folder_settings" and os.path.exists(ENV_FILE_NAME):
        # Few folders have the file.
        import_frozen("app.cli.folder_settings").apply_folder_env()
    run: Callable[..., int] = getattr(import_frozen(f"app.cli.{command}"), function)
    status = run(**options)
    sys.stdout.flush()  # What cannot be written can only be told before Python ends.
    raise typer.Exit(status)
