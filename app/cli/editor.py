"""Let a person edit a text in the editor of their choice."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
from pathlib import Path

from config.errors import Problem


def edit(text: str, name: str) -> str:
    """Open a text in `$VISUAL`, `$EDITOR` or vi, and return what the person leaves.

    Args:
        text: What is edited.
        name: How the file is called while it is; editors go by its ending.

    Raises:
        Problem: `editor_failed` when there is no such editor, or it ends in a failure.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="dossier-") as folder:
        file = Path(folder, name)
        file.write_text(text, "utf-8")
        _open(editor, file)
        return file.read_text("utf-8-sig", errors="replace")


def _open(editor: str, file: Path) -> None:
    hint = "set EDITOR to an editor you have"
    try:
        process = subprocess.Popen([*shlex.split(editor), str(file)])  # noqa: S603 - theirs to name
    except (OSError, ValueError) as error:
        what = f"the editor does not start: {error}"
        raise Problem("editor_failed", what, where=editor, hint=hint) from error
    # Ctrl-C in an editor is a key of the editor, but the terminal sends it to us as well.
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        status = process.wait()
    finally:
        signal.signal(signal.SIGINT, usual)
    if status:
        raise Problem("editor_failed", f"the editor ended with {status}", where=editor, hint=hint)
