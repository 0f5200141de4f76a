"""Run Python that a model has written, in the best sandbox of this machine or not at all."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from config.errors import ErrorCode, Problem
from config.resources import Resource, SharedTasks
from config.settings import settings
from tools.sandbox.backend import DEFAULT_LIMITS, Backend, SandboxLimits, SandboxResult
from tools.sandbox.bubblewrap import Bubblewrap
from tools.sandbox.docker import Docker
from tools.sandbox.exchange import BrokenReply, Reply, exchange, write_request

__all__ = [
    "DEFAULT_LIMITS",
    "SandboxLimits",
    "SandboxResult",
    "describe_sandbox",
    "find_backend",
    "run_python",
]

GRACE_SECONDS = 10
"""How long starting, ending and answering may take beside the program."""


class SandboxStatus(NamedTuple):
    """Which backend is used, or why none can be; one of both is empty."""

    backend: str
    obstacle: str


BACKENDS: Mapping[str, Callable[[], Backend]] = {"docker": Docker, "bubblewrap": Bubblewrap}
"""The backends by their names in `DOSSIER_SANDBOX`, the best first."""

_found: Resource[dict[str, SandboxStatus]] = Resource(dict)
_backends = SharedTasks[str, SandboxStatus]()


async def find_backend() -> Backend:
    """Return the backend that this installation uses; it is looked for once.

    Raises:
        Problem: `sandbox_unavailable`, with what keeps each of them from working.
    """
    status = await describe_sandbox()
    if not status.backend:
        raise Problem(ErrorCode.SANDBOX_UNAVAILABLE, f"code cannot be run: {status.obstacle}")
    return BACKENDS[status.backend]()


async def describe_sandbox() -> SandboxStatus:
    """Tell which backend this installation uses, or what keeps each of them from working."""
    wanted, found = settings().sandbox, _found.get()
    if wanted not in found:
        found[wanted] = await _backends.run(wanted, lambda: _look_for(wanted))
    return found[wanted]


async def _look_for(wanted: str) -> SandboxStatus:
    if wanted == "off":
        return SandboxStatus("", "DOSSIER_SANDBOX is off")
    obstacles = []
    for name in [wanted] if wanted in BACKENDS else BACKENDS:
        obstacle = await BACKENDS[name]().find_obstacle()
        if not obstacle:
            return SandboxStatus(name, "")
        obstacles.append(f"{name}: {obstacle}")
    return SandboxStatus("", "; ".join(obstacles))


def configured_limits() -> SandboxLimits:
    """Return the limits that the settings name."""
    chosen = settings()
    return replace(DEFAULT_LIMITS, seconds=chosen.sandbox_seconds, memory_mib=chosen.sandbox_memory)


async def run_python(
    code: str, files: Mapping[str, bytes] = {}, limits: SandboxLimits | None = None
) -> SandboxResult:
    """Run a program with copies of files in its working folder, and return what it leaves.

    Args:
        code: A Python program.
        files: What is put into its working folder, by name; the names may have folders.
        limits: What it may use; as the settings say where none are given.

    Raises:
        Problem: `sandbox_unavailable` without a sandbox, `bad_file_name`, `file_too_large`.
    """
    began = time.monotonic()
    limits = limits or configured_limits()
    request = write_request(code, files, limits)
    backend = await find_backend()
    reply = await _ask(backend, request, limits)
    return SandboxResult(
        reply.exit_status,
        reply.stdout.decode(errors="replace"),
        reply.stderr.decode(errors="replace"),
        reply.files,
        time.monotonic() - began,
        reply.stopped,
        backend.name,
    )


async def _ask(backend: Backend, request: bytes, limits: SandboxLimits) -> Reply:
    async with backend.start(limits) as process:
        assert process.stdin and process.stdout and process.stderr
        errors = asyncio.create_task(process.stderr.read(10_000))
        try:
            async with asyncio.timeout(limits.seconds + GRACE_SECONDS):
                return await exchange(process.stdin, process.stdout, request, limits)
        except TimeoutError:
            return Reply(-9, "time", b"", b"", {})
        except BrokenReply as error:
            said = (await errors).decode(errors="replace")
            raise Problem(ErrorCode.SANDBOX_UNAVAILABLE, f"the sandbox fails: {said}") from error
        finally:
            errors.cancel()
