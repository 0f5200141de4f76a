"""Run the launcher in a container of a Docker engine, with nothing of this machine in it."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
from asyncio.subprocess import PIPE, Process
from contextlib import asynccontextmanager, suppress

from config.settings import settings
from tools.sandbox.backend import SandboxLimits, Started, wait_for_end
from tools.sandbox.program_environment import ENVIRONMENT, FOLDERS, SHARED_MIB, launcher_source

PROGRAM = "docker"

ANSWER_SECONDS = 5
"""How long the engine may take to answer."""

END_SECONDS = 2
"""How long a container may take to remove itself."""

NOBODY = "65534:65534"

ENGINE_VARIABLES = (
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "DOCKER_TLS_VERIFY",
    "DOCKER_CERT_PATH",
    "HOME",
    "PATH",
)
"""What the command itself needs to find its engine."""


class Docker:
    """The backend for machines with an engine of containers."""

    name = "docker"

    async def find_obstacle(self) -> str:
        """Return why it cannot be used here; empty if it can."""
        if not await asyncio.to_thread(shutil.which, PROGRAM):
            return f"{PROGRAM} is not installed"
        image = settings().sandbox_image
        try:
            if await _fails("version", "--format", "{{.Server.Version}}"):
                return "no engine answers"
            missing = await _fails("image", "inspect", "--format", "{{.Id}}", image)
        except OSError as error:
            return f"{PROGRAM} cannot be started: {error.strerror}"
        return f"there is no image {image}" if missing else ""

    @asynccontextmanager
    async def start(self, limits: SandboxLimits) -> Started:
        """Start the launcher in a container; on leaving, the container is gone."""
        name = f"dossier-{secrets.token_hex(8)}"
        command = list_run_arguments(name, settings().sandbox_image, limits)
        process = await _begin(*command)
        try:
            yield process
        finally:
            # The engine keeps a container running whose client is gone.
            await asyncio.shield(_remove(name, process))


def list_run_arguments(name: str, image: str, limits: SandboxLimits) -> list[str]:
    """Return the arguments that start the launcher in a container of that name."""
    memory = f"{limits.memory_mib}m"
    command = ["run", "--rm", "--interactive", "--name", name, "--pull", "never"]
    command += ["--network", "none", "--read-only", "--user", NOBODY, "--cap-drop", "ALL"]
    command += ["--security-opt", "no-new-privileges", "--log-driver", "none"]
    command += ["--ipc", "private"]
    command += ["--memory", memory, "--memory-swap", memory, "--shm-size", f"{SHARED_MIB}m"]
    command += ["--pids-limit", str(limits.processes + 1), "--cpus", str(limits.processors)]
    command += ["--ulimit", "core=0", "--ulimit", f"nofile={limits.open_files}"]
    for folder in FOLDERS:
        size = f"size={limits.disk_mib}m"
        command += ["--tmpfs", f"{folder}:rw,nosuid,nodev,mode=1777,{size}"]
    for variable, value in ENVIRONMENT.items():
        command += ["--env", f"{variable}={value}"]
    command += ["--workdir", "/", "--entrypoint", "python3", image]
    return [*command, "-I", "-S", "-B", "-c", launcher_source(), "0"]


async def _fails(*arguments: str) -> bool:
    process = await _begin(*arguments)
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await process.communicate()
    except TimeoutError:
        process.kill()
        await wait_for_end(process)
        return True
    return process.returncode != 0


async def _remove(name: str, client: Process) -> None:
    """Wait a moment until a container has ended and removed itself; else remove it."""
    with suppress(TimeoutError):
        await asyncio.wait_for(client.wait(), END_SECONDS)
    if client.returncode is None:
        await _fails("rm", "--force", name)
        with suppress(ProcessLookupError):
            client.kill()
    await wait_for_end(client)


async def _begin(*arguments: str) -> Process:
    environment = {name: os.environ[name] for name in ENGINE_VARIABLES if name in os.environ}
    return await asyncio.create_subprocess_exec(
        PROGRAM, *arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment
    )
