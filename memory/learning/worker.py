"""Read what people said: at once by rules, and later, once for each thread, with a model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from config.errors import Problem
from memory.facts.store import near
from memory.learning import turns as outbox
from memory.learning.extraction import Ask, Shown, extract
from memory.learning.gate import worth_reading
from memory.learning.keeping import NEAR, keep_claim, keep_statement, told_before
from memory.learning.portrait import of_manner, of_statements
from memory.learning.rules import stated
from memory.learning.schema import Learnt
from memory.learning.turns import Said, Turn
from memory.profile.store import kept, learn
from runs.place import Here
from runs.trace import trace

TRIES = 4
"""After so many failures the rules alone must do."""

ROLE = "memorizer"


async def hear(place: Here, said: Said) -> None:
    """Keep what a person says in so many words; it is known from the next call on."""
    statements = stated(said.text)
    if statements:
        refused = [await keep_statement(place.owner, one, said) for one in statements]
        before = [await told_before(place.owner, one, said.message) for one in statements]
        # What is history by now says nothing of who somebody is.
        pairs = zip(statements, before, strict=True)
        told = of_statements([one for one, fact in pairs if fact is None or fact.live], said)
        await learn(place.owner, told, run=said.run, why="said so")
        await _trace(place, "ok", len(statements), refused)


async def work_off(place: Here, ask: Ask | None, *, thread: str = "", but: str = "") -> int:
    """Read what an owner said and nobody has read yet, and return how many messages that were.

    What cannot be read now is left, and tried again later.

    Args:
        place: Who reads, for the trace; what is read belongs to its owner.
        ask: The door to the model; without one the rules alone read.
        thread: Whose messages are read even when they are not due.
        but: The run whose messages are left.
    """
    taken = await outbox.take(place.owner, thread, but)
    taken.sort(key=lambda one: (one.said.thread, one.job.id))
    for _, some in groupby(taken, key=lambda one: one.said.thread):
        await _read(place, ask, list(some))
    return len(taken)


async def _read(place: Here, ask: Ask | None, turns: Sequence[Turn]) -> None:
    if ask and _worth_asking(turns):
        try:
            await _asked(place, ask, [turn.said for turn in turns])
        except Problem as problem:
            await outbox.put_off(turns)
            await _trace(place, problem.code, 0, [])
            return
    else:
        for turn in turns:
            await hear(place, turn.said)
    await outbox.finish(turns)


def _worth_asking(turns: Sequence[Turn]) -> bool:
    """Tell whether a model might find anything in messages, and has not failed too often."""
    tired = max(turn.job.tries for turn in turns) >= TRIES
    return not tired and any(worth_reading(turn.said.text) for turn in turns)


async def _asked(place: Here, ask: Ask, said: Sequence[Said]) -> None:
    text = "\n".join(one.text for one in said)
    known = {one.id: one.content for one, alike in await near(place.owner, text, NEAR) if alike > 0}
    learnt, shown = await extract(ask, said, known, (await kept(place.owner)).profile)
    refused = await _facts(place, learnt, shown)
    told, more = of_manner(learnt.profile, shown)
    await learn(
        place.owner, told, provenance="model", run=said[-1].run, why="read in what was said"
    )
    await _trace(place, "ok", len(learnt.facts), [*refused, *more])


async def _facts(place: Here, learnt: Learnt, shown: Shown) -> list[str]:
    """Keep the facts; return why others are not kept."""
    refused = []
    for claim in learnt.facts:
        said = shown.messages.get(claim.message)
        replaces = shown.facts.get(claim.replaces or 0, "")
        why = await keep_claim(place.owner, claim, said, replaces) if said else "not_offered"
        refused.append(why)
    return refused


async def _trace(place: Here, status: str, read: int, refused: Sequence[str]) -> None:
    """Write down how many things were read, and why some are not kept; never what they say."""
    reasons = [one for one in refused if one]
    await trace(place, "learn", ROLE, status, read=read, refused=reasons)
