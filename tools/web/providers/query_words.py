"""The words of a query, for providers that want all of them, or read some signs as operators."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from text.words import NON_TOPIC_WORDS
from tools.web.providers.provider import SearchHit

_OPERATORS = frozenset({"and", "or", "not", "near", "andnot"})
_WITHIN_WORDS = frozenset("-'’.+#_")
_MOST_WORDS = 12
_FEW_WORDS = 2
"""How many words a query has that is not asked again for any of them."""


def topic_words(query: str) -> list[str]:
    """Return the words of a query that say what it is about, without signs and operators.

    A query of function words alone keeps them: "The Who".
    """
    marked = "".join(one if one.isalnum() or one in _WITHIN_WORDS else " " for one in query)
    words = [one.strip("-'’._") for one in marked.split()]
    words = [one for one in words if one and one.lower() not in _OPERATORS]
    return ([one for one in words if one.lower() not in NON_TOPIC_WORDS] or words)[:_MOST_WORDS]


async def search_all_then_any(
    query: str, ask: Callable[[str], Awaitable[list[SearchHit]]]
) -> list[SearchHit]:
    """Return the hits for all words of a query, or those for any of them where there are none.

    Args:
        query: The query.
        ask: Sends words, which are all wanted unless `OR` stands between them.
    """
    words = topic_words(query)
    if not words:
        return []
    found = await ask(" ".join(words))
    return found if found or len(words) <= _FEW_WORDS else await ask(join_any(words))


def join_any(words: Sequence[str]) -> str:
    """Return a query for any of some words."""
    return " OR ".join(words)
