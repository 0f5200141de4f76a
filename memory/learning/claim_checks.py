"""Check claims about a person: did they say so themselves, and which facts do they contradict?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import product
from typing import NamedTuple

from memory.learning import own_words
from memory.learning.patterns import (
    PHRASES,
    get_named_group,
    is_at_other_place,
    is_at_other_workplace,
    parse_tastes,
    parse_unwanted_tastes,
)
from memory.learning.self_statements import (
    SENTENCE_END_MARKS,
    SINGLE_VALUED_KINDS,
    TASTE_KINDS,
    SelfStatement,
    extract_statements,
    parse_clauses,
)
from memory.profile.store import trait_similarity
from text.pattern_files import PatternFile
from text.regex import regex
from text.script import CJK
from text.secret_masking import has_secret
from text.sentences import split_sentences
from text.words import search_words

_PATTERNS = PatternFile(__package__, "claim_checks.toml")

MIN_CLAIM_CONFIDENCE = 0.7
"""Less certain claims are dropped."""

MAX_FACT_CHARS = 500
"""The longest fact, in characters."""

STEM = 5
"""Words that share this many first letters are of one family: "statistics", "statistician"."""

FRAME = frozenset(search_words("user person"))
"""Words that a sentence about a person may add to their own."""

FRAME_ZH = frozenset("用户用戶是的他她一个個名位")
"""The same in Chinese, by character."""

_CJK = regex(f"[{CJK}]")


class ValidatedClaim(NamedTuple):
    """The words to store, and the person's own words that they rest on."""

    text: str
    quote: str
    is_own_words: bool
    """Whether the text is the person's own words."""


def validate_claim(text: str, quote: str, message: str) -> ValidatedClaim | str:
    """Return what may be stored of a claim about the author of a message, or why nothing may.

    The quote must be part of what they say in their own voice, in a sentence about themselves. A
    text with words that this sentence lacks is replaced by the sentence: so no word of a page, of
    a report or of another memory gets in, whatever a model was made to believe.
    """
    quoted = own_words.find_quoted_sentences(quote, message)
    if not quoted:
        return "not_quoted"
    # A question in the quote says nothing about them.
    personal = [one for one in quoted if _is_personal(one)]
    statements = [one for one in personal if not own_words.is_request(one)]
    sentence = " ".join(statements or personal)
    if not sentence:
        return "not_of_the_person"
    claim = " ".join(own_words.normalize_message(text).split())
    if not claim:
        return "empty"
    is_own = not _is_supported(claim, sentence)
    if own_words.is_request(sentence) and (is_own or claim in sentence):
        return "not_borne_out" if is_own else "not_descriptive"
    stored = SENTENCE_END_MARKS.sub("", " ".join(sentence.split())) if is_own else claim
    return find_refusal(stored, sentence) or ValidatedClaim(stored, sentence, is_own)


def is_worth_reading(message: str) -> bool:
    """Tell whether any claim about a message could be valid; most questions say nothing."""
    sentences = split_sentences(own_words.extract_own_words(message))
    return any(_is_personal(one.text) for one in sentences)


def find_unfit_reason(text: str) -> str:
    """Return why words may not be stored, whoever said them; "" if they may."""
    if len(text) > MAX_FACT_CHARS:
        return "too_long"
    if has_secret(text):
        return "secret"
    return "order" if _PATTERNS.order.search(text) else ""


def find_refusal(text: str, quote: str) -> str:
    """Return why a text may not be stored with its quote; "" if it may."""
    return find_unfit_reason(text) or find_unfit_reason(quote)


def _is_supported(text: str, sentence: str) -> bool:
    """Tell whether a text has no words that a sentence lacks, and is negated if that is."""
    if bool(_PATTERNS.negation.search(text)) != bool(_PATTERNS.negation.search(sentence)):
        return False
    if set(_CJK.findall(text)) - set(sentence) - FRAME_ZH:
        return False
    known = set(search_words(sentence))
    words = (word for word in search_words(text) if not _CJK.search(word))
    return all(word in FRAME or any(_is_kin(word, other) for other in known) for word in words)


def _is_personal(sentence: str) -> bool:
    return own_words.is_about_speaker(sentence) or bool(extract_statements(sentence))


