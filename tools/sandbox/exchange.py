"""Send a program to the launcher in a sandbox, and read what it answers as the word of a stranger."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple, cast, get_args

from config.errors import ErrorCode, Problem
from tools.sandbox.backend import MIB, SandboxLimits, Stop

LONGEST_NAME = 255
"""How many bytes the name of a file may have, its folders included."""

MOST_INPUTS = 1_000
"""How many files may be sent."""


class Reply(NamedTuple):
    """What the launcher says of a program."""

    exit_status: int
    stopped: Stop
    stdout: bytes
    stderr: bytes
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
        raise Problem(ErrorCode.FILE_TOO_LARGE, what)
    for name in files:
        if not is_plain_name(name) or _is_folder_of(name, files):
            raise Problem(ErrorCode.BAD_FILE_NAME, "it is no name within a folder", where=name)
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


async def exchange(
    to: StreamWriter, answers: StreamReader, request: bytes, limits: SandboxLimits
) -> Reply:
    """Send a request and return the reply to it.

    Raises:
        BrokenReply: Without one that keeps to the limits.
    """
    sending = asyncio.create_task(_send(to, request))
    try:
        return await _read_reply(answers, limits)
    except (asyncio.IncompleteReadError, ValueError) as error:
        raise BrokenReply from error
    finally:
        sending.cancel()


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
    stdout, stderr = await _read_frame(answers, most), await _read_frame(answers, most)
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
