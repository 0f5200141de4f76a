"""Run Python that a model has written, in the best sandbox of this machine or not at all."""

from __future__ import annotations

import asyncio
import os
import time
from asyncio import Semaphore
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from config.errors import ErrorCode, Problem
from config.resources import LoopResource, Resource, SharedTasks
from config.settings import settings
from prompts.loader import render_prompt
from text.regex import regex
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

_places = LoopResource(lambda: Semaphore(max(2, os.cpu_count() or 1)))
"""How many programs run at once."""

_MISSING = regex(r"(?m)^ModuleNotFoundError: No module named '(\w+)[^']*'(?=\s*\Z)")


async def find_backend() -> Backend:
    """Return the backend that this installation uses; one that works is looked for once.

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
        status = await _backends.run(wanted, lambda: _look_for(wanted))
        if not status.backend:
            # It may be installed, or its engine be started, while this process runs.
            return status
        found[wanted] = status
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
    return await run_in(await find_backend(), code, files, limits or configured_limits())


async def run_in(
    backend: Backend, code: str, files: Mapping[str, bytes], limits: SandboxLimits
) -> SandboxResult:
    """Do the same with a backend.

    Raises:
        Problem: `sandbox_unavailable` if it fails, `bad_file_name`, `file_too_large`.
    """
    request = write_request(code, files, limits)
    async with _places.get():
        began = time.monotonic()
        reply = await _ask(backend, request, limits)
        seconds = time.monotonic() - began
    return SandboxResult(
        exit_status=reply.exit_status,
        stdout=reply.stdout,
        stderr=_name_missing_package(reply.stderr),
        files=reply.files,
        seconds=seconds,
        stopped=reply.stopped,
        backend=backend.name,
    )


async def _ask(backend: Backend, request: bytes, limits: SandboxLimits) -> Reply:
    try:
        async with backend.start(limits) as process:
            try:
                async with asyncio.timeout(limits.seconds + GRACE_SECONDS):
                    return await exchange(process, request, limits)
            except TimeoutError:
                return Reply(-9, "time", "", "", {})
    except (BrokenReply, OSError) as error:
        _found.get().clear()
        raise Problem(ErrorCode.SANDBOX_UNAVAILABLE, f"the sandbox fails: {error}") from error


def _name_missing_package(stderr: str) -> str:
    """Return what a program has said of its errors, and that no package will come by itself."""
    found = _MISSING.search(stderr)
    if not found:
        return stderr
    return f"{stderr}{render_prompt('package_not_there', package=found[1])}\n"
