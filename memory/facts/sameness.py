"""Tell whether one fact says what another says, so that it is known once."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from memory.facts.fact import Fact, NewFact, key, trust
from retrieval.regex import regex
from retrieval.script import CJK
from retrieval.words import STOPWORDS, words

ALIKE = 0.9
"""The cosine from which on it is looked at whether two facts say the same.

One more word among five is less; what is said otherwise altogether is for a model to see.
"""

IDLE = frozenset(
    re.findall(
        r"\S+",
        """a am an also and are be been he her his i is it its me mine my myself person please
        really she that the their them they this user user's very
        我 们 用 户 戶 的 了 是 也 很 请 請 他 她 呢 啊""",
    )
)
"""Words that a fact about a person says no more by."""

TURNING = regex(
    r"\b(?:no|not|never|none|nor|neither|cannot|without|\w+n['’]t|former|formerly|previously|once"
    r"|used|longer|anymore|ex|only|except|unless|instead|but|although|though|until|till|before"
    r"|after|since|was|were|had|did|stop\w*|quit\w*|avoid\w*|hate\w*|dislike\w*|refuse\w*|fail\w*"
    r"|want\w*|wish\w*|hope\w*|plan\w*|consider\w*|may|might|maybe|perhaps|could|would|should|if"
    r"|than|less|more|most|least|too|almost|nearly|hardly|rarely|seldom|sometimes|try|tries|tried"
    r"|trying|will|soon|about|under|over|against|rather|or)\b"
    r"|[不没沒未无無非别別勿莫曾否反或若][^\s]?|以前|以後|以后|之前|之后|之後|除了|而是|但是|可能|也许|也許|打算|想要|计划|計劃"
    r"|如果|希望|从前|從前|不再|很少|停止|放弃|放棄|避免|讨厌|討厭|只有|只在|只要|仅|僅|将要|將要"
)
"""Words that turn what is said round: with one more of them, a fact says something else."""

_WORD = regex(f"[{CJK}]|[^\\W{CJK}]+(?:[.,:/'’+#-]+[^\\W{CJK}]+)*[+#]*")


def joined(old: Fact, new: NewFact) -> Fact | None:
    """Return what is known if a new fact says what an old one says; `None` if it does not.

    The wording that says more stays, with the class of trust it has itself: what a model says never
    changes what a person said, and what a person says is worth only what they said themselves.
    """
    trusted = trust(new.provenance) - trust(old.provenance)
    newer, older = (contains(*pair) for pair in _both_ways(old.content, new.content))
    if trusted < 0:
        return old if older else None
    if trusted == 0 and older:
        sure = max(old.confidence, new.confidence)
        return old._replace(confidence=sure, category=_category(old, new))
    if not newer:
        return None
    sure = new.confidence if trusted else max(old.confidence, new.confidence)
    category = new.category if trusted else _category(old, new)
    return _reworded(old, new)._replace(confidence=sure, category=category)


def contains(more: str, less: str) -> bool:
    """Tell whether a fact says all that another says, in the same order, and turns nothing round.

    The same words in another order may say something else ("from Rome to Paris").
    """
    if key(more) == key(less):
        return True
    if len(TURNING.findall(_plain(more))) != len(TURNING.findall(_plain(less))):
        return False
    said = iter(_said(more))
    return all(word in said for word in _said(less))


def _both_ways(old: str, new: str) -> Iterable[tuple[str, str]]:
    return (new, old), (old, new)


def _category(old: Fact, new: NewFact) -> str:
    return new.category if new.category == "correction" else old.category


def _reworded(old: Fact, new: NewFact) -> Fact:
    """Return an old fact in the words of a new one, with its origin."""
    return old._replace(
        content=new.content,
        quote=new.quote,
        thread=new.thread,
        run=new.run,
        message=new.message,
        provenance=new.provenance,
    )


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _said(text: str) -> list[str]:
    """Return the words that a fact says something by, English ones as their stems."""
    found = [word for word in _WORD.findall(_plain(text)) if word not in IDLE]
    return [word if word in STOPWORDS else " ".join(words(word)) or word for word in found]
