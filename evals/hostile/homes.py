"""A home with all that can be spoilt."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from evals import forks
from evals.damage import QUESTION, furnish
from evals.forks import SECONDS, environment

KILLED = 9
"""The exit status of a process that dies in the middle of its work."""

DYING = f"""
import os
from app.cli.start import main
from runs.checkpointer import Checkpoints

put = Checkpoints.put

def last(self, config, checkpoint, metadata, versions):
    branch = config["configurable"].get("checkpoint_ns", "")
    if {{moment}}:
        os._exit({KILLED})
    return put(self, config, checkpoint, metadata, versions)

Checkpoints.put = last
main()
"""
"""A program that runs a command of dossier, and dies before a certain checkpoint is saved."""

MOMENTS = {
    "killed": 'branch and metadata["step"] == 2',
    "written": 'branch and metadata["step"] == 1',
    "joined": 'not branch and checkpoint["channel_values"].get("findings")',
}
"""When a run dies, by the thread that it leaves: in a branch that has researched, before what a
branch has written is in its state, and before what the branches hand over is in that of the run."""


def furnished(folder: Path) -> None:
    """Make a home, and beside it files of the kinds that no command should be given."""
    furnish(folder, lambda words: forks.run(folder, words, folder.with_suffix(".err")))
    for thread in MOMENTS:
        killed(folder, thread)
    (folder / "empty").touch()
    (folder / "zeros").write_bytes(bytes(5_000))
    (folder / "loop").symlink_to("loop")
    (folder / "words.json").write_text('{"id": "1", "text": "bees"}\n')
    (folder / "words.env").write_text("DOSSIER_LEARN_SECONDS=3\n")


def killed(folder: Path, thread: str) -> None:
    """Leave a thread whose run was killed at one of the moments.

    Raises:
        RuntimeError: When the run came to its end.
    """
    words = ["ask", QUESTION, "--docs", "bees", "--thread", thread, "--yes"]
    made = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", DYING.format(moment=MOMENTS[thread]), *words],
        cwd=folder,
        env={**environment(folder), "DOSSIER_EMBEDDINGS": "none"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    if made.returncode != KILLED:
        raise RuntimeError(made.stderr.decode(errors="replace"))
