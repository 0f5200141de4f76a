"""The sandbox in containers, with a scripted `docker` in the place of an engine."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

import pytest

from config.errors import ErrorCode, Problem
from tools.sandbox.backend import SandboxLimits
from tools.sandbox.docker import Docker, list_run_arguments
from tools.sandbox.sandbox import describe_sandbox, run_python

SCRIPTED = """#!{python} -S
import json, os, sys, time
folder = {folder!r}
with open(folder + "/calls", "a") as calls:
    calls.write(json.dumps([sys.argv[1:], sorted(os.environ)]) + "\\n")
command = sys.argv[1]
how = open(folder + "/how").read().split()
if command == "version":
    sys.exit("no engine" if "no-engine" in how else 0)
if command == "image":
    sys.exit("no image" if "no-image" in how else 0)
if command == "rm":
    open(folder + "/removed", "w").close()
if command == "run":
    frames, read = [], sys.stdin.buffer
    def frame():
        return read.read(int.from_bytes(read.read(8), "big"))
    limits, code, count = frame(), frame(), int(frame())
    files = [(frame(), frame()) for _ in range(count)]
    if "hang" in how:
        time.sleep(60)
    if "fail" in how:
        sys.exit("Error response from daemon: no space")
    reply = [b"0 ", code, b"", b"1", b"out.txt", files[0][1] if files else b""]
    if "flood" in how:
        reply[1] = b"x" * 10_000_000
    if "climb" in how:
        reply[4] = b"../../out.txt"
    if "lie" in how:
        reply[3] = b"1000000"
    for part in reply:
        sys.stdout.buffer.write(len(part).to_bytes(8, "big") + part)
"""


class Engine:
    """A scripted `docker`, and what it was told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.behave("")
        program = folder / "docker"
        program.write_text(SCRIPTED.format(python=sys.executable, folder=str(folder)))
        program.chmod(0o755)

    def behave(self, how: str) -> None:
        (self.folder / "how").write_text(how)

    async def wait_for(self, command: str) -> None:
        """Wait until a command was called."""
        for _ in range(200):
            if self.calls(command):
                return
            await asyncio.sleep(0.05)
        pytest.fail(f"{command} was never called")

    def calls(self, command: str) -> list[tuple[list[str], list[str]]]:
        file = self.folder / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        return [(given, names) for given, names in map(json.loads, lines) if given[0] == command]


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    return Engine(tmp_path)


async def test_an_engine_with_the_image_is_taken_first(engine: Engine) -> None:
    assert await describe_sandbox() == ("docker", "")
    result = await run_python("print(1)", {"in.txt": b"given"})
    assert (result.exit_status, result.stdout, result.backend) == (0, "print(1)", "docker")
    assert result.files == {"out.txt": b"given"}


async def test_a_container_may_reach_nothing(engine: Engine) -> None:
    await run_python("pass")
    ((given, names),) = engine.calls("run")
    line = " ".join(given[: given.index("--env")])
    for wanted in (
        "--network none", "--read-only", "--cap-drop ALL", "--security-opt no-new-privileges",
        "--user 65534:65534", "--memory 1024m", "--memory-swap 1024m", "--pids-limit 65",
        "--cpus 2", "--pull never", "--rm", "--log-driver none", "--ipc private",
        "--tmpfs /sandbox:rw,nosuid,nodev,mode=1777,size=256m",
        "--tmpfs /tmp:rw,nosuid,nodev,mode=1777,size=256m",
    ):  # fmt: skip
        assert wanted in line
    words = set(given)
    assert not words & {"-v", "--volume", "--mount", "--privileged", "--device", "--cap-add", "-p"}
    assert "OPENAI_API_KEY" not in names
    assert not any("canary" in word for word in given)


def test_the_whole_command_is_known() -> None:
    command = list_run_arguments("name", "image:tag", SandboxLimits(processes=9, memory_mib=64))
    after = command[command.index("--workdir") :]
    assert after[:9] == [
        "--workdir",
        "/",
        "--entrypoint",
        "python3",
        "image:tag",
        "-I",
        "-S",
        "-B",
        "-c",
    ]
    assert after[9].startswith('"""Run one program')
    assert after[10:] == ["0"]
    assert command[:6] == ["run", "--rm", "--interactive", "--name", "name", "--pull"]


@pytest.mark.parametrize(
    ("how", "why"), [("no-engine", "no engine answers"), ("no-image", "no image dossier-sandbox")]
)
async def test_what_an_engine_lacks_is_told(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, how: str, why: str
) -> None:
    monkeypatch.setenv("DOSSIER_SANDBOX", "docker")
    engine.behave(how)
    assert why in (await describe_sandbox()).obstacle
    with pytest.raises(Problem) as raised:
        await run_python("pass")
    assert raised.value.error is ErrorCode.SANDBOX_UNAVAILABLE
    assert engine.calls("run") == []


@pytest.mark.parametrize("how", ["fail", "flood", "lie"])
async def test_an_answer_that_breaks_the_rules_is_an_error(engine: Engine, how: str) -> None:
    engine.behave(how)
    with pytest.raises(Problem, match="the sandbox fails"):
        await run_python("pass")
    assert len(engine.calls("rm")) <= 1


async def test_a_file_that_climbs_out_is_dropped(engine: Engine) -> None:
    engine.behave("climb")
    assert (await run_python("pass")).files == {}


async def test_a_container_that_does_not_answer_is_removed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.sandbox.sandbox.GRACE_SECONDS", 0.5)
    engine.behave("hang")
    began = time.monotonic()
    result = await run_python("pass", limits=SandboxLimits(seconds=0.5))
    assert (result.stopped, result.exit_status) == ("time", -9)
    assert time.monotonic() - began < 10
    ((run, _),), ((removed, _),) = engine.calls("run"), engine.calls("rm")
    assert removed == ["rm", "--force", run[run.index("--name") + 1]]


async def test_a_run_that_is_cancelled_removes_its_container(engine: Engine) -> None:
    engine.behave("hang")
    running = asyncio.create_task(run_python("pass"))
    await engine.wait_for("run")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(engine.calls("rm")) == 1


async def test_an_engine_that_hangs_is_no_engine(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.sandbox.docker.ANSWER_SECONDS", 0.3)
    (engine.folder / "docker").write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    assert await Docker().find_obstacle() == "no engine answers"
