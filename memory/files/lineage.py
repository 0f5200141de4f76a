"""Tell whether words that an agent would keep are from something it has read."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import select

from retrieval.regex import regex
from storage.engine import read_rows
from storage.tables import pages, sources

RUN = 5
"""So many words in a row, or Chinese characters, are never the same by chance often enough to
matter: who is wrongly suspected only waits for a person."""

WORD = regex(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")

MARK = regex(r"^\s*(?:[-*+>#]+|\d+[.)])\s+")
"""The mark of an item of a list, a quotation or a heading."""

FOREIGN = frozenset(["tool", "web"])
"""The classes of provenance of what strangers may have written."""


def stands_in(lines: Sequence[str], texts: Iterable[str]) -> bool:
    """Say whether any line, or five words of it in a row, stand in any of some texts.

    Neither spaces and marks count, nor case, nor the forms of letters that look alike.
    """
    wanted = {one for line in lines for one in _runs(line)}
    return any(one in text for text in map(_squeezed, texts) for one in wanted)


class Read(NamedTuple):
    """What an agent has read."""

    texts: Sequence[str] = ()
    foreign: bool = False
    """Whether any of it is from the web or a tool; what is made of it is trusted no more."""


async def read_by(owner: str, thread: str, run: str) -> Read:
    """Return the pages that a run, or an earlier one of its thread, has read."""
    shown = select(sources.c.page).where(sources.c.thread == thread)
    wanted = pages.c.id.in_(shown) | (pages.c.run == run)
    asked = select(pages.c.text, pages.c.provenance).where(pages.c.owner == owner, wanted)
    rows = (await read_rows(asked)).all()
    return Read([row.text for row in rows], any(row.provenance in FOREIGN for row in rows))


def _runs(line: str) -> list[str]:
    words = WORD.findall(_plain(MARK.sub("", line)))
    if not words:
        return []
    return ["".join(words[at : at + RUN]) for at in range(max(1, len(words) - RUN + 1))]


def _squeezed(text: str) -> str:
    return "".join(WORD.findall(_plain(text)))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
