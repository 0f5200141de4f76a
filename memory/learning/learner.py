"""Learn from what people said: at once by rules, and later, once for each thread, with a model."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby

from config.errors import ErrorCode, Problem
from memory.facts.cache import filter_facts, find_similar_facts
from memory.facts.fact import Fact, NewFact, fact_key
from memory.facts.memory import FACTS
from memory.facts.queries import list_facts_of_message
from memory.facts.store import supersede_fact
from memory.learning import claim_checks, claim_extraction, own_words
from memory.learning import message_queue as outbox
from memory.learning.claim_extraction import AskMemorizer, Claim, Feature, Manner, NumberedItems
from memory.learning.message_queue import PersonMessage, QueuedMessage
from memory.learning.patterns import PHRASES, parse_tastes, parse_unwanted_tastes
from memory.learning.self_statements import (
    IDENTITY_KINDS,
    SENTENCE_END_MARKS,
    SINGLE_VALUED_KINDS,
    STATED_CONFIDENCE,
    TASTE_KINDS,
    SelfStatement,
    extract_statements,
    get_fact_category,
    parse_clauses,
    parse_note,
)
from memory.profile.memory import PROFILE
from memory.profile.store import load_profile, trait_similarity
from memory.profile.traits import TASTE_NAMES, ProfileUpdate, Trait, empty_profile_update
from runs.call_site import CallSite
from runs.trace import trace
from text.sentences import split_sentences

MAX_TRAIT_CHARS = 120
"""The longest trait, in characters."""

MULTI_STATEMENT_KINDS = ("correction", "note")
"""The kinds that may hold several statements, one of them on who somebody is."""


def profile_update_from_statements(
    statements: Sequence[SelfStatement], said: PersonMessage
) -> ProfileUpdate:
    """Return the update of a profile that a person's explicit statements make."""
    update = empty_profile_update()
    for one in statements:
        if claim_checks.find_refusal(one.content, one.quote) or len(one.value) > MAX_TRAIT_CHARS:
            continue
        parts = parse_clauses(one.content) if one.kind in MULTI_STATEMENT_KINDS else [one]
        for part in parts:
            _add_identity(update, part, said)
        if one.wrong and any(part.kind == "identity" for part in parts):
            update["gone"].append(one.wrong)
        if one.kind in TASTE_KINDS:
            update["unwanted"] |= parse_unwanted_tastes(one.content)
        for name, value in one.tastes.items():
            update["tastes"][name] = _trait(value, one.quote, STATED_CONFIDENCE, said)
    return update


def _add_identity(update: ProfileUpdate, one: SelfStatement, said: PersonMessage) -> None:
    """Add who somebody is, or no longer is, by a statement."""
    if one.kind in IDENTITY_KINDS:
        update["identities"].append(_trait(one.value, one.quote, STATED_CONFIDENCE, said))
        update["instead"] |= one.changed
    elif one.kind == "former":
        update["gone"].append(one.value)


def profile_update_from_manner(
    manner: Manner, shown: NumberedItems
) -> tuple[ProfileUpdate, list[str]]:
    """Return the update that a model read in messages, and why the rest of it is refused."""
    update, refusals = empty_profile_update(), []
    features = [(one, update["identities"], False) for one in manner.identities]
    features += [(one, update["characteristics"], True) for one in manner.characteristics]
    for feature, traits, own in features:
        trait = _validate_trait(feature, manner.confidence, shown.messages, own=own)
        if isinstance(trait, str):
            refusals.append(trait)
        else:
            traits.append(trait)
    update["instead"] = any(PHRASES.change.search(one["quote"]) for one in update["identities"])
    update["tastes"] = _tastes(manner, shown.messages)
    former = [shown.traits[number] for number in manner.gone if number in shown.traits]
    update["gone"] = [one for one in former if _is_ended(one, shown.messages.values())]
    return update, refusals