def shares_word_family(one: str, other: str) -> bool:
    """Tell whether two texts have a word of one family in common."""
    return any(_is_kin(*pair) for pair in product(search_words(one), search_words(other)))


def _is_kin(word: str, other: str) -> bool:
    return word == other or (len(word) >= STEM and word[:STEM] == other[:STEM])


MIN_SAME_VALUE = 0.5
"""Two values at least this similar are the same."""


_Things = set[frozenset[str]]


def contradicts(one: SelfStatement, fact: str) -> bool:
    """Tell whether a statement and a fact cannot both be so."""
    if one.kind == "correction" and _corrects(one, fact):
        return True
    statements = parse_clauses(one.content) if one.kind in ("correction", "note") else [one]
    if any(_excludes(*pair) for pair in product(statements, parse_clauses(fact))):
        return True
    return _has_other_taste(one, fact) or _other_language(one, fact) or _other_value(one, fact)


def is_bare_correction(one: SelfStatement) -> bool:
    """Tell whether a correction does not say what it corrects: "It is Bergen, not Oslo"."""
    return one.kind == "correction" and bool(one.wrong and _PATTERNS.bare.match(one.content))


def is_same_value(one: str, other: str) -> bool:
    """Tell whether two short texts name the same."""
    return bool(one and other) and trait_similarity(one, other) >= MIN_SAME_VALUE


def _excludes(new: SelfStatement, old: SelfStatement) -> bool:
    if new.kind == "former":
        return _denied(new, old)
    if old.kind == "former":
        # "I am a nurse" says nothing against "I am no longer a head nurse".
        now = new.content if new.kind == "work" else new.value
        return old.former_kind == new.kind and _same_words(old.value, now)
    if _other_number(new.content, old.content):
        return True
    if new.kind != old.kind:
        return _other_use(new, old)
    if new.kind in SINGLE_VALUED_KINDS or (new.kind == "identity" and new.changed):
        return _state(new) != _state(old)
    check = CONTRADICTION_CHECKS.get(new.kind)
    return check is not None and check(new, old)


def _same_words(one: str, other: str) -> bool:
    return set(search_words(one)) == set(search_words(other))


def _state(one: SelfStatement) -> str:
    """Return the value without details, such as to whom somebody is married."""
    value = one.value.casefold()
    return value.split()[0] if one.kind == "bond" and value else value


def _other_diet(new: SelfStatement, old: SelfStatement) -> bool:
    diet, former = _PATTERNS.eaten.search(new.value), _PATTERNS.eaten.search(old.value)
    return bool(diet and former and diet[0].lower() != former[0].lower())


def _other_place(new: SelfStatement, old: SelfStatement) -> bool:
    return is_at_other_place(new.value, old.value) and not PHRASES.also.search(new.content)


def _other_work(new: SelfStatement, old: SelfStatement) -> bool:
    return is_at_other_workplace(new.content, old.content) and not PHRASES.also.search(new.content)


def _other_tool(new: SelfStatement, old: SelfStatement) -> bool:
    given_up = _things(new.wrong) & _liked(old)[0] if new.wrong else set()
    return bool(given_up) or _other_liking(new, old)


def _other_liking(new: SelfStatement, old: SelfStatement) -> bool:
    (liked, disliked), (old_liked, old_disliked) = _liked(new), _liked(old)
    return bool(liked & old_disliked or disliked & old_liked)


def _other_use(new: SelfStatement, old: SelfStatement) -> bool:
    """Tell whether one says that something is used or eaten, and the other that it is not."""
    use, old_use = _PATTERNS.used.search(new.content), _PATTERNS.used.search(old.content)
    if not use or not old_use or use[0].casefold() != old_use[0].casefold():
        return False
    return _other_liking(new, old)


def _other_number(new: str, old: str) -> bool:
    """Tell whether two texts give different numbers of the same things."""
    now, before = _PATTERNS.counted.match(new), _PATTERNS.counted.match(old)
    if not now or not before:
        return False
    count, old_count = (
        (one["many"] or one["number"]).lower().replace("an", "a") for one in (now, before)
    )
    same = _same_words(now["what"] or now["thing"], before["what"] or before["thing"])
    return same and count != old_count


