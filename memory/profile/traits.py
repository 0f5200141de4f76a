"""What a profile is: plain data, each trait with the words it rests on."""

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
    """Whether they said it in so many words, rather than let it be understood."""
    run: str
    at: float
    """When it was said, in seconds since 1970."""


class Profile(TypedDict):
    """Who a person is and how they like their answers; the newest of each list stands first."""

    identities: list[Trait]
    characteristics: list[Trait]
    tastes: dict[str, Trait]
    """By name (`TASTE_NAMES`); the text is the value, such as `concise`."""


class ProfileUpdate(TypedDict):
    """What one turn tells of a person."""

    identities: list[Trait]
    characteristics: list[Trait]
    tastes: dict[str, Trait]
    gone: list[str]
    """Identities and characteristics that hold no longer."""
    unwanted: dict[str, list[str]]
    """Tastes that hold no longer, or never did: values by name."""
    instead: bool
    """Whether the identities take the place of all that were known: "I am a teacher now"."""


def empty_profile() -> Profile:
    """Return the profile of somebody of whom nothing is known."""
    return Profile(identities=[], characteristics=[], tastes={})


def empty_profile_update() -> ProfileUpdate:
    """Return what a turn tells that says nothing of the person."""
    return ProfileUpdate(
        identities=[], characteristics=[], tastes={}, gone=[], unwanted={}, instead=False
    )