def _validate_trait(
    feature: Feature, confidence: float, messages: Mapping[int, PersonMessage], *, own: bool
) -> Trait | str:
    """Return a trait that the person's own words support, or why it is refused."""
    said = messages.get(feature.message)
    if said is None:
        return "not_offered"
    words = claim_checks.validate_claim(feature.text, feature.quote, said.text)
    if isinstance(words, str):
        return words
    if words.is_own_words and not own:
        return "not_borne_out"
    if len(words.text) > MAX_TRAIT_CHARS:
        return "too_long"
    return _trait(words.text, words.quote, confidence, said, stated=not words.is_own_words)


def _tastes(manner: Manner, messages: Mapping[int, PersonMessage]) -> dict[str, Trait]:
    """Return the tastes for which a message has words about answers."""
    said = messages.get(manner.message)
    if said is None:
        return {}
    sentence = " ".join(
        one
        for one in own_words.find_quoted_sentences(manner.quote, said.text)
        if (own_words.is_about_speaker(one) and not own_words.is_request(one)) or parse_tastes(one)
    )
    if not PHRASES.answer.search(sentence):
        return {}
    stated = parse_tastes(sentence)
    tastes = {name: str(getattr(manner, name)) for name in TASTE_NAMES}
    return {
        name: _trait(value, sentence, manner.confidence, said, stated=stated.get(name) == value)
        for name, value in tastes.items()
        if value and stated.get(name, value) == value
    }


def _is_ended(trait: str, messages: Iterable[PersonMessage]) -> bool:
    """Tell whether somebody says that a trait no longer holds."""
    texts = [own_words.extract_own_words(said.text) for said in messages]
    spans = (span for text in texts for span in split_sentences(text))
    return any(
        (PHRASES.negation.search(span.text) or PHRASES.change.search(span.text))
        and own_words.is_about_speaker(span.text)
        and claim_checks.shares_word_family(trait, span.text)
        for span in spans
    )


def _trait(
    text: str, quote: str, confidence: float, said: PersonMessage, *, stated: bool = True
) -> Trait:
    return Trait(
        text=text, quote=quote, confidence=confidence, stated=stated, run=said.run, at=time.time()
    )


MAX_SHOWN_FACTS = 10
"""How many similar facts a model is shown."""

MAX_COMPARED_FACTS = 50
"""How many similar facts are checked for contradictions."""

FACT_REFUSALS = {
    *(ErrorCode.FACT_CHANGED, ErrorCode.FACT_EMPTY, ErrorCode.FACT_INVALID),
    *(ErrorCode.FACT_NOT_FOUND, ErrorCode.FACT_TOO_LONG),
    *(ErrorCode.SECRET_REFUSED, ErrorCode.UNTRUSTED_FACT),
}
"""Why the store may refuse one fact; the other facts of a message are stored all the same."""


async def save_statement(owner: str, one: SelfStatement, said: PersonMessage) -> str:
    """Store what a person explicitly said; return why it is not stored, "" if it is.

    A statement of a message that was stored before is not stored again, even if it has ended.
    """
    reason = claim_checks.find_refusal(one.content, one.quote)
    if reason or one.kind == "role" or await find_learnt_fact(owner, one, said.message):
        return reason
    origin = (said.thread, said.run, said.message)
    new = NewFact(one.content, one.category, STATED_CONFIDENCE, one.quote, *origin)
    return await _catch_refusal(_replace_contradicted(owner, new, [one], "said so"))


async def _catch_refusal(write: Awaitable[object]) -> str:
    """Return the code with which the store refuses a fact; "" if it does not."""
    try:
        await write
    except Problem as problem:
        if problem.code not in FACT_REFUSALS:
            raise
        return problem.code
    return ""


async def learn_fact(owner: str, new: NewFact, why: str, *, step: str = "") -> Fact:
    """Store all that a person says; update their profile, and end the facts it contradicts.

    Args:
        owner: Whose.
        new: What they say; an empty category is derived from the words.
        why: Why they say it, for the log.
        step: The step of the run, for the log.

    Raises:
        Problem: What `memory.facts.store.add_fact` raises.
    """
    statements = parse_note(new.content)
    new = new._replace(category=new.category or get_fact_category(statements, "knowledge"))
    fact = await _replace_contradicted(owner, new, statements, why, step)
    said = PersonMessage(new.thread, new.run, new.message, new.content)
    await PROFILE.record(
        owner, profile_update_from_statements(statements, said), run=new.run, why=why, step=step
    )
    return fact


