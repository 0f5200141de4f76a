"""Split a text into search words, and weigh what a word says about a topic."""

from __future__ import annotations

import math
import re
import threading
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial
from itertools import chain
from typing import TypeVar

from Stemmer import Stemmer

from text.pattern_files import PatternFile, read_packaged_text
from text.regex import regex
from text.script import CJK, strip_marks

Value = TypeVar("Value")


class Memo(dict[str, Value]):
    """A cache of a function: a hit is an item of a dict, without any call.

    When it is full, its items become the older half, from which requested ones are taken again. So
    common texts remain and rare ones are dropped.
    """

    def __init__(self, work: Callable[[str], Value], most: int = 65_536, longest: int = 40) -> None:
        """Cache the values of up to twice `most` texts of up to `longest` characters each."""
        super().__init__()
        self._work, self._most, self._longest = work, most, longest
        self._older: dict[str, Value] = {}

    def __missing__(self, text: str) -> Value:
        if len(text) > self._longest:
            return self._work(text)
        older = self._older
        value = older[text] if text in older else self._work(text)
        if len(self) >= self._most:
            self._older = self.copy()
            self.clear()
        self[text] = value
        return value


STOPWORDS = frozenset(
    re.findall(
        r"\w+",
        """a about above after again against all also am an and any are as at be because been before
        being below between both but by can could d did do does doing down during each few for from
        further had has have having he her here hers herself him himself his i if in into is it its
        itself just ll m may me might more most must my myself no nor not of off on once only or
        other our ours ourselves out over own re s same shall she should so some such t than that
        the their theirs them themselves then there these they this those through to too under
        until up upon us ve very was we were while will with would you your yours yourself""",
    )
)
"""English words that carry no topic."""

QUESTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        """what when where which who whom whose why how many much please tell explain describe know
        give find show list want need help let mean happen happens happened happening say talk""",
    )
)
"""English words that only say that something is asked."""

NON_TOPIC_WORDS = STOPWORDS | QUESTION_WORDS
"""English words of a question that do not name its topic."""

LONGEST_WORD = 100
"""The longest search word, in characters; a longer one is data."""

_KNOWN_CHARS = 500
"""The words of longer texts are not kept."""

_PATTERNS = PatternFile("text", "words.toml")
_TOKEN = regex(
    f"(?P<cjk>[{CJK}]+)"
    r"|(?P<number>\d++(?:[.,:/-]\d++)*+(?:%|(?![a-zA-Z])))"
    rf"|(?P<word>[a-zA-Z](?:\+\+|\#)|[^\W{CJK}]+(?:-\d[\d.]*)?)"
)
# Runs of characters whose ends no token crosses, and which are rarely more than one token.
_RUN = r"{word}++(?:[.,:/+#%-]++{word}++)*+(?:[+#%]++|(?<=\d)\.++)?"
_RUNS = regex(_RUN.format(word=rf"[\w{CJK}]"))
_ASCII_RUNS = regex(_RUN.format(word=r"\w"), re.ASCII)
_PART = regex(r"[A-Z]+(?=[A-Z][a-z]{2})|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_own = threading.local()
_THOUSANDS = regex(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def search_words(text: str) -> list[str]:
    """Return the search words of `text`, in order, repeated as often as they occur.

    English words lower-cased, without accents, stopwords left out, Snowball-stemmed (Porter 2);
    Chinese, kana and hangul as overlapping pairs of characters; a code identifier whole and in
    parts; numbers, dates and percentages whole, their parts beside them.
    """
    return list(_list_known(text) if len(text) <= _KNOWN_CHARS else _list_words(text))


def _list_words(text: str) -> tuple[str, ...]:
    return tuple(_cut(unicodedata.normalize("NFKC", text), STOPWORDS))


# Each check of a run asks for the words of the same statements.
_list_known = lru_cache(maxsize=4096)(_list_words)


def query_terms(question: str) -> list[str]:
    """Return the words of a question that name its topic, each once, in order."""
    return list(_list_known_terms(question) if len(question) <= _KNOWN_CHARS else _terms(question))


def _terms(question: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_cut(_subject(question), NON_TOPIC_WORDS)))


_list_known_terms = lru_cache(maxsize=4096)(_terms)


def spelled_query_terms(question: str) -> list[str]:
    """Return the words of a question that name its topic as they are spelt there, each once.

    Chinese, which has no spaces, gives the runs of characters between the words that only ask.
    """
    tokens = (token[0] for token in _TOKEN.finditer(_subject(question)))
    return list(dict.fromkeys(token for token in tokens if any(_cut(token, NON_TOPIC_WORDS))))


def _subject(question: str) -> str:
    """Return a question without the Chinese words that only ask."""
    text = unicodedata.normalize("NFKC", question)
    return text if text.isascii() else _PATTERNS.asked.sub(" ", text)


def _cut(text: str, without: frozenset[str]) -> Iterator[str]:
    runs = _ASCII_RUNS if text.isascii() else _RUNS
    return chain.from_iterable(map(_known[without].__getitem__, runs.findall(text)))


def _cut_run(run: str, without: frozenset[str]) -> tuple[str, ...]:
    if run.isascii() and run.isalpha() and run[1:].islower():
        # Most runs are a word of one part.
        lower = run.lower()
        return () if lower in without else (str(_stemmer().stemWord(lower)),)
    return tuple(_of_tokens(run, without))


_known = {
    without: Memo(partial(_cut_run, without=without)) for without in (STOPWORDS, NON_TOPIC_WORDS)
}


def _of_tokens(run: str, without: frozenset[str]) -> Iterator[str]:
    for token in _TOKEN.finditer(run):
        if token.lastgroup == "cjk":
            letters = token[0]
            yield from [letters[at : at + 2] for at in range(len(letters) - 1)] or [letters]
        elif token.lastgroup == "number":
            yield from _numbers(token[0])
        else:
            yield from _latin(token[0], without)


def _numbers(number: str) -> Iterator[str]:
    if _THOUSANDS.fullmatch(number.rstrip("%")):
        number = number.replace(",", "")
    yield number
    parts = re.split(r"[,:/%-]", number)
    if len(parts) > 1:
        yield from filter(None, parts)


def _latin(token: str, without: frozenset[str]) -> Iterator[str]:
    parts = _PART.findall(token)
    if len(parts) > 1 or not token.isalpha():
        yield token.lower().strip("_.")
    for part in parts if len(parts) > 1 or token.isalpha() else ():
        # "IT" and "WHO" are names where "it" and "who" are not.
        if part.lower() not in without or (part.isupper() and len(part) > 1):
            yield _stem(part.lower())


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word if word.isascii() else strip_marks(word)))


