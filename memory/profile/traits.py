"""The data of a profile: traits, each with the words that support it."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

Detail = Literal["", "concise", "balanced", "comprehensive"]
Depth = Literal["", "overview", "practical", "conceptual"]
Format = Literal["", "bullets", "tables", "prose", "examples"]

TASTE_NAMES = ("detail", "depth", "format")
"""How somebody likes their answers: how long, how deep, in which form."""


class Trait(TypedDict):
    """One thing about a person."""

    text: str
    quote: str
    """The person's own words that say so."""
    confidence: float
    stated: bool
    """Whether they said it explicitly; else it was inferred."""
    run: str
    at: float
    """When it was said, in seconds since 1970."""


class Profile(TypedDict):
    """Who a person is and how they like their answers; each list has the newest first."""

    identities: list[Trait]
    characteristics: list[Trait]
    tastes: dict[str, Trait]
    """By name (`TASTE_NAMES`); the text is the value, such as `concise`."""


class ProfileUpdate(TypedDict):
    """What one turn says of a person."""

    identities: list[Trait]
    characteristics: list[Trait]
    tastes: dict[str, Trait]
    gone: list[str]
    """Identities and characteristics that no longer hold."""
    unwanted: dict[str, list[str]]
    """Tastes that do not hold: values by name."""
    instead: bool
    """Whether the identities replace all known ones: "I am a teacher now"."""


def empty_profile() -> Profile:
    """Return the profile of somebody unknown."""
    return Profile(identities=[], characteristics=[], tastes={})


def empty_profile_update() -> ProfileUpdate:
    """Return an update that changes nothing."""
    return ProfileUpdate(
        identities=[], characteristics=[], tastes={}, gone=[], unwanted={}, instead=False
    )
