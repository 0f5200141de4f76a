"""Store the profile of each owner: merge updates into it, and log every change."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select

from config.errors import ErrorCode, Problem
from memory.learning.patterns import PHRASES, is_at_other_place
from memory.profile.traits import Profile, ProfileUpdate, Trait, empty_profile
from memory.tables import profiles
from storage.engine import run_read, run_write
from storage.events import Event, LoggedEvent, Reversal, lock_owner, log_event, undoing
from storage.upsert import upsert
from text.words import search_words

MIN_SAME_COSINE = 0.8
"""The least similarity of two wordings that mean the same."""

MIN_CONFIDENCE = 0.6
"""The least confidence of a trait that is stored."""

HALF_LIFE = 90 * 86_400.0
"""The seconds after which the confidence of an inferred trait counts half."""

MAX_TRAITS = 6
"""The most identities, and the most characteristics; the oldest are dropped."""


def merge_profile(known: Profile, update: ProfileUpdate) -> Profile:
    """Return the profile with an update merged in.

    A stated trait replaces what was known at once, however certain that was: people change. An
    inferred one does so if it is at least as certain as the other, whose confidence decays.
    """
    gone, characteristics = update["gone"], update["characteristics"]
    before = [] if update["instead"] and update["identities"] else known["identities"]
    return Profile(
        identities=_merge_traits(before, update["identities"], gone),
        characteristics=_merge_traits(known["characteristics"], characteristics, gone),
        tastes=_merge_tastes(known["tastes"], update),
    )


def trait_similarity(one: str, other: str) -> float:
    """Return how similar two short texts are, in 0..1.

    The cosine of their words and letter trigrams; 1 if one has every word of the other, so that
    "nurse" and "paediatric nurse" are the same.
    """
    left, right = set(search_words(one)), set(search_words(other))
    if left and right and (left <= right or right <= left):
        return 1.0
    # Reading a profile compares nothing, and needs no numpy.
    from models.hashing_vectors import hash_texts  # noqa: PLC0415

    first, second = hash_texts([one, other])
    return max(0.0, float(first @ second))


def _merge_traits(known: Sequence[Trait], new: Sequence[Trait], gone: Sequence[str]) -> list[Trait]:
    traits = [one for one in known if not any(_is_same(one["text"], text) for text in gone)]
    for trait in new:
        if trait["confidence"] < MIN_CONFIDENCE:
            continue
        traits = [one for one in traits if not _is_moved(trait, one)]
        same = [one for one in traits if _is_same(one["text"], trait["text"])]
        traits = [_more_specific(trait, same), *(one for one in traits if one not in same)]
    return traits[:MAX_TRAITS]


def _is_moved(new: Trait, old: Trait) -> bool:
    """Tell whether a trait is the same at another place: "a nurse in Oslo"."""
    return is_at_other_place(new["text"], old["text"]) and not PHRASES.also.search(new["quote"])


def _is_same(one: str, other: str) -> bool:
    return trait_similarity(one, other) >= MIN_SAME_COSINE


def _more_specific(new: Trait, same: Sequence[Trait]) -> Trait:
    """Return the wording with the most words, with the highest confidence of all."""
    best = max([new, *same], key=lambda one: len(set(search_words(one["text"]))))
    confidence = max(one["confidence"] for one in [new, *same])
    return Trait(**{**best, "confidence": confidence})


def _merge_tastes(known: Mapping[str, Trait], update: ProfileUpdate) -> dict[str, Trait]:
    unwanted = update["unwanted"]
    kept = {name: one for name, one in known.items() if one["text"] not in unwanted.get(name, [])}
    new = update["tastes"].items()
    return {**kept, **{name: one for name, one in new if _replaces(one, kept.get(name))}}


def _replaces(new: Trait, old: Trait | None) -> bool:
    if new["confidence"] < MIN_CONFIDENCE:
        return False
    if old is None or new["stated"]:
        return True
    age = max(0.0, new["at"] - old["at"])
    weight: float = 0.5 ** (age / HALF_LIFE)
    return new["confidence"] >= old["confidence"] * weight


class StoredProfile(NamedTuple):
    """A profile, and the number of the last event that changed it; 0 if none has."""

    profile: Profile
    revision: int


async def load_profile(owner: str) -> StoredProfile:
    """Return the profile of an owner."""
    return await run_read(lambda connection: select_profile(connection, owner))


async def update_profile(
    owner: str,
    update: ProfileUpdate,
    *,
    provenance: str = "user",
    run: str = "",
    step: str = "",
    why: str = "",
) -> Profile:
    """Merge an update into the profile, and log it if it changes anything."""
    event = Event(owner, "profile.update", provenance=provenance, run=run, step=step, why=why)

    def work(connection: Connection) -> Profile:
        # The profile must not change between reading and writing it.
        lock_owner(connection, owner)
        known = select_profile(connection, owner)
        profile = merge_profile(known.profile, update)
        if changed := _changed(connection, event, known, profile):
            changed.write(log_event(connection, changed.event))
        return profile

    return await run_write(work)


def undo_profile(connection: Connection, logged: LoggedEvent) -> Reversal | None:
    """Restore the profile as it was before an event.

    Raises:
        Problem: `undo_conflict` if it was changed since.
    """
    event = logged.event
    known = select_profile(connection, event.owner)
    if known.profile != (event.after or empty_profile()):
        hint = f"see `dossier memory log`, or undo the later events first (event {logged.id})"
        raise Problem(ErrorCode.UNDO_CONFLICT, "the profile was changed since", hint=hint)
    former = Profile(**{**empty_profile(), **(event.before or {})})  # type: ignore[typeddict-item]
    undone = undoing(logged, "profile.undo", run=event.run)
    return _changed(connection, undone, known, former)


def _changed(
    connection: Connection, event: Event, known: StoredProfile, profile: Profile
) -> Reversal | None:
    """Return what is logged and written when a profile changes; `None` if it does not."""
    if profile == known.profile:
        return None

    before = known.profile if known.revision else None
    logged = event._replace(item="profile", before=before, after=profile)
    return Reversal(logged, partial(put_profile, connection, event.owner, profile))


def put_profile(connection: Connection, owner: str, profile: Profile, revision: int) -> None:
    """Write a profile with the number of its event."""
    row = {"data": json.dumps(profile, ensure_ascii=False), "revision": revision}
    connection.execute(upsert(profiles, {"owner": owner}, row))


MINE = select(profiles.c.data, profiles.c.revision).filter_by(owner=bindparam("its_owner"))


def select_profile(connection: Connection, owner: str) -> StoredProfile:
    """Return the profile of an owner, which is empty if there is none."""
    row = connection.execute(MINE, {"its_owner": owner}).first()
    return StoredProfile(
        json.loads(row.data) if row else empty_profile(), row.revision if row else 0
    )
