"""Tell whether a statement names another agent, subject or place than its sources do.

English and Chinese are read each in its own way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, takewhile

from report.checks.contrast import SourceText, per_source
from report.checks.overlap import CLAUSE_SPLIT
from report.checks.synonyms import get_base_form, has_word_or_synonym, list_irregular_forms
from text.dates import MONTH_NAMES
from text.regex import regex
from text.script import HAN, detect_language
from text.sentences import split_sentences
from text.words import LEAST_WEIGHT, search_words, word_weight

REACH = 90
"""So many characters at most stand between what was done and where."""

LONG = 4
"""A word of a name with fewer letters is in many names."""

_PART = r"[A-Z](?:\.|[\w'’-]{1,40})"
_NAME = rf"{_PART}(?:\s+(?:(?:de|la|von|van|der|of|the)\s+)?{_PART}){{0,4}}"
_NAMES = rf"{_NAME}(?:(?:,\s*|,?\s+and\s+){_NAME}){{0,5}}"
_VERB = rf"(?:[A-Za-z][a-z]{{1,40}}ed|{'|'.join(sorted(list_irregular_forms()))})"
_VERBS = rf"{_VERB}(?:(?:,\s*|,?\s+and\s+){_VERB}){{0,3}}"
_BY = regex(
    rf"\b(?P<verbs>{_VERBS})\s+by\s+(?P<names>[^,;()]{{1,60}}?(?:,\s+{_NAME})?)"
    r"(?=[,;()]|\s(?:and|who|which|that|in|at|on|for|with|from|as)\s[a-z]|\.?\s*$)"
)
_DID = regex(
    rf"(?P<names>{_NAME}(?:,?\s+and\s+{_NAME})?)\s+(?:(?:also|later|then|first|once|both|had|has|\w+ly)\s+){{0,2}}"
    rf"(?P<verbs>{_VERBS})\b(?!\s+(?:by|and\s+\w+ed\s+by)\b)"
)
_DONE = regex(rf"\b{_VERB}\b")
_PLACE = regex(rf"\b(?:in|at|near|from|to|into)\s+(?:the\s+)?(?P<names>{_NAMES})")
_LIFE = regex(
    r"\((?:born\s|b\.)?(?P<born>[^()–—]{4,120}?)\s?(?:[–—]|\s-\s)\s?(?P<died>[^()–—]{4,120})\)"
)
_BORN = regex(r"\b(?:born|birth)\b")
_DIED = regex(r"\b(?:died|dies|death)\b")
_FACT = regex(r"[A-Z][\w'’-]{3,}|\b\d{4}\b")
_ENDS = regex(r"[.;:]\s")
_OF_BOTH = frozenset(search_words("marry met join play fought accompany resemble divorce"))
"""Who does one of these is done it, too."""


def has_other_role(said: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether all sources say of somebody else, or of another place, what is said of one.

    Only names that stand in the sources are compared; one that does not is found in other ways.
    """
    if detect_language(said) != "en":
        return False
    agent = _other_agent(said, sources) or _other_place(said, sources)
    return agent or _other_end(said, sources)


