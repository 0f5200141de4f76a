"""Find the source of a number that the sources cited for a statement do not have."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from report.checks.source_text import normalize_statement
from text.literal_terms import contains_term
from text.regex import regex
from text.sentences import list_sentences
from text.words import search_words

_NUMBER = regex(r"(?<![\w.,-])\d[\d.,]*\d(?![\w-])")
_MIN_SHARED_WORDS = 2


def find_number_source(statement: str, cited: Sequence[str], texts: Mapping[str, str]) -> str:
    """Return the source that has the numbers which the cited ones lack, or "".

    It has them all in one sentence with at least `_MIN_SHARED_WORDS` other words of the statement.

    Args:
        statement: A sentence or a row with its marks.
        cited: The ids of the sources that it cites.
        texts: The full text of each source by its id.
    """
    said = normalize_statement(statement)
    missing = list_missing_numbers(statement, cited, texts)
    if not missing:
        return ""
    words = {word for word in search_words(said) if not word[:1].isdigit()}
    others = (name for name in texts if name not in cited)
    return next((name for name in others if _says_of(texts[name], missing, words)), "")


def complete_citation(
    reason: str, statement: str, cited: Sequence[str], texts: Mapping[str, str]
) -> str | None:
    """Return the source to cite beside those of a statement with a number that a reader accepts.

    It is "" where these have the number, so that only its place in them was in doubt, and `None`
    where no source has it.

    Args:
        reason: Why the number is doubted.
        statement: A sentence or a row with its marks.
        cited: The ids of the sources that it cites.
        texts: The full text of each source by its id.
    """
    if reason == "calculation" or not texts:
        return None
    if reason == "other_number" and not list_missing_numbers(statement, cited, texts):
        return ""
    return find_number_source(statement, cited, texts) or None


def list_missing_numbers(
    statement: str, cited: Sequence[str], texts: Mapping[str, str]
) -> list[str]:
    """Return the numbers of a statement that none of its sources has, as they are written.

    Takes what `find_number_source` takes. Single digits do not count.
    """
    there = [texts[name] for name in cited if name in texts]
    written = dict.fromkeys(_NUMBER.findall(normalize_statement(statement)))
    return [one for one in written if not any(contains_term(text, one) for text in there)]


def _says_of(text: str, numbers: Sequence[str], words: set[str]) -> bool:
    if not all(re.search(rf"(?<!\d){re.escape(number)}(?!\d)", text) for number in numbers):
        return False
    return any(
        all(contains_term(sentence.text, number) for number in numbers)
        and len(words.intersection(search_words(sentence.text))) >= _MIN_SHARED_WORDS
        for sentence in list_sentences(text)
    )
