"""Take every sentence that repeats what is forgotten out of texts, JSON and msgpack.

No object of any class is made on the way.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import ormsgpack

from prompts.data_blocks import QUOTATION_BODY
from prompts.loader import render_prompt
from text.regex import regex
from text.script import CJK
from text.sentences import Span, split_sentences
from text.words import search_words

SHARED_WORDS, SHARED_CHARACTERS = 5, 12
"""A text shares words with another if it has so many in a row, or so many Chinese characters."""

KEYWORD_NGRAM = 3
"""So many search words in a row say again what a sentence says, whatever stands between them."""

WORD_SEPARATOR = "\x1f"
"""What stands around each word of a run; no text that is kept has it."""

_TOKEN = regex(f"[{CJK}]|[^\\W{CJK}]+")
_HAN = regex(f"[{CJK}]")
# Ids of sources, numbers in a finished report, marks of quotations, and escapes of HTML.
_MARKS = regex(r"\[S?\d+\]|</?q\b[^>]*>|&(?:[a-z]{2,6}|#x?[0-9a-f]{1,5});", re.IGNORECASE)


class PlacedWord(NamedTuple):
    """A word, or one Chinese character, and where it stands in its text."""

    word: str
    start: int
    end: int


def list_placed_words(text: str) -> list[PlacedWord]:
    """Return the words of a text as they are compared: whatever their case, width or marks."""
    bare = _MARKS.sub(lambda mark: " " * len(mark[0]), text)
    return [PlacedWord(_fold_word(one[0]), one.start(), one.end()) for one in _TOKEN.finditer(bare)]


def is_cjk_character(word: str) -> bool:
    """Say whether a word is a single Chinese character, or one of kana or hangul."""
    return bool(_HAN.match(word))


def _join_words(some: Sequence[str]) -> str:
    """Return words as one run that can be found in other runs, at whole words only."""
    return WORD_SEPARATOR + WORD_SEPARATOR.join(some) + WORD_SEPARATOR


def word_sequence(text: str) -> str:
    """Return the words of a text as one run; empty where it has none."""
    some = [token.word for token in list_placed_words(text)]
    return _join_words(some) if some else ""


def iter_word_ngrams(some: Sequence[PlacedWord]) -> Iterator[tuple[str, int, int]]:
    """Yield every run of words that is long enough to be shared, and where it stands."""
    for first, last in _stretches(some):
        size = SHARED_CHARACTERS if is_cjk_character(some[first].word) else SHARED_WORDS
        for at in range(first, last - size + 1):
            part = some[at : at + size]
            yield _join_words([token.word for token in part]), part[0].start, part[-1].end


def list_keyword_ngrams(text: str) -> set[str]:
    """Return the runs of search words of a text; the whole of it where it has only few."""
    cut = search_words(text)
    last = max(1, len(cut) - KEYWORD_NGRAM + 1)
    return (
        {_join_words(cut[at : at + KEYWORD_NGRAM]) for at in range(last)} if len(cut) > 1 else set()
    )


def _stretches(some: Sequence[PlacedWord]) -> Iterator[tuple[int, int]]:
    """Yield where words of one script stand side by side."""
    first = 0
    for at, token in enumerate(some):
        if is_cjk_character(token.word) != is_cjk_character(some[first].word):
            yield first, at
            first = at
    yield first, len(some)


def _fold_word(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold()


FORGOTTEN_MARK = "[forgotten]"
"""What stands in the place of a sentence that was forgotten."""

CACHED_TEXTS = 20_000
"""Of so many texts it is remembered what is left of them; checkpoints hold the same ones again."""

_LEAD = regex(r"\s*(?:(?:[-*+>]|\d+[.)]|#{1,6})\s+)*")
_QUOTE = regex(rf"<q\b[^<>]*>{QUOTATION_BODY}</q>")
_CITED = regex(r"\[(S\d+)\]|<q\b[^>]*\bs=\"(S\d+)\"")

_EMPTY: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Erasure:
    """What is to be found nowhere any more, in the forms in which it is recognised."""

    phrases: frozenset[str] = _EMPTY
    """Runs of words: a sentence with any part of one goes."""
    whole_sentences: frozenset[str] = _EMPTY
    """Runs of words that are forgotten where they are a whole sentence."""
    word_ngrams: frozenset[str] = _EMPTY
    """Runs of five words or twelve Chinese characters."""
    keyword_ngrams: frozenset[str] = _EMPTY
    """Runs of three search words."""
    terms: frozenset[str] = _EMPTY
    """Search words that nothing else has."""
    cited: frozenset[str] = _EMPTY
    """The ids by which a thread cites it, such as `S3`."""
    pages: frozenset[str] = _EMPTY
    """The ids of the pages, whose titles and places go wherever a page is named."""
    cache: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    def __bool__(self) -> bool:
        """Say whether anything is to be forgotten."""
        parts = (
            self.phrases,
            self.whole_sentences,
            self.word_ngrams,
            self.keyword_ngrams,
            self.terms,
        )
        return any((*parts, self.cited, self.pages))

    def __or__(self, other: Erasure) -> Erasure:
        """Return what forgets what either of two forgets."""
        return Erasure(
            self.phrases | other.phrases,
            self.whole_sentences | other.whole_sentences,
            self.word_ngrams | other.word_ngrams,
            self.keyword_ngrams | other.keyword_ngrams,
            self.terms | other.terms,
            self.cited | other.cited,
            self.pages | other.pages,
        )

    def redact(self, text: str) -> str:
        """Return a text with a mark in the place of each sentence that is forgotten."""
        if text not in self.cache:
            if len(self.cache) >= CACHED_TEXTS:
                self.cache.clear()
            self.cache[text] = _without(text, self._spans(text)) if text.strip() else text
        return self.cache[text]

    def find_citing_sentences(self, text: str) -> list[str]:
        """Return the sentences of a text that cite what is forgotten."""
        units = [one.text for one in split_sentences(text)] + [
            one[0] for one in _QUOTE.finditer(text)
        ]
        return [one for one in units if self._cites(one)]

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Return the ends of the sentences that are forgotten; no quotation is torn in two."""
        some, said = list_placed_words(text), split_sentences(text)
        hits = [*self._runs(some), *((one.start, one.end) for one in said if self._says(one))]
        units = [(one.start, one.end) for one in said]
        quotes = [one.span() for one in _QUOTE.finditer(text)]
        hits += [one for one in quotes if self._cites(text[slice(*one)])]
        spans: list[tuple[int, int]] = []
        while hits:
            start, end = hits.pop()
            touched = [one for one in (*units, *quotes) if one[0] < end and start < one[1]]
            start, end = (
                min([start, *(a for a, _ in touched)]),
                max([end, *(b for _, b in touched)]),
            )
            grown = any(a < start or b > end for a, b in touched)
            wider = [one for one in (*units, *quotes) if one[0] < end and start < one[1]]
            if grown or len(wider) > len(touched):
                hits.append((start, end))
            else:
                spans.append((start, end))
        return spans

    def _runs(self, some: list[PlacedWord]) -> Iterator[tuple[int, int]]:
        """Yield where runs of words stand that are forgotten."""
        if self.phrases and some:
            whole = _join_words([token.word for token in some])
            for phrase in self.phrases:
                yield from _places(phrase, whole, some)
        if self.word_ngrams:
            for words_, start, end in iter_word_ngrams(some):
                if words_ in self.word_ngrams:
                    yield start, end

    def _says(self, sentence: Span) -> bool:
        if self._cites(sentence.text):
            return True
        cut = [token.word for token in list_placed_words(sentence.text)]
        if not cut:
            return False
        if _join_words(cut) in self.whole_sentences:
            return True
        if self.terms and not self.terms.isdisjoint(search_words(sentence.text)):
            return True
        return bool(self.keyword_ngrams) and not self.keyword_ngrams.isdisjoint(
            list_keyword_ngrams(sentence.text)
        )

    def _cites(self, text: str) -> bool:
        return bool(self.cited) and any(
            (mark[1] or mark[2]) in self.cited for mark in _CITED.finditer(text)
        )


