"""Every page that may be cited has one number in its thread, for ever."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from report.source_registry import CitablePage, register_sources

pytestmark = pytest.mark.usefixtures("either")

ROOT = Path(__file__).parents[2]

REGISTER = """
import asyncio, sys
from report.source_registry import CitablePage, register_sources
from storage.engine import close_database

async def main():
    for number in range(30):
        page = f"{sys.argv[1]}{number}"
        (source,) = await register_sources("t1", [CitablePage(page, "", "", "web")])
        print(source["id"], page)
    await close_database()

asyncio.run(main())
"""


def a_page(name: str, kind: str = "web") -> CitablePage:
    return CitablePage(name, f"Title of {name}", f"https://a.org/{name}", kind)


async def numbers(*names: str, thread: str = "t1") -> list[str]:
    return [
        source["id"] for source in await register_sources(thread, [a_page(name) for name in names])
    ]


async def test_pages_are_numbered_in_their_order():
    assert await numbers("a", "b", "c") == ["S1", "S2", "S3"]


async def test_a_page_keeps_its_number_and_a_new_one_gets_the_next():
    await numbers("a", "b")

    assert await numbers("c", "b", "d", "a") == ["S3", "S2", "S4", "S1"]


async def test_a_page_named_twice_is_one_source():
    assert await numbers("a", "b", "a") == ["S1", "S2", "S1"]


async def test_every_thread_counts_for_itself():
    await numbers("a", "b")

    assert await numbers("b", thread="t2") == ["S1"]


async def test_without_pages_there_are_no_sources():
    assert await register_sources("t1", []) == []
    assert await numbers("a") == ["S1"]


async def test_a_source_says_what_a_reader_needs():
    (source,) = await register_sources("t1", [a_page("a", "file")])

    told = {"id": "S1", "page": "a", "title": "Title of a", "location": "https://a.org/a"}
    assert source == told | {"kind": "file", "site": "a.org", "genre": "file"}


@pytest.mark.parametrize(
    ("kind", "told"), [("file", "file"), ("web", "web"), ("report", "memory"), ("chat", "memory")]
)
async def test_what_was_neither_a_file_nor_a_web_page_is_memory(kind: str, told: str):
    (source,) = await register_sources("t1", [a_page("a", kind)])

    assert source["kind"] == told


async def test_twenty_branches_at_once_give_no_number_twice():
    branches = [[f"own{number}", f"shared{number % 3}"] for number in range(20)]
    results = await asyncio.gather(*(numbers(*names) for names in branches))

    given = {
        (name, number)
        for names, found in zip(branches, results, strict=True)
        for name, number in zip(names, found, strict=True)
    }
    assert len(given) == 23
    assert {number for _, number in given} == {f"S{number}" for number in range(1, 24)}


async def test_two_processes_at_once_give_no_number_twice():
    both = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", REGISTER, name, cwd=ROOT, stdout=asyncio.subprocess.PIPE
        )
        for name in "ab"
    ]
    told = await asyncio.gather(*(process.communicate() for process in both))
    lines = [line.split() for output, _ in told for line in output.decode().splitlines()]

    assert sorted(number for number, _ in lines) == sorted(f"S{n}" for n in range(1, 61))
    assert await numbers(*[page for _, page in lines]) == [number for number, _ in lines]
