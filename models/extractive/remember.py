"""Search a memory for a question, note what its pages say, and ask on for what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from models.extractive.blocks import Prompt, Quote
from models.extractive.ranking import answerable, best
from models.extractive.rewrite import queries
from models.extractive.rows import cells
from models.extractive.scores import scored
from models.extractive.topic import key_terms, names, share, topic
from retrieval.text import language
from retrieval.words import words

NOTED = 195
"""How many words notes may have; a Chinese character counts as one."""

SURE = 3
"""So many sentences are chosen as a finding's are; the rest fills what is left of the notes."""

ROWS = 5
"""So many rows of tables are noted at most: more of them are a table, and no notes of it."""

ORDER = 2.0
"""What it is worth to be of the page that is shown first; later pages get a half, a third, …"""

COVERED = 0.8
"""Notes are complete if they cover this much of the question's terms."""

LED_TO = 3
"""How many of the names that the notes bring to light are followed."""


def lookup(prompt: Prompt) -> dict[str, Any]:
    """Return the searches for a request: its own words, other ways of asking, and all of it."""
    request = prompt.request or prompt.question
    return {
        "needs": [request],
        "keywords": queries(request, 2),
        "meanings": [request],
        "pages": [],
    }


def notes(prompt: Prompt) -> dict[str, Any]:
    """Return what the person told, then the sentences that answer the question best."""
    told = [page for page in prompt.pages if page.computed]
    rest = prompt._replace(pages=tuple(page for page in prompt.pages if not page.computed))
    facts = [{"text": page.text.removeprefix("- "), "pages": [page.id]} for page in told]
    return {"facts": [*facts, *_of_pages(rest)]}


def _of_pages(prompt: Prompt) -> list[dict[str, Any]]:
    if not answerable(prompt.question, prompt.pages):
        return []
    about = topic(prompt.question)
    order = dict.fromkeys(page.id for page in prompt.pages)
    worth = {name: ORDER / place for place, name in enumerate(order, start=1)}
    rest = scored(about, prompt.question, prompt.pages)
    rest.sort(key=lambda one: -one.score - worth[one.page.id])
    sure = best(about, prompt.question, prompt.pages, SURE)
    return _fitting([*sure, *(one.quote for one in rest)])


def _fitting(quotes: Iterable[Quote]) -> list[dict[str, Any]]:
    """Return the first of some sentences that fit into notes, none within another."""
    chosen: list[Quote] = []
    left = NOTED
    for quote in quotes:
        length = _length(quote.text)
        said = any(quote.text in one.text or one.text in quote.text for one in chosen)
        rows = sum(bool(cells(one.text)) for one in chosen) if cells(quote.text) else 0
        if (length <= left or not chosen) and not said and rows < ROWS:
            chosen.append(quote)
            left -= length
    return [{"text": quote.text, "pages": [quote.source]} for quote in chosen]


def complete(prompt: Prompt) -> dict[str, Any]:
    """Return whether the notes cover the question, else what the names in them may lead to."""
    noted = words(prompt.notes)
    about = topic(prompt.question)
    if not prompt.notes or share(about, noted) >= COVERED:
        return {"complete": True, "requests": []}
    lacking = [term for term in key_terms(prompt.question) if term not in set(noted)]
    known = {*words(prompt.question), *(word for said in prompt.queries for word in words(said))}
    new = [name for name in names(prompt.notes) if not known >= set(words(name))]
    missing = _spelt(prompt.question, lacking)
    return {"complete": False, "requests": [f"{name} {missing}".strip() for name in new[:LED_TO]]}


def unread(_: Prompt) -> dict[str, Any]:
    """Say that nothing was read: explicit statements are what the memory's own rules find."""
    return {"unread": True}


def _spelt(question: str, lacking: list[str]) -> str:
    """Return the words of a question that hold the terms the notes lack, as they are spelt."""
    if language(question) == "zh":
        return question
    spelt = [word.strip("?.,;:!\"'") for word in question.split()]
    return " ".join(word for word in spelt if set(words(word)) & set(lacking))


def _length(text: str) -> int:
    return len(re.findall(r"[\u3400-\u9fff]|[^\s\u3400-\u9fff]+", text))
