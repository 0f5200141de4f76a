"""Turn checked statements and claims into changes of the facts and the profile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from config.errors import ErrorCode, Problem
from memory.facts.cache import filter_facts, find_similar_facts
from memory.facts.fact import Fact, NewFact, fact_key
from memory.facts.memory import FACTS
from memory.facts.queries import list_facts_of_message
from memory.facts.store import supersede_fact
from memory.learning.claim_checks import (
    MIN_CLAIM_CONFIDENCE,
    MIN_SAME_VALUE,
    contradicts,
    find_refusal,
    is_bare_correction,
    is_same_value,
    shares_word_family,
    validate_claim,
)
from memory.learning.claim_extraction import Claim, Feature, Manner, NumberedItems
from memory.learning.message_queue import PersonMessage
from memory.learning.own_words import (
    extract_own_words,
    find_quoted_sentences,
    is_about_speaker,
    is_request,
)
from memory.learning.patterns import (
    ANSWER_PATTERN,
    CHANGE_PATTERN,
    NEGATION_PATTERN,
    STATEMENT_PATTERNS,
    parse_tastes,
    parse_unwanted_tastes,
)
from memory.learning.self_statements import (
    IDENTITY_KINDS,
    SENTENCE_END_MARKS,
    SINGLE_VALUED_KINDS,
    STATED_CONFIDENCE,
    TASTE_KINDS,
    SelfStatement,
    get_fact_category,
    parse_clauses,
    parse_note,
)
from memory.profile.memory import PROFILE
from memory.profile.store import trait_similarity
from memory.profile.traits import TASTE_NAMES, ProfileUpdate, Trait, empty_profile_update
from text.sentences import split_sentences

MAX_TRAIT_CHARS = 120
"""How many characters a trait may have."""

MULTI_STATEMENT_KINDS = ("correction", "note")
"""The kinds that may say several things, of which one is who somebody is."""


def profile_update_from_statements(
    statements: Sequence[SelfStatement], said: PersonMessage
) -> ProfileUpdate:
    """Return what a person said of themselves in so many words."""
    told = empty_profile_update()
    for one in statements:
        if find_refusal(one.content, one.quote) or len(one.value) > MAX_TRAIT_CHARS:
            continue
        parts = parse_clauses(one.content) if one.kind in MULTI_STATEMENT_KINDS else [one]
        for part in parts:
            _add_identity(told, part, said)
        if one.wrong and any(part.kind == "identity" for part in parts):
            told["gone"].append(one.wrong)
        if one.kind in TASTE_KINDS:
            told["unwanted"] |= parse_unwanted_tastes(one.content)
        for name, value in one.tastes.items():
            told["tastes"][name] = _trait(value, one.quote, STATED_CONFIDENCE, said)
    return told


def _add_identity(told: ProfileUpdate, one: SelfStatement, said: PersonMessage) -> None:
    """Tell who somebody is by a statement, or is no longer."""
    if one.kind in IDENTITY_KINDS:
        told["identities"].append(_trait(one.value, one.quote, STATED_CONFIDENCE, said))
        told["instead"] |= one.changed
    elif one.kind == "former":
        told["gone"].append(one.value)


def profile_update_from_manner(
    manner: Manner, shown: NumberedItems
) -> tuple[ProfileUpdate, list[str]]:
    """Return what a model read of a person, and why the rest of it is not believed."""
    told, refused = empty_profile_update(), []
    for name, features in (
        ("identities", manner.identities),
        ("characteristics", manner.characteristics),
    ):
        for feature in features:
            trait = _believed(feature, manner.confidence, shown.messages, own=name != "identities")
            if isinstance(trait, str):
                refused.append(trait)
            else:
                told[name].append(trait)  # type: ignore[literal-required]
    told["instead"] = any(CHANGE_PATTERN.search(one["quote"]) for one in told["identities"])
    told["tastes"] = _tastes(manner, shown.messages)
    named = [shown.traits[one] for one in manner.gone if one in shown.traits]
    told["gone"] = [one for one in named if _is_ended(one, shown.messages.values())]
    return told, refused


def _believed(
    feature: Feature, confidence: float, messages: Mapping[int, PersonMessage], *, own: bool
) -> Trait | str:
    """Return a trait that the person's own words bear out, or why it is not believed."""
    said = messages.get(feature.message)
    if said is None:
        return "not_offered"
    words = validate_claim(feature.text, feature.quote, said.text)
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
    quoted = find_quoted_sentences(manner.quote, said.text) if said else []
    told = [
        one
        for one in quoted
        if (is_about_speaker(one) and not is_request(one)) or parse_tastes(one)
    ]
    sentence = " ".join(told)
    if said is None or not ANSWER_PATTERN.search(sentence):
        return {}
    plain = parse_tastes(sentence)
    named = ((name, str(getattr(manner, name))) for name in TASTE_NAMES)
    return {
        name: _trait(value, sentence, manner.confidence, said, stated=plain.get(name) == value)
        for name, value in named
        if value and plain.get(name, value) == value
    }