async def find_learnt_fact(owner: str, one: SelfStatement, message: str) -> Fact | None:
    """Return the fact, live or ended, that a statement of a message became earlier."""
    before = await list_facts_of_message(owner, message) if message else []
    return next((fact for fact in before if fact_key(fact.content) == fact_key(one.content)), None)


async def _replace_contradicted(
    owner: str, new: NewFact, statements: Sequence[SelfStatement], why: str, step: str = ""
) -> Fact:
    """Store a fact in place of all facts that the statements in it contradict."""
    ended = [await _find_contradicted(owner, one, new) for one in statements]
    ids = dict.fromkeys(fact.id for facts in ended for fact in facts)
    return await FACTS.record(owner, new, run=new.run, why=why, replaced=list(ids), step=step)


async def save_claim(owner: str, claim: Claim, said: PersonMessage, replaces: str) -> str:
    """Store what a model read in a message, if it is valid; return why not, "" if it is stored.

    Args:
        owner: Whose message.
        claim: What was read.
        said: The message.
        replaces: The id of the known fact that it ends, if any.
    """
    if not (claim.durable and claim.descriptive and claim.about_user):
        return "not_durable" if not claim.durable else "not_descriptive"
    if claim.confidence < claim_checks.MIN_CLAIM_CONFIDENCE:
        return "unsure"
    words = claim_checks.validate_claim(claim.content, claim.quote, said.text)
    if isinstance(words, str):
        return words
    known = await find_similar_facts(owner, words.text, MAX_SHOWN_FACTS)
    ended = [one for one, _ in known if one.id == replaces and _can_end(words.quote, one)]
    # Only the person's own words replace what they said.
    own = words.is_own_words or bool(ended)
    text = SENTENCE_END_MARKS.sub("", words.quote) if own else words.text
    confidence = min(claim.confidence, STATED_CONFIDENCE)
    origin = (said.thread, said.run, said.message, "user" if own else "model")
    new = NewFact(text, claim.category, confidence, words.quote, *origin)
    if any(_says_the_same(new, fact, similarity) for fact, similarity in known):
        return ""
    why = "read in what was said"
    if ended:
        write = supersede_fact(owner, ended[0].id, new, why=why, run=new.run)
    else:
        write = FACTS.record(owner, new, run=new.run, why=why)
    return await _catch_refusal(write)


def _says_the_same(new: NewFact, fact: Fact, similarity: float) -> bool:
    """Tell whether a fact of the same message says the same as a new one."""
    if fact.message != new.message:
        return False
    similarity = max(similarity, trait_similarity(fact.content, new.content))
    return similarity >= claim_checks.MIN_SAME_VALUE


async def _find_contradicted(owner: str, one: SelfStatement, new: NewFact) -> list[Fact]:
    """Return the facts that a statement ends."""
    text = f"{one.content} {one.wrong}"
    similar = [fact for fact, _ in await find_similar_facts(owner, text, MAX_COMPARED_FACTS)]
    if claim_checks.is_bare_correction(one):
        # It corrects the most similar fact, since it does not say which.
        return [fact for fact in similar if claim_checks.is_same_value(one.wrong, fact.content)][:1]
    others = [fact for fits in _wordless_filters(one) for fact in await filter_facts(owner, fits)]
    return [
        fact
        for fact in {fact.id: fact for fact in (*similar, *others)}.values()
        if fact_key(fact.content) != fact_key(new.content)
        # Who says two things of themselves in one message is both.
        and not (one.kind == "identity" and new.message and fact.message == new.message)
        and claim_checks.contradicts(one, fact.content)
    ]


def _wordless_filters(one: SelfStatement) -> list[Callable[[str], object]]:
    """Return filters for facts that a statement may contradict without sharing a word."""
    replaces_identity = one.kind == "identity" and one.changed
    exclusive = replaces_identity or one.kind in (*SINGLE_VALUED_KINDS, "diet")
    filters = [PHRASES.get(one.kind).match] if exclusive else []
    return [*filters, *([PHRASES.answer.search] if one.tastes else [])]