def _other_end(said: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether somebody is said to be born where, or when, a source only says they died."""
    lives = [(source.text, one) for source in sources if (one := source.memoize(_life))]
    told = [
        (one, bool(_BORN.search(one)), bool(_DIED.search(one))) for one in CLAUSE_SPLIT.split(said)
    ]
    return any(
        _only_in(life["died" if born else "born"], text.replace(life[0], " ", 1) + _end(life, born))
        & frozenset(_FACT.findall(clause))
        for text, life in lives
        for clause, born, died in told
        if born != died
    )


@per_source
def _life(source: SourceText) -> re.Match[str] | None:
    return _LIFE.search(source.text)


def _end(life: re.Match[str], born: bool) -> str:
    return life["born" if born else "died"]


def _only_in(part: str, rest: str) -> frozenset[str]:
    """Return the names and the years that are in a part of a text and not in the rest."""
    facts = (one for one in _FACT.findall(part) if one.lower() not in MONTH_NAMES)
    return frozenset(one for one in facts if one not in rest)


def _other_agent(said: str, sources: Sequence[SourceText]) -> bool:
    done = [source.memoize(_agents_of) for source in sources]
    return any(
        _are_others(name, [one[verb] for one in done if verb in one], sources)
        for verb, name in _agents(said)
        if name
        and verb not in _OF_BOTH
        and not any(verb in one.memoize(_untold) for one in sources)
    )


def _other_place(said: str, sources: Sequence[SourceText]) -> bool:
    places = [source.memoize(_places_of) for source in sources]
    for verb, names in _places(said):
        told = any(verb in one for one in places)
        theirs = [
            found
            for one in (places if told and names else ())
            for other, found in one.items()
            if other == verb or has_word_or_synonym(verb, other)
        ]
        if told and _are_others(names, theirs, sources):
            return True
    return False


def _are_others(
    names: frozenset[str], theirs: Sequence[set[str]], sources: Sequence[SourceText]
) -> bool:
    """Tell whether the words of names are all in sources, and none is of those that they tell."""
    known = (any(name in source.memoize(_known_names) for source in sources) for name in names)
    told = any(theirs) and not any(one & names for one in theirs)
    return bool(names) and told and all(known)


@per_source
def _agents_of(source: SourceText) -> dict[str, set[str]]:
    return _together(_agents(source.text))


@per_source
def _places_of(source: SourceText) -> dict[str, set[str]]:
    return _together(_places(source.text))


def _together(found: Iterable[tuple[str, frozenset[str]]]) -> dict[str, set[str]]:
    """Return what was done, with the words of all names that stand with it."""
    every: dict[str, set[str]] = {}
    for verb, names in found:
        every.setdefault(verb, set()).update(names)
    return every


def _agents(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield what was done, each time with the words of the names of those who did it."""
    said = (one.text for one in split_sentences(text))
    found = (one for told in said for way in (_BY, _DID) for one in way.finditer(told))
    return ((verb, _words(one["names"])) for one in found for verb in _done(one["verbs"]))


@per_source
def _untold(source: SourceText) -> frozenset[str]:
    """Return what a source says to be done where no name says by whom."""
    unnamed = (verb for verb, name in _agents(source.text) if not name)
    alone = (verb for one in split_sentences(source.text) for verb in _alone(one.text))
    return frozenset(chain(unnamed, alone))


def _alone(said: str) -> Iterator[str]:
    told = [one.span("verbs") for way in (_BY, _DID) for one in way.finditer(said)]
    for one in _DONE.finditer(said):
        if not any(start <= one.start() < end for start, end in told):
            yield from _done(one[0])


def _places(text: str) -> list[tuple[str, frozenset[str]]]:
    """Return what was done, each time with the words of the names of where."""
    done = [*_DONE.finditer(text)]
    found = []
    for one, after in zip(done, [*done[1:], None], strict=False):
        end = min(one.end() + REACH, after.start() if after else len(text))
        near = _ENDS.split(text[one.end() : end], maxsplit=1)[0]
        names = [_words(place["names"]) for place in _PLACE.finditer(near)]
        found += [(verb, frozenset[str]().union(*names)) for verb in _done(one[0]) if names]
    return found


def _done(verbs: str) -> Iterator[str]:
    return (get_base_form(one) for one in search_words(verbs))


def _words(names: str) -> frozenset[str]:
    found = re.findall(r"[A-Z][\w'’-]*", names)
    return frozenset(one for one in found if len(one) >= LONG)


@per_source
def _known_names(source: SourceText) -> frozenset[str]:
    found = re.findall(r"(?<=[\w,(\"“] )[A-Z][\w'’-]*|^[A-Z][\w'’-]*", source.text)
    return frozenset(found)


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

MAX_CLAUSE_CHARS = 200
"""A longer clause is not compared."""

_CLAUSE = regex(r"[，。；：！？,;\n]|(?<=[^\d])\.|\s[-–—]\s")
_SIGNS = regex(rf"[^{HAN}A-Za-z0-9%.·]")
_GENERIC = regex(
    "[他她它牠祂该該其此本这這那各两兩双雙同后後前当當另有在于於从從自因由为為以随隨至到]|[上下][述列]|以上|\\d"
)
_JOINS = regex("以?及|[和与與跟同或、]+|.*(?:[和与與跟同]|相距|之间|之間|结婚|結婚|相[同似等遇])")
_CHINESE_VERB = regex("[是由在于於位为為仍也]")
_PLACED = regex("^[在于於由从從]")
_LEADS = regex(
    "[在于於至到为為是由被向从從给給把将將任获獲得叫称稱名靠经經用选選属屬说說讲講演饰飾击擊败敗赴访訪]$"
)
_DIGIT = regex(r"\d")
_NEEDLESS = regex(
    "^(?:然而|但是|而且|并且|並且|因此|所以|此外|例如|其中|目前|当时|當時|后来|後來|现在|現在|但|而|并|並)+"
)


def has_other_chinese_role(said: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether sources say of another thing what a Chinese statement says of one of theirs.

    That is where two things have changed places, where another subject has all that is said, and
    where another thing stands behind the same words.
    """
    if detect_language(said) != "zh":
        return False
    theirs = [one for source in sources for one in source.memoize(_clauses_of)]
    passages = [one for source in sources for one in source.memoize(_passages)]
    return any(
        _changed_places(one, theirs) or _other_subject(one, passages) or _other_object(one, theirs)
        for one in _clauses(said)
        if len(one) <= MAX_CLAUSE_CHARS and not any(one in there for there in theirs)
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
    other = _CHINESE_VERB.split(_PLACED.sub("", there[:first]), maxsplit=1)[0].rstrip("的")
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
    return len(text) >= SHORTEST and any(word_weight(one) >= RARE for one in _pairs(text))


@lru_cache(maxsize=2048)
def _pairs(text: str) -> frozenset[str]:
    return frozenset(one for one in search_words(text) if word_weight(one) > LEAST_WEIGHT)


@per_source
def _clauses_of(source: SourceText) -> list[str]:
    return _clauses(source.text)


def _clauses(text: str) -> list[str]:
    """Return the clauses of a text without their signs, each once."""
    bare = (_SIGNS.sub("", one) for one in _CLAUSE.split(text))
    return [one for one in dict.fromkeys(bare) if len(one) > SHORTEST]


@per_source
def _passages(source: SourceText) -> list[tuple[str, str]]:
    """Return each clause of the sentences of a source with its sentence and the one before it."""
    sides = zip(("", *source.sentences), source.sentences, strict=False)
    beside = ((_SIGNS.sub("", before + one), one) for before, one in sides)
    found = ((clause, there) for there, one in beside for clause in _clauses(one))
    return [*dict.fromkeys(found)]
