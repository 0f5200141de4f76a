"""Facts: their fields, which texts may become one, and when two say the same."""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from config.errors import ErrorCode, Problem
from library.page_rows import PROVENANCE_BY_TRUST, Provenance
from text.normalization import fold_text, is_blank, normalize_text
from text.pattern_files import PatternFile
from text.secret_masking import list_secret_kinds
from text.words import STOPWORDS, search_words

_PATTERNS = PatternFile(__package__, "fact.toml")


FactCategory = Literal["preference", "knowledge", "context", "behavior", "goal", "correction"]

FACT_CATEGORIES: tuple[FactCategory, ...] = get_args(FactCategory)
"""The categories of facts; a correction says what is wrong, or must be otherwise."""

TRUSTED_PROVENANCE: tuple[Provenance, ...] = ("user", "model")
"""The provenances of facts: tools and web pages do not speak for a person."""

MAX_FACT_LENGTH = 1_000
"""The longest fact, in characters; model calls read it."""

END_MARKS = " .。!！?？;；,，、…~～"

_JOINERS = frozenset("\u200c\u200d")
"""Format characters that Indic scripts and emoji need."""


class Fact(NamedTuple):
    """A fact about the person, known or history."""

    id: str
    content: str
    category: str
    confidence: float
    quote: str
    """The person's words that say it."""
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
    """Whether it is known: neither removed nor replaced."""
    revision: int
    """The number of the last event that changed it."""


class NewFact(NamedTuple):
    """A fact to be added."""

    content: str
    category: str = "context"
    confidence: float = 1.0
    """How certain it is, in 0..1."""
    quote: str = ""
    thread: str = ""
    run: str = ""
    message: str = ""
    provenance: str = "user"
    """Who says so."""
    valid_from: float | None = None
    """When it begins to hold, in seconds since 1970; now if `None`."""


def validate_fact(new: NewFact) -> NewFact:
    """Return a fact as it is stored: on one line, without hidden characters.

    Raises:
        Problem: `fact_empty`, `fact_too_long`, `fact_invalid`, `secret_refused` or
            `untrusted_fact`.
    """
    new = new._replace(
        content=clean_fact_text(new.content), quote=normalize_text(new.quote).strip()
    )
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
    """Return the text of a fact on one line, without comments and invisible characters.

    Raises:
        Problem: `fact_empty` or `fact_too_long`.
    """
    letters = " ".join(normalize_text(content).split())
    hidden = {one for one in set(letters) if unicodedata.category(one) in ("Cf", "Cc")} - _JOINERS
    line = "".join(one for one in letters if one not in hidden)
    # After the last end of a comment there is none, and the pattern would search in vain.
    end = line.rfind("-->") + len("-->")
    text = " ".join((_PATTERNS.comment.sub(" ", line[:end]) + line[end:]).split())
    if is_blank(text.strip(END_MARKS)):
        raise Problem(ErrorCode.FACT_EMPTY, "the fact says nothing", hint="write a sentence")
    if len(text) > MAX_FACT_LENGTH:
        what = f"the fact has {len(text)} characters, the most is {MAX_FACT_LENGTH}"
        raise Problem(ErrorCode.FACT_TOO_LONG, what, hint="keep what matters")
    return text


def fact_key(content: str) -> str:
    """Return a hash of 32 characters that two facts share if they say the same.

    Case, width, white space, quotation marks and the marks at the end make no difference.
    """
    plain = fold_text(unicodedata.normalize("NFKC", content)).casefold().strip(END_MARKS)
    return hashlib.sha256(plain.encode()).hexdigest()[:32]


def trust_level(provenance: str) -> int:
    """Return how far a provenance is trusted, higher is more; 0 if it is unknown."""
    classes: tuple[str, ...] = PROVENANCE_BY_TRUST
    return len(classes) - classes.index(provenance) if provenance in classes else 0


SAME_FACT_COSINE = 0.9
"""The least cosine of two facts that are compared word by word.

One more word among five is below it; a model compares facts in other words.
"""


def merge_fact(old: Fact, new: NewFact) -> Fact | None:
    """Return an old fact merged with a new one that says the same; `None` if it does not.

    The wording that says more stays, with its own class of trust: what a model says never changes
    what a person said, and what a person says counts only for their own words.
    """
    trust = trust_level(new.provenance) - trust_level(old.provenance)
    old_says_all = fact_contains(old.content, new.content)
    if trust < 0:
        return old if old_says_all else None
    confidence = max(old.confidence, new.confidence)
    category = new.category if new.category == "correction" else old.category
    if trust == 0 and old_says_all:
        return old._replace(confidence=confidence, category=category)
    if not fact_contains(new.content, old.content):
        return None
    fields = new._asdict()
    del fields["valid_from"]
    if trust == 0:
        fields |= {"confidence": confidence, "category": category}
    return old._replace(**fields)


def fact_contains(more: str, less: str) -> bool:
    """Tell whether a fact says all that another says, in the same order, and reverses nothing.

    The same words in another order may say something else ("from Rome to Paris").
    """
    if fact_key(more) == fact_key(less):
        return True
    both = (_PATTERNS.reversing.findall(_plain(text)) for text in (more, less))
    if len(next(both)) != len(next(both)):
        return False
    words = iter(_content_words(more))
    return all(word in words for word in _content_words(less))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _content_words(text: str) -> list[str]:
    """Return the words that carry the meaning of a fact, English ones as their stems."""
    filler = _PATTERNS.get_words("filler")
    found = [word for word in _PATTERNS.word.findall(_plain(text)) if word not in filler]
    return [word if word in STOPWORDS else " ".join(search_words(word)) or word for word in found]


FactData = dict[str, Any]

LOGGED_FIELDS = [name for name in Fact._fields if name not in ("id", "revision")]
"""The fields of a fact in the log."""


def fact_event_data(fact: Fact) -> FactData:
    """Return the data of a fact for the log."""
    return {name: getattr(fact, name) for name in LOGGED_FIELDS}


def supersede_event_data(fact: Fact, successor: Fact | None) -> FactData:
    """Return the data of a fact and of its successor for the log."""
    if successor is None:
        return fact_event_data(fact)
    return fact_event_data(fact) | {"successor": {"id": successor.id} | fact_event_data(successor)}


def facts_in_event(item: str, logged: Mapping[str, Any] | None) -> dict[str, FactData]:
    """Return the data of each fact in one side of an event, by their ids."""
    if logged is None:
        return {}
    plain = {name: value for name, value in logged.items() if name != "successor"}
    successor = logged.get("successor")
    if successor is None:
        return {item: plain}
    return {item: plain, successor["id"]: {name: successor[name] for name in LOGGED_FIELDS}}
