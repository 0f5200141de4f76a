"""Work on texts keeps nobody waiting: neither the one who gives up nor the end of the program."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from config.errors import Problem
from library.page_rows import NewPage
from text.background_threads import run_abandonable
from tools.web import web_search

ROOT = Path(__file__).parents[2]


def test_what_is_done_aside_comes_back_and_so_does_what_it_raises():
    async def both() -> tuple[str, str]:
        with pytest.raises(ValueError, match="bees"):
            await run_abandonable(_fail)
        return await run_abandonable(str.upper, "bees"), await run_abandonable(
            "{} {}".format, "two", "bees"
        )

    assert asyncio.run(both()) == ("BEES", "two bees")


def _fail() -> None:
    raise ValueError("bees")


def test_a_text_that_takes_too_long_is_a_problem_with_a_hint_and_the_program_goes_on():
    began = time.monotonic()

    with pytest.raises(Problem) as told:
        asyncio.run(run_abandonable(time.sleep, 30, seconds=0.05))

    assert (told.value.code, bool(told.value.hint)) == ("text_timeout", True)
    assert time.monotonic() - began < 5


def test_ctrl_c_ends_a_program_whose_text_is_still_being_worked_on():
    script = """
        import asyncio
        from text.background_threads import run_abandonable

        def endless():
            print("begun", flush=True)
            while True:
                sum(range(1000))

        asyncio.run(run_abandonable(endless))
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "begun\n"

    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=20)

    assert error.endswith("KeyboardInterrupt\n")


def test_a_page_whose_text_takes_too_long_is_one_that_could_not_be_fetched(monkeypatch):
    monkeypatch.setattr(web_search, "size_pages", _endless)
    monkeypatch.setattr(web_search, "SECONDS", 1.0)
    page = NewPage(title="Bees", place="", text="Bees dance. " * 1_000)

    with pytest.raises(Problem) as told:
        asyncio.run(web_search._split_long_page(page, "https://u:p@bees.org/dance?key=1"))

    assert told.value.code == "page_timeout"
    assert told.value.where == "https://bees.org/dance"


def _endless(_: list[NewPage]) -> list[NewPage]:
    while True:
        sum(range(1000))
