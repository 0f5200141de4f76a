"""Tell whether a statement puts one thing of a source in the place of another."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import dropwhile, islice
from typing import NamedTuple

from report.checks.contrast import SourceText, per_source
from report.checks.numbers import normalize_numerals
from report.checks.word_changes import tokenize
from text.regex import regex
from text.script import CJK, HAN, detect_language
from text.words import GRAMMAR_CHARACTERS, STOPWORDS, search_words, word_weight

SIDE = 8
"""So many words on each side of a thing are its frame."""

FARTHEST = 2 * SIDE
"""A frame is looked for in so many words."""

NAME = 12
"""So many characters at most has a Chinese name."""

SHORT = 5
"""So many has one that is looked for between other names."""

COPIED = 8
"""So many Chinese characters on both sides of a name make a copy."""

LEAST = 2
"""So many characters at least."""

RARE = 0.9
"""A name has a pair of characters that weighs so much."""

LONGEST = 200
"""A longer clause of Chinese is no copy of another one."""

SHARED = {"en": 2, "zh": 5}
"""A frame is the same if so many words of it, or Chinese characters, are."""

COUNTED = 2
"""A number of so many digits at most may be wrong where no source has it at all."""

CLOSER = {"en": 1, "zh": 2}
"""So many more of them are alike where another thing stands."""

YEAR = 4
"""A number of so many digits is a year; years are compared with years."""

_NUMBER = regex(r"\d[\d,]*(?:\.\d+)?")
_CAPITAL = regex(rf"[^\W\d_a-zß-öø-ÿ{CJK}][\w'’-]{{2,}}")
_PLURAL = regex(r"['’]s?$|(?<=[^s])s$")
_SENTENCE = regex(r"(?<=[a-z0-9)\"”]{2})[.!?;]\s|[。！？；\n]")
_SEGMENT = regex(r"(?<!\d),|[，：]|,(?!\d)")
_CLAUSE = regex(r"[，。；：！？、,;\n]")
_HAN_RUN = regex(f"[{HAN}\\dA-Za-z]+")
_TITLE = regex(r"《([^《》\n]{2,12})》")
_LINKS = frozenset(["and", "or", "和", "与", "與", "及", "、"])
_Test = Callable[[str], object]


class _Slot(NamedTuple):
    """A thing of a text, the words on each side of it, the nearest first, and all beside it."""

    thing: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    beside: frozenset[str]


class _Frames(NamedTuple):
    """The things of a source: by what they are, and by the words next to them."""

    things: dict[str, list[_Slot]]
    before: dict[str, list[_Slot]]
    after: dict[str, list[_Slot]]

    def near(self, slot: _Slot) -> Iterator[_Slot]:
        """Yield the things next to which a word stands that stands there next to another one."""
        yield from (one for word in slot.before[:1] for one in self.before.get(word, ()))
        yield from (one for word in slot.after[:1] for one in self.after.get(word, ()))


def has_swapped_number(part: str, sources: Sequence[SourceText], *, absent: bool = True) -> bool:
    """Tell whether a number stands where all sources have another number.

    Args:
        part: The clause.
        sources: The sources that it cites.
        absent: Whether a small number that is in no source counts, which may be a rounded one.
    """
    return _moved(part, sources, "number", absent=absent)


def has_swapped_name(said: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether an English name stands where all sources have another name."""
    return detect_language(said) == "en" and _moved(said, sources, "name")


def _moved(part: str, sources: Sequence[SourceText], sort: str, *, absent: bool = False) -> bool:
    ours = _slots(part, sort)
    said = {one.thing for one in ours}
    theirs = [source.memoize(_FRAMES[sort]) for source in sources] if ours else []
    known = {thing for frames in theirs for thing in frames.things}
    return any(
        _is_moved(slot, said, theirs, detect_language(part))
        for slot in ours
        if slot.thing in known or (absent and slot.thing.isdigit() and len(slot.thing) <= COUNTED)
    )


def _is_moved(slot: _Slot, said: Collection[str], theirs: Sequence[_Frames], tongue: str) -> bool:
    """Tell whether another thing has a frame, and what stands beside it, more than this one."""
    own = [one for frames in theirs for one in frames.things.get(slot.thing, ())]
    closest = max((_alike(slot, one) for one in own), default=SHARED[tongue])
    least = max(SHARED[tongue], closest + CLOSER[tongue])
    beside = max((len(slot.beside & one.beside) for one in own), default=0)
    return any(
        _alike(slot, one) >= least and len(slot.beside & one.beside) >= beside
        for frames in theirs
        for one in frames.near(slot)
        if one.thing not in said and _same_sort(slot.thing, one.thing)
    )


