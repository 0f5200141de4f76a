"""What a fact is, what may become one, and whether two facts say the same."""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from config.errors import ErrorCode, Problem
from library.page_rows import PROVENANCE_BY_TRUST, Provenance
from text.normalization import fold_text, is_blank, normalize_text
from text.regex import regex
from text.script import CJK
from text.secret_masking import list_secret_kinds
from text.words import STOPWORDS, search_words

FactCategory = Literal["preference", "knowledge", "context", "behavior", "goal", "correction"]

FACT_CATEGORIES: tuple[FactCategory, ...] = (
    "preference",
    "knowledge",
    "context",
    "behavior",
    "goal",
    "correction",
)
"""What a fact may be about; a correction is what the person said is wrong, or must be otherwise."""

TRUSTED_PROVENANCE: tuple[Provenance, ...] = ("user", "model")
"""Whose word may become a fact; tools and web pages may not speak for a person."""

LONGEST = 1_000
"""The longest fact, in characters; model calls read it."""

END_MARKS = " .。!！?？;；,，、…~～"

_HIDDEN = regex("<!--.*?-->", re.DOTALL)

_JOINERS = "\u200c\u200d"
"""Format characters that Indic scripts and emoji need."""


class Fact(NamedTuple):
    """One thing that is known, or was."""

    id: str
    content: str
    category: str
    confidence: float
    quote: str
    """Where it was said, word for word."""
    thread: str
    run: str
    message: str
    """The id of the message the quote stands in."""
    provenance: str
    created: float
    valid_from: float
    valid_to: float | None
    superseded_by: str
    """The id of the fact that took its place."""
    live: bool
    """Whether it is known still: neither removed nor replaced."""
    revision: int
    """The number of the event that changed it last."""


class NewFact(NamedTuple):
    """A fact that is about to be added."""

    content: str
    category: str = "context"
    confidence: float = 1.0
    """How sure it is, in 0..1."""
    quote: str = ""
    thread: str = ""
    run: str = ""
    message: str = ""
    provenance: str = "user"
    """Who says so; `Provenance`."""
    valid_from: float | None = None
    """Since when, in seconds since 1970; from now on when it is `None`."""


def validate_fact(new: NewFact, *, confirmed: bool = False) -> NewFact:
    """Return a fact as it may be kept: on one line, with nothing hidden in it.

    Args:
        new: As it was given.
        confirmed: Whether a person says so themselves, wherever it is from.

    Raises:
        Problem: `fact_empty`, `fact_too_long`, `fact_invalid`, `secret_refused` or
            `untrusted_fact`.
    """
    new = new._replace(
        content=clean_fact_text(new.content), quote=normalize_text(new.quote).strip()
    )
    if confirmed:
        new = new._replace(provenance="user")
    if new.provenance not in TRUSTED_PROVENANCE:
        what = f"a text from {new.provenance!r} is no fact about a person"
        raise Problem(ErrorCode.UNTRUSTED_FACT, what, hint="say yourself that it is true")
    if new.category not in FACT_CATEGORIES:
        hint = f"use {', '.join(FACT_CATEGORIES)}"
        raise Problem(ErrorCode.FACT_INVALID, f"no category: {new.category!r}", hint=hint)
    if kinds := list_secret_kinds(new.content) or list_secret_kinds(new.quote):
        what = f"it holds what looks like a {kinds[0]}, and a memory is no place for one"
        raise Problem(ErrorCode.SECRET_REFUSED, what, hint="say it without")
    if not 0 <= new.confidence <= 1:
        what = f"the confidence is {new.confidence}"
        raise Problem(ErrorCode.FACT_INVALID, what, hint="use a number from 0 to 1")
    if new.valid_from is not None and not math.isfinite(new.valid_from):
        raise Problem(ErrorCode.FACT_INVALID, f"the time is {new.valid_from}")
    return new


def clean_fact_text(content: str) -> str:
    """Return a text as a fact has it: on one line, without comments and unseen characters.

    Raises:
        Problem: `fact_empty` or `fact_too_long`.
    """
    seen = "".join(filter(_seen, " ".join(normalize_text(content).split())))
    # Behind the last end of a comment there is none.
    end = seen.rfind("-->") + len("-->")
    text = " ".join((_HIDDEN.sub(" ", seen[:end]) + seen[end:]).split())
    if is_blank(text.strip(END_MARKS)):
        raise Problem(ErrorCode.FACT_EMPTY, "the fact says nothing", hint="write a sentence")
    if len(text) > LONGEST:
        what = f"the fact has {len(text)} characters, the most is {LONGEST}"
        raise Problem(ErrorCode.FACT_TOO_LONG, what, hint="keep what matters")
    return text


def fact_key(content: str) -> str:
    """Return what two facts have in common that say the same: a hash of 32 characters.

    Case, width, white space, quotation marks and the marks at the end make no difference.
    """
    plain = fold_text(unicodedata.normalize("NFKC", content)).casefold().strip(END_MARKS)
    return hashlib.sha256(plain.encode()).hexdigest()[:32]


def trust_level(provenance: str) -> int:
    """Return how far a class of provenance is trusted: the more the higher, 0 if it is unknown."""
    classes: tuple[str, ...] = PROVENANCE_BY_TRUST
    return len(classes) - classes.index(provenance) if provenance in classes else 0


def _seen(letter: str) -> bool:
    return letter in _JOINERS or unicodedata.category(letter) not in ("Cf", "Cc")


SAME_FACT_COSINE = 0.9
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


def merge_fact(old: Fact, new: NewFact) -> Fact | None:
    """Return what is known if a new fact says what an old one says; `None` if it does not.

    The wording that says more stays, with the class of trust it has itself: what a model says never
    changes what a person said, and what a person says is worth only what they said themselves.
    """
    trusted = trust_level(new.provenance) - trust_level(old.provenance)
    newer, older = (fact_contains(*pair) for pair in _both_ways(old.content, new.content))
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


def fact_contains(more: str, less: str) -> bool:
    """Tell whether a fact says all that another says, in the same order, and turns nothing round.

    The same words in another order may say something else ("from Rome to Paris").
    """
    if fact_key(more) == fact_key(less):
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
    return [word if word in STOPWORDS else " ".join(search_words(word)) or word for word in found]


FactData = dict[str, Any]

LOGGED_FIELDS = [name for name in Fact._fields if name not in ("id", "revision")]
"""What the log says of a fact."""


def fact_event_data(fact: Fact) -> FactData:
    """Return what the log says of a fact."""
    told = fact._asdict()
    return {name: told[name] for name in LOGGED_FIELDS}


def supersede_event_data(fact: Fact, successor: Fact | None) -> FactData:
    """Return what the log says of a fact and the one that takes its place."""
    if successor is None:
        return fact_event_data(fact)
    return fact_event_data(fact) | {"successor": {"id": successor.id} | fact_event_data(successor)}


def facts_in_event(item: str, logged: Mapping[str, Any] | None) -> dict[str, FactData]:
    """Return what an event says of each fact that it tells of, by their ids."""
    if logged is None:
        return {}
    plain = {name: value for name, value in logged.items() if name != "successor"}
    successor = logged.get("successor")
    if successor is None:
        return {item: plain}
    return {item: plain, successor["id"]: {name: successor[name] for name in LOGGED_FIELDS}}