def _is_ended(trait: str, messages: Iterable[PersonMessage]) -> bool:
    """Tell whether somebody says of a trait that it holds no longer."""
    spans = (span for said in messages for span in split_sentences(extract_own_words(said.text)))
    ending = (
        one.text
        for one in spans
        if NEGATION_PATTERN.search(one.text) or CHANGE_PATTERN.search(one.text)
    )
    return any(is_about_speaker(one) and shares_word_family(trait, one) for one in ending)


def _trait(
    text: str, quote: str, confidence: float, said: PersonMessage, *, stated: bool = True
) -> Trait:
    return Trait(
        text=text, quote=quote, confidence=confidence, stated=stated, run=said.run, at=time.time()
    )


MAX_SHOWN_FACTS = 10
"""How many similar facts a model is shown."""

MAX_COMPARED_FACTS = 50
"""How many similar facts are looked at, whether they can still hold."""

FACT_REFUSALS = {
    ErrorCode.FACT_CHANGED,
    ErrorCode.FACT_EMPTY,
    ErrorCode.FACT_INVALID,
    ErrorCode.FACT_NOT_FOUND,
    ErrorCode.FACT_TOO_LONG,
    ErrorCode.SECRET_REFUSED,
    ErrorCode.UNTRUSTED_FACT,
}
"""What the facts may say to one that is to be kept; the others are kept all the same."""


async def save_statement(owner: str, one: SelfStatement, said: PersonMessage) -> str:
    """Keep what a person said in so many words; return why it is not kept, "" if it is.

    What a message has told already it does not tell again, whatever was said since.
    """
    reason = find_refusal(one.content, one.quote)
    if reason or one.kind == "role" or await find_learnt_fact(owner, one, said.message):
        return reason
    new = NewFact(
        content=one.content,
        category=one.category,
        confidence=STATED_CONFIDENCE,
        quote=one.quote,
        thread=said.thread,
        run=said.run,
        message=said.message,
    )
    try:
        await _replace_contradicted(owner, new, [one], "said so")
    except Problem as problem:
        if problem.code not in FACT_REFUSALS:
            raise
        return problem.code
    return ""


