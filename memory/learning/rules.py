"""Read explicit statements about oneself without a model: "remember that…", "I prefer…", 记住…."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from memory.learning.patterns import (
    ANSWERS,
    CHANGED,
    CONTRAST,
    DENIED,
    LEAD,
    MOMENT,
    NEGATED,
    NOTE,
    RIGHT,
    STATED,
    TASTES,
    WISH,
)
from memory.learning.voice import asks, in_person, spoken
from retrieval.text import sentences

NONE: Mapping[str, str] = MappingProxyType({})

SURE = 0.95
"""How sure it is what somebody says of themselves in so many words."""

ONE_OF = ("name", "home")
"""What a person has one of at a time: another one takes its place."""

CATEGORY = {"preference": "preference", "wish": "preference", "correction": "correction"}
"""The categories of facts; what is not listed is context."""

WHOLE = ("preference", "work")
"""What may be said of several things in one sentence."""

_NOW = re.compile(r"^(?:now|currently|also)\s+|\s+(?:now|these days)$", re.IGNORECASE)
END = re.compile(r"[\s.!。;,:…]+$")
"""The marks at the end of a sentence that make no difference."""

_CLAUSE = re.compile(r"[,;]\s*|\s+(?:and|but|so|because|since|while|who|which)\s+|\s[–—-]\s")


class Statement(NamedTuple):
    """Something a person said of themselves, in their own words."""

    kind: str
    """A key of `STATED`, or `wish`, `note`, `correction`."""
    content: str
    quote: str
    """The words of the message that it is from."""
    value: str = ""
    """Who they are, where they live, what they are called; empty where it is the whole of it."""
    wrong: str = ""
    """What a correction says is not so."""
    changed: bool = False
    """Whether it says that it was different before."""

    @property
    def category(self) -> str:
        """The category of the fact that it is."""
        return CATEGORY.get(self.kind, "context")

    @property
    def tastes(self) -> Mapping[str, str]:
        """How answers are liked by it, by field of a profile."""
        return tastes(self.content) if self.kind in CATEGORY else NONE


def stated(message: str) -> list[Statement]:
    """Return what a person says of themselves in a message, in its order."""
    found: list[Statement] = []
    denied = False
    for sentence in sentences(spoken(message)):
        quote = END.sub("", sentence.text)
        said = _without(LEAD, quote)
        rest = _without(DENIED, said)
        found += _read(rest, quote, denied or rest != said)
        # "That is wrong. It should be four." is one correction in two sentences.
        denied = not rest
    return found


def asked(message: str) -> str:
    """Return what a message asks beside what it wants remembered; nothing if it only tells."""
    said = [(one.text, _without(LEAD, END.sub("", one.text))) for one in sentences(message)]
    tells = [not asks(text) and _only_tells(text) for _, text in said]
    if all(tells):
        return ""
    pairs = zip(said, tells, strict=True)
    return " ".join(text for (text, plain), told in pairs if not told or not NOTE.match(plain))


def _only_tells(said: str) -> bool:
    """Say whether a sentence is a statement as a whole; "I am a nurse; compare A and B" is not."""
    noted = NOTE.sub("", said, count=1)
    return any(one.content == noted for one in _read(said, said, denied=False))


def tastes(text: str) -> Mapping[str, str]:
    """Return how answers are liked, by field of a profile, as far as a text says it plainly."""
    if NEGATED.search(text) or not ANSWERS.search(text):
        return NONE
    found = {
        field: [value for value, pattern in values.items() if pattern.search(text)]
        for field, values in TASTES.items()
    }
    return {field: values[0] for field, values in found.items() if len(values) == 1}


def _read(said: str, quote: str, denied: bool) -> Iterator[Statement]:
    noted = NOTE.sub("", said, count=1)
    if not noted or MOMENT.search(noted):
        return
    if denied or CONTRAST.match(noted):
        corrected = None if asks(noted) else RIGHT.match(noted)
        if corrected:
            yield Statement("correction", noted, quote, wrong=_group(corrected, "wrong"))
            return
    if WISH.match(noted):
        yield Statement("wish", noted, quote)
        return
    told = list(_of_oneself(noted, quote, denied))
    yield from told
    if not told and noted != said and not asks(noted):
        yield Statement("note", noted, quote)


def _of_oneself(said: str, quote: str, denied: bool) -> Iterator[Statement]:
    """Yield what a sentence says as a whole, or else in its clauses; a question has none whole."""
    clauses = [one for one in _CLAUSE.split(said) if one]
    if asks(said):
        # "I am a nurse, how do vaccines work?"
        clauses = clauses[:-1]
    elif not any(asks(one) for one in clauses) and (whole := _one(said, WHOLE, quote, denied)):
        yield whole
        return
    for clause in clauses:
        part = None if asks(clause) else _one(clause, tuple(STATED), quote, denied)
        # "As a nurse, what should I know?" is about who asks, "as a cause of it" is not.
        if part and (
            part.kind != "role" or (said.startswith(clause) and in_person(said[len(clause) :]))
        ):
            yield part


def _one(said: str, kinds: Sequence[str], quote: str, denied: bool) -> Statement | None:
    for kind in kinds:
        if match := STATED[kind].match(said):
            value = _NOW.sub("", _group(match, "value"))
            return Statement(kind, said, quote, value, changed=denied or bool(CHANGED.search(said)))
    return None


def _group(match: re.Match[str], name: str) -> str:
    """Return the group of that name in whichever way of saying it was found."""
    groups = (value for key, value in match.groupdict().items() if key.startswith(name) and value)
    return next(groups, "").strip()


def _without(pattern: re.Pattern[str], text: str) -> str:
    while (shorter := pattern.sub("", text, count=1)) != text:
        text = shorter
    return text
