"""Tell model calls who the person is and how they like their answers, once only."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from string import Template

from config.settings import settings
from memory.learning.patterns import ANSWER_PATTERN, TASTE_PATTERNS, parse_unwanted_tastes
from memory.learning.self_statements import (
    IDENTITY_KINDS,
    PREFERENCE_KINDS,
    SelfStatement,
    parse_note,
)
from memory.profile.store import StoredProfile, load_profile
from memory.profile.traits import TASTE_NAMES, Profile, Trait
from memory.protocol import CatalogItem, Note, Query, not_editable_problem
from memory.token_budget import NoteGroup
from prompts.loader import load_prompt
from text.words import GRAMMAR_CHARACTERS, search_words

PROFILE, FACTS = "profile", "facts"
"""The names of the memories that may say the same."""

_Says = frozenset[str]


def drop_repeated_facts(parts: Sequence[NoteGroup]) -> list[NoteGroup]:
    """Return what a call is told without facts of which each word stands in its profile.

    What of the profile found no room counts for nothing here; a correction is always told.
    """
    told = [note.dedup_keys for part in parts if part.name == PROFILE for note in part.notes]
    if not told:
        return list(parts)
    left = [
        part._replace(notes=[note for note in part.notes if not _repeats(note, told)])
        if part.name == FACTS
        else part
        for part in parts
    ]
    return [part for part in left if part.notes]


def _identity_words(text: str) -> _Says:
    """Return what a trait or a statement says somebody is, by its words."""
    return frozenset(search_words(text))


def _taste_words(name: str, value: str) -> _Says:
    """Return what a profile says of how answers are liked."""
    return frozenset([f"{name}={value}"])


def _repeats(note: Note, told: Sequence[_Says]) -> bool:
    said = () if note.pinned else _said(note.text)
    return bool(said) and all(any(one <= other for other in told) for one in said)


@lru_cache(maxsize=4096)
def _said(text: str) -> tuple[_Says, ...]:
    """Return what a fact says; nothing where it says anything that no profile does."""
    statements = parse_note(text)
    if statements and all(one.kind in IDENTITY_KINDS and one.value for one in statements):
        return tuple(_identity_words(one.value) for one in statements)
    if statements and all(one.kind in PREFERENCE_KINDS and _only_tastes(one) for one in statements):
        liked = [pair for one in statements for pair in one.tastes.items()]
        return tuple(_taste_words(name, value) for name, value in liked)
    return ()


def _only_tastes(one: SelfStatement) -> bool:
    """Tell whether a statement says only how answers are liked, by words that a profile has."""
    rest = one.value
    for name, value in one.tastes.items():
        rest = TASTE_PATTERNS[name][value].sub(" ", rest)
    left = (
        word
        for word in search_words(ANSWER_PATTERN.sub(" ", rest))
        if word not in GRAMMAR_CHARACTERS
    )
    return (
        bool(one.tastes and one.value) and not parse_unwanted_tastes(one.content) and not any(left)
    )


OWNERS = 256
"""How many profiles one process remembers."""


class ProfileMemory:
    """The profile of the person, as wishes and not as orders."""

    name = "profile"
    share = 0.05

    def __init__(self) -> None:
        self._read: OrderedDict[tuple[str, str], tuple[int, StoredProfile]] = OrderedDict()

    async def recall(self, query: Query, budget: int) -> list[Note]:
        """Return how the person likes their answers, and who they are; nothing if that is unknown.

        It is read again only when the owner's newest event is another one.
        """
        del budget
        key = (settings().database, query.owner)
        at, known = self._read.get(key, (-1, None))
        if known is None or at != query.revision:
            known = await load_profile(query.owner)
            self._read[key] = (query.revision, known)
            while len(self._read) > OWNERS:
                self._read.popitem(last=False)
        return list(_notes(known.profile, known.revision))


def _notes(profile: Profile, revision: int) -> Iterator[Note]:
    tastes = {name: [one] for name, one in sorted(profile["tastes"].items())}
    whole = {**tastes, "identities": profile["identities"]}
    whole["characteristics"] = profile["characteristics"]
    wording = _wording()
    for name, traits in whole.items():
        for one in traits:
            text = wording[name].substitute(text=one["text"])
            says = (
                _taste_words(name, one["text"])
                if name in TASTE_NAMES
                else _identity_words(one["text"])
            )
            score = {"confidence": one["confidence"]}
            yield Note("", text, "profile", revision, score, dedup_keys=says)


@cache
def _wording() -> dict[str, Template]:
    """Return how each part of a profile is worded, by its name."""
    lines = (line.split(": ", 1) for line in load_prompt("profile").template.splitlines())
    return {name: Template(words) for name, words in lines}


ID = "profile"


class ProfileView:
    """Who a person is and how they like their answers."""

    name = "profile"

    async def list_items(self, owner: str, limit: int, *, every: bool = False) -> list[CatalogItem]:
        """Return the profile, if anything is known."""
        del every
        item = await _item(owner)
        return [item] if item.text and limit else []

    async def find_by_id(self, owner: str, id: str) -> list[CatalogItem]:
        """Return the profile under its one name; it may be empty."""
        return [await _item(owner)] if id == ID else []

    async def search(self, owner: str, query: str, limit: int) -> list[CatalogItem]:
        """Return the profile if it has one of the words."""
        item = await _item(owner)
        fits = set(search_words(query)) & set(search_words(item.text))
        return [item] if fits and limit else []

    async def edit(self, owner: str, id: str, text: str) -> CatalogItem:
        """Refuse: a profile is what the person said."""
        del owner, text
        what, hint = "a profile is learnt, not written", 'say it: dossier memory add "I am …"'
        raise not_editable_problem(id, what, hint)


async def _item(owner: str) -> CatalogItem:
    known = await load_profile(owner)
    text = "\n".join(_lines(known.profile))
    more = {"profile": known.profile, "revision": known.revision}
    return CatalogItem("profile", ID, text, title="who you are and what you like", more=more)


def _lines(profile: Profile) -> Iterator[str]:
    for name, trait in sorted(profile["tastes"].items()):
        yield _line(name, trait)
    for name in ("identities", "characteristics"):
        singular = {"identities": "identity", "characteristics": "characteristic"}[name]
        yield from (_line(singular, trait) for trait in profile[name])  # type: ignore[literal-required]


def _line(name: str, trait: Trait) -> str:
    quote = f" — “{trait['quote']}”" if trait["quote"] else ""
    return f"{name}: {trait['text']}{quote}"
