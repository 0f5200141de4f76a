"""Cut text into the words a search compares: stems in English, pairs of characters in Chinese."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import chain

from Stemmer import Stemmer

from retrieval.memo import Memo
from retrieval.regex import regex
from retrieval.script import CJK

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
        give find show list want need help let mean happen say talk""",
    )
)
"""English words that only say that something is asked."""

NO_TOPIC = STOPWORDS | QUESTION_WORDS
"""English words of a question that do not name its topic."""

LONGEST = 100
"""The longest search word, in characters; what is longer is data and no word."""

_ASKED_THING = (
    "(?:什么时候|什麼時候|什么地方|什麼地方|什么样|什麼樣|为什么|為什麼|什么|什麼|甚麼|啥|[为為]何"
    "|何[时時地处處种種]|哪(?!吒)[一二两兩三几幾]?(?:方面|[些个個位种種年天日里裡兒儿座国國家部本所间間次条條项項])?"
    "|谁|誰|[几幾](?=[个個年位次种種岁歲天月号號人名部座条條家所届屆楼樓分点點段篇章集代场場])"
    "|多[长長少]?[时時][间間]|多[少久长長高远遠]|(?<![伦倫])多大)"
)
_ASKED = regex(
    "请问|請問|(?:^|(?<=[，,。；;\\s]))[请請]|[帮幫为為给給]我|[你您]|告[诉訴]我?|我想(?:知道|了解)?"
    "|能不能|能否|可以|是否|有[没沒]有|分[别別]"
    f"|(?:[是有在由到从從为為叫于於]|属于|屬於){{0,2}}{_ASKED_THING}是?"
    "|(?<!其)[它他她][们們]?|[这這那][个個些]|怎[么麼]?[样樣]|怎[么麼]|如何|[吗嗎呢吧么麼啊呀]"
    f"|需要[{CJK}]?(?=多|[几幾])|[能会會要](?![源力量议議员員素])(?=[{CJK}]{{1,12}}[吗嗎])|最[多少高低大小长長短重轻輕快慢](?=\\W|$)"
    "|(?<![目标標])的(?![确確士])"
)

_TOKEN = regex(
    f"(?P<cjk>[{CJK}]+)"
    r"|(?P<number>\d++(?:[.,:/-]\d++)*+(?:%|(?![a-zA-Z])))"
    rf"|(?P<word>[a-zA-Z](?:\+\+|\#)|[^\W{CJK}]+(?:-\d[\d.]*)?)"
)
# Runs of characters that no token crosses the ends of, and seldom more than one token each.
_RUN = r"{word}++(?:[.,:/+#%-]++{word}++)*+(?:[+#%]++|(?<=\d)\.++)?"
_RUNS = regex(_RUN.format(word=rf"[\w{CJK}]"))
_ASCII_RUNS = regex(_RUN.format(word=r"\w"), re.ASCII)
_PART = regex(r"[A-Z]+(?=[A-Z][a-z]{2})|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_own = threading.local()
_THOUSANDS = regex(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def words(text: str) -> list[str]:
    """Return the search words of `text`, in order, repeated as often as they occur.

    English words lower-cased, without accents, stopwords left out, Snowball-stemmed (Porter 2);
    Chinese, kana and hangul as overlapping pairs of characters; a code identifier whole and in
    parts; numbers, dates and percentages whole, their parts beside them.
    """
    return list(_cut(unicodedata.normalize("NFKC", text), STOPWORDS))


def terms(question: str) -> list[str]:
    """Return the words of a question that name its topic, each once, in order."""
    return list(dict.fromkeys(_cut(_subject(question), NO_TOPIC)))


def phrases(question: str) -> list[str]:
    """Return the words of a question that name its topic as they are spelt there, each once.

    Chinese, which has no spaces, gives the runs of characters between the words that only ask.
    """
    tokens = (token[0] for token in _TOKEN.finditer(_subject(question)))
    return list(dict.fromkeys(token for token in tokens if any(_cut(token, NO_TOPIC))))


def _subject(question: str) -> str:
    """Return a question without the Chinese words that only ask."""
    text = unicodedata.normalize("NFKC", question)
    return text if text.isascii() else _ASKED.sub(" ", text)


def _cut(text: str, without: frozenset[str]) -> Iterator[str]:
    runs = _ASCII_RUNS if text.isascii() else _RUNS
    return chain.from_iterable(map(_known[without].__getitem__, runs.findall(text)))


def _cut_run(run: str, without: frozenset[str]) -> tuple[str, ...]:
    if run.isascii() and run.isalpha() and run[1:].islower():
        # Most runs are a word of one part.
        lower = run.lower()
        return () if lower in without else (str(_stemmer().stemWord(lower)),)
    return tuple(_of_tokens(run, without))


_known = {without: Memo(partial(_cut_run, without=without)) for without in (STOPWORDS, NO_TOPIC)}


def _of_tokens(run: str, without: frozenset[str]) -> Iterator[str]:
    for token in _TOKEN.finditer(run):
        if token.lastgroup == "cjk":
            yield from _pairs(token[0])
        elif token.lastgroup == "number":
            yield from _numbers(token[0])
        else:
            yield from _latin(token[0], without)


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


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
    if not word.isascii():
        decomposed = unicodedata.normalize("NFKD", word)
        word = "".join(char for char in decomposed if not unicodedata.combining(char))
    return str(_stemmer().stemWord(word))


def _stemmer() -> Stemmer:
    """Return the stemmer of this thread: it keeps the word it works on, so none is shared."""
    try:
        return _own.stemmer
    except AttributeError:
        _own.stemmer = Stemmer("english", 0)
        return _own.stemmer
