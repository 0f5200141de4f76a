"""Tell which words stand for each other, and which say the opposite."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path

from report.checks.contrast import SourceText, per_source
from text.regex import regex
from text.script import HAN
from text.words import search_words

PREFIX = 5
"""Two words that begin with so many letters alike are forms of one."""


PART = 4
"""A word of so many letters may be the first part of another one, as of a compound."""

_MEASURED = regex(
    rf"(?P<of>[{HAN}]{{2}})(?:[也很较更最]|非常|十分|相当|比较)*(?P<how>[大小高低多少长短早晚强弱快慢重轻])(?![{HAN}\d])"
)
_CONTRARY = str.maketrans("大小高低多少长短早晚强弱快慢重轻", "小大低高少多短长晚早弱强慢快轻重")


def has_opposite_size(said: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether sources only have the opposite of what Chinese says of a size: 储量很大."""
    ours = _measured(said)
    theirs = [source.memoize(_sizes) for source in sources] if ours else []
    return any(
        any((of, how.translate(_CONTRARY)) in one for one in theirs)
        and not any((of, how) in one for one in theirs)
        for of, how in ours
    )


@per_source
def _sizes(source: SourceText) -> frozenset[tuple[str, str]]:
    return _measured(source.text)


def _measured(text: str) -> frozenset[tuple[str, str]]:
    return frozenset((one["of"], one["how"]) for one in _MEASURED.finditer(text))


def source_has_word(word: str, source: SourceText) -> bool:
    """Tell whether a source has a word in whatever form, or one that may stand for it."""
    return _known(word, source.memoize(_forms))


def find_word_sentences(word: str, source: SourceText) -> set[int]:
    """Return which sentences of a source have a word in any form, or one that may stand for it."""
    forms = source.memoize(_forms)
    spelt = {one for form in _forms_of(word) for one in forms.get(form, ())}
    return {at for one in spelt for at in source.positions[one]}


@per_source
def _forms(source: SourceText) -> dict[str, list[str]]:
    """Return for each form that a word is known by the words of a source with it."""
    found: dict[str, list[str]] = {}
    for word in source.positions:
        for form in _forms_in(word):
            found.setdefault(form, []).append(word)
    return found


def has_word_or_synonym(word: str, sentence: str) -> bool:
    """Tell whether a sentence has a word in any form, or one that may stand for it."""
    return _known(word, _vocabulary(sentence))


def has_word_form(word: str, text: str) -> bool:
    """Tell whether a text has a word in any form of it."""
    return word in text if not word.isascii() else not _stems(text).isdisjoint(_stems(word))


def list_opposites(text: str) -> list[tuple[str, str]]:
    """Return the words of the list that a text has, each with an opposite that it has not."""
    told = {at for stem in _stems(text) for at in _latin_opposites().get(stem, ())}
    pairs = _opposites()
    told |= {at for at, (one, _) in enumerate(pairs) if not one.isascii() and one in text}
    return [pairs[at] for at in sorted(told) if not has_word_form(pairs[at][1], text)]


@cache
def _latin_opposites() -> dict[str, list[int]]:
    """Return the places in the list of the words with each stem."""
    found: dict[str, list[int]] = {}
    for at, (one, _) in enumerate(_opposites()):
        for stem in search_words(one) if one.isascii() else ():
            found.setdefault(stem, []).append(at)
    return found


@cache
def _opposites() -> list[tuple[str, str]]:
    """Return each word of the list with its opposite, both ways."""
    lines = Path(__file__).with_name("opposites.txt").read_text("utf-8").splitlines()
    pairs = [line.split() for line in lines if not line.startswith("#")]
    return [(one, other) for pair in pairs for one, other in (pair, pair[::-1])]


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    return frozenset(search_words(text))


@lru_cache(maxsize=4096)
def _vocabulary(text: str) -> frozenset[str]:
    return frozenset(form for word in dict.fromkeys(search_words(text)) for form in _forms_in(word))


def _forms_in(word: str) -> set[str]:
    """Return the forms that a word of a text is known by; `~` and `*` stand for any end."""
    found = {word, get_base_form(word)}
    found |= {one[: -len("est")] for one in found if one.endswith("est") and one.isascii()}
    found |= {one[:PART] + "~" for one in found if len(one) > PART and one.isalpha()}
    return found | {one[:PREFIX] + "*" for one in found if len(one) >= PREFIX and one.isalpha()}


def get_base_form(word: str) -> str:
    """Return the first form of an irregular verb for its other ones, and else the word."""
    return _bases().get(word, word)


@cache
def list_irregular_forms() -> list[str]:
    """Return the other forms of the irregular verbs as they are spelt."""
    lines = Path(__file__).with_name("irregular.txt").read_text("utf-8").splitlines()
    return [form for line in lines if not line.startswith("#") for form in line.split()[1:]]


@cache
def _bases() -> dict[str, str]:
    lines = Path(__file__).with_name("irregular.txt").read_text("utf-8").splitlines()
    forms = [search_words(line) for line in lines if not line.startswith("#")]
    return {form: first for first, *others in filter(None, forms) for form in others}


def _known(word: str, vocabulary: Container[str]) -> bool:
    return any(one in vocabulary for one in _forms_of(word))


def _forms_of(word: str) -> Iterator[str]:
    """Yield the forms in which a text may have a word, or one that may stand for it."""
    word = get_base_form(word)
    yield word
    yield from _synonyms().get(word, ())
    if word.startswith("un") and len(word) > PREFIX:
        yield from _forms_of(word[2:])
    elif len(word) == PART:
        yield word + "~"
    elif len(word) >= PREFIX and word.isascii():
        yield word[:PREFIX] + "*"


@lru_cache(maxsize=64)
def render_nation_names(text: str) -> str:
    """Return the other words for each country and people that a text names."""
    found = _stems(text)
    known = (
        one
        for one in _groups()
        if one[0].istitle() and not found.isdisjoint(search_words(" ".join(one)))
    )
    return " ".join(dict.fromkeys(word for group in known for word in group))


@cache
def _groups() -> list[list[str]]:
    lines = Path(__file__).with_name("synonyms.txt").read_text("utf-8").splitlines()
    return [line.split() for line in lines if line and not line.startswith("#")]


@cache
def _synonyms() -> dict[str, frozenset[str]]:
    """Return for each word in a group of the list the words of its groups."""
    found: dict[str, frozenset[str]] = {}
    for line in _groups():
        group = frozenset(search_words(" ".join(line)))
        for word in group:
            found[word] = found.get(word, frozenset()) | group
    return found
