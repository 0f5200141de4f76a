"""Tell whether a statement names another agent, subject or place than its sources do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, zip_longest
from typing import NamedTuple

from report.checks.overlap import CLAUSE_SPLIT
from report.checks.source_text import SourceText, per_source
from report.checks.substitutions import count_common_start
from report.checks.synonyms import get_base_form, has_word_or_synonym, list_irregular_forms
from text.dates import MONTH_NAMES
from text.pattern_files import PatternFile
from text.script import detect_language
from text.sentences import split_sentences
from text.words import LEAST_WEIGHT, search_words, word_weight

_PATTERNS = PatternFile(
    "report.checks", "roles.toml", irregular="|".join(sorted(list_irregular_forms()))
)

_MAX_CHARS_TO_PLACE = 90  # between what was done and where
_MIN_NAME_LETTERS = 4  # a shorter word is in many names

_RECIPROCAL = frozenset(search_words("marry met join play fought accompany resemble divorce"))
_Deed = tuple[str, frozenset[str]]  # a verb, and the words of names with it


def has_other_role(statement: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether all sources say of somebody else, or of another place, what is said of one.

    Only names that the sources have are compared.
    """
    if detect_language(statement) != "en":
        return False
    agent = _has_other_agent(statement, sources) or _has_other_place(statement, sources)
    return agent or _has_swapped_birth(statement, sources)


