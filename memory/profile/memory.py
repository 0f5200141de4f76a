"""The memory of the profile: who the person is and how they like their answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial

from sqlalchemy import Connection

from config.resources import RecentCache, Resource
from config.settings import settings
from memory.learning.patterns import PHRASES, parse_unwanted_tastes
from memory.learning.self_statements import (
    IDENTITY_KINDS,
    PREFERENCE_KINDS,
    SelfStatement,
    parse_note,
)
from memory.profile import store
from memory.profile.traits import TASTE_NAMES, Profile, ProfileUpdate, Trait, empty_profile
from memory.protocol import Erase, ErasureRequest, Export, Memory, MemoryItem, Note, Query
from memory.token_budget import NoteGroup
from prompts.loader import load_sentences, render_prompt
from storage.events import Event, LoggedEvent, Reverse, empty_events, log_event
from text.words import GRAMMAR_CHARACTERS, search_words

CACHED_OWNERS = 256
"""How many owners' profiles are cached."""

ID = "profile"
"""The id of the one item of this memory."""

_Keys = frozenset[str]


_profiles = Resource(
    lambda: RecentCache[tuple[str, str], tuple[int, store.StoredProfile]](CACHED_OWNERS)
)
"""The newest profiles that were read, with their revisions, by database and owner."""


class ProfileMemory(Memory):
    """The profile of the person, worded as wishes and not as orders."""

    name = "profile"
    share = 0.05
    event_names = ("profile",)
    not_editable = "a profile is learnt, not written", 'say it: dossier memory add "I am …"'

    async def recall(self, query: Query, budget: int) -> list[Note]:
        """Return how the person likes their answers, and who they are.

        The profile is read again only after a new event of the owner.
        """
        del budget
        key = (settings().database, query.owner)
        revision, stored = _profiles.get().get(key, (-1, None))
        if stored is None or revision != query.revision:
            stored = await store.load_profile(query.owner)
            _profiles.get()[key] = (query.revision, stored)
        return list(_notes(stored, query.language))

    async def record(
        self,
        owner: str,
        new: ProfileUpdate,
        *,
        run: str = "",
        why: str = "",
        step: str = "",
        provenance: str = "user",
    ) -> Profile:
        """Merge what a turn says of the person into the profile."""
        return await store.update_profile(
            owner, new, provenance=provenance, run=run, step=step, why=why
        )

    async def list_items(self, owner: str, limit: int, *, every: bool = False) -> list[MemoryItem]:
        """Return the profile unless it is empty."""
        del every
        item = await _item(owner)
        return [item] if item.text and limit else []

    async def find_by_id(self, owner: str, id: str) -> list[MemoryItem]:
        """Return the profile under its one id; it may be empty."""
        return [await _item(owner)] if id == ID else []

    async def search(self, owner: str, query: str, limit: int) -> list[MemoryItem]:
        """Return the profile if it shares a word with the query."""
        item = await _item(owner)
        shared = set(search_words(query)) & set(search_words(item.text))
        return [item] if shared and limit else []

    async def undo(self, logged: LoggedEvent) -> Reverse:
        """Restore the profile as it was before an event.

        Raises:
            Problem: `undo_conflict` when it was changed since.
        """
        return partial(store.undo_profile, logged=logged)

    async def export(self, owner: str) -> Export:
        """Return what reads the profile; `None` where there is none."""
        return partial(_export, owner=owner)

    async def erase(self, request: ErasureRequest) -> Erase:
        """Empty the profile if it is named, else leave out traits that say nothing any more."""
        return partial(_erase, request=request)


PROFILE = ProfileMemory()


def _notes(stored: store.StoredProfile, language: str) -> Iterator[Note]:
    profile = stored.profile
    traits = sorted(profile["tastes"].items())
    traits += [("identities", trait) for trait in profile["identities"]]
    traits += [("characteristics", trait) for trait in profile["characteristics"]]
    for name, trait in traits:
        text, score = trait["text"], {"confidence": trait["confidence"]}
        keys = _taste_keys(name, text) if name in TASTE_NAMES else _identity_keys(text)
        said = _taste_word(text, language) if name in TASTE_NAMES else text
        worded = render_prompt(f"profile_{name}", language=language, text=said)
        yield Note("", worded, ID, stored.revision, score, dedup_keys=keys)


