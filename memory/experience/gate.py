"""Accept only ways of working as insights, and nothing that a stranger's text asks for.

Other runs follow insights as guidance. The model that writes them has seen what runs planned and
wrote after reading pages and files, and such a text may have told it to pass on its words.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import select

from memory.experience.insights import FOREIGN
from memory.experience.steering import HARMS, OF_THE_PERSON, PROMOTES, TRADE
from memory.experience.utterances import said_by_person
from memory.learning.gate import borne_out
from memory.learning.voice import spoken
from retrieval.common import weight
from retrieval.private_words import Material, vocabulary
from retrieval.redaction import redacted
from retrieval.regex import regex
from retrieval.script import CJK, language
from retrieval.secrets import held
from retrieval.text import sentences
from retrieval.words import STOPWORDS, words
from runs.ledger import hits_in
from runs.place import thread_of
from storage.engine import read_rows
from storage.tables import calls, pages, sources
from storage.tables import runs as table

GRAMMAR, COMMON, ALL_COMMON = 0.15, 0.45, 0.75
"""The least share of words that join others in an English text, with the least share of common ones
beside it, and the share of common ones that is enough alone."""

_ADDRESS = regex(r"\w@\w|https?:|www\.|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b", re.IGNORECASE)
"""An address of the web or of a person."""

_NAME = regex(r"(?<![.!?…] )(?<!^)(?<![\w'-])[A-Z][\w&'-]*|\b\w+[a-z][A-Z]\w*", re.MULTILINE)
"""A capitalised word within a sentence, or a word with a capital in the middle."""

_TITLE = regex(r"(?<![.!?:…\"“(-] )(?<!^)(?<![\w'-])[A-Z][\w&'-]+(?: [A-Z][\w&'-]+)+", re.MULTILINE)
"""Several such words in a row, which are a name even if each of them is common."""

_CJK = regex(f"[{CJK}]")

_COMPANY = regex(f"([{CJK}]{{2}})(?:公司|集[团團]|品牌|企[业業]|有限)")
"""What stands in front of the word for a company in a Chinese name."""

_FORM_WORDS = """
api arxiv ascii biorxiv csv doi faq gdp gnu html http https i iso isbn json ocr ok pdf rfc rss sql
tsv tv ui unicode uri url utf utc xml yaml zip monday tuesday wednesday thursday friday saturday
sunday pubmed wikipedia wikidata crossref openalex scholar english chinese german french spanish
italian portuguese dutch russian japanese korean arabic latin greek polish turkish hindi roman
celsius fahrenheit kelvin january february april june july august september october november
december
"""
_FORMS = frozenset(_FORM_WORDS.split())
"""Capitalised words that promote nobody: formats, public registers, languages, months."""

_WORK_WORDS = "check quote answer query queries send abstract overview summary summaries brief"
_WORKING = frozenset(_WORK_WORDS.split())
"""Words of this work that are rare in other texts."""

_SHARED_WORDS = "a am an as do has he i in is me no on or so us was"
_SHARED = frozenset(_SHARED_WORDS.split())
"""English words that are words of other languages, too."""

_LONG_NUMBER = regex(r"\d(?:[\s().-]{0,2}\d){6,}")
"""The number of a telephone, or of an account."""


class Heard(NamedTuple):
    """What a lesson may be based on: what the person said, and what was read."""

    said: Sequence[str] = ()
    read: Sequence[str] = ()
    foreign: bool = False
    """Whether any of what was read is from the web or a tool."""

    @property
    def provenance(self) -> str:
        """Return the trust of a lesson: the least of what it is based on."""
        return "web" if self.foreign else "model"


async def heard_in(owner: str, runs: Iterable[str]) -> Heard:
    """Return what was said and read in the threads of some runs."""
    names = [*runs]
    threads = [*dict.fromkeys(map(thread_of, names))]
    shown = select(sources.c.page).where(sources.c.thread.in_(threads))
    mine = pages.c.id.in_(shown) | pages.c.run.in_(names)
    columns = (pages.c.title, pages.c.text, pages.c.provenance)
    rows = (await read_rows(select(*columns).where(pages.c.owner == owner, mine))).all()
    own = select(table.c.id).where(table.c.owner == owner, table.c.id.in_(names))
    searched = (calls.c.run.in_(own), calls.c.kind == "search")
    results = (await read_rows(select(calls.c.result).where(*searched))).scalars().all()
    hits = [json.dumps(hits_in(json.loads(one))) for one in results]
    read = [*(f"{row.title}\n{row.text}" for row in rows), *hits]
    foreign = bool(hits) or any(row.provenance in FOREIGN for row in rows)
    return Heard(await said_by_person(owner, threads), read, foreign)


async def refusal(texts: Sequence[str], heard: Heard) -> str:
    """Return why a lesson may not be kept; "" if it may.

    Args:
        texts: All that it says.
        heard: What it may be based on.
    """
    return await asyncio.to_thread(_refusal, [one for one in texts if one.strip()], heard)


def steers(text: str) -> bool:
    """Tell whether a text says whom to trust or cite."""
    return bool(PROMOTES.search(text))


def _refusal(texts: Sequence[str], heard: Heard) -> str:
    own = Material([vocabulary(one) for one in heard.said], [], [], [])
    if any(held(one) for one in texts):
        return "secret"
    if any(not _readable(one, heard.said) for one in texts):
        return "language"
    if any(_speaks_for(one, heard.said) for one in texts):
        return "not_of_the_person"
    if any(_names(one, own) for one in texts):
        return "name"
    if any(_harms(one, own) and not _borne(one, heard.said) for one in texts):
        return "claim"
    read = Material(own.own, [], [], [vocabulary(one) for one in heard.read])
    return "read" if any(redacted(one, read).dropped for one in texts) else ""


def _readable(text: str, said: Sequence[str]) -> bool:
    """Tell whether a text is in a language in which it can be judged, and in one of the questions.

    Only English and Chinese can be, in which the questions to the model are written, too.
    """
    asked = {language(one.text) for message in said for one in sentences(message)}
    if asked and language(text) not in asked:
        return False
    cut = re.findall(r"[^\W\d_]+", text.lower())
    letters = [word for word in cut if not _CJK.search(word)]
    if not letters or len(letters) < len(cut):
        return True
    own = {word for one in said for word in re.findall(r"[^\W\d_]+", one.lower())}
    if any(not word.isascii() and word not in own for word in letters):
        return False
    grammar = sum(word in STOPWORDS - _SHARED for word in letters) / len(letters)
    common = sum(_known(word) or word in own for word in letters) / len(letters)
    return common >= ALL_COMMON or (grammar >= GRAMMAR and common >= COMMON)


def _known(word: str) -> bool:
    if word in STOPWORDS or word in _WORKING or word in _FORMS:
        return True
    return all(weight(one) < 1 for one in words(word))


def _harms(text: str, own: Material) -> bool:
    trade = (match[0] for match in TRADE.finditer(text))
    if any(not all(map(own.free, words(one))) for one in trade):
        return True
    return bool(PROMOTES.search(text) or HARMS.search(text) or _LONG_NUMBER.search(text))


def _speaks_for(text: str, said: Sequence[str]) -> bool:
    return bool(OF_THE_PERSON.search(text)) and not _borne(text, said)


def _borne(text: str, said: Sequence[str]) -> bool:
    """Tell whether each sentence of a text is one of the person's own."""
    own = [one.text for message in said for one in sentences(spoken(message))]
    return all(any(borne_out(part.text, one) for one in own) for part in sentences(text))


def _names(text: str, own: Material) -> bool:
    """Tell whether a text names somebody or some place that the person has not."""
    addresses = (match[0] for match in _ADDRESS.finditer(text))
    if any(not all(map(own.free, words(one))) for one in addresses):
        return True
    if any(weight(one[1]) == 1 and not own.free(one[1]) for one in _COMPANY.finditer(text)):
        return True
    if any(not all(map(own.free, words(one[0]))) for one in _TITLE.finditer(text)):
        return True
    return any(not _usual(match[0], own) for match in _NAME.finditer(text))


def _usual(name: str, own: Material) -> bool:
    lower = name.lower().strip("'-")
    if lower in ("i", "i'm", "i've") or lower in _FORMS:
        return True
    return all(own.free(word) or word in _FORMS for word in words(name))
