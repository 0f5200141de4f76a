"""Measure how much of real web pages and PDF files is read.

Run `python -m benchmarks.page_extraction FOLDER [FOLDER …] --limit 20`. A web page is read as from
the web and as a file; of each the words are counted that stand in the fullest reading too: all text
of the page but scripts, menus, footers and forms. A paragraph that begins in lower case behind one
without an end is a broken sentence. A PDF is compared with `pdftotext`: words found, words that are
not there, and runs of three words in the same order. Each PDF is read in a process of its own,
whose memory is told.
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
from tools.files.extractor import extract_document
from tools.files.formats import FileLimits
from tools.web.page_text import read_page_text

WORD = re.compile(r"\w+")
AROUND = (
    "//script | //style | //noscript | //template | //svg | //nav | //footer | //aside | //form"
    " | //button | //select | //*[@hidden] | //*[@aria-hidden='true'] | //*[contains("
    "' navigation search contentinfo banner complementary ', concat(' ', @role, ' ')) and @role]"
)
ENDED = re.compile(r"[.!?:;。！？：；…|)\]\"'”’」』]\W*$")
PAGES = {".html", ".htm", ".xhtml"}
LIMITS = FileLimits(pages=2_000, seconds=300)


class _Read(NamedTuple):
    """What became of one file: words kept, words there are, words read, and more to count."""

    kept: int
    there: int
    read: int
    ordered: int = 0
    broken: int = 0
    paragraphs: int = 0
    seconds: float = 0.0
    memory: int = 0


def _words(text: str) -> list[str]:
    """Return the words of a text in lower case, without typography."""
    return WORD.findall(unicodedata.normalize("NFKC", text).replace("\xad", "").lower())


def _common(one: Iterable[Any], other: Iterable[Any]) -> int:
    """Return how many members two collections share, each as often as it is in both."""
    return sum((Counter(one) & Counter(other)).values())


def _fullest(data: bytes) -> str:
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


def _broken(text: str) -> tuple[int, int]:
    """Return how many paragraphs go on from one that did not end, and how many there are."""
    parts = [part.strip() for part in text.split("\n\n") if part.strip()]
    pairs = pairwise(parts)
    torn = sum(
        bool(re.match(r"[a-z,;.)]", after)) and not ENDED.search(before) and before[0] not in "#-"
        for before, after in pairs
    )
    return torn, len(parts)


async def _web_page(path: Path) -> _Read:
    """Read a page as one that was fetched."""
    data = await asyncio.to_thread(path.read_bytes)
    start = time.monotonic()
    text = (await read_page_text(data, "", markup=True, seconds=60)).text
    return _compared(text, _fullest(data), time.monotonic() - start)


async def _page_file(path: Path) -> _Read:
    """Read a page as a file."""
    start = time.monotonic()
    document = await extract_document(path, LIMITS)
    text = "\n\n".join(section["text"] for section in document["sections"])
    seconds = time.monotonic() - start
    return _compared(text, _fullest(await asyncio.to_thread(path.read_bytes)), seconds)


async def _pdf(path: Path) -> _Read:
    """Read a PDF and compare it with what `pdftotext` finds."""
    known = await asyncio.to_thread(_pdftotext, path)
    command = [sys.executable, "-m", "benchmarks.page_extraction", "--one", str(path)]
    told = await asyncio.to_thread(subprocess.check_output, command)
    said = json.loads(told)
    return _compared(said["text"], known, said["seconds"], said["memory"])


def _one_pdf(path: Path) -> None:
    """Read a PDF in this process and print its text, the seconds and the megabytes it took."""
    from tools.files.formats import FileContent  # noqa: PLC0415

    start = time.monotonic()
    from tools.files.pdf import read_pdf  # noqa: PLC0415

    document = read_pdf(FileContent(path.read_bytes(), ".pdf", LIMITS))
    text = "\n\n".join(section["text"] for section in document["sections"])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"text": text, "seconds": time.monotonic() - start, "memory": memory}))


def _pdftotext(path: Path) -> str:
    done = subprocess.run(["pdftotext", str(path), "-"], capture_output=True, check=True)  # noqa: S603, S607
    return done.stdout.decode(errors="replace")


def _compared(text: str, known: str, seconds: float, memory: int = 0) -> _Read:
    have, there = _words(text), _words(known)
    kept, torn = _common(have, there), _broken(text)
    ordered = _common(_threes(have), _threes(there))
    return _Read(kept, len(there), len(have), ordered, *torn, seconds, memory)


def _threes(found: Sequence[str]) -> Iterable[tuple[str, ...]]:
    return zip(found, islice(found, 1, None), islice(found, 2, None), strict=False)


def _total(reads: Sequence[_Read]) -> _Read:
    """Add up what became of some files; of the memory the most."""
    sums = [sum(column) for column in zip(*reads, strict=True)]
    return _Read(*sums)._replace(memory=max(one.memory for one in reads))


def _line(name: str, read: _Read, files: int = 1) -> str:
    """Return one result as a line of a table."""
    there, have = max(1, read.there), max(1, read.read)
    shares = f"{read.kept / there:7.2%} {read.kept / have:7.2%} {read.ordered / there:7.2%}"
    torn = f"{read.broken:5}/{read.paragraphs:<6}"
    cost = f"{read.seconds:7.1f}s {read.memory:5} MB"
    return f"{name[-44:]:44} {files:5} {read.there:9} {shares} {torn} {cost}"


async def _measure(
    name: str, files: Sequence[Path], read: Callable[[Path], Any], each: bool
) -> None:
    """Read some files one after the other and print a line for all of them."""
    reads: list[_Read] = []
    for path in files:
        try:
            reads.append(await read(path))
        except (Problem, subprocess.CalledProcessError) as error:
            print(f"{path}: {error}")
            continue
        if each:
            print(_line(str(path), reads[-1]), flush=True)
    if reads:
        print(_line(f"all: {name}", _total(reads), len(reads)), flush=True)


def _chosen(folders: Sequence[Path], suffixes: set[str], limit: int) -> list[Path]:
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
        _one_pdf(given.one)
        return
    print(f"{'':44} files   words    kept   right  in order  broken        seconds  memory")
    pages = _chosen(given.folders, PAGES, given.limit)
    await _measure("pages from the web", pages, _web_page, given.each)
    await _measure("pages as files", pages, _page_file, False)
    await _measure("PDF files", _chosen(given.folders, {".pdf"}, given.limit), _pdf, given.each)


if __name__ == "__main__":
    asyncio.run(main())