async def learn_fact(owner: str, new: NewFact, why: str, *, step: str = "") -> Fact:
    """Know what a person says, whole; their profile follows, and what it contradicts is history.

    Args:
        owner: Whose.
        new: What they say; without a category it has that of what it says.
        why: How they came to say it, for the log.
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
    """Return the fact, known or history, that a statement of a message has become already."""
    before = await list_facts_of_message(owner, message) if message else []
    return next((fact for fact in before if fact_key(fact.content) == fact_key(one.content)), None)


async def _replace_contradicted(
    owner: str, new: NewFact, statements: Sequence[SelfStatement], why: str, step: str = ""
) -> Fact:
    """Know a fact instead of all that the statements in it contradict."""
    ended = [await _ended(owner, one, new) for one in statements]
    ids = dict.fromkeys(fact.id for facts in ended for fact in facts)
    return await FACTS.record(owner, new, run=new.run, why=why, replaced=list(ids), step=step)


async def save_claim(owner: str, claim: Claim, said: PersonMessage, replaces: str) -> str:
    """Keep what a model read in a message, if the gate lets it; return why not, "" if it does.

    Args:
        owner: Whose message.
        claim: What was read.
        said: The message.
        replaces: The id of the known fact that it ends, if it names one that was shown.
    """
    if not (claim.durable and claim.descriptive and claim.about_user):
        return "not_durable" if not claim.durable else "not_descriptive"
    if claim.confidence < MIN_CLAIM_CONFIDENCE:
        return "unsure"
    words = validate_claim(claim.content, claim.quote, said.text)
    if isinstance(words, str):
        return words
    known = await find_similar_facts(owner, words.text, MAX_SHOWN_FACTS)
    ended = [one for one, _ in known if one.id == replaces and _about_the_same(one, words.quote)]
    # What a person said is replaced by nothing but their own words.
    own = words.is_own_words or bool(ended)
    new = NewFact(
        content=SENTENCE_END_MARKS.sub("", words.quote) if own else words.text,
        category=claim.category,
        confidence=min(claim.confidence, STATED_CONFIDENCE),
        quote=words.quote,
        thread=said.thread,
        run=said.run,
        message=said.message,
        provenance="user" if own else "model",
    )
    return await _add_or_supersede(
        owner, new, known, ended[0].id if ended else "", "read in what was said"
    )


async def _add_or_supersede(
    owner: str, new: NewFact, known: Sequence[tuple[Fact, float]], ended: str, why: str
) -> str:
    """Write a fact, unless its message has told the same already; return what the facts refuse."""
    for one, alike in known:
        if (
            one.message == new.message
            and max(alike, trait_similarity(one.content, new.content)) >= MIN_SAME_VALUE
        ):
            return ""
    try:
        if ended:
            await supersede_fact(owner, ended, new, why=why, run=new.run)
        else:
            await FACTS.record(owner, new, run=new.run, why=why)
    except Problem as problem:
        if problem.code not in FACT_REFUSALS:
            raise
        return problem.code
    return ""


async def _ended(owner: str, one: SelfStatement, new: NewFact) -> list[Fact]:
    """Return the facts that hold no longer once a statement is so."""
    close = [
        fact
        for fact, _ in await find_similar_facts(
            owner, f"{one.content} {one.wrong}", MAX_COMPARED_FACTS
        )
    ]
    far = [fact for fits in _ways(one) for fact in await filter_facts(owner, fits)]
    known = {
        fact.id: fact for fact in (*close, *far) if fact_key(fact.content) != fact_key(new.content)
    }
    if is_bare_correction(one):
        # It does not say of what it is a correction: of what is most like it.
        return [fact for fact in close if is_same_value(one.wrong, fact.content)][:1]
    # Who says two things of themselves in one message is both.
    beside = {id for id, fact in known.items() if new.message and fact.message == new.message}
    both = beside if one.kind == "identity" else set()
    return [fact for id, fact in known.items() if id not in both and contradicts(one, fact.content)]


def _ways(one: SelfStatement) -> list[Callable[[str], object]]:
    """Return what finds facts that it may contradict without having a word in common with them."""
    alone = one.kind in (*SINGLE_VALUED_KINDS, "diet") or (one.kind == "identity" and one.changed)
    return [
        *([STATEMENT_PATTERNS[one.kind].match] if alone else []),
        *([ANSWER_PATTERN.search] if one.tastes else []),
    ]


def _about_the_same(fact: Fact, sentence: str) -> bool:
    """Tell whether a sentence can end a fact: it says what has changed, or names the same thing."""
    return bool(CHANGE_PATTERN.search(sentence)) or shares_word_family(fact.content, sentence)
