"""Read a document, whatever it is, without harm to the process that asks for it."""

from __future__ import annotations

import hashlib
import re
import stat
from collections.abc import Callable
from functools import partial
from itertools import dropwhile, islice, takewhile
from pathlib import Path
from textwrap import shorten
from typing import TypeVar

from anyio import fail_after, to_thread

from config.errors import Problem
from retrieval.boilerplate import boilerplate
from tools.apart import WorkerLost, run_apart
from tools.files.kinds import HEAVY, READERS, SUFFIXES, TEXTS
from tools.files.shapes import Document, File, Grid, Limits, Refused
from tools.files.worker import read, read_apart, read_grids, read_grids_apart

Result = TypeVar("Result")

_LIGHT = 200_000
_HEADER = 12
_LONGEST_TITLE = 80
_DECORATION = " \t#*=-_~.。"
_MANUAL = re.compile(r"\s*(\S+\(\d\w*\))\s.*\s\1\s*$", re.IGNORECASE)
_NAME = re.compile(r"(?:name|名称|名稱|名字)\s*$", re.IGNORECASE)
_TITLED = re.compile(r"title\s*:\s*(\S.*)", re.IGNORECASE)
# What a manual page is called, and what it is about.
_MANUAL = re.compile(
    r"\A\s*(?:\S+\([\w.]+\)[^\n]*\n\s*)?NAME\n+[ \t]+(\S[^\n]* [-–—‐] [^\n]*(?:\n[ \t]+\S[^\n]*)?)"
)
# The header of a copy: where it is from, when it was made.
_ADDRESSED = re.compile(r"https?://|^(?:date|retrieved|saved|fetched|crawled)\b.*:", re.IGNORECASE)
_DEFAULT = Limits()
_HINTS = {
    "file_bomb": "leave it out, or save it anew from the program that made it",
    "file_broken": "open it in its own program and save it again",
    "file_empty": "check that it was saved or copied completely",
    "file_encrypted": "save a copy without the password",
    "file_no_text": "run a text recognition (OCR) on it first",
    "file_not_found": "check the path",
    "file_not_text": "save it as UTF-8 text",
    "file_timeout": "split it, or save it as plain text",
    "file_too_large": "split it into smaller files",
    "file_type": f"what can be read: {' '.join(sorted(SUFFIXES))}",
    "file_type_mismatch": "give it the suffix of what it is",
    "file_unreadable": "check its permissions",
}


SLOWEST = 100_000
"""So many bytes of a long file are read in a second on a machine that does much else."""


async def extract(path: Path, limits: Limits = _DEFAULT, *, apart: bool = False) -> Document:
    """Read a document into sections of 1,500 to 6,000 characters, each with its place.

    Args:
        path: Which.
        limits: What it may cost.
        apart: Whether a light file is read in a worker process, too.

    Raises:
        Problem: `file_…`, with a code that says why the file is not read; see `_HINTS`.
    """
    try:
        file = await to_thread.run_sync(_load, path, limits)
        document = await _run(read_apart if apart else read, read_apart, file)
    except Refused as refused:
        raise _problem(refused, path) from refused
    title = document["title"] or _first_line(document, path) or path.stem
    return Document(title=title, sections=document["sections"])


def _first_line(document: Document, path: Path) -> str:
    """Return the words that a text begins with; code, settings and tables begin with none."""
    if path.suffix.lower() not in TEXTS:
        return ""
    text = document["sections"][0]["text"]
    if manual := _MANUAL.match(text):
        line = re.sub(" [–—‐] ", " - ", manual[1], count=1)
        return shorten(line, _LONGEST_TITLE, placeholder="…")
    lines = text.splitlines()[:_HEADER]
    told = next(filter(None, map(_TITLED.match, lines)), None)
    if told:
        return told[1].strip()
    if any(map(_MANUAL.match, lines)):
        lines = _names(lines) or lines
    telling = (line for line in lines if not (_ADDRESSED.search(line) or boilerplate(line)))
    bare = (line.strip(_DECORATION) for line in telling)
    line = next((line for line in bare if any(map(str.isalpha, line))), "")
    return shorten(line, _LONGEST_TITLE, placeholder="…") if " " in line else line[:_LONGEST_TITLE]


def _names(lines: list[str]) -> list[str]:
    """Return what a page of a manual says that it is about, in one line."""
    below = dropwhile(lambda line: not _NAME.match(line), lines)
    named = list(takewhile(str.strip, islice(below, 1, None)))
    return [" ".join(" ".join(named).split())] if named else []


async def cells(path: Path, sha256: str, limits: Limits = _DEFAULT) -> list[Grid]:
    """Read the cells of the tables of a file, as it was when it had a hash; none of another one.

    Raises:
        Problem: `file_…`, as `extract`.
    """
    try:
        file = await to_thread.run_sync(_load, path, limits)
        if await to_thread.run_sync(lambda: hashlib.sha256(file.data).hexdigest()) != sha256:
            return []
        return await _run(read_grids, read_grids_apart, file)
    except Refused as refused:
        raise _problem(refused, path) from refused


def _problem(refused: Refused, path: Path) -> Problem:
    hint = _HINTS.get(refused.code, "")
    return Problem(refused.code, refused.what, where=str(path), hint=hint)


def _load(path: Path, limits: Limits) -> File:
    """Read the bytes once: what is parsed later is what was checked here."""
    suffix = path.suffix.lower()
    try:
        if suffix not in SUFFIXES or not stat.S_ISREG(path.stat().st_mode):
            raise Refused("file_type", f"files like this are not read: {path.name!r}")
        with path.open("rb") as stream:
            data = stream.read(limits.size + 1)
    except FileNotFoundError:
        raise Refused("file_not_found", "there is no such file") from None
    except OSError as error:
        raise Refused("file_unreadable", f"it cannot be opened: {error.strerror}") from None
    if len(data) > limits.size:
        raise Refused("file_too_large", f"it has more than {limits.size} bytes")
    if not data.strip():
        raise Refused("file_empty", "it is empty")
    return File(data, suffix, limits)


async def _run(
    beside: Callable[[str, File], Result], apart: Callable[[str, File], Result], file: File
) -> Result:
    """Read a heavy file in a worker process, a light one in a thread, within its time."""
    reader = READERS[file.suffix]
    seconds = file.limits.seconds + len(file.data) / SLOWEST
    try:
        if beside is apart or file.suffix in HEAVY or len(file.data) > _LIGHT:
            return await run_apart(partial(apart, reader, file), seconds)
        with fail_after(seconds):
            return await to_thread.run_sync(beside, reader, file, abandon_on_cancel=True)
    except TimeoutError:
        raise Refused("file_timeout", f"reading it takes more than {seconds:g} seconds") from None
    except WorkerLost:
        raise Refused("file_broken", "its parser crashed") from None
