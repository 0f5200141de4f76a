"""What one process has read on the web, no other fetches again."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.loopback import reply, serving

pytestmark = pytest.mark.integration

READ = """
import asyncio, sys
from graph.context import Context
from runs.lifecycle import create_run
from runs.call_site import CallSite
from storage.engine import close_database
from tools.web.web_search import read_web_pages

async def main(url, thread, turn):
    run = await create_run("local/", thread, int(turn), f"Question {turn}?", Context())
    problems = []
    found = await read_web_pages(CallSite("local/", thread, run, "s1", "0.0.0"), [url], problems)
    print(len(found), [str(one) for one in problems])
    await close_database()

asyncio.run(main(*sys.argv[1:]))
"""


async def read(url: str, home: Path, thread: str, turn: int) -> str:
    """Read an address in a process of its own; return what it says of that."""
    environment = {
        **os.environ,
        "DOSSIER_HOME": str(home),
        "DOSSIER_ALLOW_PRIVATE_FETCH": "true",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", READ, url, thread, str(turn), env=environment, stdout=-1
    )
    said, _ = await process.communicate()
    return said.decode().strip()


async def test_a_page_is_fetched_once_however_many_processes_read_it(home: Path):
    words = "<p>Bees dance in the summer, and sleep in the winter.</p>" * 3
    html = f"<html><title>Bees</title><body><article>{words}</article></body></html>"

    async with serving(lambda _: reply(html)) as server:
        said = [
            await read(f"{server.url}/bees", home, thread, turn)
            for thread, turn in [("t1", 1), ("t1", 2), ("t2", 1)]
        ]

    assert said == ["1 []"] * 3
    assert len(server.asked) == 1