def _can_end(sentence: str, fact: Fact) -> bool:
    """Tell whether a sentence can end a fact: it says what has changed, or names the same thing."""
    is_change = bool(PHRASES.change.search(sentence))
    return is_change or claim_checks.shares_word_family(fact.content, sentence)


TRIES = 4
"""After this many failures only the rules are used."""

MEMORIZER_ROLE = "memorizer"


async def learn_by_rules(place: CallSite, said: PersonMessage) -> None:
    """Store a person's explicit statements; they are known from the next call on."""
    statements = extract_statements(said.text)
    if statements:
        refusals = [await save_statement(place.owner, one, said) for one in statements]
        find = partial(find_learnt_fact, place.owner, message=said.message)
        facts = [await find(one) for one in statements]
        # A statement whose fact has ended says nothing of who somebody is.
        pairs = zip(statements, facts, strict=True)
        live = [one for one, fact in pairs if fact is None or fact.live]
        update = profile_update_from_statements(live, said)
        await PROFILE.record(place.owner, update, run=said.run, why="said so")
        await _trace(place, "ok", len(statements), refusals)


async def process_messages(
    place: CallSite, ask: AskMemorizer | None, *, thread: str = "", excluded_run: str = ""
) -> int:
    """Learn from the queued messages of an owner, and return how many there were.

    Messages that cannot be read now are tried again later.

    Args:
        place: The call site that reads, for the trace; the messages are its owner's.
        ask: Asks the model; without it only the rules are used.
        thread: The thread whose messages are read even before they are due.
        excluded_run: The run whose messages stay in the queue.
    """
    turns = await outbox.lease_messages(place.owner, thread, excluded_run)
    turns.sort(key=lambda turn: (turn.content.thread, turn.job.id))
    for _, group in groupby(turns, key=lambda turn: turn.content.thread):
        await _read(place, ask, list(group))
    return len(turns)


async def _read(place: CallSite, ask: AskMemorizer | None, turns: Sequence[QueuedMessage]) -> None:
    said = [turn.content for turn in turns]
    failed_often = max(turn.job.tries for turn in turns) >= TRIES
    if ask and not failed_often and any(claim_checks.is_worth_reading(one.text) for one in said):
        try:
            await _learn_with_model(place, ask, said)
        except Problem as problem:
            await outbox.postpone_messages(turns)
            await _trace(place, problem.code, 0, [])
            return
    else:
        for one in said:
            await learn_by_rules(place, one)
    await outbox.complete_messages(turns)


async def _learn_with_model(
    place: CallSite, ask: AskMemorizer, said: Sequence[PersonMessage]
) -> None:
    text = "\n".join(one.text for one in said)
    similar = await find_similar_facts(place.owner, text, MAX_SHOWN_FACTS)
    known = {fact.id: fact.content for fact, similarity in similar if similarity > 0}
    profile = (await load_profile(place.owner)).profile
    learnt, shown = await claim_extraction.extract_claims(ask, said, known, profile)
    refusals = [await _save_shown_claim(place, claim, shown) for claim in learnt.facts]
    update, more = profile_update_from_manner(learnt.profile, shown)
    await PROFILE.record(
        place.owner, update, provenance="model", run=said[-1].run, why="read in what was said"
    )
    await _trace(place, "ok", len(learnt.facts), [*refusals, *more])


async def _save_shown_claim(place: CallSite, claim: Claim, shown: NumberedItems) -> str:
    """Store a claim about a message that was shown; return why not, "" if it is stored."""
    said = shown.messages.get(claim.message)
    if said is None:
        return "not_offered"
    replaced = shown.facts.get(claim.replaces or 0, "")
    return await save_claim(place.owner, claim, said, replaced)


async def _trace(place: CallSite, status: str, read: int, refusals: Sequence[str]) -> None:
    """Record how many things were read, and why some are not stored; never what they say."""
    reasons = [reason for reason in refusals if reason]
    await trace(place, "learn", MEMORIZER_ROLE, status, read=read, refused=reasons)
