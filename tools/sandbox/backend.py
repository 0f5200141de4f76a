"""What a sandbox is: its limits, the protocol of its backends, and what a run in it leaves."""

from __future__ import annotations

from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

MIB = 2**20

Stop = Literal["", "time", "memory", "output", "files"]
"""Which limit has ended a program; empty when none has."""


@dataclass(frozen=True)
class SandboxLimits:
    """What one program with all its processes may use."""

    seconds: float = 30
    """How long it may run."""
    memory_mib: int = 1_024
    """Memory of all processes and files together; of one process also address space, doubled."""
    processes: int = 64
    """How many processes and threads there may be at once."""
    processors: int = 2
    """How many processors it is given."""
    open_files: int = 256
    """How many files a process may have open."""
    disk_mib: int = 256
    """How much each of its folders may hold; half of that may be given to it."""
    disk_files: int = 10_000
    """How many files and folders there may be."""
    output_mib: float = 1
    """How much it may print, on both outputs together."""
    files: int = 50
    """How many files are taken over."""
    files_mib: float = 32
    """How much they may hold together."""

    def as_words(self) -> str:
        """Return the names and numbers that the launcher reads."""
        numbers = {
            "milliseconds": self.seconds * 1000,
            "memory_bytes": self.memory_mib * MIB,
            "address_bytes": 2 * self.memory_mib * MIB,
            "processes": self.processes,
            "processors": self.processors,
            "open_files": self.open_files,
            "disk_bytes": self.disk_mib * MIB,
            "disk_files": self.disk_files,
            "output_bytes": self.output_mib * MIB,
            "files": self.files,
            "file_bytes": self.files_mib * MIB,
        }
        return " ".join(f"{name} {int(number)}" for name, number in numbers.items())


DEFAULT_LIMITS = SandboxLimits()
"""The limits where no setting says otherwise."""


class SandboxResult(NamedTuple):
    """What became of a program."""

    exit_status: int
    """Its exit status; the negative number of the signal that ended it."""
    stdout: str
    stderr: str
    files: dict[str, bytes]
    """The regular files in its working folder that are new or changed; none if it was stopped."""
    seconds: float
    """How long the call took, the start of the sandbox included."""
    stopped: Stop
    backend: str


class Backend(Protocol):
    """A way to run the launcher where nothing of this machine can be reached."""

    name: str

    async def find_obstacle(self) -> str:
        """Return why it cannot be used here; empty if it can."""

    def start(self, limits: SandboxLimits) -> AbstractAsyncContextManager[Process]:
        """Start the launcher, with pipes; on leaving, nothing that was started there is left."""


async def wait_for_end(process: Process) -> None:
    """Wait until a process that ends is gone, and throw away what it has still written.

    Asyncio waits for its pipes, too, and stops reading from one whose data nobody takes.
    """
    for pipe in (process.stdout, process.stderr):
        while pipe and await pipe.read(MIB):
            pass
    await process.wait()


Started = AsyncIterator[Process]
"""What the `start` of a backend yields: one process."""