def _stemmer() -> Stemmer:
    """Return the stemmer of this thread; it stores the current word, so it cannot be shared."""
    try:
        return _own.stemmer
    except AttributeError:
        _own.stemmer = Stemmer("english", 0)
        return _own.stemmer


LEAST_WEIGHT = 0.2
"""What the most common word weighs; a word that is not in the list weighs 1."""

ENDING = 5
"""The longest ending that is added to a stem, in letters."""

FRAME_WORDS = frozenset(
    search_words(
        " ".join(QUESTION_WORDS)
        + " use like prefer enjoy love hate work make get good thing way lot new user always"
    )
)
"""Search words that say for whom or what something is, and not what it is about."""

GRAMMAR_CHARACTERS = frozenset(
    "的了是在和与與及或被把由从從对對于於以為为而也都又就還还很其这這那並并但且若則则使让讓给給向到等曾才只"
)
"""Chinese characters that mostly join words, so that a pair with one of them is rarely a word."""


@lru_cache(maxsize=65_536)
def word_weight(word: str) -> float:
    """Return how much a word of `text.words` says about the topic of a text, in 0..1.

    In the few pages of one search the topic itself is the most common word, so its rarity there
    says nothing; its rank in other text does. By Zipf's law the share of texts with the word of
    rank r falls like 1 / r, so its inverse document frequency grows like ln r.
    """
    if len(word) == 2 and not GRAMMAR_CHARACTERS.isdisjoint(word):
        return LEAST_WEIGHT
    rank, listed = _ranks().get(word, (1, 0))
    rarity = math.log(rank) / math.log(listed) if listed else 1.0
    return LEAST_WEIGHT + (1 - LEAST_WEIGHT) * rarity if listed else 1.0


@cache
def shared_word_weight(word: str) -> float:
    """Return how much a word of `text.words` counts that two short texts share, in 0..1.

    A common word says little of what they are about, and one in which requests and notes on people
    are worded ("uses", "likes", "wants to know") says nothing.
    """
    return 0.0 if word in FRAME_WORDS else word_weight(word) ** 2


def is_common(word: str) -> bool:
    """Tell whether an English word is a listed stem with an ending."""
    lower = word.lower()
    if lower[-1:] == "y":
        lower = f"{lower[:-1]}i"
    most = ENDING if len(lower) > ENDING else 2
    shortest = max(len(lower) - most, 3)
    ranks = _ranks()
    while len(lower) >= shortest:
        if lower in ranks:
            return True
        lower = lower[:-1]
    return False


@cache
def _ranks() -> dict[str, tuple[int, int]]:
    """Return the rank of each listed word, and the length of its list.

    The list has the words of most encyclopedia paragraphs, an English and a Chinese part (pairs
    of characters), each most common first; the word counts are of HotpotQA, MuSiQue, 2Wiki, CMRC
    2018 and DRCD.
    """
    text = read_packaged_text("text", "common_words.txt")
    parts = [part.split() for part in text.split("\n\n") if part.strip()]
    return {word: (rank, len(part)) for part in parts for rank, word in enumerate(part, start=1)}
