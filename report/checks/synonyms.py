"""Tell which words are synonyms, and which are opposites."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import cache, lru_cache

from report.checks.source_text import SourceText, per_source
from text.pattern_files import read_packaged_text
from text.regex import regex
from text.script import HAN, is_western
from text.words import Memo, search_words

_PREFIX_LETTERS = 5  # which two forms of one word share
_PART_LETTERS = 4  # of a word that may be the first part of a compound
_MEASURED = regex(
    rf"(?P<of>[{HAN}]{{2}})(?:[也很较更最]|非常|十分|相当|比较)*(?P<how>[大小高低多少长短早晚强弱快慢重轻])(?![{HAN}\d])"
)
_CONTRARY = str.maketrans("大小高低多少长短早晚强弱快慢重轻", "小大低高少多短长晚早弱强慢快轻重")


def has_opposite_size(statement: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether sources only have the opposite of what Chinese says of a size: 储量很大."""
    ours = _find_sizes(statement)
    theirs = frozenset[tuple[str, str]]().union(*map(_find_source_sizes, sources if ours else ()))
    return any(
        (of, how.translate(_CONTRARY)) in theirs and (of, how) not in theirs for of, how in ours
    )


def _find_sizes(text: str) -> frozenset[tuple[str, str]]:
    return frozenset((one["of"], one["how"]) for one in _MEASURED.finditer(text))


_find_source_sizes = per_source(lambda source: _find_sizes(source.text))


def source_has_word(word: str, source: SourceText) -> bool:
    """Tell whether a source has a word, or a synonym of it, in any form."""
    return _has_any_form(word, _list_forms(source))


def find_word_sentences(word: str, source: SourceText) -> set[int]:
    """Return which sentences of a source have a word, or a synonym of it, in any form."""
    wanted = _list_forms(source).intersection(_iter_forms(word))
    if not wanted:
        return set()
    words = (one for one in source.positions if not wanted.isdisjoint(_text_forms[one]))
    return {at for spelt in words for at in source.positions[spelt]}


@per_source
def _list_forms(source: SourceText) -> frozenset[str]:
    """Return the forms of the words of a source."""
    return frozenset[str]().union(*map(_text_forms.__getitem__, source.positions))


def has_word_or_synonym(word: str, sentence: str) -> bool:
    """Tell whether a sentence has a word, or a synonym of it, in any form."""
    return _has_any_form(word, _list_vocabulary(sentence))


def has_word_form(word: str, text: str) -> bool:
    """Tell whether a text has a word in any form of it."""
    return word in text if not word.isascii() else not _stems(text).isdisjoint(_stems(word))


def list_opposites(text: str) -> list[tuple[str, str]]:
    """Return the words of the list that a text has, each with an opposite that it has not."""
    pairs = _opposites()
    known = {at for stem in _stems(text) for at in _latin_opposites().get(stem, ())}
    if not is_western(text):
        known |= {at for at, (word, _) in enumerate(pairs) if not word.isascii() and word in text}
    return [pairs[at] for at in sorted(known) if not has_word_form(pairs[at][1], text)]


@cache
def _latin_opposites() -> dict[str, list[int]]:
    """Return where in the list the words with each stem are."""
    found: dict[str, list[int]] = {}
    for at, (word, _) in enumerate(_opposites()):
        for stem in search_words(word) if word.isascii() else ():
            found.setdefault(stem, []).append(at)
    return found


@cache
def _opposites() -> list[tuple[str, str]]:
    """Return each word of the list with its opposite, both ways."""
    return [
        pair for word, other in _read_list("opposites") for pair in ((word, other), (other, word))
    ]


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    return frozenset(search_words(text))


@lru_cache(maxsize=4096)
def _list_vocabulary(text: str) -> frozenset[str]:
    return frozenset(
        form for word in dict.fromkeys(search_words(text)) for form in _text_forms[word]
    )


def _derive_text_forms(word: str) -> frozenset[str]:
    """Return the forms under which a word of a text is looked up; `~` and `*` are any ending."""
    found = {word, get_base_form(word)}
    found |= {one.removesuffix("est") for one in found if one.isascii()}
    letters = {one for one in found if one.isalpha()}
    found |= {one[:_PART_LETTERS] + "~" for one in letters if len(one) > _PART_LETTERS}
    found |= {one[:_PREFIX_LETTERS] + "*" for one in letters if len(one) >= _PREFIX_LETTERS}
    return frozenset(found)


_text_forms = Memo(_derive_text_forms, most=8_192)
"""The forms of the words of all sources."""


def get_base_form(word: str) -> str:
    """Return the base form of an irregular verb, or any other word itself."""
    return _base_forms().get(word, word)


@cache
def list_irregular_forms() -> list[str]:
    """Return the forms of the irregular verbs but for their base forms."""
    return [form for _, *others in _read_list("irregular") for form in others]


@cache
def _base_forms() -> dict[str, str]:
    verbs = (search_words(" ".join(verb)) for verb in _read_list("irregular"))
    return {form: base for base, *others in filter(None, verbs) for form in others}


def _has_any_form(word: str, vocabulary: Container[str]) -> bool:
    return any(form in vocabulary for form in _iter_forms(word))


def _iter_forms(word: str) -> Iterator[str]:
    """Yield the forms in which a text may have a word or a synonym of it."""
    word = get_base_form(word)
    yield word
    yield from _synonyms().get(word, ())
    if word.startswith("un") and len(word) > _PREFIX_LETTERS:
        yield from _iter_forms(word[2:])
    elif len(word) == _PART_LETTERS:
        yield word + "~"
    elif len(word) >= _PREFIX_LETTERS and word.isascii():
        yield word[:_PREFIX_LETTERS] + "*"


@lru_cache(maxsize=64)
def render_nation_names(text: str) -> str:
    """Return the other words for each country and people that a text names."""
    stems = _stems(text)
    known = (group for group, words in _nations() if not stems.isdisjoint(words))
    return " ".join(dict.fromkeys(word for group in known for word in group))


@cache
def _nations() -> list[tuple[list[str], frozenset[str]]]:
    """Return the words for each country and its people, and their stems."""
    groups = (group for group in _read_list("synonyms") if group[0].istitle())
    return [(group, frozenset(search_words(" ".join(group)))) for group in groups]


@cache
def _read_list(name: str) -> list[list[str]]:
    """Return the lines of a list of words beside this module."""
    lines = read_packaged_text("report.checks", f"{name}.txt").splitlines()
    return [line.split() for line in lines if line.strip() and not line.startswith("#")]


@cache
def _synonyms() -> dict[str, frozenset[str]]:
    """Return for each word in a group of the list the words of its groups."""
    found: dict[str, frozenset[str]] = {}
    for words in _read_list("synonyms"):
        group = frozenset(search_words(" ".join(words)))
        for word in group:
            found[word] = found.get(word, frozenset()) | group
    return found
