"""What the memorizer is asked for: facts and a profile, in one answer."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from memory.profile.shape import Depth, Detail, Format

Category = Literal["preference", "knowledge", "context", "behavior", "goal", "correction"]

Confidence = Field(default=0.0, ge=0, le=1, description="how sure it is, from 0 to 1")
Quote = Field(description="the words of the message that say so, copied exactly")
Message = Field(description="the number of the message that the quote stands in")


class Claim(BaseModel):
    """Something that is to be known of the person."""

    content: str = Field(description="one short statement, in the person's own words")
    category: Category
    confidence: float = Confidence
    quote: str = Quote
    message: int = Message
    durable: bool = Field(default=False, description="true if it will still hold in a month")
    about_user: bool = Field(default=False, description="true if it is about the person themselves")
    descriptive: bool = Field(
        default=False, description="false if it orders something to be done now"
    )
    replaces: int | None = Field(default=None, description="the number of the known fact it ends")


class Feature(BaseModel):
    """Something the person is or does, for the profile."""

    text: str = Field(description="a few words, such as the name of an occupation")
    quote: str = Quote
    message: int = Message


class Manner(BaseModel):
    """Who the person is, and how they like their answers."""

    identities: list[Feature] = Field(default=[], description="who they say they are")
    characteristics: list[Feature] = Field(default=[], description="what marks them")
    detail: Detail = ""
    depth: Depth = ""
    format: Format = ""
    quote: str = Field(default="", description="the words that show detail, depth or format")
    message: int = Field(default=0, description="the number of the message that quote stands in")
    gone: list[int] = Field(default=[], description="numbers of known traits that hold no longer")
    confidence: float = Confidence


class Learnt(BaseModel):
    """What some messages of a person tell of them; mostly nothing."""

    facts: list[Claim] = Field(default=[], max_length=20)
    profile: Manner = Manner()
    unread: bool = Field(default=False, description="true if the messages could not be read")
