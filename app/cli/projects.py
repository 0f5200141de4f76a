"""Name a project by its folder, and ask once whether its memory files may be read."""

from __future__ import annotations

import os

from config.errors import Problem


def named(written: str, *, trust: bool | None) -> str:
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
        from app.cli.trusting import settled  # noqa: PLC0415

        return settled(os.path.realpath(folder), trust=trust)
    if os.sep in written or (os.altsep and os.altsep in written):
        hint = "check the path; a name without a slash is a project without a folder"
        raise Problem("project_not_found", "there is no such folder", where=written, hint=hint)
    if trust:
        hint = "--project FOLDER --trust"
        raise Problem("usage", "--trust is for the folder of a project", hint=hint)
    return written
