"""One command on one state of a home, run in a process of its own."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from config.settings import settings
from evals.damage import environment, judged

SECONDS = 180
"""How long a command may take before it counts as hanging."""

COMMAND_MODULES = (
    "ask experience feedback forget ingest memories memory_files memory_log memory_moves "
    "memory_why pages prune recall resume runs search token doctor"
)
"""What is imported before all trials, so that a trial takes a tenth of a second."""


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


def program() -> Any:
    """Return the program, which is tried from outside and no part of what measures it."""
    return importlib.import_module("app.cli.main")


def _be(folder: Path, trial: Trial, log: Path) -> None:
    """Be the command in a process of its own, to its end."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.alarm(SECONDS)
    os.chdir(folder)
    own = {**environment(folder), "DOSSIER_EMBEDDINGS": "none"}
    os.environ.clear()
    os.environ.update({**own, **trial.more})
    settings.cache_clear()
    out = "/dev/full" if trial.closed == "full" else str(log.with_suffix(".out"))
    for number, name in enumerate((os.devnull, out, str(log))):
        at = os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(at, number)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        gone = str(number) in trial.closed
        mode = "w" if number else "r"
        setattr(sys, name, None if gone else open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
        if gone:
            os.close(number)
    sys.argv = ["dossier", *trial.words]
    status = 1
    try:
        program().main()
    except SystemExit as ended:
        status = int(ended.code or 0)
    except BaseException:  # noqa: BLE001 - as Python itself would tell it
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(Exception):
            sys.stderr.flush()
        os._exit(status)


def tried(whole: Path, trial: Trial) -> str:
    """Make a trial on a copy of a home; return what was wrong, or nothing."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        folder, log = Path(name, "place"), Path(name, "log.err")
        shutil.copytree(whole, folder, symlinks=True)
        trial.spoil(folder)
        log.touch()
        child = os.fork()
        if not child:
            _be(folder, trial, log)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said = log.read_text("utf-8", errors="replace")
    end = judged(status, said)
    told = re.findall(r"^error\[.*$", said, re.MULTILINE)
    bare = bool(told) and " — " not in told[-1]
    silent = "2" in trial.closed and status >= 0
    return f"{end} {said[-400:]!r}" if (end.wrong or bare) and not silent else ""


def tried_in(folder: Path, words: Sequence[str]) -> None:
    """Run a command in a folder as it is."""
    log = folder.with_suffix(".err")
    child = os.fork()
    if not child:
        _be(folder, Trial("", list(words), unspoilt, {}), log)
    os.waitpid(child, 0)
