"""Tell whether words that an agent would keep are from something it has read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import select

from memory.experience.utterances import said_by_person
from memory.files.text import visible
from memory.learning.gate import akin
from memory.learning.patterns import LEAD, NOTE, without
from memory.learning.voice import instructs, spoken
from retrieval.regex import regex
from retrieval.text import normalise, sentences
from retrieval.words import STOPWORDS
from storage.engine import read_rows
from storage.tables import pages, sources

RUN = 5
"""So many words in a row, or Chinese characters, are never the same by chance often enough to
matter: who is wrongly suspected only waits for a person."""

CONTENT_RUN = 4
"""So many words in a row are not either, if each of them carries meaning."""

SAYS = 4
"""How much a part of a sentence must say to count by itself: a word that carries meaning says two,
a Chinese character one."""

SHORT = 80
"""The most characters of a sentence that may have no run of words; longer ones are found by one."""

CHARACTER = regex(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")

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

CLAUSE = regex(r"[.!?;:,]+(?=\s|$)|[。！？；：，、\n()\"“”]+|\s[-–—]+\s|\s(?:and|or|but|so|then)\s")
"""What stands between two sentences, or two parts of one."""

SENTENCE = regex(r"(?<=[.!?])[^\w\s]*\s+|(?<=[。！？])")
"""What stands between two sentences of a page."""

ENDS = tuple(".!?。！？")

MARKS = regex("[\u0300-\u036f\u200c\u200d\ufe00-\ufe0f]+")
"""Accents, and what joins or varies letters: hardly anybody sees whether they are there."""

LINES = 4
"""Over how many lines a short sentence of a page may be broken."""

FOREIGN = frozenset(["tool", "web"])
"""The classes of provenance of what strangers may have written."""


def stands_in(lines: Sequence[str], texts: Iterable[str]) -> bool:
    """Say whether words of any of some texts stand in some lines, whatever stands around them.

    A line counts as a whole, part of a sentence by itself if it says enough, and so do five words
    in a row, or four that carry meaning, also across lines, and every sentence of the texts.
    Neither spaces, marks and accents count, nor case, nor what nobody sees, nor the forms of
    letters that look alike.
    """
    plain = [_plain(MARK.sub("", line)) for text in lines for line in normalise(text).split("\n")]
    wanted = Wanted.of(plain)
    return any(wanted.stands_in(_plain(text)) for text in texts)


class Wanted(NamedTuple):
    """What is looked for in a page, of lines in plain form."""

    whole: str
    """All words of the lines, without spaces."""
    runs: frozenset[str]
    """Lines, parts of sentences and words in a row, each without spaces."""
    content: frozenset[str]
    """Words in a row that carry meaning, with a space before and behind each."""

    @classmethod
    def of(cls, lines: Sequence[str]) -> Wanted:
        """Return what is looked for of some lines."""
        words = WORD.findall("\n".join(lines))
        clauses = {
            _squeezed(without(FRAME, clause))
            for line in lines
            for clause in CLAUSE.split(line)
            if _says(without(FRAME, clause)) >= SAYS
        }
        runs = {*map(_squeezed, lines), *clauses, *map("".join, _windows(words, RUN))} - {""}
        rows = _windows(list(filter(_carries, words)), CONTENT_RUN)
        content = {_spaced(row) for row in rows if all(len(one) > 1 for one in row)}
        return cls("".join(words), frozenset(runs), frozenset(content))

    def stands_in(self, text: str) -> bool:
        """Say whether any of it stands in a text, or a short sentence of the text in it."""
        words = WORD.findall(text)
        squeezed = "".join(words)
        if any(one in squeezed for one in self.runs):
            return True
        content = _spaced(list(filter(_carries, words)))
        return any(one in content for one in self.content) or any(
            _squeezed(one) in self.whole for one in _short_sentences(text)
        )


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


def _windows(words: Sequence[str], size: int) -> list[Sequence[str]]:
    """Return all words that stand in a row, so many at a time."""
    return [words[at : at + size] for at in range(len(words) - size + 1)]


def _short_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a page in plain form that are short, and yet say something.

    A sentence may begin at any of its last lines: what stands above may be a heading.
    """
    for one in SENTENCE.split(text):
        sentence = one.rstrip("\"'”’)*_ \n")
        lines = sentence.split("\n")[-LINES:] if sentence.endswith(ENDS) else []
        for at in range(len(lines)):
            part = "\n".join(lines[at:])
            if len(part) <= SHORT and _says(part) >= SAYS:
                yield part


def _says(text: str) -> int:
    return sum(1 if CHARACTER.match(one) else 2 for one in filter(_carries, WORD.findall(text)))


def _carries(word: str) -> bool:
    return word not in STOPWORDS


def _spaced(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def _squeezed(text: str) -> str:
    return "".join(WORD.findall(text))


def _plain(text: str) -> str:
    """Return a text in one case, on plain lines, without what nobody sees."""
    seen = unicodedata.normalize("NFKD", visible(normalise(text)))
    return unicodedata.normalize("NFKC", MARKS.sub("", seen)).casefold()
