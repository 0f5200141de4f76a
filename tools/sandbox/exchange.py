"""Send a program to the launcher in a sandbox, and read its answer as the word of a stranger."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import Process
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple, cast, get_args

from config.errors import ErrorCode, Problem
from tools.sandbox.backend import MIB, SandboxLimits, Stop

LONGEST_NAME = 255
"""How many bytes the name of a file may have, its folders included."""

MOST_INPUTS = 1_000
"""How many files may be sent."""


MOST_ERRORS = 10_000
"""How many bytes are read of what the launcher says of its errors."""

_CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), "\ufffd") | {9: "\t", 10: "\n", 13: "\n"}
"""What stands in a text for characters that may be commands to a terminal."""


class Reply(NamedTuple):
    """What the launcher says of a program."""

    exit_status: int
    stopped: Stop
    stdout: str
    stderr: str
    files: dict[str, bytes]


class BrokenReply(Exception):
    """The launcher ended early, or answered what it would not answer."""


def write_request(code: str, files: Mapping[str, bytes], limits: SandboxLimits) -> bytes:
    """Return the request for a program and copies of its files.

    Raises:
        Problem: `bad_file_name` for a name that leads elsewhere, `file_too_large`.
    """
    mib = limits.disk_mib // 2
    if len(files) > MOST_INPUTS or len(code) + sum(map(len, files.values())) > mib * MIB:
        what = f"a program is given at most {MOST_INPUTS:,} files and {mib} MiB"
        raise Problem(ErrorCode.FILE_TOO_LARGE, what, hint="give it only what it needs")
    for name in files:
        if not is_plain_name(name) or _is_folder_of(name, files):
            what, hint = "it is no name within a folder", "give a relative name without `..`"
            raise Problem(ErrorCode.BAD_FILE_NAME, what, where=name, hint=hint)
    parts = [limits.as_words().encode(), code.encode(errors="replace"), str(len(files)).encode()]
    for name, data in files.items():
        parts += [name.encode(), data]
    return b"".join(len(part).to_bytes(8) + part for part in parts)


def is_plain_name(name: str) -> bool:
    """Tell whether a relative path stays in its folder and may stand in any file system."""
    path = PurePosixPath(name)
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return False
    return (
        0 < size <= LONGEST_NAME
        and name.isprintable()
        and "\\" not in name
        and str(path) == name
        and not path.is_absolute()
        and bool(path.parts)
        and ".." not in path.parts
    )


def _is_folder_of(name: str, files: Iterable[str]) -> bool:
    return any(other.startswith(f"{name}/") for other in files)


async def exchange(process: Process, request: bytes, limits: SandboxLimits) -> Reply:
    """Send a request to the launcher and return its reply.

    Raises:
        BrokenReply: Without one that keeps to the limits, with what it says of its errors.
    """
    to, answers = cast(StreamWriter, process.stdin), cast(StreamReader, process.stdout)
    sending = asyncio.create_task(_send(to, request))
    said = asyncio.create_task(cast(StreamReader, process.stderr).read(MOST_ERRORS))
    try:
        return await _read_reply(answers, limits)
    except (asyncio.IncompleteReadError, ValueError) as error:
        await asyncio.wait([said], timeout=1)
        lines = _read_text(said.result()).split("\n") if said.done() else []
        last = next((line for line in reversed(lines) if line.strip()), "")
        raise BrokenReply(last or "its answer breaks the rules") from error
    finally:
        sending.cancel()
        said.cancel()
        await asyncio.wait([sending, said])


def _read_text(data: bytes) -> str:
    """Return a printed text, with a mark in the place of each command to a terminal."""
    return data.decode(errors="replace").replace("\r\n", "\n").translate(_CONTROLS)


async def _send(to: StreamWriter, request: bytes) -> None:
    to.write(request)
    try:
        await to.drain()
    except OSError:
        # The launcher is gone; that it does not answer says so.
        return


async def _read_reply(answers: StreamReader, limits: SandboxLimits) -> Reply:
    status, _, stopped = (await _read_frame(answers, 100)).decode().partition(" ")
    if stopped not in get_args(Stop):
        raise ValueError(stopped)
    most = int(limits.output_mib * MIB)
    stdout = _read_text(await _read_frame(answers, most))
    stderr = _read_text(await _read_frame(answers, most))
    files = await _read_files(answers, limits)
    return Reply(int(status), cast(Stop, stopped), stdout, stderr, files)


async def _read_files(answers: StreamReader, limits: SandboxLimits) -> dict[str, bytes]:
    count = int(await _read_frame(answers, 100))
    if not 0 <= count <= limits.files:
        raise ValueError(count)
    files, left = {}, int(limits.files_mib * MIB)
    for _ in range(count):
        name = (await _read_frame(answers, 10 * LONGEST_NAME)).decode(errors="surrogateescape")
        data = await _read_frame(answers, left)
        left -= len(data)
        if is_plain_name(name):
            files[name] = data
    return files


async def _read_frame(answers: StreamReader, most: int) -> bytes:
    size = int.from_bytes(await answers.readexactly(8))
    if size > most:
        raise ValueError(size)
    return await answers.readexactly(size)
