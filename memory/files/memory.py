"""The AGENTS.md files that people write for their agents, told before every model call."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator

from config.errors import Problem
from memory.base import Note, Query
from memory.files.relevance import by_relevance
from memory.files.section import Divided, divided
from memory.files.sources import Sources, on_disk
from memory.files.text import decoded, shown
from retrieval.tokens import estimate

LEARNED = "#learned"
"""What stands behind the path of a file in the title of what agents wrote into it."""


class AgentsFiles:
    """What memory files say: the person's, and those of the project."""

    name = "instructions"
    share = 0.3

    def __init__(self, sources: Sources = on_disk) -> None:
        """Say where the files lie: on disk, `in_state`, `in_store` or `within` another backend."""
        self.sources = sources

    async def recall(self, query: Query, budget: int) -> list[Note]:
        """Return a note for each file that says something, in the order of the sources.

        What agents wrote into a file is a note of its own.

        Raises:
            Problem: `memory_file_unreadable` or `memory_file_too_large`, with the path.
        """
        sources = await self.sources(query)
        held = await asyncio.gather(*(source.files.read(source.path) for source in sources))
        notes = [
            note
            for source, data in zip(sources, held, strict=True)
            for note in notes_of(source.path, data or b"")
        ]
        if sum(estimate(note.text) for note in notes) <= budget * self.share:
            return notes
        # Not all of it may fit: what is about this call is told before the rest.
        about = query.context
        return [
            note._replace(order=await asyncio.to_thread(by_relevance, note.text, about))
            for note in notes
        ]


def notes_of(path: str, data: bytes) -> Iterator[Note]:
    """Yield what a file says; its id holds the hash of its content, so it names one revision.

    Raises:
        Problem: `memory_file_unreadable` or `memory_file_too_large`, with the path.
    """
    before, inside, after = _divided(decoded(data, path), path)
    revision = hashlib.sha256(data).hexdigest()[:12]
    for title, text in ((path, before + after), (f"{path}{LEARNED}", inside)):
        if said := shown(text.removeprefix("\ufeff")):
            yield Note(title, said, f"{title}@{revision}")


def _divided(text: str, path: str) -> Divided:
    """Return a file's text in parts; one whose marks are broken is all the person's."""
    try:
        return divided(text, path)
    except Problem:
        return Divided(text, "", "")
