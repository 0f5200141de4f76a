"""Read several short files and make their pages, in one go: a worker process can do it alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from memory.pages.rows import NewPage
from memory.pages.sizing import prepared
from report.citations import SECTION
from tools.files.kinds import LIGHT, READERS, is_heavy
from tools.files.shapes import Document, Limits, Refused
from tools.files.titles import title_of
from tools.files.worker import read_path, read_path_apart

MANY = 50
"""How many files a bunch has, at most."""

ROOM = LIGHT
"""How many bytes the files of a bunch have together, at most."""


class Due(NamedTuple):
    """A file that is to be read, or why it cannot be."""

    path: Path
    size: int
    modified: int
    failure: str = ""

    @property
    def is_short(self) -> bool:
        """Whether it is read together with others: a few bytes of a light type."""
        return not self.failure and not is_heavy(self.path.suffix, self.size)


def bunches(due: Sequence[Due]) -> Iterator[list[Due]]:
    """Yield the files that are read together: short ones; every other file is alone."""
    bunch: list[Due] = []
    for one in due:
        if not one.is_short:
            yield [one]
            continue
        full = len(bunch) == MANY or sum(other.size for other in bunch) + one.size > ROOM
        if bunch and full:
            yield bunch
            bunch = []
        bunch.append(one)
    if bunch:
        yield bunch


class Outcome(NamedTuple):
    """What became of a file: its pages, or a code and a reason why it was not read."""

    pages: list[NewPage]
    code: str = ""
    reason: str = ""


def read_bunch(files: Sequence[tuple[Path, str]], limits: Limits, *, apart: bool) -> list[Outcome]:
    """Return what becomes of some files, in their order.

    Args:
        files: Where each lies, and the hash of what is in it.
        limits: What each may cost.
        apart: Whether this is a worker process, whose memory is limited.
    """
    return [_outcome(path, sha256, limits, apart=apart) for path, sha256 in files]


def _outcome(path: Path, sha256: str, limits: Limits, *, apart: bool) -> Outcome:
    try:
        reader = READERS.get(path.suffix.lower(), "")
        document = (read_path_apart if apart else read_path)(reader, path, limits)
    except Refused as refused:
        return Outcome([], refused.code, refused.what)
    named = Document(title=title_of(document, path), sections=document["sections"])
    return Outcome(prepared(pages_of(named, sha256)))


def pages_of(document: Document, sha256: str) -> list[NewPage]:
    """Return the pages of a document by its sections; its hash is the name of their session."""
    # A dash like this parts the title of a document from that of a section.
    title = document["title"].replace(SECTION, " – ")
    return [
        NewPage(
            title=title
            if one["title"] in ("", document["title"])
            else f"{title}{SECTION}{one['title']}",
            place=one["place"],
            text=one["text"],
            session=sha256,
        )
        for one in document["sections"]
    ]
