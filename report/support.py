"""Give every sentence the source that bears it out, and take out those that none does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from graph.records import Quote, Removed
from report.blocks import Block, blocks, joined, without_gone
from report.marks import MARKER, cites
from report.numbers import numbers
from report.statements import statements
from report.verify import check
from retrieval.script import CJK
from retrieval.text import language, sentences
from retrieval.words import words

SHARE = {"en": 2 / 3, "zh": 1 / 2}
"""A source bears out a sentence if two neighbouring sentences of it have more of its words.

Chinese is compared in pairs of characters, and one other character breaks two of them.
"""

SHORT = 50_000
"""The longest text, in characters, whose words are kept for the next check."""

_OF_SOURCES = re.compile(
    r"\bno evidence\b|\b(?:the|these|those|any|no|your|given|available|provided)\s+"
    r"(?:sources?|documents?|passages?|findings?|files?)\b|来源|來源|资料|資料|文档|研究结果",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:no|not|none|nothing|never|neither|nor|without|cannot)\b|n['’]t\b|[没沒未无無]",
    re.IGNORECASE,
)
_YES = {"yes", "是的", "不是"}
_LABEL = re.compile(r"\s*(?:\*\*[^*\n]*[^*\n.!?。！？]\*\*|__[^_\n]*[^_\n.!?。！？]__)\s*")
_CLOSING = " \t\n\"'”’」』»*_)）|"
_STOPS = ".!?。！？…"


class Proven(NamedTuple):
    """A text in which every sentence has a source."""

    body: str
    cited: list[str]
    quotes: list[Quote]
    removed: list[Removed]
    doubted: list[str]
    """Sentences with a number that stands in none of the sources they cite."""


def proven(body: str, texts: Mapping[str, str]) -> Proven:
    """Return `body` without what its sources do not say, each of its sentences with a source.

    It is checked first (`report/verify.py`). Then a sentence that names no source gets one that has
    most of its words, close together, and all of its numbers; those that its paragraph cites come
    first. A sentence that no source bears out is taken out. One that cites sources which have not
    all of its numbers gets one that has, or is named in `doubted`, for it may be computed. Let be
    are headings, questions, what leads on to a list, and what is said of the sources themselves
    ("None of them says …").

    Args:
        body: Markdown as a model wrote it.
        texts: The full text of each source by its id.
    """
    checked = check(body, texts)
    places = cache(lambda name: _places(texts[name]))

    doubted: list[str] = []

    def sourced(statement: str, near: Sequence[str]) -> str:
        cited = cites(statement)
        if numbers(statement, texts) if cited else _claims(statement):
            for name in dict.fromkeys([*near, *checked.cited, *texts]):
                given = _given(statement, name)
                if _has_words(statement, places(name)) and not numbers(given, texts):
                    return given
            doubted.extend([statement.strip()] if cited else [])
            return statement if cited else ""
        return statement

    removed = [*checked.removed]
    parts = blocks(checked.body)
    for at, part in _prose(parts):
        said = [part.text] if part.kind == "row" else statements(part.text)
        kept = [sourced(statement, cites(part.text)) for statement in said]
        gone = [one for one, left in zip(said, kept, strict=True) if not left]
        removed += [Removed(text=statement.strip(), reason="no_source") for statement in gone]
        text = "".join(kept).strip()
        parts[at] = part._replace(text=text, kind=part.kind if text else "gone")
    left = without_gone(parts)
    cited = [name for part in left if part.kind != "fence" for name in cites(part.text)]
    return Proven(joined(left), list(dict.fromkeys(cited)), checked.quotes, removed, doubted)


def _prose(parts: Sequence[Block]) -> list[tuple[int, Block]]:
    """Return the blocks that say something, with their places; the head of a table does not."""
    heads = {at for at, (_, after) in enumerate(pairwise(parts)) if _parts_head(after)}
    kinds = ("text", "item", "quote", "row")
    return [(at, one) for at, one in enumerate(parts) if one.kind in kinds and at not in heads]


def _parts_head(part: Block) -> bool:
    return part.kind == "row" and not any(map(str.isalnum, MARKER.sub("", part.text)))


def _claims(statement: str) -> bool:
    """Tell whether a statement says something that could be true or false of the world."""
    if _LABEL.fullmatch(statement) or statement.rstrip(_CLOSING).endswith((":", "：", "?", "？")):
        return False
    if _OF_SOURCES.search(statement) and _NOT.search(statement):
        return False
    return bool(set(words(statement)) - _YES)


def _has_words(statement: str, places: Mapping[str, Sequence[int]]) -> bool:
    wanted = frozenset(words(MARKER.sub("", statement)))
    least = SHARE[language(statement)] * len(wanted)
    found = [places[word] for word in wanted if word in places]
    if len(found) <= least:
        return False
    pairs = Counter(chain.from_iterable({*at, *(one - 1 for one in at)} for at in found))
    return max(pairs.values(), default=0) > least


def _places(text: str) -> Mapping[str, Sequence[int]]:
    return _kept_places(text) if len(text) <= SHORT else _cut_places(text)


# The findings of a run and its report are checked against the same pages.
@lru_cache(maxsize=256)
def _kept_places(text: str) -> Mapping[str, Sequence[int]]:
    return _cut_places(text)


def _cut_places(text: str) -> dict[str, tuple[int, ...]]:
    """Return in which sentences of a text each of its words stands."""
    places: dict[str, dict[int, None]] = {}
    for at, sentence in enumerate(sentences(text)):
        for word in words(sentence.text):
            places.setdefault(word, {})[at] = None
    return {word: tuple(at) for word, at in places.items()}


def _given(statement: str, name: str) -> str:
    """Return a statement with a marker before the mark that ends it."""
    said = statement.rstrip(_CLOSING).rstrip(_STOPS)
    space = "" if re.match(f"[{CJK}]", said[-1:]) else " "
    return f"{said}{space}[{name}]{statement[len(said) :]}"