def _places(phrase: str, whole: str, some: list[PlacedWord]) -> Iterator[tuple[int, int]]:
    """Yield where a run of words stands in a text, by the places of its words."""
    at = whole.find(phrase)
    while at >= 0:
        first = whole.count(WORD_SEPARATOR, 0, at)
        last = first + phrase.count(WORD_SEPARATOR) - 2
        yield some[first].start, some[last].end
        at = whole.find(phrase, at + 1)


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text with a mark in the place of each span, one for those side by side."""
    parts: list[str] = []
    done, marked = 0, False
    for start, end in sorted(set(spans)):
        if end <= done:
            continue
        start = max(start, done)
        between, piece = text[done:start], text[start:end]
        beside = marked and not between.strip() and "\n" not in between
        parts += [] if beside else [between, _marked(piece)]
        done, marked = end, True
    return "".join([*parts, text[done:]]) if parts else text


def _marked(piece: str) -> str:
    """Return the mark for a sentence; a list item stays one, a row of a table keeps its cells."""
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
"""Keys whose values are words of people and models even where they are a single word."""

_ONE_WORD = regex(r"[!-~]*")
_TURN = regex(r"(\d+/)(.*)", re.DOTALL)

NUMPY_EXTENSION = 6
"""The extension of LangGraph's msgpack that holds an array; all others hold msgpack again."""


