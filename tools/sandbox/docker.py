"""Run the launcher in a container of a Docker engine, here or elsewhere: nothing of this machine is mounted."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
from asyncio.subprocess import PIPE
from contextlib import asynccontextmanager

from config.settings import settings
from tools.sandbox.backend import SandboxLimits, Started
from tools.sandbox.environment import ENVIRONMENT, SHARED_MIB, launcher_source

PROGRAM = "docker"

ANSWER_SECONDS = 5
"""How long the engine may take to answer."""

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
        if not shutil.which(PROGRAM):
            return f"{PROGRAM} is not installed"
        if await _fails("version", "--format", "{{.Server.Version}}"):
            return "no engine answers"
        image = settings().sandbox_image
        if await _fails("image", "inspect", "--format", "{{.Id}}", image):
            return f"there is no image {image}"
        return ""

    @asynccontextmanager
    async def start(self, limits: SandboxLimits) -> Started:
        """Start the launcher in a container; on leaving, the container is gone."""
        name = f"dossier-{secrets.token_hex(8)}"
        command = build_command(name, settings().sandbox_image, limits)
        process = await _begin(*command)
        try:
            yield process
        finally:
            # The engine keeps a container running whose client is gone.
            await asyncio.shield(_remove(name, process))


def build_command(name: str, image: str, limits: SandboxLimits) -> list[str]:
    """Return the arguments that start the launcher in a container of that name."""
    memory = f"{limits.memory_mib}m"
    command = ["run", "--rm", "--interactive", "--name", name, "--pull", "never"]
    command += ["--network", "none", "--read-only", "--user", NOBODY, "--cap-drop", "ALL"]
    command += ["--security-opt", "no-new-privileges", "--log-driver", "none"]
    command += ["--ipc", "private"]
    command += ["--memory", memory, "--memory-swap", memory, "--shm-size", f"{SHARED_MIB}m"]
    command += ["--pids-limit", str(limits.processes + 1), "--cpus", str(limits.processors)]
    command += ["--ulimit", "core=0", "--ulimit", f"nofile={limits.open_files}"]
    for folder in ("/sandbox", "/tmp"):
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
        await process.wait()
        return True
    return process.returncode != 0


async def _remove(name: str, client: asyncio.subprocess.Process) -> None:
    if client.returncode is None:
        await _fails("rm", "--force", name)
        client.kill()
    await client.wait()


async def _begin(*arguments: str) -> asyncio.subprocess.Process:
    environment = {name: os.environ[name] for name in ENGINE_VARIABLES if name in os.environ}
    return await asyncio.create_subprocess_exec(
        PROGRAM, *arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment
    )
