"""Tell whether words that an agent would keep are from something it has read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from sqlalchemy import select

from storage.engine import read_rows
from storage.tables import pages, sources

RUN = 6
"""So many words in a row, or Chinese characters, are never the same by chance often enough to
matter: who is wrongly suspected only waits for a person."""

WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")

MARK = re.compile(r"^\s*(?:[-*+>#]+|\d+[.)])\s+")
"""The mark of an item of a list, a quotation or a heading."""


def stands_in(lines: Sequence[str], texts: Iterable[str]) -> bool:
    """Say whether any line, or six words of it in a row, stand in any of some texts.

    Neither spaces and marks count, nor case, nor the forms of letters that look alike.
    """
    wanted = {one for line in lines for one in _runs(line)}
    return any(one in text for text in map(_squeezed, texts) for one in wanted)


async def read_by(owner: str, thread: str, run: str) -> list[str]:
    """Return the texts of the pages that a run, or an earlier one of its thread, has read."""
    shown = select(sources.c.page).where(sources.c.thread == thread)
    wanted = pages.c.id.in_(shown) | (pages.c.run == run)
    rows = await read_rows(select(pages.c.text).where(pages.c.owner == owner, wanted))
    return list(rows.scalars())


def _runs(line: str) -> list[str]:
    words = WORD.findall(_plain(MARK.sub("", line)))
    if not words:
        return []
    return ["".join(words[at : at + RUN]) for at in range(max(1, len(words) - RUN + 1))]


def _squeezed(text: str) -> str:
    return "".join(WORD.findall(_plain(text)))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
