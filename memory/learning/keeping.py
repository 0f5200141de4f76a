"""Put what the gate let through into the facts: new, instead of an old one, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from config.errors import Problem
from memory.facts.fact import key
from memory.facts.store import Fact, NewFact, add, matching, near, of_message, replace, supersede
from memory.learning.contradiction import SAME, bare, contradicts, same
from memory.learning.gate import SURE, akin, passed, refusal
from memory.learning.patterns import ANSWERS, CHANGED, STATED
from memory.learning.portrait import of_statements
from memory.learning.rules import END, ONE_OF, Statement, category, noted
from memory.learning.rules import SURE as CERTAIN
from memory.learning.schema import Claim
from memory.learning.turns import Said
from memory.profile.merging import similarity
from memory.profile.store import learn

NEAR = 10
"""How many similar facts a model is shown."""

NEAREST = 50
"""How many similar facts are looked at, whether they can still hold."""

REFUSALS = {
    "fact_changed",
    "fact_empty",
    "fact_invalid",
    "fact_not_found",
    "fact_too_long",
    "secret_refused",
    "untrusted_fact",
}
"""What the facts may say to one that is to be kept; the others are kept all the same."""


async def keep_statement(owner: str, one: Statement, said: Said) -> str:
    """Keep what a person said in so many words; return why it is not kept, "" if it is.

    What a message has told already it does not tell again, whatever was said since.
    """
    reason = refusal(one.content, one.quote)
    if reason or one.kind == "role" or await told_before(owner, one, said.message):
        return reason
    new = NewFact(
        content=one.content,
        category=one.category,
        confidence=CERTAIN,
        quote=one.quote,
        thread=said.thread,
        run=said.run,
        message=said.message,
    )
    try:
        await _keep(owner, new, [one], "said so")
    except Problem as problem:
        if problem.code not in REFUSALS:
            raise
        return problem.code
    return ""


async def tell(owner: str, new: NewFact, why: str) -> Fact:
    """Know what a person says, whole; their profile follows, and what it contradicts is history.

    Args:
        owner: Whose.
        new: What they say; without a category it has that of what it says.
        why: How they came to say it, for the log.

    Raises:
        Problem: What `memory.facts.store.add` raises.
    """
    statements = noted(new.content)
    new = new._replace(category=new.category or category(statements, "knowledge"))
    fact = await _keep(owner, new, statements, why)
    said = Said(new.thread, new.run, new.message, new.content)
    await learn(owner, of_statements(statements, said), run=new.run, why=why)
    return fact


async def told_before(owner: str, one: Statement, message: str) -> Fact | None:
    """Return the fact, known or history, that a statement of a message has become already."""
    before = await of_message(owner, message) if message else []
    return next((fact for fact in before if key(fact.content) == key(one.content)), None)


async def _keep(owner: str, new: NewFact, statements: Sequence[Statement], why: str) -> Fact:
    """Know a fact instead of all that the statements in it contradict."""
    ended = [await _ended(owner, one, new) for one in statements]
    ids = dict.fromkeys(fact.id for facts in ended for fact in facts)
    return await replace(owner, list(ids), new, why=why, run=new.run)


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
        confidence=min(claim.confidence, CERTAIN),
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
        if one.message == new.message and max(alike, similarity(one.content, new.content)) >= SAME:
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


async def _ended(owner: str, one: Statement, new: NewFact) -> list[Fact]:
    """Return the facts that hold no longer once a statement is so."""
    close = [fact for fact, _ in await near(owner, f"{one.content} {one.wrong}", NEAREST)]
    far = [fact for fits in _ways(one) for fact in await matching(owner, fits)]
    known = {fact.id: fact for fact in (*close, *far) if key(fact.content) != key(new.content)}
    if bare(one):
        # It does not say of what it is a correction: of what is most like it.
        return [fact for fact in close if same(one.wrong, fact.content)][:1]
    # Who says two things of themselves in one message is both.
    beside = {id for id, fact in known.items() if new.message and fact.message == new.message}
    both = beside if one.kind == "identity" else set()
    return [fact for id, fact in known.items() if id not in both and contradicts(one, fact.content)]


def _ways(one: Statement) -> list[Callable[[str], object]]:
    """Return what finds facts that it may contradict without having a word in common with them."""
    alone = one.kind in (*ONE_OF, "diet") or (one.kind == "identity" and one.changed)
    return [*([STATED[one.kind].match] if alone else []), *([ANSWERS.search] if one.tastes else [])]


def _about_the_same(fact: Fact, sentence: str) -> bool:
    """Tell whether a sentence can end a fact: it says what has changed, or names the same thing."""
    return bool(CHANGED.search(sentence)) or akin(fact.content, sentence)
