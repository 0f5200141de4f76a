"""Tell whether a source says all of a statement, in the same words and in their order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from report.contrast import PLACES, Text
from report.differences import tokens
from report.likeness import CLAUSES
from report.openers import without_transition
from report.synonyms import base
from retrieval.common import GRAMMAR
from retrieval.regex import regex
from retrieval.text import language
from retrieval.words import STOPWORDS, words

LEFT_OUT = {"en": 6, "zh": 2}
"""So many words of a source, or Chinese characters, may a copy leave out in one place."""

BEHIND = 3
"""So many words behind a word that says no are denied by it."""

_CUT = regex(rf"{CLAUSES.pattern}|\s*\|\s*")
_NO = regex("not|never|no|none|neither|nor|nobody|nothing|cannot|without|n['’]t|[不没沒未无無非]")
_TELLING = frozenset(
    re.findall(
        r"\w+",
        "before after above below under over until against only more most less least all some any"
        " each both few",
    )
)
"""Words without a topic that change what a sentence says."""

_TELLS = frozenset(words("said says tells reads states according account")) | {"据说", "據說"}
"""Words that may lead on to what a source says."""

_ABOUT = regex(r"\bsome\s+(?=\d)", re.IGNORECASE)
_NAMED = regex(r"[A-Z][\w'’-]*|\d[\d.,]*")


class _Word(NamedTuple):
    """A word that counts: its stem, where it stands, and whether it is a name or a number."""

    stem: str
    at: int
    named: bool


def says_all(said: str, source: Text, named: str) -> bool:
    """Tell whether two neighbouring sentences of a source have all words of a statement.

    Those of each clause stand there in the same order; nothing is denied that the clause does not
    deny, and between a name or a number and what stands beside it no other one is left out.

    Args:
        said: The statement, without marks and quotations.
        source: The source.
        named: What the statement may name although the sentences do not: the title of the source.
    """
    tongue, known = language(said), _TELLS.union(words(named))
    clauses = [_counting(one) for one in _CUT.split(without_transition(said)) if one]
    near = [_counting(one) for one in _windows(said, source)]
    return any(
        all(_follow(one, there, known, LEFT_OUT[tongue]) for one in clauses) for there in near
    )


def _windows(said: str, source: Text) -> Iterator[str]:
    """Yield the neighbouring sentences of a source that have most words of what is said."""
    found = Counter(at for word in dict.fromkeys(words(said)) for at in source.places.get(word, ()))
    starts = {start for at, _ in found.most_common(PLACES) for start in (at - 1, at) if start >= 0}
    return (" ".join(source.said[start : start + 2]) for start in sorted(starts))


def _counting(text: str) -> list[_Word]:
    """Return the words of a text that say something, in order."""
    found = ((at, one, _stem(one)) for at, one in enumerate(tokens(_ABOUT.sub("", text))))
    return [_Word(stem, at, bool(_NAMED.fullmatch(one))) for at, one, stem in found if stem]


def _stem(word: str) -> str:
    lower = word.lower()
    if _NO.fullmatch(lower):
        return "NOT"
    if lower in _TELLING or lower in GRAMMAR:
        return lower if lower in _TELLING else ""
    return "" if lower in STOPWORDS else base((words(word) or [lower])[0])


def _follow(
    clause: Sequence[_Word], there: Sequence[_Word], known: frozenset[str], gap: int
) -> bool:
    """Tell whether the words of a clause stand in a text one behind the other."""
    stems = {one.stem for one in there}
    wanted = [one for one in clause if one.stem in stems or one.stem not in known]
    starts = (at for at, one in enumerate(there) if wanted and one.stem == wanted[0].stem)
    return not wanted or any(_runs(wanted, there, at, gap) for at in starts)


def _runs(wanted: Sequence[_Word], there: Sequence[_Word], start: int, gap: int) -> bool:
    """Tell whether some words stand in a text from one place on, with little left out."""
    at = start
    if wanted[0].stem != "NOT" and _is_denied(there, start):
        return False
    for one in wanted[1:]:
        near = range(at + 1, min(at + 2 + gap, len(there)))
        found = next((n for n in near if there[n].stem == one.stem), None)
        if found is None or not _may_leave_out(there[at : found + 1]):
            return False
        at = found
    return True


def _may_leave_out(run: Sequence[_Word]) -> bool:
    """Tell whether what stands between the first and the last of some words may be left out."""
    between = run[1:-1]
    beside_name = run[0].named or run[-1].named
    return not any(one.stem == "NOT" or (beside_name and one.named) for one in between)


def _is_denied(there: Sequence[_Word], at: int) -> bool:
    before = there[max(0, at - BEHIND) : at]
    return any(one.stem == "NOT" and there[at].at - one.at <= BEHIND for one in before)
