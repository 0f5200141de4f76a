"""Run the launcher with bubblewrap, on Linux: the interpreter, its packages, and nothing else.

As root it is given a host uid of its own, so that the limits that the kernel counts by user hold
for the sandbox alone; anyone else gets a user namespace, which has the same effect.
"""

from __future__ import annotations

import asyncio
import os
import platform
import secrets
import shutil
import signal
import site
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from tools.sandbox.backend import DEFAULT_LIMITS, MIB, SandboxLimits, Started, wait_for_end
from tools.sandbox.program_environment import (
    ENVIRONMENT,
    FOLDERS,
    SHARED,
    SHARED_MIB,
    launcher_source,
)
from tools.sandbox.syscall_filter import PROCESSORS, build_filter

PROGRAM = "bwrap"

PROBE_SECONDS = 10
"""How long an empty call may take when it is found out whether it works here."""

FIRST_UID, UIDS = 0x60000000, 0x10000000
"""Host uids that nobody is given: above those of containers, below the sign bit."""

NOBODY = 65534

SYSTEM = ("/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64")
"""Where libraries lie."""

SYSTEM_DATA = ("/etc/ld.so.cache", "/usr/share/fonts", "/usr/share/zoneinfo")

DEVICES = "null", "random", "urandom"
"""All devices that are seen; `/dev/zero` can be mapped as memory that nobody is charged with."""

OF_PREFIX = ("bin", "lib", "lib64", "pyvenv.cfg")
"""What an installation of Python needs to run; beside it may lie anything."""


class Bubblewrap:
    """The backend for Linux without an engine of containers."""

    name = "bubblewrap"

    async def find_obstacle(self) -> str:
        """Return why it cannot be used here; empty if it can."""
        if sys.platform != "linux":
            return "it is there for Linux only"
        if not await asyncio.to_thread(shutil.which, PROGRAM):
            return f"{PROGRAM} is not installed"
        if platform.machine() not in PROCESSORS:
            return f"no filter of system calls is known for {platform.machine()}"
        try:
            return await self._probe()
        except OSError as error:
            return f"{PROGRAM} cannot be started: {error.strerror}"

    async def _probe(self) -> str:
        async with self._run("pass") as process:
            try:
                async with asyncio.timeout(PROBE_SECONDS):
                    _, said = await process.communicate()
            except TimeoutError:
                return f"{PROGRAM} does not answer"
            lines = said.decode(errors="replace").split("\n")
            return "" if process.returncode == 0 else f"{PROGRAM} fails: {lines[0]}"

    @asynccontextmanager
    async def start(self, limits: SandboxLimits) -> Started:
        """Start the launcher in a sandbox; on leaving, all its processes are gone."""
        source = await asyncio.to_thread(launcher_source)
        async with self._run(source, limits) as process:
            yield process

    @asynccontextmanager
    async def _run(
        self, source: str, limits: SandboxLimits = DEFAULT_LIMITS
    ) -> AsyncIterator[asyncio.subprocess.Process]:
        uid = FIRST_UID + secrets.randbelow(UIDS) if os.geteuid() == 0 else 0
        reading = await asyncio.to_thread(_open_filter)
        try:
            command = await asyncio.to_thread(
                write_bubblewrap_command, limits, reading, as_root=uid > 0
            )
            python = [sys.executable, "-I", "-S", "-B", "-c", source, str(uid)]
            process = await asyncio.create_subprocess_exec(
                *command,
                *python,
                pass_fds=(reading,),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={},
                start_new_session=True,
            )
        finally:
            os.close(reading)
        try:
            yield process
        finally:
            if process.returncode is None:
                # The launcher is of the same group; with it ends all that it has started.
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            await wait_for_end(process)


def _open_filter() -> int:
    """Return a pipe from which the filter of system calls can be read."""
    reading, writing = os.pipe()
    os.write(writing, build_filter())
    os.close(writing)
    return reading


def write_bubblewrap_command(limits: SandboxLimits, filter_fd: int, *, as_root: bool) -> list[str]:
    """Return the command that starts another one in a sandbox.

    Args:
        limits: For the sizes of its folders.
        filter_fd: From where the filter of system calls is read.
        as_root: Whether root calls: the command must then give up its uid itself.
    """
    command = [shutil.which(PROGRAM) or PROGRAM]
    command += ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    command += ["--unshare-cgroup-try", "--as-pid-1", "--die-with-parent"]
    command += ["--cap-drop", "ALL"]
    if as_root:
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)]
    command += ["--hostname", "sandbox", "--clearenv"]
    for name, value in ENVIRONMENT.items():
        command += ["--setenv", name, value]
    # The interpreter may lie below one of these, and is then mounted upon it.
    for folder in FOLDERS:
        command += _writable(folder, limits.disk_mib)
    paths = list_visible_paths()
    # Bubblewrap closes the folders that it makes on the way to others.
    for folder in sorted(
        {str(outer) for path in paths for outer in Path(path).parents} - {"/", *FOLDERS}
    ):
        command += ["--perms", "0755", "--dir", folder]
    for path in paths:
        is_link = os.path.islink(path)
        command += ["--symlink", os.readlink(path), path] if is_link else ["--ro-bind", path, path]
    command += ["--proc", "/proc", *_writable(SHARED, SHARED_MIB)]
    for name in DEVICES:
        command += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
    command += ["--remount-ro", "/", "--chdir", "/"]
    return [*command, "--seccomp", str(filter_fd), "--"]


def _writable(folder: str, mib: int) -> list[str]:
    return ["--perms", "1777", "--size", str(mib * MIB), "--tmpfs", folder]


def list_visible_paths() -> list[str]:
    """Return what of this machine is seen in the sandbox, without what lies in another of them."""
    wanted = sorted({*SYSTEM, *SYSTEM_DATA, *_list_python_paths()})
    seen: list[str] = []
    for path in filter(os.path.exists, wanted):
        if not any(Path(path).is_relative_to(outer) for outer in seen):
            seen.append(path)
    return seen


def _list_python_paths() -> Iterator[str]:
    for prefix in {sys.prefix, sys.base_prefix}:
        if prefix not in ("/", "/usr"):
            yield from (os.path.join(prefix, name) for name in OF_PREFIX)
    yield from site.getsitepackages()
    program = Path(sys.executable)
    yield str(program)
    while program.is_symlink():
        program = program.parent / program.readlink()
        yield str(program)
