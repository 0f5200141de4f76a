"""Redact every sentence that repeats what is erased in texts, JSON and msgpack.

Objects in msgpack are never instantiated.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import groupby
from typing import Any, NamedTuple

import ormsgpack

from prompts.data_blocks import QUOTATION_BODY
from prompts.loader import render_prompt
from text.regex import regex
from text.script import CJK
from text.sentences import Span, split_sentences
from text.words import search_words

SHARED_WORDS, SHARED_CHARACTERS = 5, 12
"""The words, or Chinese characters, in a row that two texts share if one repeats the other."""

KEYWORD_NGRAM = 3
"""The search words in a row that repeat a sentence, whatever is between them."""

WORD_SEPARATOR = "\x1f"
"""Delimits each word of a run; no stored text has it."""

_TOKEN = regex(f"[{CJK}]|[^\\W{CJK}]+")
_HAN = regex(f"[{CJK}]")
# Ids of sources, numbers in a finished report, marks of quotations, and escapes of HTML.
_MARKS = regex(r"\[S?\d+\]|</?q\b[^>]*>|&(?:[a-z]{2,6}|#x?[0-9a-f]{1,5});", re.IGNORECASE)


class PlacedWord(NamedTuple):
    """A word, or one Chinese character, and its span in its text."""

    word: str
    start: int
    end: int


def list_placed_words(text: str) -> list[PlacedWord]:
    """Return the words of a text, normalized in case, width and marks."""
    bare = _MARKS.sub(lambda mark: " " * len(mark[0]), text)
    return [PlacedWord(_fold_word(one[0]), one.start(), one.end()) for one in _TOKEN.finditer(bare)]


def is_cjk_character(word: str) -> bool:
    """Tell whether a word is a single Chinese character, or one of kana or hangul."""
    return bool(_HAN.match(word))


def _join_words(some: Sequence[str]) -> str:
    """Return words as one run that other runs contain at whole words only."""
    return WORD_SEPARATOR + WORD_SEPARATOR.join(some) + WORD_SEPARATOR


def word_sequence(text: str) -> str:
    """Return the words of a text as one run; empty without words."""
    some = [token.word for token in list_placed_words(text)]
    return _join_words(some) if some else ""


def iter_word_ngrams(some: Iterable[PlacedWord]) -> Iterator[tuple[str, int, int]]:
    """Yield every run of words that is long enough to be a repetition, with its span."""
    for is_cjk, adjacent in groupby(some, key=lambda token: is_cjk_character(token.word)):
        words, size = list(adjacent), SHARED_CHARACTERS if is_cjk else SHARED_WORDS
        for at in range(len(words) - size + 1):
            part = words[at : at + size]
            yield _join_words([token.word for token in part]), part[0].start, part[-1].end


def list_keyword_ngrams(text: str) -> set[str]:
    """Return the runs of search words of a text; all of them as one run if they are few."""
    words = search_words(text)
    if len(words) < 2:
        return set()
    last = max(1, len(words) - KEYWORD_NGRAM + 1)
    return {_join_words(words[at : at + KEYWORD_NGRAM]) for at in range(last)}


def _fold_word(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold()


FORGOTTEN_MARK = "[forgotten]"
"""Replaces an erased sentence."""

CACHED_TEXTS = 20_000
"""How many redacted texts are cached; checkpoints repeat the same texts."""

_LEAD = regex(r"\s*(?:(?:[-*+>]|\d+[.)]|#{1,6})\s+)*")
_QUOTE = regex(rf"<q\b[^<>]*>{QUOTATION_BODY}</q>")
_CITED = regex(r"\[(S\d+)\]|<q\b[^>]*\bs=\"(S\d+)\"")

_EMPTY: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Erasure:
    """What is erased, in the forms by which it is recognized."""

    phrases: frozenset[str] = _EMPTY
    """Runs of words: a sentence that has one is erased."""
    whole_sentences: frozenset[str] = _EMPTY
    """Runs of words that are erased only as a whole sentence."""
    word_ngrams: frozenset[str] = _EMPTY
    """Runs of five words or twelve Chinese characters."""
    keyword_ngrams: frozenset[str] = _EMPTY
    """Runs of three search words."""
    terms: frozenset[str] = _EMPTY
    """Search words that occur nowhere else."""
    cited: frozenset[str] = _EMPTY
    """The ids by which a thread cites it, such as `S3`."""
    pages: frozenset[str] = _EMPTY
    """The ids of pages, whose titles and places are erased wherever a page is named."""
    cache: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    def __bool__(self) -> bool:
        """Tell whether anything is erased."""
        return any(self._forms())

    def __or__(self, other: Erasure) -> Erasure:
        """Return the union of two erasures."""
        pairs = zip(self._forms(), other._forms(), strict=True)
        return Erasure(*(mine | theirs for mine, theirs in pairs))

    def without_ids(self) -> Erasure:
        """Return the erasure of the words alone, for where ids mean something else."""
        return replace(self, cited=_EMPTY, pages=_EMPTY, cache={})

    def _forms(self) -> list[Any]:
        return [getattr(self, one.name) for one in fields(self) if one.compare]

    def redact(self, text: str) -> str:
        """Return a text with a mark in place of each erased sentence."""
        if text not in self.cache:
            if len(self.cache) >= CACHED_TEXTS:
                self.cache.clear()
            self.cache[text] = _without(text, self._spans(text)) if text.strip() else text
        return self.cache[text]

    def find_citing_sentences(self, text: str) -> list[str]:
        """Return the sentences and quotations of a text that cite what is erased."""
        sentences = [one.text for one in split_sentences(text)]
        quotations = [one[0] for one in _QUOTE.finditer(text)]
        return [one for one in (*sentences, *quotations) if self._cites(one)]

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of the erased sentences; no quotation is torn in two."""
        sentences = split_sentences(text)
        quotations = [one.span() for one in _QUOTE.finditer(text)]
        hits = [
            *self._find_runs(list_placed_words(text)),
            *((one.start, one.end) for one in sentences if self._repeats(one)),
            *(one for one in quotations if self._cites(text[slice(*one)])),
        ]
        units = [*((one.start, one.end) for one in sentences), *quotations]
        return [_widen(hit, units) for hit in hits]

    def _find_runs(self, words: list[PlacedWord]) -> Iterator[tuple[int, int]]:
        """Yield the spans of erased runs of words."""
        if self.phrases and words:
            text = _join_words([one.word for one in words])
            for phrase in self.phrases:
                yield from _find_phrase(phrase, text, words)
        if self.word_ngrams:
            for ngram, start, end in iter_word_ngrams(words):
                if ngram in self.word_ngrams:
                    yield start, end

    def _repeats(self, sentence: Span) -> bool:
        text = sentence.text
        if self._cites(text):
            return True
        words = word_sequence(text)
        if not words or words in self.whole_sentences:
            return bool(words)
        if self.terms and not self.terms.isdisjoint(search_words(text)):
            return True
        ngrams = self.keyword_ngrams
        return bool(ngrams) and not ngrams.isdisjoint(list_keyword_ngrams(text))

    def _cites(self, text: str) -> bool:
        return bool(self.cited) and any(
            (mark[1] or mark[2]) in self.cited for mark in _CITED.finditer(text)
        )


