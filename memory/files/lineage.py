"""Tell whether words that an agent would keep are from something it has read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import select

from memory.experience.utterances import said_by_person
from memory.learning.gate import akin
from memory.learning.patterns import LEAD, NOTE, without
from memory.learning.voice import instructs, spoken
from retrieval.regex import regex
from retrieval.text import sentences
from storage.engine import read_rows
from storage.tables import pages, sources

RUN = 5
"""So many words in a row, or Chinese characters, are never the same by chance often enough to
matter: who is wrongly suspected only waits for a person."""

WORD = regex(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")

MARK = regex(r"^\s*(?:[-*+>#]+|\d+[.)])\s+")
"""The mark of an item of a list, a quotation or a heading."""

FRAME = regex(
    r"^\W+|^(?:please|kindly|from now on|from here on|henceforth|going forward|in (?:the )?future"
    r"|(?:i want|i need|i(?:'d| would) like) you to|you (?:should|must|may)|remember to|also|and)\b"
    r"[\s,]*|[\s,]*\b(?:please|from now on|in (?:the )?future|thanks|thank you)\W*$"
    r"|^(?:[请請]|以[后後]|今[后後]|[从從](?:[现現]在|今)[以起开開后後始]*|[记記]住)[,\s]*|\W+$",
    re.IGNORECASE,
)
"""What may stand around an instruction, and does not change it."""

PART = regex(r"\s*[,;]\s*(?:and\s+)?|\s+and\s+|[,;]|[并並]且?", re.IGNORECASE)
"""What stands between two instructions."""

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

    Each new line must be the whole of one of their instructions, or of what they say of themselves;
    old lines are removed only if new ones on the same subject replace them.
    """
    wishes = {plain for message in said for plain in _instructions(message)}
    lines = [MARK.sub("", line).strip() for line in added if WORD.search(line)]
    if not lines or not all(_bare(line) in wishes for line in lines):
        return False
    return all(any(akin(line, one) for one in lines) for line in removed if WORD.search(line))


def _instructions(message: str) -> Iterator[str]:
    """Yield what a person says is to be done, sentence by sentence, without polite words.

    The parts of a sentence count by themselves only where each is an instruction.
    """
    for sentence in sentences(spoken(message)):
        said = without(LEAD, sentence.text)
        rest = without(FRAME, NOTE.sub("", said, count=1))
        if NOTE.match(said) or instructs(rest):
            yield _bare(rest)
        parts = [without(FRAME, one) for one in PART.split(rest)]
        if len(parts) > 1 and all(map(instructs, parts)):
            yield from map(_bare, parts)


def _bare(text: str) -> str:
    """Return the words of an instruction, with spaces between them, whatever stands around it."""
    return " ".join(WORD.findall(_plain(without(FRAME, text))))


def _runs(line: str) -> list[str]:
    words = WORD.findall(_plain(MARK.sub("", line)))
    if not words:
        return []
    return ["".join(words[at : at + RUN]) for at in range(max(1, len(words) - RUN + 1))]


def _squeezed(text: str) -> str:
    return "".join(WORD.findall(_plain(text)))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
