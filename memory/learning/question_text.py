"""What a message asks, apart from what it tells of the person."""

from __future__ import annotations

import re
from collections.abc import Sequence

from langchain_core.messages import AnyMessage

from memory.learning.own_words import is_first_person, is_request
from memory.learning.patterns import NOTE_PATTERN
from memory.learning.self_statements import split_aside, strip_notes
from text.regex import regex
from text.script import CJK
from text.secret_masking import SECRET_MARK
from text.sentences import split_sentences

_UNSPACED = regex(f"[{CJK}\u3000-\u303f\uff00-\uffef]$")
_OF_THEM = regex(r"^\W*(?:he|she|they|it|his|her|their|its)\b|^\W*[他她它]", re.IGNORECASE)


def is_only_secrets(message: str) -> bool:
    """Tell whether a message says nothing but secrets, which were taken out of it."""
    return all(
        SECRET_MARK.search(one.text) and not is_request(one.text)
        for one in split_sentences(message)
    )


def get_last_question(messages: Sequence[AnyMessage]) -> str:
    """Return what a person asked last in their own words, without what only tells of them."""
    said = [str(one.text).strip() for one in messages if one.type == "human"]
    return strip_notes(strip_told_secrets(said[-1])) if said else ""


def strip_told_secrets(message: str) -> str:
    """Return what is left of a message as a topic of research where secrets were taken out.

    What only told a secret is left out, unless there is nothing else.
    """
    if is_only_secrets(message):
        return message
    said = [one.text for one in split_sentences(message)]
    kept = [one for one in said if is_request(one) or not SECRET_MARK.search(one)]
    return SECRET_MARK.sub("…", join_sentences(kept)) if SECRET_MARK.search(message) else message


def strip_self_descriptions(message: str) -> str:
    """Return the sentences of a message without those that tell of the person, and of theirs.

    It is as it is where nothing else is asked. "My sister has bees. She is a nurse. How do bees
    dance?" asks one thing.
    """
    left, told = [], False
    said = split_sentences(message)
    for sentence in said:
        own, question = split_aside(sentence.text)
        if is_request(own):
            own, question = "", sentence.text
        if own and (
            (told and _OF_THEM.match(own)) or is_first_person(own) or NOTE_PATTERN.match(own)
        ):
            told = True
        else:
            told, question = False, sentence.text
        left += [question] if question else []
    whole = left == [one.text for one in said] or not any(map(is_request, left))
    return message if whole else join_sentences(left)


def join_sentences(said: Sequence[str]) -> str:
    """Return sentences as one text, without a space behind a Chinese one."""
    text = ""
    for one in said:
        text += one if not text or _UNSPACED.search(text) else f" {one}"
    return text