def has_swapped_words(part: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether Chinese words stand where a source has others, and elsewhere themselves.

    All beside them is alike there, for so many characters at least. A longer name must stand within
    a copy, and may not have a character of the one in whose place it stands: it may be the same
    name in other words.
    """
    said = "".join(_HAN_RUN.findall(part))
    if detect_language(part) != "zh" or len(said) > LONGEST:
        return False
    texts = [one for source in sources for one in source.memoize(_han_runs)]
    titles = set(_TITLE.findall(part)).union(*(source.memoize(_titles) for source in sources))
    return any(_is_swapped(said, one, texts, titles) for one in texts)


def _is_swapped(said: str, there: str, texts: Sequence[str], titles: Collection[str]) -> bool:
    """Tell whether a clause is one of a source but for a name, which is in another one."""
    start = _same(said, there)
    end = _same(said[start:][::-1], there[start:][::-1])
    mine, theirs = said[start : len(said) - end], there[start : len(there) - end]
    named = all(one in titles or _is_name(one) for one in (mine, theirs))
    if not named or start + end < SHARED["zh"] - 1 or any(said in one for one in texts):
        return False
    if max(len(mine), len(theirs)) > SHORT:
        copied = min(start, end) >= LEAST and start + end >= COPIED
        named = copied and set(mine).isdisjoint(theirs)
    return named and any(mine in one for one in texts)


def _same(one: str, other: str) -> int:
    """Return with how many characters two texts begin alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other)))


def _is_name(text: str) -> bool:
    pairs = (
        search_words(text)
        if LEAST <= len(text) <= NAME and GRAMMAR_CHARACTERS.isdisjoint(text)
        else []
    )
    return any(word_weight(one) >= RARE for one in pairs) and not re.search(r"\d", text)


@per_source
def _han_runs(source: SourceText) -> list[str]:
    """Return the clauses and the sentences of a text without the signs between their characters."""
    parts = dict.fromkeys([*_CLAUSE.split(source.text), *_SENTENCE.split(source.text)])
    return [*dict.fromkeys("".join(_HAN_RUN.findall(one)) for one in parts)]


@per_source
def _titles(source: SourceText) -> list[str]:
    return _TITLE.findall(source.text)


def _same_sort(one: str, other: str) -> bool:
    return not one[:1].isdigit() or _is_year(one) == _is_year(other)


def _is_year(number: str) -> bool:
    return number.isdigit() and len(number) == YEAR


def _alike(one: _Slot, other: _Slot) -> int:
    return _run(one.before, other.before) + _run(one.after, other.after)


def _run(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words of two runs are alike from their beginnings on."""
    alike = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        alike += mine not in STOPWORDS
    return alike


@per_source
def _numbers_of(source: SourceText) -> _Frames:
    return _frames(_slots(source.text, "number"))


@per_source
def _names_of(source: SourceText) -> _Frames:
    return _frames(_slots(source.text, "name"))


_FRAMES = {"number": _numbers_of, "name": _names_of}


def _frames(slots: Sequence[_Slot]) -> _Frames:
    found = _Frames({}, {}, {})
    for slot in slots:
        found.things.setdefault(slot.thing, []).append(slot)
        for word in slot.before[:1]:
            found.before.setdefault(word, []).append(slot)
        for word in slot.after[:1]:
            found.after.setdefault(word, []).append(slot)
    return found


def _slots(text: str, sort: str) -> list[_Slot]:
    """Return the things of a text, each once with the same words around it."""
    found = (slot for one in _SENTENCE.split(text) for slot in _of_sentence(one, sort))
    return [*dict.fromkeys(found)]


def _of_sentence(sentence: str, sort: str) -> Iterator[_Slot]:
    """Yield the things of a sentence; those of a list have the words around the list."""
    is_thing = _NUMBER.fullmatch if sort == "number" else _CAPITAL.fullmatch
    segments = [tokenize(one) for one in _SEGMENT.split(normalize_numerals(sentence))]
    said = [one for segment in segments for one in segment]
    at = 0
    for segment in segments:
        beside = frozenset(one.lower() for one in segment) - STOPWORDS
        for word in segment:
            first = sort == "name" and at == 0 and not any(map(is_thing, said[1:2]))
            if is_thing(word) and word != "1" and not first:
                before = _side(said[max(0, at - FARTHEST) : at][::-1], is_thing)
                after = _side(said[at + 1 : at + 1 + FARTHEST], is_thing)
                yield _Slot(_PLURAL.sub("", word.replace(",", "")), before, after, beside)
            at += 1


def _side(near: Sequence[str], is_thing: _Test) -> tuple[str, ...]:
    """Return the words on one side of a thing, behind those that are in a list with it."""
    rest = dropwhile(lambda one: bool(is_thing(one)) or one in _LINKS, near)
    return tuple(one.lower() for one in islice(rest, SIDE))