def _taste_word(taste: str, language: str) -> str:
    both = load_sentences().get(f"taste_{taste}")
    return both[language == "zh"] if both else taste


def drop_repeated_facts(groups: Sequence[NoteGroup]) -> list[NoteGroup]:
    """Leave out the facts that say only what the profile in the same call says.

    Traits that found no room do not count; a correction is never left out.
    """
    keys = [note.dedup_keys for group in groups if group.name == "profile" for note in group.notes]
    if not keys:
        return list(groups)
    kept = []
    for group in groups:
        if group.name == "facts":
            group = group._replace(notes=[one for one in group.notes if not _repeats(one, keys)])
        if group.notes:
            kept.append(group)
    return kept


def _repeats(note: Note, keys: Sequence[_Keys]) -> bool:
    statements = () if note.pinned else _statement_keys(note.text)
    return bool(statements) and all(any(one <= other for other in keys) for one in statements)


@lru_cache(maxsize=4096)
def _statement_keys(text: str) -> tuple[_Keys, ...]:
    """Return the keys of a fact's statements; empty if it says anything no profile does."""
    statements = parse_note(text)
    if statements and all(one.kind in IDENTITY_KINDS and one.value for one in statements):
        return tuple(_identity_keys(one.value) for one in statements)
    if statements and all(one.kind in PREFERENCE_KINDS and _only_tastes(one) for one in statements):
        tastes = [pair for one in statements for pair in one.tastes.items()]
        return tuple(_taste_keys(name, value) for name, value in tastes)
    return ()


def _identity_keys(text: str) -> _Keys:
    return frozenset(search_words(text))


def _taste_keys(name: str, value: str) -> _Keys:
    return frozenset([f"{name}={value}"])


def _only_tastes(statement: SelfStatement) -> bool:
    """Tell whether a statement says nothing but tastes that a profile has words for."""
    if not (statement.tastes and statement.value) or parse_unwanted_tastes(statement.content):
        return False
    rest = statement.value
    for value in statement.tastes.values():
        rest = PHRASES.get(value).sub(" ", rest)
    words = search_words(PHRASES.answer.sub(" ", rest))
    return not any(word for word in words if word not in GRAMMAR_CHARACTERS)


async def _item(owner: str) -> MemoryItem:
    stored = await store.load_profile(owner)
    text = "\n".join(_lines(stored.profile))
    more = {"profile": stored.profile, "revision": stored.revision}
    return MemoryItem("profile", ID, text, title="who you are and what you like", more=more)


def _lines(profile: Profile) -> Iterator[str]:
    yield from (_line(name, trait) for name, trait in sorted(profile["tastes"].items()))
    yield from (_line("identity", trait) for trait in profile["identities"])
    yield from (_line("characteristic", trait) for trait in profile["characteristics"])


def _line(name: str, trait: Trait) -> str:
    quote = f" — “{trait['quote']}”" if trait["quote"] else ""
    return f"{name}: {trait['text']}{quote}"


def _export(connection: Connection, owner: str) -> dict[str, Profile | None]:
    stored = store.select_profile(connection, owner)
    return {"profile": stored.profile if stored.revision else None}


def _erase(connection: Connection, request: ErasureRequest) -> None:
    named = ID in request.ids
    if named:
        empty_events(connection, request.owner, [ID])
    profile, revision = store.select_profile(connection, request.owner)
    kept = empty_profile() if named else _without_marked(profile, request.mark)
    if revision and (kept != profile or named):
        event = Event(request.owner, "profile.forget", ID, why=request.why)
        store.put_profile(connection, request.owner, kept, log_event(connection, event))


def _without_marked(profile: Profile, mark: str) -> Profile:
    """Return a profile without the traits that say nothing, or rest on no words, any more."""

    def says_something(trait: Trait) -> bool:
        """Tell whether nothing was erased from a trait, and some of its quote is left."""
        return mark not in trait["text"] and trait["quote"].strip() != mark

    return Profile(
        identities=list(filter(says_something, profile["identities"])),
        characteristics=list(filter(says_something, profile["characteristics"])),
        tastes={name: one for name, one in profile["tastes"].items() if says_something(one)},
    )
