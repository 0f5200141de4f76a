"""Try ways out of each sandbox of this machine, and measure what its calls cost."""

from __future__ import annotations

import asyncio
import os
import platform
import secrets
import socket
import statistics
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from pkgutil import get_data

from pydantic import TypeAdapter

from config.resources import close_resources
from tools.sandbox.backend import DEFAULT_LIMITS, Backend, SandboxLimits, SandboxResult
from tools.sandbox.sandbox import BACKENDS, run_in
from tools.sandbox.syscall_filter import PROCESSORS

ESCAPE_LIMITS = SandboxLimits(seconds=5, memory_mib=512, disk_mib=64, disk_files=5_000)
"""Tight ones, so that what passes them ends soon."""

TIMES = 20
"""How often a call is measured."""

CALLS = {
    "print": "print(1 + 1)",
    "import pandas": "import pandas",
    "query": "import duckdb; print(duckdb.sql('select 42').fetchall())",
    "plot": "import matplotlib.pyplot as p; p.plot([1, 3, 2]); p.savefig('plot.png')",
}

PREAMBLE = """
import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
place = {place!r}
numbers = {numbers!r}
def attempt(what):
    try:
        got = what()
    except Exception as error:
        print("held:", type(error).__name__, error)
    else:
        print("ESCAPED", repr(got)[:100])
def syscall(name, *arguments):
    if name not in numbers:
        raise OSError("no such call")
    if libc.syscall(numbers[name], *arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
"""


@dataclass(frozen=True)
class Escape:
    """A program that tries a way out, and what shows that it was held."""

    code: str
    control: bool = False
    """Whether the same program gets out where there is no sandbox."""
    stopped: tuple[str, ...] = ("",)
    """Which limits may end it; the empty one for none."""
    files: tuple[str, ...] = ()
    """The files that may come back."""
    prints: str = "held"
    """What it prints unless a limit ends it."""


def load_escapes() -> dict[str, Escape]:
    """Return all ways out, by name."""
    text = (get_data("evals", "sandbox_escapes.toml") or b"").decode()
    return TypeAdapter(dict[str, Escape]).validate_python(tomllib.loads(text))


class Outside:
    """What lies outside of a sandbox: servers and files that nothing may reach."""

    def __init__(self, folder: Path, servers: Mapping[str, socket.socket]) -> None:
        """Put a secret into a folder, which stands for a home, and watch the servers."""
        self.secret, self.mark = secrets.token_hex(16), secrets.token_hex(16)
        self._servers = servers
        (folder / "secret").write_text(self.secret)
        self.place: dict[str, object] = {
            "home": str(folder),
            "project": str(Path(__file__).resolve().parents[1]),
            "pid": os.getpid(),
            "mark": self.mark,
            "port": servers["tcp"].getsockname()[1],
            "unix": servers["unix"].getsockname(),
            "abstract": servers["abstract"].getsockname()[1:].decode(),
        }

    def write_program(self, escape: Escape) -> str:
        """Return the whole program of a way out."""
        machine = PROCESSORS.get(platform.machine())
        numbers = dict(machine.calls) if machine else {}
        return PREAMBLE.format(place=self.place, numbers=numbers) + escape.code

    def is_reached(self) -> bool:
        """Tell whether a server was sent anything since it was asked last."""
        reached = False
        for server in self._servers.values():
            with suppress(BlockingIOError):
                if server.type == socket.SOCK_DGRAM:
                    server.recv(100)
                else:
                    server.accept()[0].close()
                reached = True
        return reached

    def is_daemon_left(self) -> bool:
        """Tell whether a process of a program still runs."""
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                if self.mark.encode() in file.read_bytes().split(b"\0"):
                    return True
        return False


@contextmanager
def open_outside() -> Iterator[Outside]:
    """Set up what nothing in a sandbox may reach, while it is needed."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        servers = {"tcp": tcp}
        for name, family, kind, address in (
            ("udp", socket.AF_INET, socket.SOCK_DGRAM, tcp.getsockname()),
            ("unix", socket.AF_UNIX, socket.SOCK_STREAM, f"{folder}/socket"),
            ("abstract", socket.AF_UNIX, socket.SOCK_STREAM, f"\0{secrets.token_hex(8)}"),
        ):
            servers[name] = stack.enter_context(socket.socket(family, kind))
            servers[name].bind(address)
        for server in servers.values():
            server.setblocking(False)
            if server.type == socket.SOCK_STREAM:
                server.listen()
        outside = Outside(Path(folder), servers)
        os.environ["SANDBOX_CANARY"] = outside.secret
        stack.callback(os.environ.pop, "SANDBOX_CANARY")
        yield outside


def find_leaks(escape: Escape, result: SandboxResult, outside: Outside) -> list[str]:
    """Return what shows that a program got out, or did not come to its end."""
    text = result.stdout + result.stderr + str(result.files)
    leaks = {
        "it says so": "ESCAPED" in text,
        "a secret came out": outside.secret in text,
        "a server was reached": outside.is_reached(),
        "a process is left": outside.is_daemon_left(),
        f"it was stopped by {result.stopped or 'nothing'}": result.stopped not in escape.stopped,
        f"it left {sorted(result.files)}": set(result.files) != set(escape.files),
        f"it did not try: {result.stderr[-300:]}": not result.stopped and escape.prints not in text,
        f"it took {result.seconds:.1f} s": result.seconds > ESCAPE_LIMITS.seconds + 5,
    }
    return [what for what, is_so in leaks.items() if is_so]


async def try_escapes(backend: Backend) -> tuple[int, int]:
    """Print what got out of a sandbox; return how many ways were held, and how many there are."""
    escapes, held = load_escapes(), 0
    with open_outside() as outside:
        for name, escape in escapes.items():
            result = await run_in(backend, outside.write_program(escape), {}, ESCAPE_LIMITS)
            leaks = find_leaks(escape, result, outside)
            held += not leaks
            for leak in leaks:
                print(f"  {name}: {leak}")
    return held, len(escapes)


async def measure_calls(backend: Backend) -> None:
    """Print what calls cost."""
    for name, code in CALLS.items():
        seconds = [(await run_in(backend, code, {}, DEFAULT_LIMITS)).seconds for _ in range(TIMES)]
        first, later = seconds[0], seconds[1:]
        p50, p95 = statistics.median(later), statistics.quantiles(later, n=20)[-1]
        print(f"  {name:15} first {first:.3f} s, p50 {p50:.3f} s, p95 {p95:.3f} s")


async def main() -> None:
    """Try and measure every backend that works here."""
    for make in BACKENDS.values():
        backend = make()
        if obstacle := await backend.find_obstacle():
            print(f"{backend.name}: {obstacle}")
            continue
        held, of = await try_escapes(backend)
        print(f"{backend.name}: {held} of {of} ways out are closed")
        await measure_calls(backend)
    await close_resources()


if __name__ == "__main__":
    asyncio.run(main())
