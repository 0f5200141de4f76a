"""Put a question into words that stand alone, and into different queries."""

from __future__ import annotations

import re
from collections.abc import Iterator

from models.extractive.blocks import Prompt
from models.extractive.questions import dimensions, parts, sides
from models.extractive.steps import query
from models.extractive.topic import key_phrase, key_terms, names
from retrieval.text import language

_POINTS_BACK = re.compile(
    r"^\W*(?:and|but|also|or|so|what about|how about|then|why|how come)\b"
    r"|\b(?:it|its|they|them|their|theirs|this|that|these|those|he|she|him|his|her|hers|there"
    r"|the same|the (?:former|latter|other|first|second))\b|[它他她][们們]?|其(?![他它])"
    r"|^\W*(?:那么?|[还還]有|而|以及|[为為]什[么麼]\W*$|再)|[这這那][个個些种種里裡]?|呢\W*$",
    re.IGNORECASE,
)
_FACETS = {
    "en": ("definition", "examples", "explanation", "history", "facts"),
    "zh": ("定义", "例子", "原理", "历史", "特点"),
}


def rewrite(prompt: Prompt) -> dict[str, object]:
    """Return the question in a form that stands alone, and as many different queries as asked."""
    question = standalone(prompt.question, prompt.conversation)
    return {"question": question, "queries": queries(question, prompt.most)}


def queries(question: str, most: int) -> list[str]:
    """Return up to `most` searches for a question, no two of the same terms."""
    chosen: dict[frozenset[str], str] = {}
    for text in _queries(question):
        found = frozenset(key_terms(text))
        if len(chosen) < most and found:
            chosen.setdefault(found, text)
    return list(chosen.values())


def standalone(question: str, conversation: str) -> str:
    """Return a question that points back together with the topic of the question before it."""
    spoken = [line.partition(":") for line in conversation.splitlines()]
    asked = [said.strip() for who, _, said in spoken if who.strip() == "person"]
    asked = [said for said in asked if said != question.strip() and key_terms(said)]
    if not asked or not (_POINTS_BACK.search(question) or _elliptical(question)):
        return question.strip()
    for earlier in reversed(asked):
        if not _POINTS_BACK.search(earlier) or earlier == asked[0]:
            break
    own = set(key_terms(question))
    missing = [word for word in key_phrase(earlier).split() if not own & set(key_terms(word))]
    if not missing:
        return question.strip()
    around = "（{}）" if language(question) == "zh" else " ({})"
    return question.strip() + around.format(" ".join(missing))


def _elliptical(question: str) -> bool:
    """Tell whether a question is only a word or two, as in "Winter?"."""
    if not key_terms(question):
        return True
    bare = question.strip(" ?？!！.。")
    return len(bare) <= 4 if language(question) == "zh" else len(bare.split()) < 3


def _queries(question: str) -> Iterator[str]:
    """Yield queries for a question, the most telling first."""
    whole = key_phrase(question)
    yield whole
    compared = sides(question)
    if compared:
        yield from (f"{name} {key_phrase(compared.about)}".strip() for name in compared.names)
    if len(parts(question)) > 1:
        yield from (query(part, question) for part in parts(question))
    first = " ".join(whole.split()[:2])
    yield from (f"{first} {item}" for item in dimensions(question))
    yield from names(question)
    words = whole.split()
    if len(words) > 3:
        yield " ".join(words[: len(words) // 2 + 1])
        yield " ".join(words[len(words) // 2 :])
    yield from (f"{whole} {facet}" for facet in _FACETS[language(question)])
