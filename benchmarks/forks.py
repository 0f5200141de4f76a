"""Run commands of dossier in forks of one process, which has answered a question before."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from config.environment import load_home_env
from config.resources import replace_resources
from graph.builder import make_graph
from graph.context import Context
from graph.session import open_session
from runs.call_site import join_owner
from runs.thread_integrity import find_damage
from tools.folder_ingestion import ingest_folder

SECONDS = 180
"""How long a command may take before it counts as hanging."""

COMMAND_MODULES = (
    "main help_examples options question_run feedback forget ingest_command "
    "memory_items memory_changes memory_transfer pages prune recall_command resume runs search "
    "token doctor"
)
"""What is imported before all trials, so that a trial takes a tenth of a second."""


class ForkEnd(NamedTuple):
    """How a command ended on a damaged home."""

    status: int
    code: str
    """Of the error it told; empty where there was none."""
    wrong: bool
    """Whether it ended in a way that no damage may lead to."""

    def __str__(self) -> str:
        mark = " (!)" if self.wrong else ""
        return f"{self.status} {self.code}".strip() + mark


def judge_end(status: int, said: str) -> ForkEnd:
    """Judge how a command ended by its exit status and what it said on standard error."""
    codes = re.findall(r"^error\[(\w+)\]", said, re.MULTILINE)
    code = codes[-1] if codes else ""
    unnamed = status != 0 and not code and status not in (1, 6, 7)
    wrong = code == "internal" or "Traceback" in said or unnamed or status < 0
    return ForkEnd(status, code, wrong)


def make_environment(folder: Path) -> dict[str, str]:
    """Return what commands in a folder are told: no keys, and a home of their own."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("DOSSIER_", "OPENAI_")) and not name.endswith("_API_KEY")
    }
    own = {"DOSSIER_HOME": str(folder / "home"), "DOSSIER_MODELS": str(folder / "models.toml")}
    return {**kept, **own}


def prepare_forks() -> None:
    """Import every command and answer a question, so that forks compile and import nothing."""
    for name in COMMAND_MODULES.split():
        importlib.import_module(f"app.cli.{name}")
    kept = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="prepared-") as name:
        folder = Path(name)
        (folder / "models.toml").write_text('default = "extractive:"\n')
        (folder / "bees").mkdir()
        (folder / "bees/dance.md").write_text("Bees dance to tell where food is.\n")
        os.environ.update(make_environment(folder), DOSSIER_EMBEDDINGS="none")
        replace_resources().close()
        load_home_env()
        asyncio.run(_answered(folder / "bees"))
    os.environ.clear()
    os.environ.update(kept)
    replace_resources().close()
    gc.collect()
    gc.freeze()


async def _answered(docs: Path) -> None:
    async with open_session("prepared") as thread:
        library = await ingest_folder(join_owner("local", ""), docs, lambda _: None)
        chosen = Context(files=[library.root], auto_accept=True)
        for question in ("Why do bees dance?", "And what does it tell?"):
            await thread.begin(question, chosen, lambda _: None)
    await find_damage(make_graph(), "prepared")


def load_program() -> Any:
    """Return the program, which is tried from outside and no part of what measures it."""
    return importlib.import_module("app.cli.main")


def run_in_fork(
    folder: Path,
    words: Sequence[str],
    log: Path,
    more: Mapping[str, str] | None = None,
    closed: str = "",
    begin: Callable[[], None] = lambda: None,
) -> int:
    """Run a command in a folder, in a process of its own; return its exit status.

    Args:
        folder: Where, with its home.
        words: What is typed behind `dossier`.
        log: Where its standard error goes.
        more: Variables of its environment.
        closed: Which of the streams are closed, by number, or `full`.
        begin: Is called in the process before the command.
    """
    log.touch()
    child = os.fork()
    if not child:
        begin()
        _be(folder, words, log, more or {}, closed)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _be(
    folder: Path, words: Sequence[str], log: Path, more: Mapping[str, str], closed: str
) -> None:
    """Be the command, to its end."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.alarm(SECONDS)
    os.chdir(folder)
    own = {**make_environment(folder), "DOSSIER_EMBEDDINGS": "none"}
    os.environ.clear()
    os.environ.update({**own, **more})
    replace_resources().close()
    _open_streams("/dev/full" if closed == "full" else str(log.with_suffix(".out")), log, closed)
    sys.argv = ["dossier", *words]
    status = 1
    try:
        load_program().main()
    except SystemExit as ended:
        status = int(ended.code or 0)
    except BaseException:  # noqa: BLE001 - as Python itself would tell it
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(Exception):
            sys.stderr.flush()
        os._exit(status)


def _open_streams(out: str, log: Path, closed: str) -> None:
    for number, name in enumerate((os.devnull, out, str(log))):
        at = os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(at, number)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        gone = str(number) in closed
        mode = "w" if number else "r"
        setattr(sys, name, None if gone else open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
        if gone:
            os.close(number)
