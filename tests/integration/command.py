"""Run the installed `dossier` command as a person does: in a process, or at a terminal."""

from __future__ import annotations

import gc
import importlib
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Self

from app.cli.main import main

ROOT = Path(__file__).parents[2]

DOSSIER = str(Path(sys.executable).with_name("dossier"))

BEES = {
    "dance.md": "# The dance\n\nThe waggle dance tells other bees the direction of food. "
    "Karl von Frisch described the waggle dance in 1927. "
    "A longer waggle run means that the food is farther away.\n",
    "winter.md": "# Winter\n\nBees form a winter cluster below 14 degrees. "
    "A winter cluster eats about 20 kilograms of honey.\n",
}
"""The files of the folder that is asked about."""

WHO = "Who described the waggle dance, and when?"

LONG = 60.0
"""The seconds after which something will never happen."""

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Done(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def told(self) -> Any:
        """What the last line of standard output says, as data."""
        return json.loads(self.out.splitlines()[-1])

    @property
    def problem(self) -> str:
        """The last line of standard error."""
        return self.err.splitlines()[-1]


class Place:
    """A folder to work in, with a data directory of its own and the files about bees."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home, self.docs = folder, folder / "home", folder / "bees"
        self.docs.mkdir(parents=True)
        for name, text in BEES.items():
            (self.docs / name).write_text(text, encoding="utf-8")

    def environment(self, **more: str) -> dict[str, str]:
        """The environment of a person without keys, with what is given besides."""
        theirs = ("DOSSIER_", "OPENAI_", "LANGSMITH_", "SEARXNG_", "LC_", "PYTHON")
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(theirs) and not name.endswith("_API_KEY")
        }
        home = {"DOSSIER_HOME": str(self.home), "TERM": "xterm", "COLUMNS": "100"}
        return {**kept, **home, **more}

    def start(self, *words: str, **more: str) -> subprocess.Popen[str]:
        """Start a command without a terminal."""
        return subprocess.Popen(
            [DOSSIER, *words],
            cwd=self.folder,
            env=self.environment(**more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            preexec_fn=_hear_interrupts,
        )

    def run(self, *words: str, **more: str) -> Done:
        """Run a command without a terminal to its end."""
        return ended(self.start(*words, **more))

    def terminal(self, *words: str, **more: str) -> Terminal:
        """Run a command at a terminal."""
        return Terminal([DOSSIER, *words], self.folder, self.environment(**more))


class Terminal:
    """A terminal with one command in it, for as long as a `with` block lasts."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.raw, self.screen, self.seen = "", "", 0
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, preexec_fn=lambda: _sit_down(slave)
        )
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self.hang_up()

    def wait_for(self, text: str) -> str:
        """Wait until a text appears after the last one that was waited for; return the screen."""
        until = time.monotonic() + LONG
        while text not in self.screen[self.seen :]:
            assert time.monotonic() < until, f"no {text!r} in:\n{self.screen}"
            assert self._read(), f"it ended without {text!r}:\n{self.screen}"
        self.seen = self.screen.index(text, self.seen) + len(text)
        return self.screen

    def type(self, text: str) -> None:
        """Type a line, or one control character."""
        os.write(self.master, text.encode())

    def interrupt(self) -> int:
        """Press Ctrl-C until the command ends; return its exit status.

        Python looks for a signal, and then waits for a key; one that comes in between is not heard.
        """
        until = time.monotonic() + LONG
        self.type("\x03")
        again = time.monotonic() + 5
        while self._read() and time.monotonic() < until:
            if time.monotonic() > again:
                self.type("\x03")
                again = time.monotonic() + 5
        return self.end()

    def hang_up(self) -> None:
        """Close the terminal under the command."""
        if self.master >= 0:
            os.close(self.master)
            self.master = -1

    def end(self) -> int:
        """Wait for the end of the command; return its exit status."""
        while self._read():
            pass
        return self.process.wait(LONG)

    def _read(self) -> bool:
        """Read what the command wrote; say whether it may write more."""
        ready, _, _ = select.select([self.master], [], [], 0.1)
        if not ready:
            return self.process.poll() is None
        try:
            self.raw += os.read(self.master, 65536).decode(errors="replace")
        except OSError:  # Linux says EIO when the other side is closed.
            return False
        self.screen = _ESCAPES.sub("", self.raw)
        return True


def _hear_interrupts() -> None:
    """Let a command hear Ctrl-C even when the tests run in the background, where shells do not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _sit_down(terminal: int) -> None:
    _hear_interrupts()
    os.login_tty(terminal)


def ended(process: subprocess.Popen[str]) -> Done:
    """Wait for the end of a process that was started."""
    try:
        out, err = process.communicate(timeout=LONG)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        raise
    return Done(process.returncode, out, err)


class Forks:
    """A process that has imported everything and forks for each command: a command in 0.1 s.

    What only a new interpreter settles, such as the encoding of its streams, is not seen here.
    """

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.command"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def run(self, place: Place, *words: str, **more: str) -> Done:
        """Run a command without a terminal to its end."""
        files = [str(place.folder / name) for name in ("out.txt", "err.txt")]
        job = [words, place.environment(**more), str(place.folder), [os.devnull, *files]]
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        status = int(self.process.stdout.readline())
        out, err = (Path(file).read_text("utf-8") for file in files)
        return Done(status, out, err)


def status(forks: Forks, place: Place, run: str) -> str:
    """How a run stands, as it is listed."""
    rows = forks.run(place, "runs", "--json").told
    return str(next(row["status"] for row in rows if row["run"] == run))


def calls(forks: Forks, place: Place, run: str) -> list[dict[str, Any]]:
    """The calls of a run, as they are shown."""
    return list(forks.run(place, "runs", "show", run, "--json").told["calls"])


def fork_for_jobs() -> None:
    """Do every job that comes in as a line of JSON in a process of its own; print its status."""
    memory = ("ingest", "search", "recall", "pages", "forget", "eval_retrieval", "eval_locomo")
    for command in (
        "ask",
        "resume",
        "runs",
        "doctor",
        "memory_files",
        "memories",
        "memory_moves",
        *memory,
    ):
        importlib.import_module(f"app.cli.{command}")
    gc.freeze()
    for line in sys.stdin:
        words, environment, folder, files = json.loads(line)
        child = os.fork()
        if not child:
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment)
            for number, file in enumerate(files):
                os.dup2(os.open(file, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
            sys.argv = ["dossier", *words]
            _end_with(main)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.stdout.write(f"{status}\n")
        sys.stdout.flush()


def _end_with(command: Callable[[], None]) -> None:
    """Run a command and end without the second that Python takes to tidy up all modules."""
    try:
        command()
    except SystemExit as end:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(end.code or 0))


if __name__ == "__main__":
    fork_for_jobs()
