"""Ask a model once what some messages of a person tell of them, and trust none of it unchecked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from config.errors import Problem
from memory.learning.schema import Learnt
from memory.learning.turns import Said
from memory.learning.voice import spoken
from memory.profile.shape import Profile
from prompts.loader import render
from prompts.marks import block, blocks, wrap
from retrieval.text import language

ANSWER = 600
"""How many characters of the last answer are shown."""

LONGEST = 3_000
"""How many characters of a message are shown."""

Item = TypeVar("Item")

Ask = Callable[[str, str], Awaitable[Learnt]]
"""Puts a system prompt and the data to the model that plays the memorizer.

Raises:
    Problem: Whatever keeps it from answering.
"""


class Shown(NamedTuple):
    """What stood under which number in a prompt."""

    messages: Mapping[int, Said]
    facts: Mapping[int, str]
    """The ids of the facts."""
    traits: Mapping[int, str]
    """The texts of the traits."""


async def extract(
    ask: Ask, said: Sequence[Said], known: Mapping[str, str], profile: Profile
) -> tuple[Learnt, Shown]:
    """Return what a model reads in some messages of one thread, and what its numbers mean.

    Args:
        ask: The door to the model.
        said: The messages, oldest first.
        known: What may be said again, by the id of the fact.
        profile: Of the person.

    Raises:
        Problem: Whatever keeps the model from answering; `model_unavailable` when the one that
            answers cannot read.
    """
    traits = [one["text"] for one in [*profile["identities"], *profile["characteristics"]]]
    shown = Shown(_numbered(said), _numbered(list(known)), _numbered(traits))
    texts = {number: spoken(one.text)[:LONGEST] for number, one in shown.messages.items()}
    data = blocks(
        _listed("messages", "message", texts),
        block("answer", said[-1].answer[:ANSWER]),
        _listed("known", "fact", {at: known[one] for at, one in shown.facts.items()}),
        _listed("traits", "trait", shown.traits),
    )
    learnt = await ask(render("learn", language=language(" ".join(texts.values()))), data)
    if learnt.unread:
        raise Problem("model_unavailable", "the model that answered cannot learn from messages")
    return learnt, shown


def _numbered(items: Sequence[Item]) -> dict[int, Item]:
    return dict(enumerate(items, start=1))


def _listed(tag: str, each: str, texts: Mapping[int, str]) -> str:
    return wrap(tag, [block(each, text, id=number) for number, text in texts.items()])
