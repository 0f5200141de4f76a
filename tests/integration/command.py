"""Run the installed `dossier` command as a person does: in a process, or at a terminal."""

from __future__ import annotations

import asyncio
import fcntl
import gc
import importlib
import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

from app.cli.main import main
from benchmarks.hostile.homes import die_at
from config.errors import Problem
from graph.builder import make_graph
from graph.context import Context
from graph.session import open_session
from runs.call_site import join_owner
from runs.thread_integrity import find_damage
from storage import connect
from tests.databases import engine_of
from tests.integration.permissions import obey_permissions
from tests.places import new_process
from tools.folder_ingestion import ingest_folder

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

LONG = 180.0
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


def ask_anew(words: Sequence[str]) -> list[str]:
    """Return the words of a command; a question is new, though tests of one home ask the same."""
    asked = words[:1] in (["ask"], ("ask",)) and "--again" not in words
    return ["ask", "--again", "new", *words[1:]] if asked else [*words]


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
        # No test shall ask the providers of the open web.
        home["DOSSIER_KEYLESS_SEARCH"] = "false"
        return {**kept, **home, **more}

    def start(self, *words: str, **more: str) -> subprocess.Popen[str]:
        """Start a command without a terminal."""
        return subprocess.Popen(
            [DOSSIER, *ask_anew(words)],
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
        return self.sit_down([DOSSIER, *ask_anew(words)], **more)

    def sit_down(self, command: list[str], **more: str) -> Terminal:
        """Run any command at a terminal."""
        environment = self.environment(**more)
        return Terminal(
            lambda slave: subprocess.Popen(
                command, cwd=self.folder, env=environment, preexec_fn=lambda: _sit_down(slave)
            )
        )


class Process(Protocol):
    """What a terminal needs to know of the command in it."""

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def kill(self) -> None: ...


class Terminal:
    """A terminal with one command in it, for as long as a `with` block lasts."""

    def __init__(self, start: Callable[[int], Process]) -> None:
        self.raw, self.screen, self.seen = "", "", 0
        self.master, slave = pty.openpty()
        self.process = start(slave)
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


class Fork:
    """A command in a process that was forked: what a test needs of `subprocess.Popen`."""

    def __init__(self, told: int) -> None:
        self._told = os.fdopen(told)
        self.pid, self.returncode = int(self._told.readline()), None

    def poll(self) -> int | None:
        """Return the exit status, if it has ended."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; return its exit status."""
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("dossier", timeout or 0)
            self.returncode = int(self._told.readline())
            self._told.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


class Running(NamedTuple):
    """A command that was started without a terminal, and the files that it writes to."""

    process: Fork
    out: Path
    err: Path

    def ended(self) -> Done:
        """Wait for its end."""
        try:
            status = self.process.wait(LONG)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return Done(status, self.out.read_text("utf-8"), self.err.read_text("utf-8"))


class Forks:
    """A process that has imported everything and forks for each command: a command in 0.1 s.

    It has answered a question before, so that its forks need not compile the graph, the statements
    and the expressions. What only a new interpreter settles, such as the encoding of its streams,
    is not seen here.
    """

    def __enter__(self) -> Self:
        self._control, other = socket.socketpair()
        command = [sys.executable, "-m", "tests.integration.command", str(other.fileno())]
        self._process = subprocess.Popen(command, cwd=ROOT, pass_fds=[other.fileno()])
        other.close()
        return self

    def __exit__(self, *_: object) -> None:
        self._control.close()
        self._process.wait()

    def run(self, place: Place, *words: str, **more: str) -> Done:
        """Run a command without a terminal to its end."""
        return self.start(place, *words, **more).ended()

    def start(
        self,
        place: Place,
        *words: str,
        streams: dict[int, str | int | None] | None = None,
        bound: bool = False,
        dies_in: str = "",
        **more: str,
    ) -> Running:
        """Start a command without a terminal.

        Args:
            place: Where it works.
            words: What is typed behind `dossier`.
            streams: What some of its three streams are: a file, an open one, or none.
            bound: Whether permissions of files hold even if it is root.
            dies_in: The thread at whose moment it dies (`benchmarks.hostile.homes.MOMENTS`).
            more: Variables of its environment.
        """
        folder = Path(tempfile.mkdtemp(dir=place.folder.parent))
        out, err = folder / "out.txt", folder / "err.txt"
        out.touch()
        err.touch()
        given: dict[int, str | int | None] = {0: os.devnull, 1: str(out), 2: str(err)}
        given |= streams or {}
        opened = {
            name: os.open(name, os.O_RDWR) for name in given.values() if isinstance(name, str)
        }
        fds = [opened.get(one, one) for one in given.values()]  # type: ignore[call-overload]
        environment = place.environment(**more)
        process = self.fork(words, place.folder, environment, fds, bound=bound, dies_in=dies_in)
        for number in opened.values():
            os.close(number)
        return Running(process, out, err)

    def terminal(self, place: Place, *words: str, err: Path | None = None, **more: str) -> Terminal:
        """Run a command at a terminal, with its standard error there or in a file."""

        def start(slave: int) -> Fork:
            log = os.open(err, os.O_WRONLY | os.O_CREAT, 0o600) if err else os.dup(slave)
            environment = place.environment(**more)
            streams = [slave, slave, log]
            process = self.fork(words, place.folder, environment, streams, at_terminal=True)
            os.close(log)
            return process

        return Terminal(start)

    def fork(
        self,
        words: Sequence[str],
        folder: Path,
        environment: dict[str, str],
        streams: Sequence[int | None],
        *,
        at_terminal: bool = False,
        bound: bool = False,
        dies_in: str = "",
    ) -> Fork:
        """Start a command with three streams that are open, or none.

        Args:
            words: What is typed behind `dossier`.
            folder: Where it is typed.
            environment: All its variables.
            streams: Its three streams.
            at_terminal: Whether the first stream is its terminal.
            bound: Whether permissions of files hold even if it is root.
            dies_in: The thread at whose moment it dies.
        """
        told, tell = os.pipe()
        closed = [number for number, one in enumerate(streams) if one is None]
        job = [ask_anew(words), environment, str(folder), closed, at_terminal, bound, dies_in]
        with tempfile.TemporaryFile("w+") as file:
            json.dump(job, file)
            file.seek(0)
            open_ones = [file.fileno() if one is None else one for one in streams]
            socket.send_fds(self._control, [b"j"], [file.fileno(), tell, *open_ones])
            os.close(tell)
            return Fork(told)


def status(forks: Forks, place: Place, run: str) -> str:
    """How a run stands, as it is listed."""
    rows = forks.run(place, "runs", "--json").told
    return str(next(row["status"] for row in rows if row["run"] == run))


def calls(forks: Forks, place: Place, run: str) -> list[dict[str, Any]]:
    """The calls of a run, as they are shown."""
    return list(forks.run(place, "runs", "show", run, "--json").told["calls"])


def fork_for_jobs(control: socket.socket) -> None:
    """Do every job that comes in in a process of its own; tell its number, and how it ended."""
    memory = ("ingest_command", "search", "recall_command", "pages", "forget", "eval_runs")
    for command in (
        "question_run",
        "resume",
        "runs",
        "doctor",
        "memory_items",
        "memory_changes",
        "memory_transfer",
        *memory,
    ):
        importlib.import_module(f"app.cli.{command}")
    importlib.import_module("langchain_openai")
    connect.create_engine = engine_of
    _answer_once()
    gc.collect()
    gc.freeze()
    heard, hear = socket.socketpair()
    hear.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(hear.fileno())
    waited_for: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([control, heard], [], [])
        if heard in ready:
            heard.recv(4096)
            _tell_ends(waited_for)
        if control in ready:
            word, numbers, *_ = socket.recv_fds(control, 1, 5)
            if not word:
                return
            job, tell, *streams = numbers
            child = os.fork()
            if not child:
                signal.set_wakeup_fd(-1)
                _close(*(one.fileno() for one in (control, heard, hear)), *waited_for.values())
                _do(job, streams)
            waited_for[child] = tell
            os.write(tell, f"{child}\n".encode())
            _close(job, *streams)


def _answer_once() -> None:
    """Answer a question in a place that is gone afterwards; no thread is left of it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder) / "place")
        environment = place.environment()
        os.environ.clear()
        os.environ.update(environment)
        new_process()
        asyncio.run(_answered(place))
    new_process()


async def _answered(place: Place) -> None:
    async with open_session("t1") as thread:
        library = await ingest_folder(join_owner("local", ""), place.docs, lambda _: None)
        await thread.begin(WHO, Context(files=[library.root], auto_accept=True), lambda _: None)
    await find_damage(make_graph(), "t1")


def _close(*numbers: int) -> None:
    for number in numbers:
        os.close(number)


def _tell_ends(waited_for: dict[int, int]) -> None:
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            tell = waited_for.pop(ended[0])
            # Whoever asked may have gone.
            with suppress(BrokenPipeError):
                os.write(tell, f"{os.waitstatus_to_exitcode(ended[1])}\n".encode())
            os.close(tell)


def _do(job: int, streams: Sequence[int]) -> None:
    """Be the command, to its end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with os.fdopen(job) as file:
        words, environment, folder, closed, at_terminal, bound, dies_in = json.load(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    if at_terminal:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    if bound:
        obey_permissions()
    if dies_in:
        die_at(dies_in)
    _close(*closed)
    _open_streams(environment.get("PYTHONIOENCODING", "utf-8"), closed)
    sys.argv = ["dossier", *words]
    _end_with(main)


def _open_streams(encoding: str, closed: Sequence[int]) -> None:
    """Open the three streams as Python does when it begins."""
    for number, (name, mode) in enumerate({"stdin": "r", "stdout": "w", "stderr": "w"}.items()):
        lines, errors = (1, "backslashreplace") if name == "stderr" else (-1, "strict")
        at = None if number in closed else number
        stream = at if at is None else open(at, mode, lines, encoding, errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _end_with(command: Callable[[], None]) -> None:
    """Run a command and end without the second that Python takes to tidy up all modules."""
    status = 1
    try:
        command()
    except SystemExit as end:
        status = int(end.code or 0)
    finally:
        if status == 1 and (error := sys.exc_info())[0] not in (None, SystemExit):
            sys.excepthook(*error)  # type: ignore[arg-type]
        for stream in filter(None, (sys.stdout, sys.stderr)):
            # Python passes over what cannot be written when it ends.
            with suppress(OSError, Problem):
                stream.flush()
        os._exit(status)


if __name__ == "__main__":
    fork_for_jobs(socket.socket(fileno=int(sys.argv[1])))
