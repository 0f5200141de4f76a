"""Choose knowledge bases by what they are about, where no model decides."""

from __future__ import annotations

from collections.abc import Sequence

from library.knowledge_records import KnowledgeBase
from memory.text_vectors import passage_similarity
from text.words import query_terms, search_words, shared_word_weight

MOST_BASES = 5
"""How many bases are chosen at most for one question."""

LEAST_LIKENESS = 0.35
"""The least cosine of a question and a description that makes a base plausible."""

LEAST_WORDS = 0.1
"""The least share of a question's words, by weight, that makes a base plausible."""

LEAST_SHARE = 0.5
"""How much of the best base's score another one needs."""


async def choose_by_description(
    questions: Sequence[str], bases: Sequence[KnowledgeBase]
) -> list[str]:
    """Return the names of the bases whose descriptions fit some questions, the best first.

    Args:
        questions: The question, and its queries in every language.
        bases: The bases to choose from.
    """
    if not bases:
        return []
    texts = [f"{base.name.replace('-', ' ')}. {base.about}" for base in bases]
    worded = [_score_words(questions, text) for text in texts]
    near = await passage_similarity(questions, texts)
    meant = [0.0] * len(bases) if near is None else [float(row.max()) for row in near]
    scores = {
        base.name: words + (likeness if likeness >= LEAST_LIKENESS else 0.0)
        for base, words, likeness in zip(bases, worded, meant, strict=True)
    }
    best = max(scores.values())
    fitting = [name for name, score in scores.items() if score and score >= LEAST_SHARE * best]
    return sorted(fitting, key=lambda name: (-scores[name], name))[:MOST_BASES]


def _score_words(questions: Sequence[str], text: str) -> float:
    """Return the greatest share of a question that a text has, by the weight of its words."""
    there = set(search_words(text))
    best = max((_share(question, there) for question in questions), default=0.0)
    return best if best >= LEAST_WORDS else 0.0


def _share(question: str, there: set[str]) -> float:
    wanted = set(query_terms(question))
    whole = sum(map(shared_word_weight, wanted))
    return sum(map(shared_word_weight, wanted & there)) / whole if whole else 0.0
