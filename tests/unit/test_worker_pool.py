"""Calls that may crash or hang run in processes of their own, whatever program started them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path

import pytest

from tools import worker_pool
from tools.files.file_reader import read_file
from tools.files.formats import FileContent, FileLimits, FileRefused
from tools.worker_pool import WorkerLost, run_in_worker

ROOT = Path(__file__).parents[2]


def _run(folder: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a script of somebody else, in their folder."""
    script = folder / "mine.py"
    script.write_text(textwrap.dedent(program))
    (folder / "a.html").write_text("<p>Storks nest on chimneys in April.</p>")
    return subprocess.run(
        [sys.executable, str(script), *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_script_without_a_main_guard_is_not_run_again_by_its_workers(tmp_path):
    ran = _run(
        tmp_path,
        """
        import asyncio
        from pathlib import Path
        from tools.files.extractor import extract_document

        with open("started", "a") as file:
            file.write("once ")
        print(asyncio.run(extract_document(Path("a.html")))["sections"][0]["text"])
        """,
    )

    assert ran.stdout == "Storks nest on chimneys in April.\n", ran.stderr
    assert (tmp_path / "started").read_text() == "once "


def test_a_script_that_reads_its_arguments_at_the_top_can_read_pages(tmp_path):
    ran = _run(
        tmp_path,
        """
        import asyncio, sys
        from tools.web.page_text import read_page_text

        name = sys.argv[1]
        page = open(name, "rb").read()
        print(asyncio.run(read_page_text(page, "", markup=True)).text)
        """,
        "a.html",
    )

    assert ran.stdout == "Storks nest on chimneys in April.\n", ran.stderr


async def test_what_a_call_raises_is_raised_here_with_its_words():
    file = FileContent(b"PK not a book", ".epub", FileLimits())

    with pytest.raises(FileRefused) as refused:
        await run_in_worker(partial(read_file, "tools.files.archive:read_epub", file), 30)

    assert refused.value.code == "file_broken"


async def test_a_process_that_dies_is_told_and_the_next_call_is_answered():
    with pytest.raises(WorkerLost):
        await run_in_worker(partial(os._exit, 3), 30)

    assert await run_in_worker(os.getpid, 30) != os.getpid()


async def test_a_call_that_takes_too_long_is_killed_with_its_process():
    worker = await run_in_worker(os.getpid, 30)

    with pytest.raises(TimeoutError):
        await run_in_worker(partial(time.sleep, 60), 0.2)

    assert await run_in_worker(os.getpid, 30) != worker


def compute(seconds: float) -> float:
    """Keep the processor busy, and say how long that was by the clock."""
    started, end = time.monotonic(), time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1_000))
    return time.monotonic() - started


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a process computes")
async def test_a_call_that_waits_for_a_busy_processor_is_not_ended(monkeypatch):
    monkeypatch.setattr(worker_pool, "_LOOK_SECONDS", 0.05)
    pid = await run_in_worker(os.getpid, 30)
    call = asyncio.create_task(run_in_worker(partial(compute, 0.9), 2.0))
    while not call.done():
        os.kill(pid, signal.SIGSTOP)
        await asyncio.sleep(0.08)
        os.kill(pid, signal.SIGCONT)
        await asyncio.sleep(0.03)

    assert await call > 2.0


async def test_a_call_that_computes_too_long_is_ended():
    await run_in_worker(os.getpid, 30)

    with pytest.raises(TimeoutError):
        await run_in_worker(partial(compute, 60), 0.5)


async def test_what_a_library_prints_does_not_disturb_the_answers():
    await run_in_worker(partial(os.write, 1, b"a line of a C library\n"), 30)

    assert await run_in_worker(partial(max, 4, 7), 30) == 7


async def test_a_call_that_is_cancelled_leaves_no_process_behind():
    worker = await run_in_worker(os.getpid, 30)
    call = asyncio.create_task(run_in_worker(partial(time.sleep, 60), 90))
    await asyncio.sleep(0.1)

    call.cancel()
    await asyncio.gather(call, return_exceptions=True)

    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


class Particular(Exception):
    """An exception that pickle writes and cannot read again."""

    def __init__(self, what: str, where: str) -> None:
        super().__init__(f"{what} in {where}")


def fail_particularly() -> None:
    raise Particular("a tear", "the page")


async def test_an_exception_that_cannot_be_read_again_is_told_in_words():
    with pytest.raises(RuntimeError, match="Particular: a tear in the page"):
        await run_in_worker(fail_particularly, 30)


def test_a_worker_that_reads_plain_text_loads_no_event_loop_and_no_guesser_of_encodings(tmp_path):
    ran = _run(
        tmp_path,
        """
        import sys
        import library.page_sizing, tools.files.text_files, tools.files.file_reader

        print({"asyncio", "anyio", "charset_normalizer", "pydantic", "sqlalchemy"} & {*sys.modules})
        """,
    )

    assert ran.stdout == "set()\n", ran.stderr
