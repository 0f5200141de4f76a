"""Read explicit statements about oneself without a model: "remember that…", "I prefer…", 记住…."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memory.learning.patterns import (
    ASIDE,
    CHANGED,
    CONTRAST,
    DENIED,
    ENDED,
    LEAD,
    MOMENT,
    NOT_SO,
    NOTE,
    OWN,
    RIGHT,
    STATED,
    WISH,
    group,
)
from memory.learning.tastes import NONE, tastes
from memory.learning.voice import asks, in_person, spoken
from retrieval.text import sentences

SURE = 0.95
"""How sure it is what somebody says of themselves in so many words."""

ONE_OF = ("name", "home")
"""What a person has one of at a time: another one takes its place."""

CATEGORY = {"preference": "preference", "wish": "preference", "correction": "correction"}
"""The categories of facts; what is not listed is context."""

TASTEFUL = (*CATEGORY, "former")
"""The kinds of statements that may say how answers are liked."""

WHOLE = ("preference", "work", "condition")
"""What may be said of several things in one sentence."""

CARRIED = ("", "I ", "我")
"""What a clause may leave out at its beginning: "I am a nurse and like tea"."""

BEING = ("identity", "condition")
"""The kinds behind which it may leave out "I am" too: "I am a nurse and allergic to tea"."""

_NOW = re.compile(r"^(?:now|currently|also)\s+|\s+(?:now|these days)$", re.IGNORECASE)
END = re.compile(r"[\s.!。;,:…]+$")
"""The marks at the end of a sentence that make no difference."""

HELD = ("identity", "home", "work", "condition", "preference")
"""What may be so no longer."""

KINDS = ("name", "former", *HELD[:1], "role", *HELD[1:])

_START = re.compile(r"^(?:now|nowadays|these days)[,\s]+|^(?:[现現]在|目前)[,\s]*", re.IGNORECASE)
_NARROW = str.maketrans("，：；！", ",:;!")
_OF_ME = re.compile(r"^(?:i|i'm|i'd|my|we|our)\b[^?]*$|^[我咱][^?]*(?<![吗嗎呢?])$", re.IGNORECASE)
"""What is a statement even if it wants something: "I want to see Rome"."""


_CLAUSE = re.compile(r"[,;]\s*|\s+(?:and|but|so|because|since|while|who|which)\s+|\s[–—-]\s")


class Statement(NamedTuple):
    """Something a person said of themselves, in their own words."""

    kind: str
    """A key of `STATED`, or `former`, `wish`, `note`, `correction`."""
    content: str
    quote: str
    """The words of the message that it is from."""
    value: str = ""
    """Who they are, where they live, what they are called; empty where it is the whole of it."""
    wrong: str = ""
    """What a correction says is not so."""
    changed: bool = False
    """Whether it says that it was different before."""
    of: str = ""
    """Of which kind that was which a former one says is so no longer; empty if nobody can tell."""

    @property
    def category(self) -> str:
        """The category of the fact that it is."""
        return CATEGORY.get(self.kind, "context")

    @property
    def tastes(self) -> Mapping[str, str]:
        """How answers are liked by it, by field of a profile."""
        return tastes(self.content) if self.kind in TASTEFUL else NONE


class Heard(NamedTuple):
    """A sentence that somebody says."""

    statements: Sequence[Statement]
    question: str
    """What of it is not to be remembered only."""
    tells: bool
    """Whether it asks nothing."""


def stated(message: str) -> list[Statement]:
    """Return what a person says of themselves in a message, in its order."""
    return [one for sentence in _heard(spoken(message)) for one in sentence.statements]


def asked(message: str) -> str:
    """Return a message without what it only wants remembered; as it is if that is all of it."""
    heard = _heard(message)
    rest = " ".join(one.question for one in heard if one.question)
    return message if all(one.tells for one in heard) else rest


def only_tells(message: str) -> bool:
    """Tell whether all of a message says something of whoever wrote it, and nothing is asked."""
    return bool(stated(message)) and all(one.tells for one in _heard(message))


def clauses(text: str) -> list[Statement]:
    """Return what a sentence says of the person in its parts, whatever it says as a whole."""
    return _of_oneself(END.sub("", text), text, denied=False)[0]


def parted(sentence: str) -> tuple[str, str]:
    """Return what a sentence tells, and what it asks behind that."""
    between = ASIDE.search(sentence)
    return (sentence[: between.start()], sentence[between.end() :]) if between else (sentence, "")


def _heard(text: str) -> list[Heard]:
    found: list[Heard] = []
    denied = False
    for sentence in sentences(text):
        quote = END.sub("", sentence.text)
        said = _without(LEAD, quote.translate(_NARROW))
        rest = _without(DENIED, said)
        noted = bool(NOTE.match(rest))
        told, asks_for = parted(rest) if noted else (rest, "")
        question = quote[len(quote) - len(asks_for) :]
        statements, whole = _read(told, quote, denied or rest != said)
        tells = not rest or (whole and not question)
        found.append(Heard(statements, question if noted and whole else sentence.text, tells))
        # "That is wrong. It should be four." is one correction in two sentences.
        denied = not rest and (denied or rest != said)
    return found


def _read(said: str, quote: str, denied: bool) -> tuple[list[Statement], bool]:
    """Return what a sentence says, and whether that is all of it."""
    noted = NOTE.sub("", said, count=1)
    if not noted or MOMENT.search(noted):
        return [], False
    if not asks(noted) and (corrected := _corrected(noted, denied)):
        return [Statement("correction", noted, quote, wrong=group(corrected, "wrong"))], True
    if WISH.match(noted):
        return [Statement("wish", noted, quote)], not asks(noted)
    told, whole = _of_oneself(noted, quote, denied)
    if noted != said and not whole and (_OF_ME.match(noted) or not asks(noted)):
        return [Statement("note", noted, quote)], True
    return told, whole


def _corrected(said: str, denied: bool) -> re.Match[str] | None:
    if denied or CONTRAST.match(said):
        return RIGHT.match(said) or (OWN.match(said) if denied else None)
    return None


def _of_oneself(said: str, quote: str, denied: bool) -> tuple[list[Statement], bool]:
    """Return what a sentence says as a whole or in its clauses, and whether that is all of it."""
    parts = [one for one in _CLAUSE.split(said) if one]
    asking = asks(said)
    if asking:
        # "I am a nurse, how do vaccines work?"
        parts = parts[:-1]
    told: list[Statement] = []
    for at, part in enumerate(parts):
        # Only what follows a statement can leave out who it is about.
        left = CARRIED if told and len(told) == at else CARRIED[:1]
        being = ("I am ",) if len(left) > 1 and told[-1].kind in BEING else ()
        told += _clause(part, said, quote, denied, (*left, *being))
    if asking or (told and len(told) == len(parts)):
        return told, not asking
    if not any(asks(one) for one in parts) and (whole := _one(said, WHOLE, quote, denied)):
        return [whole], True
    return told, False


def _clause(
    clause: str, said: str, quote: str, denied: bool, starts: Sequence[str]
) -> list[Statement]:
    """Return the one thing that a clause says behind one of some starts, if it says any."""
    for start in [] if asks(clause) else starts:
        one = _one(f"{start}{clause}", KINDS, quote, denied)
        # "As a nurse, what should I know?" is about who asks, "as a cause of it" is not.
        about = said.startswith(clause) and in_person(said[len(clause) :])
        if one and (one.kind != "role" or about):
            return [one]
    return []


def _one(said: str, kinds: Sequence[str], quote: str, denied: bool) -> Statement | None:
    if "former" in kinds and (former := _former(said, quote)):
        return former
    plain = _START.sub("", said, count=1)
    for kind in kinds:
        if kind in STATED and (match := STATED[kind].match(plain)):
            value = _NOW.sub("", group(match, "value"))
            return Statement(kind, said, quote, value, changed=denied or bool(CHANGED.search(said)))
    return None


def _former(said: str, quote: str) -> Statement | None:
    """Return what somebody says is not so, or no longer, read as if it were."""
    ended = ENDED.match(said)
    match = ended or NOT_SO.match(said)
    if match is None:
        return None
    before, rest = group(match, "before"), group(match, "rest")
    was = _one(f"{before} {rest}" if before.isascii() else before + rest, HELD, quote, denied=False)
    if was is None:
        return Statement("former", said, quote, rest, changed=True) if ended else None
    if was.kind == "preference" and not ended:
        # "I don't like tea" is a preference too.
        return None
    # What somebody no longer teaches they may still speak.
    value = rest if was.kind == "work" else was.value
    return Statement("former", said, quote, value, changed=bool(ended), of=was.kind)


def _without(pattern: re.Pattern[str], text: str) -> str:
    while (shorter := pattern.sub("", text, count=1)) != text:
        text = shorter
    return text
