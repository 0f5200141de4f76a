"""Detect the scripts of a text, and its language by its script."""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

from text.regex import regex

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese characters, as ranges for the inside of a character class."""

CJK = HAN + "\u3040-\u30ff\u31f0-\u31ff\uac00-\ud7af"
"""Chinese characters, kana and hangul, as ranges for the inside of a character class."""

FIRST = "\u3005"
"""The first of all these characters; to compile a class of them takes longer than most searches."""

_LATER = regex(f"[{FIRST}-\U0010ffff]")

_CHARACTER = regex(f"[{HAN}]")
_WORD = regex(f"[^\\W\\d_{HAN}]+")

MIXED = (0.1, 0.55)
"""A text with a share of Chinese characters between these is in both languages."""


def is_western(text: str) -> bool:
    """Tell whether a text has no character of `CJK`, nor any with a higher code point."""
    return text.isascii() or not _LATER.search(text)


def strip_marks(text: str) -> str:
    """Return a text without accents and other combining marks, in compatible characters."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def simplify_chinese(text: str) -> str:
    """Return a text of the same length with simplified in place of traditional characters."""
    return text if is_western(text) else text.translate(_simplified())


@cache
def _simplified() -> dict[int, str]:
    """Return the simplified character for each traditional one that differs from it."""
    lines = Path(__file__).with_name("simplified.txt").read_text("utf-8").splitlines()
    pairs = (pair for line in lines if not line.startswith("#") for pair in line.split())
    return {ord(pair[0]): pair[1] for pair in pairs}


# Each sentence of a report is compared with whole pages.
@lru_cache(maxsize=256)
def detect_language(text: str) -> Literal["zh", "en"]:
    """Return the language by script: a Chinese character weighs as much as a word of letters."""
    if is_western(text):
        return "en"
    han, words = len(_CHARACTER.findall(text)), len(_WORD.findall(text))
    return "zh" if han > 0.4 * (han + words) else "en"


def detect_single_language(text: str) -> Literal["zh", "en", ""]:
    """Return the language of a text, or "" if a large part of it is in the other one."""
    if is_western(text):
        return "en"
    han, words = len(_CHARACTER.findall(text)), len(_WORD.findall(text))
    mixed = MIXED[0] * (han + words) < han < MIXED[1] * (han + words)
    return "" if mixed else detect_language(text)