def _other_relative(new: SelfStatement, old: SelfStatement) -> bool:
    """Tell whether a relative is said to be something else, or to have another name."""
    now, before = (PHRASES.family.match(one.content) for one in (new, old))
    if not now or not before or not _same_thing(now, before):
        return False
    thing = get_named_group(now, "thing")
    values = [get_named_group(one, "value") for one in (now, before)]
    is_name = "name" in thing or "名字" in thing
    return values[0] != values[1] and (is_name or all(map(_PATTERNS.one_at_a_time.match, values)))


def _same_thing(now: re.Match[str], before: re.Match[str]) -> bool:
    things = (search_words(get_named_group(one, "thing")) for one in (now, before))
    return next(things) == next(things)


def _denied(new: SelfStatement, old: SelfStatement) -> bool:
    if old.kind == "preference":
        return new.former_kind == old.kind and bool(_things(new.value) & _liked(old)[0])
    former, current = set(search_words(new.value)), set(search_words(old.value))
    if not new.former_kind or old.kind == "former":
        return bool(former) and former == current and old.kind != "former"
    if new.former_kind == old.kind == "work":
        return bool(former) and former <= set(search_words(old.content))
    if new.former_kind != old.kind or not is_same_value(old.value, new.value):
        return False
    # Who is a head nurse no longer may still be a nurse.
    return not current < former


def _liked(one: SelfStatement) -> tuple[_Things, _Things]:
    """Return the things that a preference says are liked, and those that are not."""
    first, *rest = PHRASES.rather.split(one.value, maxsplit=1)
    liked, disliked = _things(first), _things(" ".join(rest))
    before = one.content[: one.content.rfind(one.value)] if one.value else one.content
    return (disliked, liked) if PHRASES.negation.search(before) else (liked, disliked)


def _things(text: str) -> _Things:
    parts = PHRASES.list_separator.split(text)
    return {frozenset(search_words(part)) for part in parts} - {frozenset()}


def _corrects(one: SelfStatement, fact: str) -> bool:
    """Tell whether a fact states what a correction rejects, about the same thing."""
    if is_bare_correction(one) or not is_same_value(one.wrong, fact):
        return False
    wrong = set(search_words(one.wrong))
    topic = set(search_words(fact)) - wrong
    corrected = set(search_words(one.content)) - wrong
    return not topic or shares_word_family(" ".join(corrected), " ".join(topic))


def _has_other_taste(one: SelfStatement, fact: str) -> bool:
    """Tell whether a fact says that answers are liked in another way."""
    liked = one.tastes
    disliked = parse_unwanted_tastes(one.content) if one.kind in TASTE_KINDS else {}
    if not liked and not disliked:
        return False
    old_liked, old_disliked = parse_tastes(fact), parse_unwanted_tastes(fact)
    return any(
        old_liked.get(field, value) != value or value in old_disliked.get(field, [])
        for field, value in liked.items()
    ) or any(old_liked.get(field) in values for field, values in disliked.items())


def _other_language(one: SelfStatement, fact: str) -> bool:
    new, old = PHRASES.language.search(one.content), PHRASES.language.search(fact)
    if not new or not old or one.category != "preference":
        return False
    return _value(new) != _value(old) and not PHRASES.negation.search(one.content + fact)


def _value(match: re.Match[str]) -> str:
    return get_named_group(match, "value").casefold()


def _other_value(one: SelfStatement, fact: str) -> bool:
    """Tell whether a fact gives another value for something they have: "My budget is 9"."""
    new, old = PHRASES.possession.match(one.content), PHRASES.possession.match(fact)
    if not new or not old or not _same_thing(new, old):
        return False
    now, then = _value(new), _value(old)
    if now in then or then in now:
        return False
    unique = one.kind == "correction" or bool(PHRASES.unique_thing.match(one.content))
    return unique or _PATTERNS.digits.sub("", now) == _PATTERNS.digits.sub("", then)


CONTRADICTION_CHECKS: Mapping[str, Callable[[SelfStatement, SelfStatement], bool]] = {
    "identity": _other_place,
    "work": _other_work,
    "diet": _other_diet,
    "family": _other_relative,
    "tool": _other_tool,
    "preference": _other_liking,
}
"""How two statements of one kind contradict each other, where both may hold otherwise."""
