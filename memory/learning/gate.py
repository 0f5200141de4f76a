"""Let only what the person said of themselves become something that is known of them."""

from __future__ import annotations

import re
from typing import NamedTuple

from memory.learning.rules import END, stated
from memory.learning.voice import asks, clean, quoted_in, spoken, tells
from retrieval.regex import regex
from retrieval.script import CJK
from retrieval.secrets import secret
from retrieval.text import sentences
from retrieval.words import words

SURE = 0.7
"""What is less sure is not kept."""

LONGEST = 500
"""How many characters a fact may have."""

STEM = 5
"""Words that begin with so many equal letters are of one family: "statistics", "statistician"."""

FRAME = frozenset(words("user person"))
"""Words that a sentence about a person may have without the person's having said them."""

FRAME_ZH = frozenset("用户用戶是的他她一个個名位")
"""The same in Chinese, by character."""

_ORDER = regex(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:previous|prior|above|earlier|all"
    r"|your|system|these|any)\b"
    r"|\b(?:you|assistant|ai|model|agent)(?:'re| are)?"
    r" (?:now|must|should|shall|have to|has to|will)\b"
    r"|\b(?:system|developer) (?:prompt|message|mode)\b|\bnew instructions?\b"
    r"|(?:忽略|无视|無視|忘[记記掉]).{0,8}(?:之前|以上|前面|所有|系统|系統)|系[统統]提示"
    r"|[你您](?:[现現]在)?(?:必[须須]|[应應][该該]|是一[个個])",
    re.IGNORECASE,
)
_NOT = regex(
    r"\b(?:not|no|never|none|without|cannot|no longer)\b|n't\b|不|[没沒]|[别別]|勿|[无無]|未",
    re.IGNORECASE,
)
_CJK = regex(f"[{CJK}]")


class Passed(NamedTuple):
    """What the gate let through: the words to keep, and the person's own that they rest on."""

    text: str
    quote: str
    own: bool
    """Whether the text is the person's own words."""


def passed(text: str, quote: str, message: str) -> Passed | str:
    """Return what may be kept of a claim about the person who wrote a message, or why nothing may.

    The quote must stand in what they said in their own voice, in a sentence that says something of
    them. A text that brings in words which that sentence has not gives way to the sentence: so no
    word of a page, of a report or of another memory gets in, whatever a model was made to believe.
    """
    quoted = quoted_in(quote, message)
    if not quoted:
        return "not_quoted"
    # Of a quote that holds a question too, the question says nothing of them.
    telling = [one for one in quoted if _of_the_person(one)]
    plain = [one for one in telling if not asks(one)]
    sentence = " ".join(plain or telling)
    if not sentence:
        return "not_of_the_person"
    wanted = " ".join(clean(text).split())
    if not wanted:
        return "empty"
    own = not borne_out(wanted, sentence)
    if asks(sentence) and (own or wanted in sentence):
        return "not_borne_out" if own else "not_descriptive"
    kept = END.sub("", " ".join(sentence.split())) if own else wanted
    return refusal(kept, sentence) or Passed(kept, sentence, own)


def worth_reading(message: str) -> bool:
    """Tell whether anything read in a message could get through: most questions tell nothing."""
    return any(_of_the_person(one.text) for one in sentences(spoken(message)))


def unfit(text: str) -> str:
    """Return why words may not be kept, whoever said them; "" if they may."""
    if len(text) > LONGEST:
        return "too_long"
    if secret(text):
        return "secret"
    return "order" if _ORDER.search(text) else ""


def refusal(text: str, quote: str) -> str:
    """Return why a text may not be kept with the words it is from; "" if it may."""
    return unfit(text) or unfit(quote)


def borne_out(text: str, sentence: str) -> bool:
    """Tell whether a text says nothing in words that a sentence has not, and negates as it does."""
    if bool(_NOT.search(text)) != bool(_NOT.search(sentence)):
        return False
    characters = set(_CJK.findall(text))
    if characters - set(sentence) - FRAME_ZH:
        return False
    said = set(words(sentence))
    new = (word for word in words(text) if not _CJK.search(word))
    return all(word in FRAME or any(_kin(word, other) for other in said) for word in new)


def _of_the_person(sentence: str) -> bool:
    return tells(sentence) or bool(stated(sentence))


def akin(one: str, other: str) -> bool:
    """Tell whether two texts have a word of one family in common."""
    right = words(other)
    return any(_kin(word, like) for word in words(one) for like in right)


def _kin(word: str, other: str) -> bool:
    return word == other or (len(word) >= STEM and word[:STEM] == other[:STEM])
