"""Tell whether words that an agent would keep are from something it has read."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import select

from memory.experience.utterances import said_by_person
from memory.learning.gate import akin, borne_out
from memory.learning.voice import spoken
from retrieval.regex import regex
from retrieval.text import sentences
from retrieval.words import words
from storage.engine import read_rows
from storage.tables import pages, sources

RUN = 5
"""So many words in a row, or Chinese characters, are never the same by chance often enough to
matter: who is wrongly suspected only waits for a person."""

WORD = regex(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")

MARK = regex(r"^\s*(?:[-*+>#]+|\d+[.)])\s+")
"""The mark of an item of a list, a quotation or a heading."""

QUESTION = regex(r"[?？]\s*$|[吗嗎呢]\s*+[?？。.]?\s*$")
"""The end of a question, which states nothing."""

CLAUSE = regex(r"[,;:，；：、]\s*|\s[-–—]\s")

FOREIGN = frozenset(["tool", "web"])
"""The classes of provenance of what strangers may have written."""


def stands_in(lines: Sequence[str], texts: Iterable[str]) -> bool:
    """Say whether any line, or five words of it in a row, stand in any of some texts.

    Neither spaces and marks count, nor case, nor the forms of letters that look alike.
    """
    wanted = {one for line in lines for one in _runs(line)}
    return any(one in text for text in map(_squeezed, texts) for one in wanted)


class Read(NamedTuple):
    """What an agent has read, and what the person has said to it."""

    texts: Sequence[str] = ()
    foreign: bool = False
    """Whether any of it is from the web or a tool; what is made of it is trusted no more."""
    said: Sequence[str] = ()
    """The person's messages."""


async def read_by(owner: str, thread: str, run: str) -> Read:
    """Return the pages that a run, or an earlier one of its thread, has read."""
    shown = select(sources.c.page).where(sources.c.thread == thread)
    wanted = pages.c.id.in_(shown) | (pages.c.run == run)
    asked = select(pages.c.text, pages.c.provenance).where(pages.c.owner == owner, wanted)
    rows = (await read_rows(asked)).all()
    foreign = any(row.provenance in FOREIGN for row in rows)
    return Read([row.text for row in rows], foreign, await said_by_person(owner, [thread]))


def wished(added: Sequence[str], removed: Sequence[str], said: Sequence[str]) -> bool:
    """Say whether a person has asked for an edit in their own words.

    Each new line must occur in one of their statements, not in a question or a quotation; old
    lines are removed only if new ones on the same subject replace them.
    """
    statements = [one for message in said for one in _statements(message)]
    lines = [MARK.sub("", line).strip() for line in added if WORD.search(line)]
    borne = [[one for one in statements if _says(one, line)] for line in lines]
    if not lines or not all(borne):
        return False
    meant = [*lines, *(one for some in borne for one in some)]
    return all(any(akin(line, one) for one in meant) for line in removed if WORD.search(line))


def _statements(message: str) -> list[str]:
    """Return what a person says in a message, clause by clause, without their questions."""
    told = [one.text for one in sentences(spoken(message)) if not QUESTION.search(one.text)]
    clauses = [part for one in told for part in CLAUSE.split(one)]
    return [*(one for one in told if len(CLAUSE.split(one)) == 1), *clauses]


def _says(statement: str, line: str) -> bool:
    """Say whether the words of a line occur in a statement, one after the other."""
    wanted, told = words(line), words(statement)
    places = range(len(told) - len(wanted) + 1)
    run = bool(wanted) and any(told[at : at + len(wanted)] == wanted for at in places)
    return run and borne_out(line, statement)


def _runs(line: str) -> list[str]:
    words = WORD.findall(_plain(MARK.sub("", line)))
    if not words:
        return []
    return ["".join(words[at : at + RUN]) for at in range(max(1, len(words) - RUN + 1))]


def _squeezed(text: str) -> str:
    return "".join(WORD.findall(_plain(text)))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
