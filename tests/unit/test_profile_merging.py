"""A profile grows by what is told, and follows when somebody changes."""

from __future__ import annotations

from typing import Any

import pytest

from memory.profile.store import MIN_CONFIDENCE, merge_profile, trait_similarity
from memory.profile.traits import Profile, ProfileUpdate, Trait, empty_profile, empty_profile_update

DAY = 86_400.0


def trait(text: str, confidence: float = 0.9, at: float = 0.0, *, stated: bool = False) -> Trait:
    return Trait(text=text, quote=text, confidence=confidence, stated=stated, run="t1-1", at=at)


def told(**more: Any) -> ProfileUpdate:
    return ProfileUpdate(**{**empty_profile_update(), **more})


def known(**more: Any) -> Profile:
    return Profile(**{**empty_profile(), **more})


def identities(profile: Profile) -> list[str]:
    return [one["text"] for one in profile["identities"]]


@pytest.mark.parametrize(
    ("one", "other"),
    [("nurse", "nurses"), ("nurse", "paediatric nurse"), ("护士", "儿科护士")],
)
def test_near_synonyms_are_alike(one: str, other: str):
    assert trait_similarity(one, other) >= 0.8


@pytest.mark.parametrize(("one", "other"), [("nurse", "teacher"), ("护士", "老师"), ("", "nurse")])
def test_other_things_are_not(one: str, other: str):
    assert trait_similarity(one, other) < 0.5


@pytest.mark.parametrize("order", [["nurse", "paediatric nurse"], ["paediatric nurse", "nurse"]])
def test_of_near_synonyms_the_more_specific_stays(order: list[str]):
    profile = empty_profile()
    for text in order:
        profile = merge_profile(profile, told(identities=[trait(text)]))

    assert identities(profile) == ["paediatric nurse"]


def test_a_turn_that_is_not_sure_changes_nothing():
    before = known(identities=[trait("nurse")], tastes={"detail": trait("concise")})
    unsure = MIN_CONFIDENCE - 0.01
    told_now = told(
        identities=[trait("pilot", unsure)],
        characteristics=[trait("tall", unsure)],
        tastes={"detail": trait("comprehensive", unsure), "depth": trait("practical", unsure)},
    )

    assert merge_profile(before, told_now) == before


def test_what_is_plainly_stated_wins_over_whatever_was_surer():
    before = known(tastes={"detail": trait("concise", 0.99, stated=True)})
    plain = told(tastes={"detail": trait("comprehensive", 0.7, stated=True)})

    assert merge_profile(before, plain)["tastes"]["detail"]["text"] == "comprehensive"


def test_what_is_only_understood_does_not():
    before = known(tastes={"detail": trait("concise", 0.9)})
    guessed = told(tastes={"detail": trait("comprehensive", 0.7, at=DAY)})

    assert merge_profile(before, guessed)["tastes"]["detail"]["text"] == "concise"


def test_what_was_understood_long_ago_locks_nothing_out():
    before = known(tastes={"detail": trait("concise", 0.99)})
    guessed = told(tastes={"detail": trait("comprehensive", 0.7, at=60 * DAY)})

    assert merge_profile(before, guessed)["tastes"]["detail"]["text"] == "comprehensive"


def test_a_new_role_takes_the_place_of_the_old_one_when_it_is_said_to():
    before = known(identities=[trait("nurse", 0.99), trait("student", 0.99)])
    change = told(identities=[trait("teacher", 0.7, stated=True)], instead=True)

    assert identities(merge_profile(before, change)) == ["teacher"]
    assert identities(merge_profile(before, told(identities=[trait("teacher", 0.7)]))) == [
        "teacher",
        "nurse",
        "student",
    ]


def test_what_holds_no_longer_goes():
    before = known(identities=[trait("paediatric nurse"), trait("beekeeper")])

    assert identities(merge_profile(before, told(gone=["nurse"]))) == ["beekeeper"]


def test_the_oldest_go_first_when_there_are_too_many():
    profile = empty_profile()
    for one in ("nurse", "pilot", "singer", "farmer", "judge", "baker", "sailor"):
        profile = merge_profile(profile, told(identities=[trait(one)]))

    assert len(profile["identities"]) == 6
    assert "nurse" not in identities(profile)
