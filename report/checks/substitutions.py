"""Tell whether a statement puts one thing of a source in the place of another."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, dropwhile, islice, takewhile
from typing import NamedTuple

from report.checks.numbers import normalize_numerals
from report.checks.source_text import SourceText, per_source
from report.checks.word_changes import tokenize
from text.regex import regex
from text.script import CJK, HAN, detect_language
from text.words import GRAMMAR_CHARACTERS, STOPWORDS, search_words, word_weight

_FRAME_WORDS = 8  # on each side of a thing
_MAX_FRAME_DISTANCE = 2 * _FRAME_WORDS
_MIN_SHARED_FRAME = {"en": 2, "zh": 5}  # words, or Chinese characters
_MIN_CLOSER = {"en": 1, "zh": 2}  # by how much more of a frame another thing has
_MAX_ABSENT_DIGITS = 2  # such a number may be wrong where no source has it at all
_YEAR_DIGITS = 4  # years are compared with years
_NAME_CHARS = (2, 12)  # at least and at most, in Chinese
_MAX_SHORT_NAME = 5  # a longer Chinese name must be inside a copy
_MIN_COPY_CHARS = 8  # on both sides of a name together
_MIN_NAME_WEIGHT = 0.9  # of a pair of characters
_MAX_CLAUSE_CHARS = 200  # a longer clause of Chinese is no copy of another one

_NUMBER = regex(r"\d[\d,]*(?:\.\d+)?")
_CAPITAL = regex(rf"[^\W\d_a-zß-öø-ÿ{CJK}][\w'’-]{{2,}}")
_PLURAL = regex(r"['’]s?$|(?<=[^s])s$")
_SENTENCE = regex(r"(?<=[a-z0-9)\"”]{2})[.!?;]\s|[。！？；\n]")
_SEGMENT = regex(r"(?<!\d),|[，：]|,(?!\d)")
_CLAUSE = regex(r"[，。；：！？、,;\n]")
_HAN_RUN = regex(f"[{HAN}\\dA-Za-z]+")
_TITLE = regex(r"《([^《》\n]{2,12})》")
_LINKS = frozenset(["and", "or", "和", "与", "與", "及", "、"])


class _Slot(NamedTuple):
    """A thing of a text, the words on each side of it, the nearest first, and all beside it."""

    thing: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    beside: frozenset[str]

    def count_alike(self, other: _Slot) -> int:
        """Count the words of the frames that are alike, from the thing outwards."""
        sides = ((self.before, other.before), (self.after, other.after))
        alike = (mine[: count_common_start(mine, theirs)] for mine, theirs in sides)
        return sum(word not in STOPWORDS for words in alike for word in words)


class _Frames(NamedTuple):
    """The things of a source: by what they are, and by the words next to them."""

    things: dict[str, list[_Slot]]
    before: dict[str, list[_Slot]]
    after: dict[str, list[_Slot]]

    def near(self, slot: _Slot) -> Iterator[_Slot]:
        """Yield the things that have a neighbouring word in common with another one."""
        yield from (one for word in slot.before[:1] for one in self.before.get(word, ()))
        yield from (one for word in slot.after[:1] for one in self.after.get(word, ()))


def has_swapped_number(part: str, sources: Sequence[SourceText], *, absent: bool = True) -> bool:
    """Tell whether all sources have another number in the place of one of a clause.

    With `absent`, a small number counts that no source has, which may be a rounded one.
    """
    return _is_any_moved(part, sources, "number", absent=absent)


def has_swapped_name(statement: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether all sources have another name in the place of an English one."""
    return detect_language(statement) == "en" and _is_any_moved(statement, sources, "name")


def _is_any_moved(
    part: str, sources: Sequence[SourceText], sort: str, *, absent: bool = False
) -> bool:
    slots = _list_slots(_split_words(part), sort)
    things = {slot.thing for slot in slots}
    frames = [_map_frames(source)[sort] for source in sources] if slots else []
    known = {one for one in things if any(one in frame.things for frame in frames)}
    if absent:
        known |= {one for one in things if one.isdigit() and len(one) <= _MAX_ABSENT_DIGITS}
    tongue = detect_language(part)
    return any(_is_moved(slot, things, frames, tongue) for slot in slots if slot.thing in known)


def _is_moved(slot: _Slot, things: Collection[str], frames: Sequence[_Frames], tongue: str) -> bool:
    """Tell whether another thing has the frame of this one, and what is beside it, more than it."""
    own = [other for one in frames for other in one.things.get(slot.thing, ())]
    shared = _MIN_SHARED_FRAME[tongue]
    closest = max(map(slot.count_alike, own), default=shared)
    least = max(shared, closest + _MIN_CLOSER[tongue])
    beside = max((len(slot.beside & other.beside) for other in own), default=0)
    return any(
        slot.count_alike(other) >= least and len(slot.beside & other.beside) >= beside
        for one in frames
        for other in one.near(slot)
        if other.thing not in things
        and (not slot.thing[:1].isdigit() or _is_year(slot.thing) == _is_year(other.thing))
    )


