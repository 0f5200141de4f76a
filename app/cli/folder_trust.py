"""Ask once whether the memory files in a folder may be read."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from app.cli.event_loop import run_and_close
from app.cli.output import drop_typed, has_terminal, one_line, print_notice, read_yes
from config.errors import ErrorCode, Problem
from config.settings import settings
from memory.agents_md.file_sources import AGENTS_MD, APP_FOLDER, disk_sources, project_files
from memory.agents_md.project_trust import add_trusted_folder, project_name, trusted_folder
from memory.protocol import Query
from runs.call_site import join_owner

TRUSTED = (
    "Its AGENTS.md is read with --project, its .env may set time limits, and its mcp.json may name "
    "MCP servers, each of which you approve before it is started."
)


def trust_folder(*, folder: Path) -> None:
    """Trust a folder: its AGENTS.md is read with --project, and its .env may set time limits.

    Raises:
        Problem: `project_not_found`, or a problem of the storage.
    """
    if not os.path.isdir(folder):
        raise Problem(ErrorCode.PROJECT_NOT_FOUND, "there is no such folder", where=str(folder))
    run_and_close(add_trusted_folder(settings().user, str(folder)))
    print(f"trusted: {one_line(str(folder.resolve()))}. {TRUSTED}")


def settle_folder_trust(folder: str, *, trust: bool | None) -> str:
    """Return the name of the project in a folder, once it is settled whether its files are read.

    Args:
        folder: Its real path.
        trust: Whether they are read without a question; `None` where none are read.
    """
    name = project_name(folder)
    owner = join_owner(settings().user, name)
    if trust is None or run_and_close(trusted_folder(owner)):
        return name
    files = [path for path in project_files(folder) if os.path.lexists(path)]
    if folder == APP_FOLDER:
        print_notice(
            f"{AGENTS_MD} of {folder} is not read: it is for those who work on dossier itself"
        )
    elif trust or (files and has_terminal() and _agreed(folder, files)):
        run_and_close(add_trusted_folder(settings().user, folder))
    elif files:
        print_notice(f"{AGENTS_MD} of {folder} is not read; use --trust to allow it")
    return name


async def list_skipped_memory_files(owner: str, documents: Sequence[str]) -> list[str]:
    """Return the memory files of a project that are not read because they are under research."""
    every = await disk_sources(Query(owner, "", ""))
    read = await disk_sources(Query(owner, "", "", files=tuple(documents)))
    left = [source.path for source in every if source not in read]
    return await asyncio.to_thread(lambda: [path for path in left if os.path.exists(path)])


def _agreed(folder: str, files: Sequence[str]) -> bool:
    for path in files:
        print_notice(f"{path} ({os.lstat(path).st_size:,} bytes)")
    question = f"Read {AGENTS_MD} of {one_line(folder)} before every model call? [y/N] "
    drop_typed()
    Console(stderr=True).print(Text(question, "bold"), end="", soft_wrap=True)
    return read_yes()
