"""Tell by its words what a query is about, as far as that says which providers know most of it."""

from __future__ import annotations

from config.search_table import Topic
from text.pattern_files import PatternFile

_PATTERNS = PatternFile("tools.web", "query_topics.toml")

_ORDER: tuple[Topic, ...] = ("code", "academic", "data", "news", "encyclopedia")
"""Of two topics that a query is as likely about, the earlier one is taken."""

_SURE, _ENOUGH = 2, 2


def classify_query(query: str) -> Topic:
    """Return what a query is about; `general` unless its words say it."""
    scores = {topic: _score(topic, query) for topic in _ORDER}
    best = max(_ORDER, key=lambda topic: scores[topic])
    return best if scores[best] >= _ENOUGH else "general"


def _score(topic: Topic, query: str) -> int:
    """Return how much a query says that it is about a topic: words count once each."""
    sure = {found[0].lower() for found in _PATTERNS.get(f"{topic}_sure").finditer(query)}
    likely = {found[0].lower() for found in _PATTERNS.get(f"{topic}_likely").finditer(query)}
    return _SURE * len(sure) + len(likely)
