"""Tell whether a statement names somebody else for what was done, or another place for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from report.contrast import Text, per_source
from report.likeness import CLAUSES
from report.synonyms import base, irregular, stands_in
from retrieval.dates import MONTHS
from retrieval.regex import regex
from retrieval.text import language, sentences
from retrieval.words import words

REACH = 90
"""So many characters at most stand between what was done and where."""

LONG = 4
"""A word of a name with fewer letters is in many names."""

_PART = r"[A-Z](?:\.|[\w'’-]{1,40})"
_NAME = rf"{_PART}(?:\s+(?:(?:de|la|von|van|der|of|the)\s+)?{_PART}){{0,4}}"
_NAMES = rf"{_NAME}(?:(?:,\s*|,?\s+and\s+){_NAME}){{0,5}}"
_VERB = rf"(?:[A-Za-z][a-z]{{1,40}}ed|{'|'.join(sorted(irregular()))})"
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
_OF_BOTH = frozenset(words("marry met join play fought accompany resemble divorce"))
"""Who does one of these is done it, too."""


def other_role(said: str, sources: Sequence[Text]) -> bool:
    """Tell whether all sources say of somebody else, or of another place, what is said of one.

    Only names that stand in the sources are compared; one that does not is found in other ways.
    """
    if language(said) != "en":
        return False
    agent = _other_agent(said, sources) or _other_place(said, sources)
    return agent or _other_end(said, sources)


def _other_end(said: str, sources: Sequence[Text]) -> bool:
    """Tell whether somebody is said to be born where, or when, a source only says they died."""
    lives = [(source.text, one) for source in sources if (one := source.made(_life))]
    told = [(one, bool(_BORN.search(one)), bool(_DIED.search(one))) for one in CLAUSES.split(said)]
    return any(
        _only_in(life["died" if born else "born"], text.replace(life[0], " ", 1) + _end(life, born))
        & frozenset(_FACT.findall(clause))
        for text, life in lives
        for clause, born, died in told
        if born != died
    )


@per_source
def _life(source: Text) -> re.Match[str] | None:
    return _LIFE.search(source.text)


def _end(life: re.Match[str], born: bool) -> str:
    return life["born" if born else "died"]


def _only_in(part: str, rest: str) -> frozenset[str]:
    """Return the names and the years that are in a part of a text and not in the rest."""
    facts = (one for one in _FACT.findall(part) if one.lower() not in MONTHS)
    return frozenset(one for one in facts if one not in rest)


def _other_agent(said: str, sources: Sequence[Text]) -> bool:
    done = [source.made(_agents_of) for source in sources]
    return any(
        _are_others(name, [one[verb] for one in done if verb in one], sources)
        for verb, name in _agents(said)
        if name and verb not in _OF_BOTH and not any(verb in one.made(_untold) for one in sources)
    )


def _other_place(said: str, sources: Sequence[Text]) -> bool:
    places = [source.made(_places_of) for source in sources]
    for verb, names in _places(said):
        told = any(verb in one for one in places)
        theirs = [
            found
            for one in (places if told and names else ())
            for other, found in one.items()
            if other == verb or stands_in(verb, other)
        ]
        if told and _are_others(names, theirs, sources):
            return True
    return False


def _are_others(names: frozenset[str], theirs: Sequence[set[str]], sources: Sequence[Text]) -> bool:
    """Tell whether the words of names are all in sources, and none is of those that they tell."""
    known = (any(name in source.made(_known_names) for source in sources) for name in names)
    told = any(theirs) and not any(one & names for one in theirs)
    return bool(names) and told and all(known)


@per_source
def _agents_of(source: Text) -> dict[str, set[str]]:
    return _together(_agents(source.text))


@per_source
def _places_of(source: Text) -> dict[str, set[str]]:
    return _together(_places(source.text))


def _together(found: Iterable[tuple[str, frozenset[str]]]) -> dict[str, set[str]]:
    """Return what was done, with the words of all names that stand with it."""
    every: dict[str, set[str]] = {}
    for verb, names in found:
        every.setdefault(verb, set()).update(names)
    return every


def _agents(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield what was done, each time with the words of the names of those who did it."""
    said = (one.text for one in sentences(text))
    found = (one for told in said for way in (_BY, _DID) for one in way.finditer(told))
    return ((verb, _words(one["names"])) for one in found for verb in _done(one["verbs"]))


@per_source
def _untold(source: Text) -> frozenset[str]:
    """Return what a source says to be done where no name says by whom."""
    unnamed = (verb for verb, name in _agents(source.text) if not name)
    alone = (verb for one in sentences(source.text) for verb in _alone(one.text))
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
    return (base(one) for one in words(verbs))


def _words(names: str) -> frozenset[str]:
    found = re.findall(r"[A-Z][\w'’-]*", names)
    return frozenset(one for one in found if len(one) >= LONG)


@per_source
def _known_names(source: Text) -> frozenset[str]:
    found = re.findall(r"(?<=[\w,(\"“] )[A-Z][\w'’-]*|^[A-Z][\w'’-]*", source.text)
    return frozenset(found)
