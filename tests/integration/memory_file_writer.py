"""Let several processes edit one AGENTS.md at once, and kill some of them, and count what is lost.

`python -m tests.integration.memory_file_writer WRITER EDITS` is such a process.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from memory.agents_md.content import split_sections
from memory.agents_md.edits import EditRequester, FileEdit, propose_edit
from memory.agents_md.file_sources import disk_sources
from memory.agents_md.proposals import approve_proposal
from memory.protocol import Query
from storage.engine import close_database

OWNER = "local/"

MINE = "# Mine\n\nBe brief. <!-- a note -->\n"
"""What a person wrote, which no edit may change."""


class EditCounts(NamedTuple):
    """What is wrong with a file after all edits."""

    lost: int
    doubled: int
    torn: bool
    """Whether the person's own words have changed, or the marks of the section are broken."""


async def _edit(writer: int, edits: int) -> None:
    """Propose and approve some edits, and print the number of each that is in the file."""
    for number in range(edits):
        line = f"- {writer}.{number}"
        sources = await disk_sources(Query(OWNER, "", ""))
        proposal = await propose_edit(EditRequester(OWNER), sources, FileEdit(line, "measured"))
        await approve_proposal(OWNER, proposal.id)
        print(line, flush=True)
    await close_database()


def _start(home: Path, writer: int, edits: int) -> subprocess.Popen[str]:
    """Start a process that makes some edits."""
    root = Path(__file__).parents[2]
    command = [
        sys.executable,
        "-m",
        "tests.integration.memory_file_writer",
        str(writer),
        str(edits),
    ]
    environment = {**os.environ, "DOSSIER_HOME": str(home), "PYTHONPATH": str(root)}
    return subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE, text=True)


def _begun(home: Path) -> Path:
    """Write the person's part of the file; return its path."""
    home.mkdir(parents=True, exist_ok=True)
    file = home / "AGENTS.md"
    file.write_text(MINE, encoding="utf-8")
    return file


def _check(file: Path, wanted: Sequence[str]) -> EditCounts:
    """Compare a file with the edits that were made."""
    text = file.read_text("utf-8")
    before, inside, after = split_sections(text, str(file))
    counted = Counter(line for line in inside.splitlines() if line)
    lost = sum(counted[line] == 0 for line in wanted)
    doubled = sum(count > 1 for count in counted.values())
    return EditCounts(lost, doubled, not (before.startswith(MINE) and after.endswith("-->\n")))


def side_by_side(home: Path, writers: int, edits: int) -> EditCounts:
    """Let some processes make some edits each, all at once."""
    file = _begun(home)
    started = [_start(home, writer, edits) for writer in range(writers)]
    told = [process.communicate()[0] for process in started]
    done = [line for lines in told for line in lines.splitlines()]
    wanted = [f"- {writer}.{number}" for writer in range(writers) for number in range(edits)]
    found = _check(file, wanted)
    return found._replace(lost=found.lost + len(set(wanted) - set(done)))


def kill_editors(home: Path, kills: int) -> EditCounts:
    """Kill a process in the middle of its edits, again and again; what it told of must be there."""
    file, chance = _begun(home), random.Random(7)
    told: list[str] = []
    for writer in range(kills):
        process = _start(home, writer, 10_000)
        assert process.stdout
        told.append(process.stdout.readline().strip())
        time.sleep(chance.random() / 20)
        process.kill()
        told += process.communicate()[0].splitlines()
    return _check(file, [line for line in told if line])


if __name__ == "__main__":
    asyncio.run(_edit(int(sys.argv[1]), int(sys.argv[2])))
