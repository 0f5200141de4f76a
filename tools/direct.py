"""Keep what was worked out for a question as a page that can be cited."""

from __future__ import annotations

from typing import NamedTuple

from graph.records import Passage, Source
from memory.pages.records import record
from memory.pages.rows import NewPage
from report.sources import Citable, register
from runs.place import Here


class Direct(NamedTuple):
    """A passage that answers a question by itself, its source, and what is still open, if any."""

    passage: Passage
    source: Source
    reason: str = ""
    """Why it is no whole answer; empty where it is."""


class Made(NamedTuple):
    """What was worked out: its words, and what it was worked out from."""

    kind: str
    """The kind of pages that it was worked out from."""
    origin: str
    location: str
    title: str
    place: str
    text: str
    reason: str = ""


async def direct(here: Here, made: Made) -> Direct:
    """Return what was worked out as a passage of a source of this thread."""
    page = NewPage(title=made.title, place=made.place, text=made.text)
    id = await record(here.owner, made.kind, made.origin, page)
    where = f"{made.location}#{made.place}" if made.place else made.location
    (source,) = await register(here.thread, [Citable(id, made.title, where, "computed")])
    return Direct(Passage(source=source["id"], text=made.text), source, made.reason)
