"""What a message asks, apart from what it tells of the person."""

from __future__ import annotations

import re
from collections.abc import Sequence

from langchain_core.messages import AnyMessage

from memory.learning.patterns import NOTE
from memory.learning.rules import asked, parted
from memory.learning.voice import asks, in_person
from retrieval.regex import regex
from retrieval.script import CJK
from retrieval.secrets import MARK
from retrieval.text import sentences

_UNSPACED = regex(f"[{CJK}\u3000-\u303f\uff00-\uffef]$")
_OF_THEM = regex(r"^\W*(?:he|she|they|it|his|her|their|its)\b|^\W*[他她它]", re.IGNORECASE)


def only_secrets(message: str) -> bool:
    """Tell whether a message says nothing but secrets, which were taken out of it."""
    return all(MARK.search(one.text) and not asks(one.text) for one in sentences(message))


def in_own_words(messages: Sequence[AnyMessage]) -> str:
    """Return what a person asked last in their own words, without what only tells of them."""
    said = [str(one.text).strip() for one in messages if one.type == "human"]
    return asked(without_secrets(said[-1])) if said else ""


def without_secrets(message: str) -> str:
    """Return what is left of a message as a topic of research where secrets were taken out.

    What only told a secret is left out, unless there is nothing else.
    """
    if only_secrets(message):
        return message
    said = [one.text for one in sentences(message)]
    kept = [one for one in said if asks(one) or not MARK.search(one)]
    return MARK.sub("…", joined(kept)) if MARK.search(message) else message


def asked_alone(message: str) -> str:
    """Return the sentences of a message without those that tell of the person, and of theirs.

    It is as it is where nothing else is asked. "My sister has bees. She is a nurse. How do bees
    dance?" asks one thing.
    """
    left, told = [], False
    said = sentences(message)
    for sentence in said:
        own, question = parted(sentence.text)
        if asks(own):
            own, question = "", sentence.text
        if own and ((told and _OF_THEM.match(own)) or in_person(own) or NOTE.match(own)):
            told = True
        else:
            told, question = False, sentence.text
        left += [question] if question else []
    whole = left == [one.text for one in said] or not any(map(asks, left))
    return message if whole else joined(left)


def joined(said: Sequence[str]) -> str:
    """Return sentences as one text, without a space behind a Chinese one."""
    text = ""
    for one in said:
        text += one if not text or _UNSPACED.search(text) else f" {one}"
    return text
