"""What goes into a reader and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from typing_extensions import TypedDict


class Section(TypedDict):
    """A part of a document; `place` is what stands behind `#` in its location."""

    title: str
    place: str
    text: str


class Grid(NamedTuple):
    """The cells of one table; rows have the numbers they have in the file, from 1."""

    name: str
    header: list[str]
    """Empty where no row looks like one."""
    rows: list[tuple[int, list[str]]]
    """The rows below the header that hold anything."""


class Document(TypedDict):
    """A document as text, in the order of reading."""

    title: str
    sections: list[Section]


@dataclass(frozen=True)
class Limits:
    """How much one document may cost."""

    size: int = 30_000_000
    """Bytes of the file."""
    pages: int = 2_000
    """Pages of a PDF."""
    seconds: float = 30.0
    """Time to read a short one, without the wait for a free worker; a long one has more."""
    memory: int = 1_000_000_000
    """Bytes that a worker may need to read it."""
    text: int = 10_000_000
    """Characters of text in it."""


@dataclass(frozen=True)
class File:
    """The bytes of one file, and how to take them; `suffix` is in lower case with its dot."""

    data: bytes
    suffix: str
    limits: Limits


class Refused(Exception):
    """A file that is not read, with a code and a reason; it can cross to another process."""

    def __init__(self, code: str, what: str) -> None:
        super().__init__(code, what)
        self.code = code
        self.what = what
