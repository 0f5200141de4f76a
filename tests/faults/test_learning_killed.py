"""What a person said is on the disk before a run goes on, so no kill loses it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from memory.learning.message_queue import PersonMessage, lease_messages
from storage.engine import close_database
from tests.places import new_process

ROOT = Path(__file__).parents[2]

OBSERVED = """
import asyncio, os, signal
from memory.learning import message_queue
from runs.call_site import CallSite

SAID = message_queue.PersonMessage("t1", "t1-1", "m1", "My hives stand in Oslo.")

async def main():
    await message_queue.enqueue_message("local/", SAID)
    {then}
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""

READ = """
    from memory.learning.learner import process_messages
    async def ask(system, data):
        os.kill(os.getpid(), signal.SIGKILL)
    await process_messages(CallSite("local/", "t1", "t1-1", "", ""), ask, thread="t1")
"""


@pytest.fixture(autouse=True)
def _quick(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what was taken be there again at once: no test waits until a lease ends."""
    del home
    monkeypatch.setenv("DOSSIER_LEARN_SECONDS", "0")
    new_process()


@pytest.mark.parametrize("then", ["pass", READ.strip()], ids=["observed", "while it is read"])
async def test_a_kill_between_hearing_and_learning_loses_nothing(
    then: str, home: Path, monkeypatch: pytest.MonkeyPatch
):
    program = OBSERVED.format(then=then)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DOSSIER_HOME": str(home)}

    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, env=environment)

    assert await process.wait() == -signal.SIGKILL
    monkeypatch.setattr("memory.learning.message_queue.time.time", lambda: 4e9)
    try:
        (turn,) = await lease_messages("local/")
    finally:
        await close_database()
    assert turn.content == PersonMessage("t1", "t1-1", "m1", "My hives stand in Oslo.")
