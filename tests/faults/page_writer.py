"""Keep pages in several processes at once, kill them, and count what was lost, doubled or late.

`python -m tests.faults.page_writer` is such a process.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from asyncio.subprocess import PIPE, Process
from pathlib import Path

from sqlalchemy import Connection, func, select, text

from library.page_retrieval import find_pages
from library.page_rows import NewPage
from library.store import store_pages
from library.tables import members, namespaces, pages
from storage.engine import close_database, run_read

OWNER = "eval/"
ROOT = Path(__file__).parents[2]


async def write_together(processes: int, each: int) -> int:
    """Let processes keep pages at the same time; return how many pages there are in the end."""
    names = [_word("writer", number) for number in range(processes)]
    running = [await _started("keep", name, str(each)) for name in names]
    for process in running:
        if await process.wait():
            msg = "a process that kept pages failed"
            raise RuntimeError(msg)
    return sum([await _count(name) for name in names])


async def kill_writer(times: int, count: int) -> tuple[int, int]:
    """Kill a process while it keeps pages, and let another one go on, as often as is said.

    Returns:
        How often it was killed before it was done, and how many pages there are in the end.

    Raises:
        RuntimeError: If the database is not intact after a kill.
    """
    chance = random.Random(1)
    killed = 0
    for number in range(times):
        name = _word("killed", number)
        process = await _started("keep", name, str(count))
        assert process.stdout
        # It is killed somewhere between its first and its last page.
        for _ in range(chance.randrange(1, count)):
            if not await process.stdout.readline():
                break
        await asyncio.sleep(chance.random() / 100)
        if process.returncode is None:
            process.kill()
            killed += 1
        await process.wait()
        if found := await find_flaws():
            msg = f"not intact after kill {number + 1}: {found}"
            raise RuntimeError(msg)
        if await (await _started("keep", name, str(count))).wait() or await _count(name) != count:
            msg = f"{await _count(name)} of {count} pages after kill {number + 1}"
            raise RuntimeError(msg)
    return killed, await _count(_word("killed", times - 1))


async def fresh(trials: int) -> tuple[int, float]:
    """Keep pages in one open process and search in another; return how many were found, how fast.

    The seconds are from the word that a page is kept to the word that it was found.
    """
    writer, reader = await _started("obey"), await _started("obey")
    await _told(reader, "find nothing")
    found, seconds = 0, 0.0
    for number in range(trials):
        await _told(writer, f"keep {_word('fresh', number)}")
        started = time.perf_counter()
        found += await _told(reader, f"find {_word('fresh', number)}") == "1"
        seconds += time.perf_counter() - started
    for process in (writer, reader):
        process.kill()
        await process.wait()
    return found, seconds / trials


def _word(text: str, number: int) -> str:
    """Return a numbered word, in letters, that is cut as one and has no ending."""
    return text + str(number).translate(str.maketrans("0123456789", "bcdfghjklm")) + "x"


async def find_flaws() -> list[str]:
    """Return what is wrong with the page store and its index; nothing if it is intact."""
    return await run_read(_flaws)


def _flaws(connection: Connection) -> list[str]:
    live = select(func.count()).where(pages.c.indexed > 0)
    indexed = connection.execute(text("SELECT COUNT(*) FROM page_words")).scalar_one()
    found = [] if connection.execute(live).scalar_one() == indexed else ["pages and index differ"]
    counted = (
        select(members.c.namespace, func.count(), func.sum(_words(pages.c.words)))
        .join(pages, pages.c.number == members.c.page)
        .where(pages.c.indexed > 0)
        .group_by(members.c.namespace)
    )
    right = {number: (count, words) for number, count, words in connection.execute(counted)}
    for row in connection.execute(select(namespaces)):
        if (row.pages, row.words) != right.get(row.number, (0, 0)):
            found.append(f"namespace {row.number} has counted wrong")
    if connection.dialect.name == "sqlite":
        check = connection.execute(text("PRAGMA integrity_check")).scalar()
        found += [] if check == "ok" else [str(check)]
    return found


def _words(column: object) -> object:
    """Return the number of words that are joined by spaces."""
    return func.length(column) - func.length(func.replace(column, " ", "")) + 1


async def _count(name: str) -> int:
    """Return how many pages a process has kept that are found by a word of their own."""
    wanted = select(func.count()).where(pages.c.owner == OWNER, pages.c.title == name)
    count = int(await run_read(lambda connection: connection.execute(wanted).scalar_one()))
    return count if len(await find_pages(OWNER, name, count + 1)) == count else -1


async def _keep(name: str, count: int) -> None:
    """Keep pages one by one, and say so; those that are there already stay as they are."""
    for number in range(count):
        page = NewPage(title=name, place="", text=f"{name} page{number} waggle dance")
        await store_pages(OWNER, "web", f"{name}/{number}", [page], group=name)
        print(number, flush=True)
    await close_database()


async def _obey() -> None:
    """Keep and find what the standard input says, line by line."""
    for line in sys.stdin:
        verb, word = line.split()
        if verb == "keep":
            page = NewPage(title="", place="", text=f"{word} waggle dance")
            await store_pages(OWNER, "web", word, [page])
        print(len(await find_pages(OWNER, word, 10)) if verb == "find" else 0, flush=True)


async def _told(process: Process, line: str) -> str:
    assert process.stdin
    assert process.stdout
    process.stdin.write(f"{line}\n".encode())
    return (await process.stdout.readline()).decode().strip()


async def _started(*arguments: str) -> Process:
    command = [sys.executable, "-m", "tests.faults.page_writer", *arguments]
    return await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdin=PIPE, stdout=PIPE)


if __name__ == "__main__":
    task, *what = sys.argv[1:]
    asyncio.run(_keep(what[0], int(what[1])) if task == "keep" else _obey())
