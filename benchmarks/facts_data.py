"""Facts and contexts for measuring, cut out of real text, English and Chinese in equal parts."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from memory.facts.fact import FACT_CATEGORIES
from text.script import CJK
from text.words import search_words

ROOT = Path(__file__).parents[1]

DATA = ROOT.parent / "shared" / "data"

SETS = {"en": ("hotpotqa", "musique", "2wiki"), "zh": ("cmrc2018", "drcd", "rgb_zh_int")}
"""Whose pages the text is from, where they are there; else it is that of the examples."""

TERMS = 74
"""How many different words a context has."""

_PIECES = {"en": re.compile(f"[^\\s{CJK}]+"), "zh": re.compile(f"[{CJK}]")}


class MadeFact(NamedTuple):
    """A fact of made-up content."""

    content: str
    category: str
    confidence: float


def make_facts(count: int, seed: int = 1) -> list[MadeFact]:
    """Return so many facts: two spans of real text each, so that words are as common as they are.

    Half are Chinese. Confidences are 0.70 to 1.00, and one category is as likely as the other.
    """
    chance = random.Random(seed)
    return [
        MadeFact(make_fact(chance), chance.choice(FACT_CATEGORIES), chance.randrange(70, 101) / 100)
        for _ in range(count)
    ]


def make_fact(chance: random.Random) -> str:
    """Return the content of one fact, of 6 to 16 English words or 12 to 32 Chinese characters."""
    language = chance.choice(["en", "zh"])
    return _span(chance, language) + (" " if language == "en" else "") + _span(chance, language)


def make_context(made: Sequence[MadeFact], seed: int) -> str:
    """Return a text of 74 different words: of three facts, and of other text in both languages."""
    chance = random.Random(seed)
    said = [chance.choice(made).content for _ in range(3)]
    while len(set(search_words(" \n".join(said)))) < TERMS:
        said.append(_span(chance, chance.choice(["en", "zh"])))
    return " \n".join(said)


def make_source() -> str:
    """Say where the text is from."""
    return "the sets in ../shared/data" if DATA.is_dir() else "examples/docs"


def _span(chance: random.Random, language: str) -> str:
    pieces = _text(language)
    length = chance.randint(3, 8) * (1 if language == "en" else 2)
    start = chance.randrange(len(pieces) - length)
    return (" " if language == "en" else "").join(pieces[start : start + length])


@cache
def _text(language: str) -> list[str]:
    """Return the words of all English text, or the characters of all Chinese text."""
    if DATA.is_dir():
        files = [DATA / name / "corpus.jsonl" for name in SETS[language]]
        text = "\n".join(json.loads(line)["text"] for file in files for line in _lines(file))
    else:
        files = sorted((ROOT / "examples" / "docs").glob("*.md"))
        text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return _PIECES[language].findall(text)


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()
