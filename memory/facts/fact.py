"""What a fact is, and what may become one."""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from typing import Literal, NamedTuple

from config.errors import Problem
from memory.pages.lineage import LESS_AND_LESS
from memory.pages.rows import Provenance
from retrieval.regex import regex
from retrieval.secrets import held
from retrieval.text import blank, fold, normalise

Category = Literal["preference", "knowledge", "context", "behavior", "goal", "correction"]

CATEGORIES: tuple[Category, ...] = (
    "preference",
    "knowledge",
    "context",
    "behavior",
    "goal",
    "correction",
)
"""What a fact may be about; a correction is what the person said is wrong, or must be otherwise."""

TRUSTED: tuple[Provenance, ...] = ("user", "model")
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


def checked(new: NewFact, *, confirmed: bool = False) -> NewFact:
    """Return a fact as it may be kept: on one line, with nothing hidden in it.

    Args:
        new: As it was given.
        confirmed: Whether a person says so themselves, wherever it is from.

    Raises:
        Problem: `fact_empty`, `fact_too_long`, `fact_invalid`, `secret_refused` or
            `untrusted_fact`.
    """
    new = new._replace(content=cleaned(new.content), quote=normalise(new.quote).strip())
    if confirmed:
        new = new._replace(provenance="user")
    if new.provenance not in TRUSTED:
        what = f"a text from {new.provenance!r} is no fact about a person"
        raise Problem("untrusted_fact", what, hint="say yourself that it is true")
    if new.category not in CATEGORIES:
        hint = f"use {', '.join(CATEGORIES)}"
        raise Problem("fact_invalid", f"no category: {new.category!r}", hint=hint)
    if kinds := held(new.content) or held(new.quote):
        what = f"it holds what looks like a {kinds[0]}, and a memory is no place for one"
        raise Problem("secret_refused", what, hint="say it without")
    if not 0 <= new.confidence <= 1:
        what = f"the confidence is {new.confidence}"
        raise Problem("fact_invalid", what, hint="use a number from 0 to 1")
    if new.valid_from is not None and not math.isfinite(new.valid_from):
        raise Problem("fact_invalid", f"the time is {new.valid_from}")
    return new


def cleaned(content: str) -> str:
    """Return a text as a fact has it: on one line, without comments and unseen characters.

    Raises:
        Problem: `fact_empty` or `fact_too_long`.
    """
    seen = "".join(filter(_seen, " ".join(normalise(content).split())))
    # Behind the last end of a comment there is none.
    end = seen.rfind("-->") + len("-->")
    text = " ".join((_HIDDEN.sub(" ", seen[:end]) + seen[end:]).split())
    if blank(text.strip(END_MARKS)):
        raise Problem("fact_empty", "the fact says nothing", hint="write a sentence")
    if len(text) > LONGEST:
        what = f"the fact has {len(text)} characters, the most is {LONGEST}"
        raise Problem("fact_too_long", what, hint="keep what matters")
    return text


def key(content: str) -> str:
    """Return what two facts have in common that say the same: a hash of 32 characters.

    Case, width, white space, quotation marks and the marks at the end make no difference.
    """
    plain = fold(unicodedata.normalize("NFKC", content)).casefold().strip(END_MARKS)
    return hashlib.sha256(plain.encode()).hexdigest()[:32]


def trust(provenance: str) -> int:
    """Return how far a class of provenance is trusted: the more the higher, 0 if it is unknown."""
    classes: tuple[str, ...] = LESS_AND_LESS
    return len(classes) - classes.index(provenance) if provenance in classes else 0


def _seen(letter: str) -> bool:
    return letter in _JOINERS or unicodedata.category(letter) not in ("Cf", "Cc")
