"""One command on one state of a home, run in a process of its own."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from evals import forks
from evals.forks import judged


class Trial(NamedTuple):
    """One command on one state of a home."""

    about: str
    words: list[str]
    spoil: Callable[[Path], None]
    more: dict[str, str]
    closed: str = ""
    """Which of the streams are closed, or `full`."""


def unspoilt(folder: Path) -> None:
    """Leave everything as it is."""


def tried(whole: Path, trial: Trial) -> str:
    """Make a trial on a copy of a home; return what was wrong, or nothing."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        folder, log = Path(name, "place"), Path(name, "log.err")
        shutil.copytree(whole, folder, symlinks=True)
        trial.spoil(folder)
        status = forks.run(folder, trial.words, log, trial.more, trial.closed)
        said = log.read_text("utf-8", errors="replace")
    end = judged(status, said)
    told = re.findall(r"^error\[.*$", said, re.MULTILINE)
    bare = bool(told) and " — " not in told[-1]
    silent = "2" in trial.closed and status >= 0
    return f"{end} {said[-400:]!r}" if (end.wrong or bare) and not silent else ""