def _widen(span: tuple[int, int], units: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the smallest span around another one that cuts no sentence and no quotation."""
    while True:
        start, end = span
        touched = [span, *(one for one in units if one[0] < end and start < one[1])]
        wider = min(one[0] for one in touched), max(one[1] for one in touched)
        if wider == span:
            return span
        span = wider


def _find_phrase(phrase: str, text: str, words: list[PlacedWord]) -> Iterator[tuple[int, int]]:
    """Yield the spans of a run of words in a text, which is the run of all its words."""
    at = text.find(phrase)
    while at >= 0:
        first = text.count(WORD_SEPARATOR, 0, at)
        last = first + phrase.count(WORD_SEPARATOR) - 2
        yield words[first].start, words[last].end
        at = text.find(phrase, at + 1)


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text with a mark in place of each span, and one mark for adjacent spans."""
    parts: list[str] = []
    done, marked = 0, False
    for start, end in sorted(set(spans)):
        if end <= done:
            continue
        start = max(start, done)
        between, piece = text[done:start], text[start:end]
        is_adjacent = marked and not between.strip() and "\n" not in between
        parts += [] if is_adjacent else [between, _marked(piece)]
        done, marked = end, True
    return "".join([*parts, text[done:]]) if parts else text


def _marked(piece: str) -> str:
    """Return the mark for a sentence; list items keep their marker, table rows their cells."""
    if piece.startswith("|"):
        return f"| {FORGOTTEN_MARK} |" + " |" * max(0, piece.rstrip().rstrip("|").count("|") - 1)
    lead = _LEAD.match(piece)
    return (lead[0] if lead else "") + FORGOTTEN_MARK


PROSE_KEYS = {
    *("title", "text", "question", "query", "queries", "content", "body", "location", "place"),
    *("description", "thought", "feedback", "note", "abstract", "quote", "value", "message"),
    *("action", "observation", "why", "notices", "searched", "doubted", "knowledge", "args"),
    *("part", "says"),
}
"""Keys whose values are prose of people and models even as a single word."""

_ONE_WORD = regex(r"[!-~]*")
_TURN = regex(r"(\d+/)(.*)", re.DOTALL)

NUMPY_EXTENSION = 6
"""The extension of LangGraph's msgpack that holds an array; all others hold msgpack again."""


class _MsgpackExtension(NamedTuple):
    """An object in msgpack: a code, and data that is msgpack itself, or bytes."""

    code: int
    data: Any


def redact_data(value: Any, erasure: Erasure, key: str = "") -> Any:
    """Return redacted plain data; the same object if nothing is erased."""
    match value:
        case str():
            return redact_json(value, erasure, key)
        case _MsgpackExtension():
            data = redact_data(value.data, erasure)
            return value if data is value.data else _MsgpackExtension(value.code, data)
        case list() | tuple():
            made = [redact_data(one, erasure, key) for one in value]
            same = all(new is old for new, old in zip(made, value, strict=True))
            return value if same else made
        case dict():
            return _table(value, erasure)
        case _:
            return value


def redact_json(text: str, erasure: Erasure, key: str = "") -> str:
    """Return redacted JSON in its format, or any other text redacted."""
    if text[:1] in ("{", "[", '"'):
        try:
            data = json.loads(text)
        except ValueError:
            return _prose(text, erasure, key)
        made = redact_data(data, erasure, key)
        escaped = "\\u" in text
        return text if made is data else json.dumps(made, ensure_ascii=escaped)
    return _prose(text, erasure, key)


def redact_msgpack(data: bytes, erasure: Erasure, key: str = "") -> bytes:
    """Return redacted data of LangGraph's format; `key` is the one whose value they are."""
    tree = _unpacked(data)
    made = redact_data(tree, erasure, key)
    return data if made is tree else _packed(made)


def visit_msgpack_texts(data: bytes, show: Callable[[str], None]) -> None:
    """Call `show` with every text in data of LangGraph's format."""
    visit_texts(_unpacked(data), show)


def visit_texts(value: Any, show: Callable[[str], None]) -> None:
    """Call `show` with every text in plain data, keys too."""
    match value:
        case str():
            show(value)
        case _MsgpackExtension():
            visit_texts(value.data, show)
        case dict():
            for one in (*value, *value.values()):
                visit_texts(one, show)
        case list() | tuple():
            for one in value:
                visit_texts(one, show)


def _prose(text: str, erasure: Erasure, key: str) -> str:
    # A single word is an id, a status or the name of a node, unless its key is one of prose.
    if key not in PROSE_KEYS and _ONE_WORD.fullmatch(text):
        return text
    rest = erasure.redact(text)
    return text if rest == text else rest


def _table(value: dict[Any, Any], erasure: Erasure) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for key, one in value.items():
        name = _key(key, erasure)
        while name != key and name in made:
            name = f"{name} {len(made)}"
        made[name] = redact_data(one, erasure, key if isinstance(key, str) else "")
    _source(made, erasure)
    same = list(made) == list(value) and all(made[key] is value[key] for key in made)
    if same:
        return value
    if {"body", "notices", "language"} <= made.keys():
        made["notices"] = _add_notice(made["notices"], made["language"])
    return made


def _key(key: Any, erasure: Erasure) -> Any:
    """Return a redacted key: findings of the graph are stored under the words of their query."""
    if not isinstance(key, str) or _ONE_WORD.fullmatch(key):
        return key
    turn = _TURN.fullmatch(key)
    if turn is None:
        return erasure.redact(key)
    words = erasure.redact(turn[2])
    return key if words == turn[2] else turn[1] + words


_NAMING = ("title", "location", "author", "site")
"""What of a source names its page or whoever wrote it."""


def _source(made: dict[Any, Any], erasure: Erasure) -> None:
    """Redact the names and passages of erased pages, and their citations."""
    if made.get("page") in erasure.pages and "title" in made:
        made |= {name: FORGOTTEN_MARK for name in _NAMING if name in made}
    if made.get("source") in erasure.cited and "text" in made:
        made["text"] = FORGOTTEN_MARK
    if erasure.cited & {*_ids(made.get("cited"))}:
        made["cited"] = [one for one in made["cited"] if one not in erasure.cited]


def _ids(cited: Any) -> list[str]:
    return [one for one in cited if isinstance(one, str)] if isinstance(cited, list) else []


def _add_notice(notices: Any, language: str) -> list[str]:
    notice = render_prompt("notice_forgotten", language=language).strip()
    return [*(one for one in notices if one != notice), notice]


def _unpacked(data: bytes) -> Any:
    return ormsgpack.unpackb(data, ext_hook=_extension, option=ormsgpack.OPT_NON_STR_KEYS)


def _extension(code: int, data: bytes) -> _MsgpackExtension:
    return _MsgpackExtension(code, bytes(data) if code == NUMPY_EXTENSION else _unpacked(data))


def _packed(tree: Any) -> bytes:
    option = ormsgpack.OPT_NON_STR_KEYS | ormsgpack.OPT_PASSTHROUGH_TUPLE
    option |= ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    return ormsgpack.packb(tree, default=_default, option=option)


def _default(value: Any) -> Any:
    if isinstance(value, _MsgpackExtension):
        data = value.data if isinstance(value.data, bytes) else _packed(value.data)
        return ormsgpack.Ext(value.code, data)
    if isinstance(value, tuple):
        return list(value)
    msg = f"msgpack has no {type(value).__name__}"
    raise TypeError(msg)
