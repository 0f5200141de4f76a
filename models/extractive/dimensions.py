"""Ask for a dimension in the words of the sources: a length is given as "212 metres long"."""

from __future__ import annotations

from collections.abc import Sequence

from text.answerability import SourcePassage
from text.pattern_files import PatternFile

_NOUNS = ("length", "height", "width", "depth", "age", "weight", "cost")
"""The dimensions, by which the patterns of what is said of them are named."""

_PATTERNS = PatternFile("models.extractive", "dimensions.toml", nouns="|".join(_NOUNS))


def word_dimension(question: str, pages: Sequence[SourcePassage]) -> str:
    """Return a question with its dimension as the pages give it, if they never name it so.

    "The length of the wall" is "the long of the wall" where a page says "212 metres long".
    """
    found = _PATTERNS.dimension.search(question)
    if found is None:
        return question
    texts = [page.text for page in pages]
    noun = found[0].lower()
    if any(noun in text.lower() for text in texts):
        return question
    given = _PATTERNS.get(noun)
    said = next((match["said"] for text in texts if (match := given.search(text))), "")
    return question[: found.start()] + said + question[found.end() :] if said else question
