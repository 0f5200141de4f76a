"""Put what the gate let through into the facts: new, instead of an old one, or not at all."""

from __future__ import annotations

from collections.abc import Sequence

from config.errors import Problem
from memory.facts.store import Fact, NewFact, add, near, supersede
from memory.learning.gate import SURE, akin, passed, unfit
from memory.learning.patterns import CHANGED
from memory.learning.rules import END, ONE_OF, Statement, stated
from memory.learning.rules import SURE as STATED
from memory.learning.schema import Claim
from memory.learning.turns import Said
from memory.profile.merging import similarity

NEAR = 10
"""How many similar facts are looked at."""

REFUSALS = {
    "fact_changed",
    "fact_empty",
    "fact_invalid",
    "fact_not_found",
    "fact_too_long",
    "untrusted_fact",
}
"""What the facts may say to one that is to be kept; the others are kept all the same."""

SAID = 0.5
"""A fact of the same message that is so similar says what was learnt from it already."""


async def keep_statement(owner: str, one: Statement, said: Said) -> str:
    """Keep what a person said in so many words; return why it is not kept, "" if it is."""
    reason = unfit(one.content) or unfit(one.quote)
    if reason or one.kind == "role":
        return reason
    new = NewFact(
        content=one.content,
        category=one.category,
        confidence=STATED,
        quote=one.quote,
        thread=said.thread,
        run=said.run,
        message=said.message,
    )
    known = await near(owner, one.content, NEAR)
    return await _put(owner, new, known, _ended(one, known), "said so")


async def keep_claim(owner: str, claim: Claim, said: Said, replaces: str) -> str:
    """Keep what a model read in a message, if the gate lets it; return why not, "" if it does.

    Args:
        owner: Whose message.
        claim: What was read.
        said: The message.
        replaces: The id of the known fact that it ends, if it names one that was shown.
    """
    if not (claim.durable and claim.descriptive and claim.about_user):
        return "not_durable" if not claim.durable else "not_descriptive"
    if claim.confidence < SURE:
        return "unsure"
    words = passed(claim.content, claim.quote, said.text)
    if isinstance(words, str):
        return words
    known = await near(owner, words.text, NEAR)
    ended = [one for one, _ in known if one.id == replaces and _about_the_same(one, words.quote)]
    # What a person said is replaced by nothing but their own words.
    own = words.own or bool(ended)
    new = NewFact(
        content=END.sub("", words.quote) if own else words.text,
        category=claim.category,
        confidence=min(claim.confidence, STATED),
        quote=words.quote,
        thread=said.thread,
        run=said.run,
        message=said.message,
        provenance="user" if own else "model",
    )
    return await _put(owner, new, known, ended[0].id if ended else "", "read in what was said")


async def _put(
    owner: str, new: NewFact, known: Sequence[tuple[Fact, float]], ended: str, why: str
) -> str:
    """Write a fact, unless its message has told the same already; return what the facts refuse."""
    for one, alike in known:
        if one.message == new.message and max(alike, similarity(one.content, new.content)) >= SAID:
            return ""
    try:
        if ended:
            await supersede(owner, ended, new, why=why, run=new.run)
        else:
            await add(owner, new, why=why, run=new.run)
    except Problem as problem:
        if problem.code not in REFUSALS:
            raise
        return problem.code
    return ""


def _ended(one: Statement, known: Sequence[tuple[Fact, float]]) -> str:
    """Return the id of the fact that a statement ends; the most similar one that it can."""
    return next((fact.id for fact, _ in known if _ends(one, fact)), "")


def _ends(one: Statement, fact: Fact) -> bool:
    before = [other for other in stated(fact.content) if other.kind == one.kind]
    if one.kind in ONE_OF:
        return any(other.value != one.value for other in before)
    if one.kind == "identity":
        return one.changed and any(other.value != one.value for other in before)
    if one.kind == "former":
        held = stated(fact.content)
        return any(like.kind == "identity" and _same(like.value, one.value) for like in held)
    return one.kind == "correction" and bool(one.wrong) and _same(one.wrong, fact.content)


def _same(one: str, other: str) -> bool:
    return bool(one and other) and similarity(one, other) >= SAID


def _about_the_same(fact: Fact, sentence: str) -> bool:
    """Tell whether a sentence can end a fact: it says what has changed, or names the same thing."""
    return bool(CHANGED.search(sentence)) or akin(fact.content, sentence)
