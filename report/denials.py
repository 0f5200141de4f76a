"""Find what a statement affirms and its sources deny."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from report.contrast import Text, copied
from report.differences import says_no, tokens
from report.likeness import CLAUSES
from retrieval.regex import regex
from retrieval.script import HAN, language
from retrieval.words import STOPWORDS, words

SHARED = {"en": 4, "zh": 4}
"""A clause with fewer words is not compared."""

PART = 0.5
"""A passage is close to a clause if it has more than this part of its words."""

TOGETHER = 3
"""The clause in it that denies something has at least so many of them; the passage has more."""

REACH = 4
"""A word is denied by one that stands at most so many words before it."""

_NOT = frozenset(["not", "never", "cannot", "n't", "n’t", "no"])
_NOT_ALL = (
    *("only", "necessarily", "always", "all", "every", "just", "merely", "much", "even", "yet"),
    *("longer", "more", "less", "matter", "doubt", "one", "other", "later", "fewer", "exactly"),
    *("solely", "simply", "quite", "enough", "such"),
)
_BETWEEN = STOPWORDS | {"actually", "really"}
_TURN = regex(
    r"\b(?:unless|until|except|only|otherwise|without|if|whether|although|though|while|whereas|but"
    r"|except|instead|rather)\b|除非|否则|否則|如果|只有|才能|虽然|雖然|但|不过|不過|而是",
    re.IGNORECASE,
)
_ZH_NOT = (
    "(?:(?:并|並|还|還|也|都|均|从|從|绝|絕|切|不会|不會)?(?:不(?![仅僅但只过過同少久断斷论論管足满滿到如然])|未(?![来來婚及])"
    "|没有|沒有|勿|并非|並非))"
)
_ZH_BETWEEN = "(?:会|會|能|要|可以?|再|应该?|應該?|应当|應當|直接|太|很|推|必|得|被|曾|是)*"
_ZH_DENIED = regex(f"{_ZH_NOT}{_ZH_BETWEEN}([{HAN}]{{2}})")


def denied(said: str, sources: Sequence[Text]) -> bool:
    """Tell whether a clause of a statement affirms what its sources only deny.

    Args:
        said: The statement, without marks and quotations.
        sources: The sources that it cites, in its language.
    """
    parts = dict.fromkeys([said, *CLAUSES.split(said)])
    return any(_is_denied(part, sources) for part in parts if not _TURN.search(part))


def _is_denied(part: str, sources: Sequence[Text]) -> bool:
    wanted = sorted(set(words(part)))
    if any(_is_copied(part, source) for source in sources):
        return False
    if len(wanted) < SHARED[language(part)] or says_no(tokens(part)) is not False:
        return False
    close = [one for source in sources for one in _close(wanted, source)]
    return any(_only_denied(word, close) for word in wanted)


def _is_copied(part: str, source: Text) -> bool:
    """Tell whether a source has a clause word for word where it denies nothing."""
    if not copied(part, source.text):
        return False
    bare = part.strip(" \n-*>|.。!?！？")
    return any(bare in one and not any(_denials(one)) for one in source.said)


def _only_denied(word: str, close: Sequence[str]) -> bool:
    """Tell whether all of some clauses that have a word deny it."""
    having = [one for one in close if word in words(one)]
    return bool(having) and all(word in set(_denials(one)) for one in having)


def _close(wanted: Collection[str], source: Text) -> Iterator[str]:
    """Yield the clauses of a source that have most of some words, and no condition beside."""
    least = max(TOGETHER, PART * len(wanted))
    found = Counter(at for word in wanted for at in source.places.get(word, ()))
    for passage in (source.said[at] for at, count in found.items() if count > least):
        if not _TURN.search(passage):
            clauses = CLAUSES.split(passage)
            yield from (one for one in clauses if len(set(words(one)) & set(wanted)) >= TOGETHER)


def _denials(text: str) -> Iterator[str]:
    """Yield the words of a text that it denies, as `retrieval.words` cuts them."""
    said = [one.lower() for one in tokens(text)]
    for at, one in enumerate(said):
        after = said[at + 1 : at + 1 + REACH]
        if one in _NOT and not set(_NOT_ALL) & set(after[:1]):
            told = (word for word in after if word not in _BETWEEN and not word.endswith("ly"))
            yield from words(next(told, ""))
    yield from _ZH_DENIED.findall(text)
