"""Measure how much of real web pages and PDF files is read.

Run `python -m evals.extraction FOLDER [FOLDER …] --limit 20`. A web page is read as from the web
and as a file; of each the words are counted that stand in the fullest reading too: all text of the
page but scripts, menus, footers and forms. A paragraph that begins in lower case behind one without
an end is a broken sentence. A PDF is compared with `pdftotext`: words found, words that are not
there, and runs of three words in the same order. Each PDF is read in a process of its own, whose
memory is told.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import resource
import subprocess
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import islice, pairwise
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from lxml import html

from config.errors import Problem
from tools.files.reading import extract
from tools.files.shapes import Limits
from tools.web.text import read_text

WORD = re.compile(r"\w+")
AROUND = (
    "//script | //style | //noscript | //template | //svg | //nav | //footer | //aside | //form"
    " | //button | //select | //*[@hidden] | //*[@aria-hidden='true'] | //*[contains("
    "' navigation search contentinfo banner complementary ', concat(' ', @role, ' ')) and @role]"
)
ENDED = re.compile(r"[.!?:;。！？：；…|)\]\"'”’」』]\W*$")
PAGES = {".html", ".htm", ".xhtml"}
LIMITS = Limits(pages=2_000, seconds=300)


class Read(NamedTuple):
    """What became of one file: words kept, words there are, words read, and more to count."""

    kept: int
    there: int
    read: int
    ordered: int = 0
    broken: int = 0
    paragraphs: int = 0
    seconds: float = 0.0
    memory: int = 0


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without typography."""
    return WORD.findall(unicodedata.normalize("NFKC", text).replace("\xad", "").lower())


def common(one: Iterable[Any], other: Iterable[Any]) -> int:
    """Return how many members two collections share, each as often as it is in both."""
    return sum((Counter(one) & Counter(other)).values())


def fullest(data: bytes) -> str:
    """Return all text of a page but what is around it."""
    root = html.document_fromstring(data)
    for node in root.xpath(AROUND):
        if node.getparent() is not None:
            node.drop_tree()
    body = root.find(".//body")
    for node in root.iter():
        node.tail = (
            f" {node.tail or ''}" if isinstance(node.tag, str) and _parts(node) else node.tail
        )
    return str((body if body is not None else root).text_content())


def _parts(node: Any) -> bool:
    return node.tag in {
        "br",
        "p",
        "div",
        "td",
        "th",
        "li",
        "dt",
        "dd",
        "tr",
        "pre",
        "h1",
        "h2",
        "h3",
    }


def broken(text: str) -> tuple[int, int]:
    """Return how many paragraphs go on from one that did not end, and how many there are."""
    parts = [part.strip() for part in text.split("\n\n") if part.strip()]
    pairs = pairwise(parts)
    torn = sum(
        bool(re.match(r"[a-z,;.)]", after)) and not ENDED.search(before) and before[0] not in "#-"
        for before, after in pairs
    )
    return torn, len(parts)


async def web_page(path: Path) -> Read:
    """Read a page as one that was fetched."""
    data = await asyncio.to_thread(path.read_bytes)
    start = time.monotonic()
    text = (await read_text(data, "", markup=True, seconds=60)).text
    return _compared(text, fullest(data), time.monotonic() - start)


async def page_file(path: Path) -> Read:
    """Read a page as a file."""
    start = time.monotonic()
    document = await extract(path, LIMITS)
    text = "\n\n".join(section["text"] for section in document["sections"])
    seconds = time.monotonic() - start
    return _compared(text, fullest(await asyncio.to_thread(path.read_bytes)), seconds)


async def pdf(path: Path) -> Read:
    """Read a PDF and compare it with what `pdftotext` finds."""
    known = await asyncio.to_thread(_pdftotext, path)
    command = [sys.executable, "-m", "evals.extraction", "--one", str(path)]
    told = await asyncio.to_thread(subprocess.check_output, command)
    said = json.loads(told)
    return _compared(said["text"], known, said["seconds"], said["memory"])


def one_pdf(path: Path) -> None:
    """Read a PDF in this process and print its text, the seconds and the megabytes it took."""
    from importlib import import_module  # noqa: PLC0415

    from tools.files.shapes import File  # noqa: PLC0415

    start = time.monotonic()
    module = import_module("tools.files.pdf")
    document = module.read(File(path.read_bytes(), ".pdf", LIMITS))
    text = "\n\n".join(section["text"] for section in document["sections"])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"text": text, "seconds": time.monotonic() - start, "memory": memory}))


def _pdftotext(path: Path) -> str:
    done = subprocess.run(["pdftotext", str(path), "-"], capture_output=True, check=True)  # noqa: S603, S607
    return done.stdout.decode(errors="replace")


def _compared(text: str, known: str, seconds: float, memory: int = 0) -> Read:
    have, there = words(text), words(known)
    kept, torn = common(have, there), broken(text)
    ordered = common(_threes(have), _threes(there))
    return Read(kept, len(there), len(have), ordered, *torn, seconds, memory)


def _threes(found: Sequence[str]) -> Iterable[tuple[str, ...]]:
    return zip(found, islice(found, 1, None), islice(found, 2, None), strict=False)


def total(reads: Sequence[Read]) -> Read:
    """Add up what became of some files; of the memory the most."""
    sums = [sum(column) for column in zip(*reads, strict=True)]
    return Read(*sums)._replace(memory=max(one.memory for one in reads))


def line(name: str, read: Read, files: int = 1) -> str:
    """Return one result as a line of a table."""
    there, have = max(1, read.there), max(1, read.read)
    shares = f"{read.kept / there:7.2%} {read.kept / have:7.2%} {read.ordered / there:7.2%}"
    torn = f"{read.broken:5}/{read.paragraphs:<6}"
    cost = f"{read.seconds:7.1f}s {read.memory:5} MB"
    return f"{name[-44:]:44} {files:5} {read.there:9} {shares} {torn} {cost}"


async def measure(
    name: str, files: Sequence[Path], read: Callable[[Path], Any], each: bool
) -> None:
    """Read some files one after the other and print a line for all of them."""
    reads: list[Read] = []
    for path in files:
        try:
            reads.append(await read(path))
        except (Problem, subprocess.CalledProcessError) as error:
            print(f"{path}: {error}")
            continue
        if each:
            print(line(str(path), reads[-1]), flush=True)
    if reads:
        print(line(f"all: {name}", total(reads), len(reads)), flush=True)


def chosen(folders: Sequence[Path], suffixes: set[str], limit: int) -> list[Path]:
    """Return some files of the folders, the same ones each time, as many of each folder."""
    chance = Random(7)
    found: list[Path] = []
    for folder in folders:
        files = sorted(one for one in folder.rglob("*") if one.suffix.lower() in suffixes)
        files = [one for one in files if one.is_file() and not one.is_symlink()]
        found += chance.sample(files, min(limit, len(files)))
    return found


async def main() -> None:
    """Measure the files of the folders that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--limit", type=int, default=30, help="files of a kind from each folder")
    parser.add_argument("--each", action="store_true", help="print a line for every file")
    parser.add_argument("--one", type=Path, help="read one PDF and print it as JSON")
    given = parser.parse_args()
    if given.one:
        one_pdf(given.one)
        return
    print(f"{'':44} files   words    kept   right  in order  broken        seconds  memory")
    pages = chosen(given.folders, PAGES, given.limit)
    await measure("pages from the web", pages, web_page, given.each)
    await measure("pages as files", pages, page_file, False)
    await measure("PDF files", chosen(given.folders, {".pdf"}, given.limit), pdf, given.each)


if __name__ == "__main__":
    asyncio.run(main())
