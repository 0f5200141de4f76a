"""Store the profile of each owner: merge what a turn tells into it, and log every change."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select

from config.errors import ErrorCode, Problem
from memory.learning.patterns import ALSO_PATTERN, is_at_other_place
from memory.profile.tables import profiles
from memory.profile.traits import Profile, ProfileUpdate, Trait, empty_profile
from storage.engine import run_read, run_write
from storage.events import Event, LoggedEvent, Reversal, lock_owner, log_event, undoing
from storage.upsert import upsert
from text.words import search_words

ALIKE = 0.8
"""Two wordings that are so similar mean the same."""

LEAST = 0.6
"""What is less sure changes nothing."""

HALF_LIFE = 90 * 86_400.0
"""Seconds after which what was only understood weighs half against what is understood now."""

MOST = 6
"""How many identities, and as many characteristics, are kept; the oldest go first."""


def merge_profile(known: Profile, told: ProfileUpdate) -> Profile:
    """Return the profile with what a turn tells.

    What was stated takes the place of what was there at once, however sure that was: people change.
    What was only understood does so when it is at least as sure as the other, which counts less as
    it grows old.
    """
    before = [] if told["instead"] and told["identities"] else known["identities"]
    return Profile(
        identities=_joined(before, told["identities"], told["gone"]),
        characteristics=_joined(known["characteristics"], told["characteristics"], told["gone"]),
        tastes=_tastes(_wanted(known["tastes"], told["unwanted"]), told["tastes"]),
    )


def trait_similarity(one: str, other: str) -> float:
    """Return how much two short texts say the same, in 0..1.

    The cosine of their words and letter trigrams; 1 where one holds every word of the other, so
    that "nurse" and "paediatric nurse" are alike.
    """
    left, right = set(search_words(one)), set(search_words(other))
    if left and right and (left <= right or right <= left):
        return 1.0
    # Whoever only reads a profile compares nothing, and needs no numpy.
    from models.hashing_vectors import hash_texts  # noqa: PLC0415

    first, second = hash_texts([one, other])
    return max(0.0, float(first @ second))


def _joined(known: Sequence[Trait], told: Sequence[Trait], gone: Sequence[str]) -> list[Trait]:
    left = [one for one in known if not any(_alike(one["text"], text) for text in gone)]
    for new in told:
        if new["confidence"] < LEAST:
            continue
        left = [one for one in left if not _moved(new, one)]
        same = [one for one in left if _alike(one["text"], new["text"])]
        left = [_more_specific(new, same), *(one for one in left if one not in same)]
    return left[:MOST]


def _moved(new: Trait, old: Trait) -> bool:
    """Tell whether somebody is now at another place what they were: "a nurse in Oslo"."""
    return is_at_other_place(new["text"], old["text"]) and not ALSO_PATTERN.search(new["quote"])


def _alike(one: str, other: str) -> bool:
    return trait_similarity(one, other) >= ALIKE


def _more_specific(new: Trait, same: Sequence[Trait]) -> Trait:
    """Return the wording that says most; it is as sure as the surest of them."""
    best = max([new, *same], key=lambda one: len(set(search_words(one["text"]))))
    sure = max(one["confidence"] for one in [new, *same])
    return Trait(**{**best, "confidence": sure})


def _tastes(known: Mapping[str, Trait], told: Mapping[str, Trait]) -> dict[str, Trait]:
    return {**known, **{name: new for name, new in told.items() if _wins(new, known.get(name))}}


def _wanted(known: Mapping[str, Trait], unwanted: Mapping[str, Sequence[str]]) -> dict[str, Trait]:
    return {name: one for name, one in known.items() if one["text"] not in unwanted.get(name, [])}


def _wins(new: Trait, old: Trait | None) -> bool:
    if new["confidence"] < LEAST:
        return False
    if old is None or new["stated"]:
        return True
    age = max(0.0, new["at"] - old["at"])
    weight: float = 0.5 ** (age / HALF_LIFE)
    return new["confidence"] >= old["confidence"] * weight


class StoredProfile(NamedTuple):
    """A profile and the event that changed it last; 0 where there was none."""

    profile: Profile
    revision: int


async def load_profile(owner: str) -> StoredProfile:
    """Return the profile of an owner."""
    return await run_read(lambda connection: _kept(connection, owner))


async def update_profile(
    owner: str,
    told: ProfileUpdate,
    *,
    provenance: str = "user",
    run: str = "",
    step: str = "",
    why: str = "",
) -> Profile:
    """Join what a turn tells with the profile; what changes nothing is no event."""
    event = Event(owner, "profile.update", provenance=provenance, run=run, step=step, why=why)

    def change(known: Profile) -> Profile:
        return merge_profile(known, told)

    return await _change(event, change)


async def replace_profile(owner: str, profile: Profile, *, run: str = "", why: str = "") -> Profile:
    """Put a profile in the place of what is there: a person's edit, or nothing at all."""
    event = Event(owner, "profile.edit", provenance="user", run=run, why=why)
    return await _change(event, lambda _: profile)


def undo_profile(connection: Connection, logged: LoggedEvent) -> Reversal | None:
    """Make a profile again what it was before an event.

    Raises:
        Problem: `undo_conflict` when the profile was changed since.
    """
    event = logged.event
    known = _kept(connection, event.owner)
    if known.profile != (event.after or empty_profile()):
        hint = f"see `dossier memory log`, or undo the later events first (event {logged.id})"
        raise Problem(ErrorCode.UNDO_CONFLICT, "the profile was changed since", hint=hint)
    back = Profile(**{**empty_profile(), **(event.before or {})})  # type: ignore[typeddict-item]
    undone = undoing(logged, "profile.undo", run=event.run)
    return _changed(connection, undone, known, back)


async def _change(event: Event, change: Callable[[Profile], Profile]) -> Profile:
    def work(connection: Connection) -> Profile:
        # The profile must not change between reading and writing it.
        lock_owner(connection, event.owner)
        known = _kept(connection, event.owner)
        profile = change(known.profile)
        if changed := _changed(connection, event, known, profile):
            changed.write(log_event(connection, changed.event))
        return profile

    return await run_write(work)


def _changed(
    connection: Connection, event: Event, known: StoredProfile, profile: Profile
) -> Reversal | None:
    """Return what is logged and written where a profile becomes another one, if it does."""
    if profile == known.profile:
        return None

    def write(number: int) -> None:
        row = {"data": json.dumps(profile, ensure_ascii=False), "revision": number}
        connection.execute(upsert(profiles, {"owner": event.owner}, row))

    before = known.profile if known.revision else None
    return Reversal(event._replace(item="profile", before=before, after=profile), write)


MINE = select(profiles.c.data, profiles.c.revision).where(
    profiles.c.owner == bindparam("its_owner")
)


def _kept(connection: Connection, owner: str) -> StoredProfile:
    row = connection.execute(MINE, {"its_owner": owner}).first()
    return (
        StoredProfile(json.loads(row.data), row.revision)
        if row
        else StoredProfile(empty_profile(), 0)
    )
