"""Find titles and names that a text mentions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

from text.regex import regex
from text.script import CJK, detect_language, is_western, strip_marks
from text.words import STOPWORDS, search_words

LONGEST = 10
"""How many words a title may have that is looked for in a text."""

Place = tuple[int, int]
"""The number of the first word of a name in a text, and of the word after its last."""

_WORD = regex(f"[{CJK}]+|[^\\W_{CJK}]+")
_WESTERN_WORD = regex(r"[^\W_]+")
_EASTERN = regex(f"[{CJK}]")
_ARTICLES = frozenset({"the", "a", "an"})
_JOINS = frozenset(["of", "the", "de", "la", "le", "du", "von", "van", "der", "den", "and", "for"])
_PIECE = regex(r"[^\W_]+|[^\w\s]")
_INSIDE = frozenset("'\u2019-&")


def title_key(title: str) -> str:
    """Return the words by which a text mentions the page with this title; empty when it cannot.

    Lower case, no accents, no closing parenthesis, no leading article. Common words alone, a word
    of one or two letters, and a number of fewer than five digits are no names.
    """
    return _key([_plain(word) for word in _raw(_unqualified(title))])


def _unqualified(title: str) -> str:
    """Return a title without the parenthesis that it ends with."""
    bare = title.rstrip()
    start = max(map(bare.rfind, "(（"))
    closed = start >= 0 and bare[-1] in ")）" and {*")）"}.isdisjoint(bare[start:-1])
    return bare[:start] if closed else title


def find_possible_titles(text: str) -> dict[str, Place]:
    """Return the keys of all titles that a text could mention, each with its first place.

    A mention begins with a capital letter or a digit.
    """
    raw = _raw(text)
    plain = [_plain(word) for word in raw]
    found: dict[str, Place] = {}
    for start, word in enumerate(raw):
        if word[0].isupper() or word[0].isdigit():
            for key, end in _keys(plain, start):
                if raw[end - 1] not in STOPWORDS:
                    found.setdefault(key, (start, end))
    return found


def _keys(plain: list[str], start: int) -> Iterator[tuple[str, int]]:
    """Yield the keys (see `_key`) of the titles that may begin at a word, each with its end."""
    first = start + (plain[start] in _ARTICLES)
    key, named = "", False
    for at in range(first, min(start + LONGEST, len(plain))):
        word = plain[at]
        key = f"{key} {word}" if key else word
        named = named or word not in STOPWORDS
        if named and (at > first or len(word) >= _shortest(word)):
            yield key, at + 1


def select_mentioned_titles(places: Mapping[str, Place], known: Collection[str]) -> list[str]:
    """Return the known ones among possible keys, in order, none inside or across another.

    Of two that begin at the same word the longer one is meant.
    """
    found = sorted((start, -end, key) for key, (start, end) in places.items() if key in known)
    chosen: list[str] = []
    done = 0
    for start, end, key in found:
        if start >= done:
            chosen.append(key)
            done = -end
    return chosen


def find_capitalized_names(text: str) -> list[str]:
    """Return the runs of capitalised words in a text, as search words, each once, in order.

    A Chinese text has none: the Latin words in it are mostly abbreviations.
    """
    if detect_language(text) == "zh":
        return []
    found = dict.fromkeys(_words(run) for run in _runs(text))
    return [name for name in found if name]


def _raw(text: str) -> list[str]:
    """Return the words of a text as they are spelt; Chinese ones are runs of characters."""
    return (_WESTERN_WORD if is_western(text) else _WORD).findall(text)


@lru_cache(maxsize=65536)
def _words(run: str) -> str:
    return " ".join(search_words(run))


def _key(found: list[str]) -> str:
    if len(found) > 1 and found[0] in _ARTICLES:
        found = found[1:]
    if not found or len(found) > LONGEST or STOPWORDS.issuperset(found):
        return ""
    if len(found) == 1 and len(found[0]) < _shortest(found[0]):
        return ""
    return " ".join(found)


def _shortest(word: str) -> int:
    if not is_western(word) and _EASTERN.match(word):
        return 2
    return 5 if word.isdigit() else 3


@lru_cache(maxsize=65536)
def _plain(word: str) -> str:
    return strip_marks(word).lower()


def _runs(text: str) -> Iterator[str]:
    """Yield the runs of capitalised words; `of`, `de` and the like may stand inside one."""
    run: list[str] = []
    for piece in _PIECE.findall(text):
        if piece[0].isupper() or (run and (piece[0].isdigit() or piece in _JOINS)):
            run.append(piece)
        elif run and not _goes_on(run[-1], piece):
            yield _trimmed(run)
            run = []
    if run:
        yield _trimmed(run)


def _goes_on(last: str, piece: str) -> bool:
    """Tell whether a name may go on behind a mark: "O'Neill", "Jean-Luc", "J. K. Rowling"."""
    return piece in _INSIDE or (piece == "." and len(last) <= 2)


def _trimmed(run: list[str]) -> str:
    while run and run[-1] in _JOINS:
        run = run[:-1]
    while run and run[0].lower() in STOPWORDS:
        run = run[1:]
    return " ".join(run)