def has_swapped_words(part: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether a source has a Chinese name of a clause, but another one in its place.

    All the rest of the clause is alike there. A longer name must be inside a copy, and may share
    no character with the one in its place: it may be the same name in other words.
    """
    bare = "".join(_HAN_RUN.findall(part))
    if detect_language(part) != "zh" or len(bare) > _MAX_CLAUSE_CHARS:
        return False
    clauses = [one for source in sources for one in _list_han_clauses(source)]
    titles = set(_TITLE.findall(part)).union(*map(_list_titles, sources))
    return any(_is_swapped(bare, one, clauses, titles) for one in clauses)


def _is_swapped(
    statement: str, there: str, clauses: Sequence[str], titles: Collection[str]
) -> bool:
    """Tell whether a clause is one of a source but for a name, which is in another one."""
    start = count_common_start(statement, there)
    end = count_common_start(statement[start:][::-1], there[start:][::-1])
    ours, theirs = statement[start : len(statement) - end], there[start : len(there) - end]
    named = all(one in titles or _is_name(one) for one in (ours, theirs))
    shared = _MIN_SHARED_FRAME["zh"] - 1
    if not named or start + end < shared or any(statement in one for one in clauses):
        return False
    if max(len(ours), len(theirs)) > _MAX_SHORT_NAME:
        copied = min(start, end) >= _NAME_CHARS[0] and start + end >= _MIN_COPY_CHARS
        named = copied and set(ours).isdisjoint(theirs)
    return named and any(ours in one for one in clauses)


def count_common_start(one: Iterable[str], other: Iterable[str]) -> int:
    """Count the equal items with which two sequences begin."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _is_name(text: str) -> bool:
    least, most = _NAME_CHARS
    if not least <= len(text) <= most or re.search(r"\d", text):
        return False
    rare = any(word_weight(pair) >= _MIN_NAME_WEIGHT for pair in search_words(text))
    return rare and GRAMMAR_CHARACTERS.isdisjoint(text)


@per_source
def _list_han_clauses(source: SourceText) -> list[str]:
    """Return the clauses and the sentences of a text without punctuation."""
    parts = dict.fromkeys([*_CLAUSE.split(source.text), *_SENTENCE.split(source.text)])
    return [*dict.fromkeys("".join(_HAN_RUN.findall(one)) for one in parts)]


_list_titles = per_source(lambda source: _TITLE.findall(source.text))


def _is_year(number: str) -> bool:
    return number.isdigit() and len(number) == _YEAR_DIGITS


@per_source
def _map_frames(source: SourceText) -> dict[str, _Frames]:
    """Return the numbers and the names of a source."""
    sentences = _split_words(source.text)
    return {sort: _to_frames(_list_slots(sentences, sort)) for sort in ("number", "name")}


def _to_frames(slots: Sequence[_Slot]) -> _Frames:
    frames = _Frames({}, {}, {})
    for slot in slots:
        frames.things.setdefault(slot.thing, []).append(slot)
        for word in slot.before[:1]:
            frames.before.setdefault(word, []).append(slot)
        for word in slot.after[:1]:
            frames.after.setdefault(word, []).append(slot)
    return frames


def _split_words(text: str) -> list[list[list[str]]]:
    """Return the words of each segment of each sentence of a text, its numbers in digits."""
    return [
        [tokenize(part) for part in _SEGMENT.split(normalize_numerals(sentence))]
        for sentence in _SENTENCE.split(text)
    ]


def _list_slots(sentences: Iterable[Sequence[Sequence[str]]], sort: str) -> list[_Slot]:
    """Return the things of sentences, each once with the same words around it."""
    return [*dict.fromkeys(slot for one in sentences for slot in _iter_slots(one, sort))]


def _iter_slots(segments: Sequence[Sequence[str]], sort: str) -> Iterator[_Slot]:
    """Yield the things of a sentence; those of a list have the words around the list.

    A word is one object in all frames: there are as many frames as things in a source.
    """
    is_thing = _NUMBER.fullmatch if sort == "number" else _CAPITAL.fullmatch
    words = [*chain.from_iterable(segments)]
    things = [*map(bool, map(is_thing, words))]
    if not any(things):
        return
    lower = [sys.intern(word.lower()) for word in words]
    listed = [thing or word in _LINKS for thing, word in zip(things, words, strict=True)]
    first = 1 if sort == "name" and not any(things[1:2]) else 0
    end = 0
    for segment in segments:
        start, end = end, end + len(segment)
        places = [at for at in range(max(start, first), end) if things[at] and words[at] != "1"]
        beside = frozenset(lower[start:end]) - STOPWORDS if places else frozenset[str]()
        for at in places:
            before = range(at - 1, max(0, at - _MAX_FRAME_DISTANCE) - 1, -1)
            after = range(at + 1, min(at + 1 + _MAX_FRAME_DISTANCE, len(words)))
            thing = _PLURAL.sub("", words[at].replace(",", ""))
            frame = (_list_frame(lower, listed, before), _list_frame(lower, listed, after))
            yield _Slot(thing, *frame, beside)


def _list_frame(lower: Sequence[str], listed: Sequence[bool], side: range) -> tuple[str, ...]:
    """Return the words on one side of a thing, without the other things of its list."""
    rest = dropwhile(listed.__getitem__, side)
    return tuple(map(lower.__getitem__, islice(rest, _FRAME_WORDS)))