def _has_swapped_birth(statement: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether a source has the facts of a birth only for the death, or the reverse."""
    clauses = [
        (one, bool(_PATTERNS.born.search(one)), bool(_PATTERNS.died.search(one)))
        for one in CLAUSE_SPLIT.split(statement)
    ]
    for source in sources:
        life = _find_life(source)
        for clause, born, died in clauses if life else ():
            if life and born != died:
                here, there = ("born", "died") if born else ("died", "born")
                rest = source.text.replace(life[0], " ", 1) + life[here]
                if _list_own_facts(life[there], rest) & frozenset(_PATTERNS.fact.findall(clause)):
                    return True
    return False


_find_life = per_source(lambda source: _PATTERNS.life.search(source.text))


def _list_own_facts(part: str, rest: str) -> frozenset[str]:
    """Return the names and the years that are in a part of a text and not in the rest."""
    facts = (fact for fact in _PATTERNS.fact.findall(part) if fact.lower() not in MONTH_NAMES)
    return frozenset(fact for fact in facts if fact not in rest)


def _has_other_agent(statement: str, sources: Sequence[SourceText]) -> bool:
    theirs = [_read_agents(source) for source in sources]
    return any(
        _are_others(names, [one.named[verb] for one in theirs if verb in one.named], sources)
        for sentence in split_sentences(statement)
        for verb, names in _iter_agents(_list_deeds(sentence.text))
        if names and verb not in _RECIPROCAL and not any(verb in one.unnamed for one in theirs)
    )


def _has_other_place(statement: str, sources: Sequence[SourceText]) -> bool:
    places = [_map_places(source) for source in sources]
    for verb, names in _list_places(statement):
        if not names or not any(verb in one for one in places):
            continue
        theirs = [
            found
            for one in places
            for other, found in one.items()
            if other == verb or has_word_or_synonym(verb, other)
        ]
        if _are_others(names, theirs, sources):
            return True
    return False


def _are_others(
    names: frozenset[str], theirs: Sequence[set[str]], sources: Sequence[SourceText]
) -> bool:
    """Tell whether sources have all of some names, but none of them among their own."""
    known = (any(name in _list_capitalized(source) for source in sources) for name in names)
    others = any(theirs) and not any(one & names for one in theirs)
    return bool(names) and others and all(known)


_map_places = per_source(lambda source: _group_names(_list_places(source.text)))


def _group_names(deeds: Iterable[_Deed]) -> dict[str, set[str]]:
    """Return each verb with the words of all names that are with it."""
    grouped: dict[str, set[str]] = {}
    for verb, names in deeds:
        grouped.setdefault(verb, set()).update(names)
    return grouped


class _Agents(NamedTuple):
    """Who does what in a source: the names with each verb, and the verbs without any."""

    named: dict[str, set[str]]
    unnamed: frozenset[str]


@per_source
def _read_agents(source: SourceText) -> _Agents:
    agents: list[_Deed] = []
    alone: list[str] = []
    for sentence in source.sentences:
        deeds = _list_deeds(sentence)
        agents += _iter_agents(deeds)
        alone += _iter_lone_verbs(sentence, deeds)
    unnamed = (verb for verb, names in agents if not names)
    return _Agents(_group_names(agents), frozenset(chain(unnamed, alone)))


def _list_deeds(sentence: str) -> list[re.Match[str]]:
    return [*_PATTERNS.by.finditer(sentence), *_PATTERNS.did.finditer(sentence)]


def _iter_agents(deeds: Iterable[re.Match[str]]) -> Iterator[_Deed]:
    """Yield what was done, each time with the words of the names of those who did it."""
    for deed in deeds:
        names = _list_name_words(deed["names"])
        yield from ((verb, names) for verb in _base_verbs(deed["verbs"]))


def _iter_lone_verbs(sentence: str, deeds: Iterable[re.Match[str]]) -> Iterator[str]:
    spans = [deed.span("verbs") for deed in deeds]
    for verb in _PATTERNS.deed.finditer(sentence):
        if not any(start <= verb.start() < end for start, end in spans):
            yield from _base_verbs(verb[0])


def _list_places(text: str) -> list[_Deed]:
    """Return what was done, each time with the words of the names of where."""
    verbs = [*_PATTERNS.deed.finditer(text)]
    found = []
    for verb, after in zip_longest(verbs, verbs[1:]):
        end = min(verb.end() + _MAX_CHARS_TO_PLACE, after.start() if after else len(text))
        near = _PATTERNS.ends.split(text[verb.end() : end], maxsplit=1)[0]
        names = [_list_name_words(place["names"]) for place in _PATTERNS.place.finditer(near)]
        words = frozenset[str]().union(*names)
        found += [(base, words) for base in _base_verbs(verb[0]) if names]
    return found


def _base_verbs(verbs: str) -> Iterator[str]:
    return map(get_base_form, search_words(verbs))


def _list_name_words(names: str) -> frozenset[str]:
    words = re.findall(r"[A-Z][\w'’-]*", names)
    return frozenset(word for word in words if len(word) >= _MIN_NAME_LETTERS)


@per_source
def _list_capitalized(source: SourceText) -> frozenset[str]:
    words = re.findall(r"(?<=[\w,(\"“] )[A-Z][\w'’-]*|^[A-Z][\w'’-]*", source.text)
    return frozenset(words)


_MIN_NAME_WEIGHT = 0.9  # of a pair of characters
_MIN_CHARS = 2  # of a Chinese name
_MAX_CHARS = 10  # of a Chinese name with what describes it
_LINK_CHARS = (3, 6)  # at least and at most, before a thing, that say what it is
_MIN_PREDICATE_PAIRS = 4  # of characters
_MIN_PREDICATE_SHARE = 0.7  # that a clause must have
_OWNED_CHARS = 5  # the first of which is 的
_MAX_CLAUSE_CHARS = 200  # a longer clause is not compared


def has_other_chinese_role(statement: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether sources say of another thing what a Chinese statement says of one of theirs.

    Either two things have changed places, or another subject has the same predicate, or another
    thing follows the same words.
    """
    if detect_language(statement) != "zh":
        return False
    theirs = [one for source in sources for one in _list_source_clauses(source)]
    passages = [one for source in sources for one in _list_passages(source)]
    return any(
        _has_changed_places(one, theirs)
        or _has_other_subject(one, passages)
        or _has_other_object(one, theirs)
        for one in _list_clauses(statement)
        if len(one) <= _MAX_CLAUSE_CHARS and not any(one in there for there in theirs)
    )


def _has_changed_places(clause: str, theirs: Sequence[str]) -> bool:
    """Tell whether two things around the same words have changed places."""
    middles = (
        (at, end)
        for at in range(_MIN_CHARS, len(clause) - _MIN_CHARS)
        for end in range(at + _MIN_CHARS, min(at + _MAX_CHARS, len(clause) - _MIN_CHARS) + 1)
    )
    return any(
        _is_turned(clause[:at], clause[at:end], clause[end:], there)
        for at, end in middles
        for there in theirs
        if clause[at:end] in there and not _PATTERNS.joins.fullmatch(clause[at:end])
    )


def _is_turned(before: str, middle: str, after: str, there: str) -> bool:
    """Tell whether the end of one side of some words begins the other one there, and vice versa."""
    there_before, _, there_after = there.partition(middle)
    lengths = range(_MIN_CHARS, _MAX_CHARS)
    first = [before[-n:] for n in lengths if there_after.startswith(before[-n:])]
    second = [after[:n] for n in lengths if there_before.endswith(after[:n])]
    unchanged = before[-_MIN_CHARS:] + middle in there or middle + after[:_MIN_CHARS] in there
    return any(map(_is_name, first)) and any(map(_is_name, second)) and not unchanged


def _has_other_subject(clause: str, passages: Sequence[tuple[str, str]]) -> bool:
    """Tell whether all clauses with the same predicate name something else as its subject."""
    clause = _PATTERNS.needless.sub("", clause)
    lengths = range(min(_MAX_CHARS, len(clause)), _MIN_CHARS - 1, -1)
    starts = (clause[:end] for end in lengths)
    subject = next((start for start in starts if any(start in one for one, _ in passages)), "")
    if not _is_name(subject) or _PATTERNS.generic.match(clause):
        return False
    rest = clause[len(subject) :]
    wanted, owned = _pairs(rest), rest[:_OWNED_CHARS] if rest.startswith("的") else "\n"
    least = max(_MIN_PREDICATE_SHARE * len(wanted), _MIN_PREDICATE_PAIRS)
    same = [one for one in passages if len(wanted & _pairs(one[0])) >= least or owned in one[0]]
    return bool(same) and all(
        subject not in beside and _begins_with_other(there, subject, clause, wanted)
        for there, beside in same
    )


def _begins_with_other(there: str, subject: str, clause: str, wanted: frozenset[str]) -> bool:
    """Tell whether a clause begins with a name that shares at most its kind with the subject.

    The kind is the end of it, as in the names of two rivers.
    """
    there = _PATTERNS.needless.sub("", there)
    first = min(there.find(one) for one in wanted if one in there)
    opening = _PATTERNS.placed.sub("", there[:first])
    other = _PATTERNS.chinese_verb.split(opening, maxsplit=1)[0].rstrip("的")
    kind = count_common_start(other[::-1], subject[::-1])
    names = (other[: len(other) - kind], subject[: len(subject) - kind])
    return (
        _is_name(other)
        and len(other) <= _MAX_CHARS
        and not _PATTERNS.generic.match(other)
        and kind <= _MIN_CHARS
        and all(names)
        and set(names[0]).isdisjoint(names[1])
        and _pairs(names[0]).isdisjoint(_pairs(clause))
    )


def _has_other_object(clause: str, theirs: Sequence[str]) -> bool:
    """Tell whether something else always follows the words before the last thing named."""
    lengths = range(_MIN_CHARS, min(_MAX_CHARS, len(clause) - _LINK_CHARS[0]) + 1)
    ends = (clause[-n:] for n in lengths)
    known = (end for end in ends if any(end in one for one in theirs))
    return any(_is_replaced(clause.removesuffix(last), last, theirs) for last in known)


def _is_replaced(head: str, last: str, theirs: Sequence[str]) -> bool:
    if not _is_name(last) or not _PATTERNS.leads.search(head) or re.search(r"\d", last):
        return False
    for length in range(min(_LINK_CHARS[1], len(head)), _LINK_CHARS[0] - 1, -1):
        link = head[-length:]
        rest = [one.partition(link)[2] for one in theirs if link in one]
        if rest:
            return _is_name(link) and all(_is_other(one, last, head + last) for one in rest)
    return False


def _is_other(rest: str, last: str, clause: str) -> bool:
    return (
        _is_name(rest[:_MAX_CHARS])
        and not _PATTERNS.generic.match(rest)
        and not re.search(r"\d", rest[:_MIN_CHARS])
        and _pairs(rest).isdisjoint(_pairs(last))
        and _pairs(rest[:_MIN_CHARS]).isdisjoint(_pairs(clause))
    )


def _is_name(text: str) -> bool:
    return len(text) >= _MIN_CHARS and any(
        word_weight(one) >= _MIN_NAME_WEIGHT for one in _pairs(text)
    )


@lru_cache(maxsize=2048)
def _pairs(text: str) -> frozenset[str]:
    return frozenset(one for one in search_words(text) if word_weight(one) > LEAST_WEIGHT)


_list_source_clauses = per_source(lambda source: _list_clauses(source.text))


def _list_clauses(text: str) -> list[str]:
    """Return the clauses of a text without punctuation, each once."""
    bare = (_PATTERNS.signs.sub("", one) for one in _PATTERNS.clause.split(text))
    return [one for one in dict.fromkeys(bare) if len(one) > _MIN_CHARS]


@per_source
def _list_passages(source: SourceText) -> list[tuple[str, str]]:
    """Return each clause of a source with its sentence and the one before it."""
    sides = zip(("", *source.sentences), source.sentences, strict=False)
    beside = ((_PATTERNS.signs.sub("", before + sentence), sentence) for before, sentence in sides)
    found = ((clause, there) for there, sentence in beside for clause in _list_clauses(sentence))
    return [*dict.fromkeys(found)]
