"""Tell model calls who the person is and how they like their answers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from functools import cache
from string import Template

from config.settings import settings
from memory.base import Note, Query
from memory.profile.shape import TASTES
from memory.profile.shape import Profile as Data
from memory.profile.store import Kept, kept
from memory.repeats import identity, taste
from prompts.loader import load

OWNERS = 256
"""How many profiles one process remembers."""


class Profile:
    """The profile of the person, as wishes and not as orders."""

    name = "profile"
    share = 0.05

    def __init__(self) -> None:
        self._read: OrderedDict[tuple[str, str], tuple[int, Kept]] = OrderedDict()

    async def recall(self, query: Query, budget: int) -> list[Note]:
        """Return how the person likes their answers, and who they are; nothing if that is unknown.

        It is read again only when the owner's newest event is another one.
        """
        del budget
        key = (settings().database, query.owner)
        at, known = self._read.get(key, (-1, None))
        if known is None or at != query.revision:
            known = await kept(query.owner)
            self._read[key] = (query.revision, known)
            while len(self._read) > OWNERS:
                self._read.popitem(last=False)
        return list(_notes(known.profile, known.revision))


def _notes(profile: Data, revision: int) -> Iterator[Note]:
    tastes = {name: [one] for name, one in sorted(profile["tastes"].items())}
    whole = {**tastes, "identities": profile["identities"]}
    whole["characteristics"] = profile["characteristics"]
    wording = _wording()
    for name, traits in whole.items():
        for one in traits:
            text = wording[name].substitute(text=one["text"])
            says = taste(name, one["text"]) if name in TASTES else identity(one["text"])
            score = {"confidence": one["confidence"]}
            yield Note("", text, "profile", revision, score, says=says)


@cache
def _wording() -> dict[str, Template]:
    """Return how each part of a profile is worded, by its name."""
    lines = (line.split(": ", 1) for line in load("profile").template.splitlines())
    return {name: Template(words) for name, words in lines}
