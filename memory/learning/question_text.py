"""The question in a message, apart from what the message says about the person."""

from __future__ import annotations

import re
from collections.abc import Sequence

from langchain_core.messages import AnyMessage

from memory.learning.own_words import is_first_person, is_request
from memory.learning.patterns import PHRASES
from memory.learning.self_statements import split_aside, strip_notes
from text.regex import regex
from text.script import CJK
from text.secret_masking import SECRET_MARK
from text.sentences import split_sentences

_UNSPACED = regex(f"[{CJK}\u3000-\u303f\uff00-\uffef]$")
_OF_THEM = regex(r"^\W*(?:he|she|they|it|his|her|their|its)\b|^\W*[他她它]", re.IGNORECASE)


def is_only_secrets(message: str) -> bool:
    """Tell whether a message held only secrets, which have been masked."""
    spans = split_sentences(message)
    return all(SECRET_MARK.search(one.text) and not is_request(one.text) for one in spans)


def get_last_question(messages: Sequence[AnyMessage]) -> str:
    """Return the last question of a person, without notes about themselves."""
    texts = [str(one.text).strip() for one in messages if one.type == "human"]
    return strip_notes(strip_told_secrets(texts[-1])) if texts else ""


def strip_told_secrets(message: str) -> str:
    """Return a message as a topic of research, without sentences that only told a secret.

    A message of nothing but such sentences is returned unchanged.
    """
    if not SECRET_MARK.search(message) or is_only_secrets(message):
        return message
    sentences = [span.text for span in split_sentences(message)]
    asked = [one for one in sentences if is_request(one) or not SECRET_MARK.search(one)]
    return SECRET_MARK.sub("…", join_sentences(asked))


def strip_self_descriptions(message: str) -> str:
    """Return a message without the sentences about the person and their relatives.

    A message that asks nothing else is returned unchanged. "My sister has bees. She is a nurse.
    How do bees dance?" asks one thing.
    """
    questions, personal = [], False
    sentences = [span.text for span in split_sentences(message)]
    for sentence in sentences:
        statement, question = split_aside(sentence)
        goes_on = personal and _OF_THEM.match(statement)
        personal = not is_request(statement) and bool(
            goes_on or is_first_person(statement) or PHRASES.note.match(statement)
        )
        questions.append(question if personal else sentence)
    questions = [one for one in questions if one]
    unchanged = questions == sentences or not any(map(is_request, questions))
    return message if unchanged else join_sentences(questions)


def join_sentences(sentences: Sequence[str]) -> str:
    """Join sentences with spaces, but none after a Chinese one."""
    text = ""
    for one in sentences:
        text += one if not text or _UNSPACED.search(text) else f" {one}"
    return text
