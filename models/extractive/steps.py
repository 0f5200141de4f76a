"""What a drafted step is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from models.extractive.titles import titled
from models.extractive.topic import key_phrase, key_terms
from retrieval.text import language


class DraftStep(TypedDict):
    """One step, with the numbers of the steps it needs, from 1."""

    title: str
    description: str
    kind: str
    queries: list[str]
    needs: list[int]
    need_web_search: bool


def step(title: str, *queries: str, description: str = "", needs: Sequence[int] = ()) -> DraftStep:
    """Return a step to research, with its one or two different queries."""
    return DraftStep(
        title=titled(title),
        description=description,
        kind="research",
        queries=list(dict.fromkeys(query for query in queries if query.strip()))[:2],
        needs=list(needs),
        need_web_search=True,
    )


def query(part: str, question: str) -> str:
    """Return a search for a part of a question, with the question's topic if the part lacks it."""
    own, whole = key_terms(part), key_terms(question)
    phrase = key_phrase(part)
    lacking = len(own) < 4 and len(whole) > len(own)
    rest = [word for word in key_phrase(question, 4).split() if word not in phrase.split()]
    return " ".join([phrase, *rest[:3]]) if lacking else phrase


def colon(question: str) -> str:
    """Return the colon of the question's language."""
    return "：" if language(question) == "zh" else ": "
