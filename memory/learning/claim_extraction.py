"""Ask a model what a person's messages say about them, and define the form of its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

from pydantic import BaseModel, Field
from pydantic.json_schema import SkipJsonSchema

from config.errors import ErrorCode, Problem
from memory.learning.message_queue import PersonMessage
from memory.learning.own_words import extract_own_words
from memory.profile.traits import Depth, Detail, Format, Profile
from models.extractive.schema_answers import extractive_answer
from prompts.data_blocks import join_prompt_blocks, render_block, wrap_blocks
from prompts.loader import render_prompt
from text.script import detect_language

ClaimCategory = Literal["preference", "knowledge", "context", "behavior", "goal", "correction"]

_CONFIDENCE = Field(default=0.0, ge=0, le=1)


class Claim(BaseModel):
    """A claim about the person."""

    content: str
    category: ClaimCategory
    confidence: float = _CONFIDENCE
    quote: str
    message: int
    durable: bool = False
    about_user: bool = False
    descriptive: bool = False
    replaces: int | None = None


class Feature(BaseModel):
    """Something the person is or does, for the profile."""

    text: str
    quote: str
    message: int


class Manner(BaseModel):
    """Who the person is, and how they like their answers."""

    identities: list[Feature] = []
    characteristics: list[Feature] = []
    detail: Detail = ""
    depth: Depth = ""
    format: Format = ""
    quote: str = ""
    message: int = 0
    gone: list[int] = []
    confidence: float = _CONFIDENCE


# The rules of `self_statements.py` find what is stated explicitly.
@extractive_answer(lambda prompt: {"unread": True})
class Learnt(BaseModel):
    """What a person's messages say about them; mostly nothing."""

    facts: list[Claim] = Field(default=[], max_length=20)
    profile: Manner = Manner()
    unread: SkipJsonSchema[bool] = False
    """Whether the model cannot read messages, as the extractive one says of itself."""


MAX_ANSWER_CHARS = 600
"""How many characters of the last answer are shown."""

MAX_MESSAGE_CHARS = 3_000
"""How many characters of a message are shown."""

Item = TypeVar("Item")

AskMemorizer = Callable[[str, str], Awaitable[Learnt]]
"""Puts a system prompt and the data to the model that plays the memorizer.

Raises:
    Problem: Whatever keeps it from answering.
"""


class NumberedItems(NamedTuple):
    """The numbered items of a prompt."""

    messages: Mapping[int, PersonMessage]
    facts: Mapping[int, str]
    """The ids of the facts."""
    traits: Mapping[int, str]
    """The texts of the traits."""


async def extract_claims(
    ask: AskMemorizer, said: Sequence[PersonMessage], known: Mapping[str, str], profile: Profile
) -> tuple[Learnt, NumberedItems]:
    """Return what a model reads in messages of one thread, and what its numbers mean.

    Args:
        ask: Asks the model.
        said: The messages, oldest first.
        known: Similar known facts by id.
        profile: The person's profile.

    Raises:
        Problem: Whatever keeps the model from answering; `model_unavailable` when the one that
            answers cannot read.
    """
    traits = [one["text"] for one in [*profile["identities"], *profile["characteristics"]]]
    shown = NumberedItems(_numbered(said), _numbered(list(known)), _numbered(traits))
    own_words = {number: extract_own_words(one.text) for number, one in shown.messages.items()}
    texts = {number: words[:MAX_MESSAGE_CHARS] for number, words in own_words.items()}
    data = join_prompt_blocks(
        _render_numbered("messages", "message", texts),
        render_block("answer", said[-1].answer[:MAX_ANSWER_CHARS]),
        _render_numbered("known", "fact", {n: known[id] for n, id in shown.facts.items()}),
        _render_numbered("traits", "trait", shown.traits),
    )
    system = render_prompt("learn", language=detect_language(" ".join(texts.values())))
    learnt = await ask(system, data)
    if learnt.unread:
        what = "the model that answered cannot learn from messages"
        raise Problem(ErrorCode.MODEL_UNAVAILABLE, what)
    return learnt, shown


def _numbered(items: Sequence[Item]) -> dict[int, Item]:
    return dict(enumerate(items, start=1))


def _render_numbered(tag: str, item_tag: str, texts: Mapping[int, str]) -> str:
    items = [render_block(item_tag, text, id=number) for number, text in texts.items()]
    return wrap_blocks(tag, items)