class _MsgpackExtension(NamedTuple):
    """What msgpack has of a class: a number, and data that is msgpack itself, or bytes."""

    code: int
    data: Any


def redact_data(value: Any, erasure: Erasure, key: str = "") -> Any:
    """Return what is left of plain data; the very same object where nothing is forgotten."""
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
    """Return what is left of JSON, written as it was; of any other text what is left of that."""
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
    """Return what is left of data as LangGraph saves it, the value of a key if there is one."""
    tree = _unpacked(data)
    made = redact_data(tree, erasure, key)
    return data if made is tree else _packed(made)


def visit_msgpack_texts(data: bytes, show: Callable[[str], None]) -> None:
    """Show every text in data as LangGraph saves it."""
    visit_texts(_unpacked(data), show)


def visit_texts(value: Any, show: Callable[[str], None]) -> None:
    """Show every text in plain data, keys too."""
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
    # A single word is an id, a status or the name of a node, unless its key says that it is none.
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
    """Return a key; what the graph has found is kept under the words of its query."""
    if not isinstance(key, str) or _ONE_WORD.fullmatch(key):
        return key
    turn = _TURN.fullmatch(key)
    if turn is None:
        return erasure.redact(key)
    words = erasure.redact(turn[2])
    return key if words == turn[2] else turn[1] + words


def _source(made: dict[Any, Any], erasure: Erasure) -> None:
    """Forget what names a page or is a passage of it, and that it is cited."""
    if made.get("page") in erasure.pages and "title" in made:
        made |= {name: FORGOTTEN_MARK for name in ("title", "location") if name in made}
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
    option = (
        ormsgpack.OPT_NON_STR_KEYS
        | ormsgpack.OPT_PASSTHROUGH_TUPLE
        | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    )
    return ormsgpack.packb(tree, default=_default, option=option)


def _default(value: Any) -> Any:
    if isinstance(value, _MsgpackExtension):
        data = value.data if isinstance(value.data, bytes) else _packed(value.data)
        return ormsgpack.Ext(value.code, data)
    if isinstance(value, tuple):
        return list(value)
    msg = f"msgpack has no {type(value).__name__}"
    raise TypeError(msg)
