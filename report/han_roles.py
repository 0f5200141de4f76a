"""Tell whether a Chinese statement puts one thing of its sources in the place of another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile

from report.contrast import Text, per_source
from retrieval.common import LEAST, weight
from retrieval.regex import regex
from retrieval.script import HAN
from retrieval.text import language
from retrieval.words import words

RARE = 0.9
"""A name has a pair of characters that weighs so much."""

SHORTEST = 2
"""So many characters at least has a name."""

LONGEST = 10
"""So many characters at most has a name with what describes it."""

LINK = (3, 6)
"""So many characters at least, and at most, before a thing say what it is."""

FEWEST = 4
"""So many pairs of characters at least has what is said of somebody."""

OWNED = 5
"""So many characters, of which the first is 的, say what somebody has."""

MOST = 0.7
"""A clause says it if it has so much of them."""

LONG = 200
"""A longer clause is not compared."""

_CLAUSE = regex(r"[，。；：！？,;\n]|(?<=[^\d])\.|\s[-–—]\s")
_SIGNS = regex(rf"[^{HAN}A-Za-z0-9%.·]")
_GENERIC = regex(
    "[他她它牠祂该該其此本这這那各两兩双雙同后後前当當另有在于於从從自因由为為以随隨至到]|[上下][述列]|以上|\\d"
)
_JOINS = regex("以?及|[和与與跟同或、]+|.*(?:[和与與跟同]|相距|之间|之間|结婚|結婚|相[同似等遇])")
_VERB = regex("[是由在于於位为為仍也]")
_PLACED = regex("^[在于於由从從]")
_LEADS = regex(
    "[在于於至到为為是由被向从從给給把将將任获獲得叫称稱名靠经經用选選属屬说說讲講演饰飾击擊败敗赴访訪]$"
)
_DIGIT = regex(r"\d")
_NEEDLESS = regex(
    "^(?:然而|但是|而且|并且|並且|因此|所以|此外|例如|其中|目前|当时|當時|后来|後來|现在|現在|但|而|并|並)+"
)


def other_han_role(said: str, sources: Sequence[Text]) -> bool:
    """Tell whether sources say of another thing what a Chinese statement says of one of theirs.

    That is where two things have changed places, where another subject has all that is said, and
    where another thing stands behind the same words.
    """
    if language(said) != "zh":
        return False
    theirs = [one for source in sources for one in source.made(_clauses_of)]
    passages = [one for source in sources for one in source.made(_passages)]
    return any(
        _changed_places(one, theirs) or _other_subject(one, passages) or _other_object(one, theirs)
        for one in _clauses(said)
        if len(one) <= LONG and not any(one in there for there in theirs)
    )


def _changed_places(clause: str, theirs: Sequence[str]) -> bool:
    """Tell whether two things stand around the same words, each where the other one stands."""
    middles = (
        (at, end)
        for at in range(SHORTEST, len(clause) - SHORTEST)
        for end in range(at + SHORTEST, min(at + LONGEST, len(clause) - SHORTEST) + 1)
    )
    return any(
        _is_turned(clause[:at], clause[at:end], clause[end:], there)
        for at, end in middles
        for there in theirs
        if clause[at:end] in there and not _JOINS.fullmatch(clause[at:end])
    )


def _is_turned(before: str, middle: str, after: str, there: str) -> bool:
    """Tell whether what ends one side of some words begins the other one there, and the reverse."""
    there_before, _, there_after = there.partition(middle)
    lengths = range(SHORTEST, LONGEST)
    first = [before[-n:] for n in lengths if there_after.startswith(before[-n:])]
    second = [after[:n] for n in lengths if there_before.endswith(after[:n])]
    kept = before[-SHORTEST:] + middle in there or middle + after[:SHORTEST] in there
    return any(map(_is_name, first)) and any(map(_is_name, second)) and not kept


def _other_subject(clause: str, passages: Sequence[tuple[str, str]]) -> bool:
    """Tell whether all clauses that say the same say it of something else, which they name."""
    clause = _NEEDLESS.sub("", clause)
    lengths = range(min(LONGEST, len(clause)), SHORTEST - 1, -1)
    known = (clause[:end] for end in lengths if any(clause[:end] in one for one, _ in passages))
    subject = next(known, "")
    if not _is_name(subject) or _GENERIC.match(clause):
        return False
    rest = clause[len(subject) :]
    wanted, owned = _pairs(rest), rest[:OWNED] if rest.startswith("的") else "\n"
    least = max(MOST * len(wanted), FEWEST)
    having = [one for one in passages if len(wanted & _pairs(one[0])) >= least or owned in one[0]]
    return bool(having) and all(
        subject not in beside and _has_other(there, subject, clause, wanted)
        for there, beside in having
    )


def _has_other(there: str, subject: str, clause: str, wanted: frozenset[str]) -> bool:
    """Tell whether a clause begins with a name that shares with what is said at most its kind.

    That is the end of it, as in the names of two rivers.
    """
    there = _NEEDLESS.sub("", there)
    first = min(there.find(one) for one in wanted if one in there)
    other = _VERB.split(_PLACED.sub("", there[:first]), maxsplit=1)[0].rstrip("的")
    pairs = zip(other[::-1], subject[::-1], strict=False)
    kind = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    own = (other[: len(other) - kind], subject[: len(subject) - kind])
    return (
        _is_name(other)
        and len(other) <= LONGEST
        and not _GENERIC.match(other)
        and kind <= SHORTEST
        and all(own)
        and set(own[0]).isdisjoint(own[1])
        and _pairs(own[0]).isdisjoint(_pairs(clause))
    )


def _other_object(clause: str, theirs: Sequence[str]) -> bool:
    """Tell whether something else always stands behind the words before the last thing named."""
    lengths = range(SHORTEST, min(LONGEST, len(clause) - LINK[0]) + 1)
    known = (clause[-n:] for n in lengths if any(clause[-n:] in one for one in theirs))
    return any(_is_replaced(clause[: -len(last)], last, theirs) for last in known)


def _is_replaced(head: str, last: str, theirs: Sequence[str]) -> bool:
    if not _is_name(last) or not _LEADS.search(head) or _DIGIT.search(last):
        return False
    for length in range(min(LINK[1], len(head)), LINK[0] - 1, -1):
        link = head[-length:]
        rest = [one.partition(link)[2] for one in theirs if link in one]
        if rest:
            return _is_name(link) and all(_is_other(one, last, head + last) for one in rest)
    return False


def _is_other(rest: str, last: str, clause: str) -> bool:
    return (
        _is_name(rest[:LONGEST])
        and not _GENERIC.match(rest)
        and not _DIGIT.search(rest[:SHORTEST])
        and _pairs(rest).isdisjoint(_pairs(last))
        and _pairs(rest[:SHORTEST]).isdisjoint(_pairs(clause))
    )


def _is_name(text: str) -> bool:
    return len(text) >= SHORTEST and any(weight(one) >= RARE for one in _pairs(text))


@lru_cache(maxsize=2048)
def _pairs(text: str) -> frozenset[str]:
    return frozenset(one for one in words(text) if weight(one) > LEAST)


@per_source
def _clauses_of(source: Text) -> list[str]:
    return _clauses(source.text)


def _clauses(text: str) -> list[str]:
    """Return the clauses of a text without their signs, each once."""
    bare = (_SIGNS.sub("", one) for one in _CLAUSE.split(text))
    return [one for one in dict.fromkeys(bare) if len(one) > SHORTEST]


@per_source
def _passages(source: Text) -> list[tuple[str, str]]:
    """Return each clause of the sentences of a source with its sentence and the one before it."""
    sides = zip(("", *source.said), source.said, strict=False)
    beside = ((_SIGNS.sub("", before + one), one) for before, one in sides)
    found = ((clause, there) for there, one in beside for clause in _clauses(one))
    return [*dict.fromkeys(found)]
