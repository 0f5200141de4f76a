"""Check what is claimed of a person.

Whether they said it themselves, and which known facts it contradicts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from memory.learning.own_words import (
    extract_own_words,
    find_quoted_sentences,
    is_about_speaker,
    is_request,
    normalize_message,
)
from memory.learning.patterns import (
    ALSO_PATTERN,
    LANGUAGE_PATTERN,
    LIST_SEPARATOR_PATTERN,
    NEGATION_PATTERN,
    POSSESSION_PATTERN,
    RATHER_PATTERN,
    STATEMENT_PATTERNS,
    UNIQUE_THING_PATTERN,
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
from text.regex import regex
from text.script import CJK
from text.secret_masking import has_secret
from text.sentences import split_sentences
from text.words import search_words

MIN_CLAIM_CONFIDENCE = 0.7
"""What is less sure is not kept."""

MAX_FACT_CHARS = 500
"""How many characters a fact may have."""

STEM = 5
"""Words that begin with so many equal letters are of one family: "statistics", "statistician"."""

FRAME = frozenset(search_words("user person"))
"""Words that a sentence about a person may have without the person's having said them."""

FRAME_ZH = frozenset("用户用戶是的他她一个個名位")
"""The same in Chinese, by character."""

_ORDER = regex(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:previous|prior|above|earlier|all"
    r"|your|system|these|any)\b"
    r"|\b(?:you|assistant|ai|model|agent)(?:'re| are)?"
    r" (?:now|must|should|shall|have to|has to|will)\b"
    r"|\b(?:system|developer) (?:prompt|message|mode)\b|\bnew instructions?\b"
    r"|(?:忽略|无视|無視|忘[记記掉]).{0,8}(?:之前|以上|前面|所有|系统|系統)|系[统統]提示"
    r"|[你您](?:[现現]在)?(?:必[须須]|[应應][该該]|是一[个個])",
    re.IGNORECASE,
)
_NOT = regex(
    r"\b(?:not|no|never|none|without|cannot|no longer)\b|n't\b|不|[没沒]|[别別]|勿|[无無]|未",
    re.IGNORECASE,
)
_CJK = regex(f"[{CJK}]")


class ValidatedClaim(NamedTuple):
    """What the gate let through: the words to keep, and the person's own that they rest on."""

    text: str
    quote: str
    is_own_words: bool
    """Whether the text is the person's own words."""


def validate_claim(text: str, quote: str, message: str) -> ValidatedClaim | str:
    """Return what may be kept of a claim about the person who wrote a message, or why nothing may.

    The quote must stand in what they said in their own voice, in a sentence that says something of
    them. A text that brings in words which that sentence has not gives way to the sentence: so no
    word of a page, of a report or of another memory gets in, whatever a model was made to believe.
    """
    quoted = find_quoted_sentences(quote, message)
    if not quoted:
        return "not_quoted"
    # Of a quote that holds a question too, the question says nothing of them.
    telling = [one for one in quoted if _of_the_person(one)]
    plain = [one for one in telling if not is_request(one)]
    sentence = " ".join(plain or telling)
    if not sentence:
        return "not_of_the_person"
    wanted = " ".join(normalize_message(text).split())
    if not wanted:
        return "empty"
    own = not _is_supported(wanted, sentence)
    if is_request(sentence) and (own or wanted in sentence):
        return "not_borne_out" if own else "not_descriptive"
    kept = SENTENCE_END_MARKS.sub("", " ".join(sentence.split())) if own else wanted
    return find_refusal(kept, sentence) or ValidatedClaim(kept, sentence, own)


def is_worth_reading(message: str) -> bool:
    """Tell whether anything read in a message could get through: most questions tell nothing."""
    return any(_of_the_person(one.text) for one in split_sentences(extract_own_words(message)))


def find_unfit_reason(text: str) -> str:
    """Return why words may not be kept, whoever said them; "" if they may."""
    if len(text) > MAX_FACT_CHARS:
        return "too_long"
    if has_secret(text):
        return "secret"
    return "order" if _ORDER.search(text) else ""


def find_refusal(text: str, quote: str) -> str:
    """Return why a text may not be kept with the words it is from; "" if it may."""
    return find_unfit_reason(text) or find_unfit_reason(quote)


def _is_supported(text: str, sentence: str) -> bool:
    """Tell whether a text says nothing in words that a sentence has not, and negates as it does."""
    if bool(_NOT.search(text)) != bool(_NOT.search(sentence)):
        return False
    characters = set(_CJK.findall(text))
    if characters - set(sentence) - FRAME_ZH:
        return False
    said = set(search_words(sentence))
    new = (word for word in search_words(text) if not _CJK.search(word))
    return all(word in FRAME or any(_kin(word, other) for other in said) for word in new)


def _of_the_person(sentence: str) -> bool:
    return is_about_speaker(sentence) or bool(extract_statements(sentence))


def shares_word_family(one: str, other: str) -> bool:
    """Tell whether two texts have a word of one family in common."""
    right = search_words(other)
    return any(_kin(word, like) for word in search_words(one) for like in right)


def _kin(word: str, other: str) -> bool:
    return word == other or (len(word) >= STEM and word[:STEM] == other[:STEM])


MIN_SAME_VALUE = 0.5
"""Two values that are so similar are the same; so are those of which one holds the other."""

_DIGITS = regex(r"\d[\d.,]*")
_BARE = regex(r"^(?:it|that|this)\b|^(?:那|[这這])?(?:[应應][该該]?)?是", re.IGNORECASE)

_USED = regex(r"\b(?:use|eat|drink|drive)\b|[用吃喝]", re.IGNORECASE)
_EATEN = regex(
    r"vegan|vegetarian|pesc[ae]tarian|omnivore|flexitarian|carnivore|meat(?:[- ]eater)?|素|[荤葷]",
    re.IGNORECASE,
)
"""What somebody eats, of which one excludes the others."""

_COUNTED = regex(
    r"^(?:i|we) have (?P<many>an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+)"
    r" (?P<what>[^,;]+)$"
    r"|^我[们們]?有(?P<number>[一两兩二三四五六七八九十\d]+)(?:[个個只隻条條位名])?"
    r"(?P<thing>[^,;]+)$",
    re.IGNORECASE,
)
_ONE = regex(r"^(?:an?|called|named)\b|^是|^叫", re.IGNORECASE)
"""What somebody else is or is called, of which there is one at a time."""

_Things = set[frozenset[str]]


def contradicts(one: SelfStatement, fact: str) -> bool:
    """Tell whether a statement and a fact cannot both be so."""
    if one.kind == "correction" and _corrects(one, fact):
        return True
    mine = parse_clauses(one.content) if one.kind in ("correction", "note") else [one]
    held = parse_clauses(fact)
    if any(_excludes(new, old) for new in mine for old in held):
        return True
    return _other_taste(one, fact) or _other_tongue(one, fact) or _other_value(one, fact)


def is_bare_correction(one: SelfStatement) -> bool:
    """Tell whether a correction does not say of what it is one: "It is Bergen, not Oslo"."""
    return one.kind == "correction" and bool(one.wrong and _BARE.match(one.content))


def is_same_value(one: str, other: str) -> bool:
    """Tell whether two short texts name the same."""
    return bool(one and other) and trait_similarity(one, other) >= MIN_SAME_VALUE


def _excludes(new: SelfStatement, old: SelfStatement) -> bool:
    if new.kind == "former":
        return _denied(new, old)
    if old.kind == "former":
        # "I am a nurse" says nothing against "I am no longer a head nurse".
        now = new.content if new.kind == "work" else new.value
        return old.former_kind == new.kind and set(search_words(old.value)) == set(
            search_words(now)
        )
    if _other_number(new.content, old.content):
        return True
    if new.kind != old.kind:
        return _other_use(new, old)
    if new.kind in SINGLE_VALUED_KINDS or (new.kind == "identity" and new.changed):
        return _state(new) != _state(old)
    against = CONTRADICTION_CHECKS.get(new.kind)
    return against is not None and against(new, old)


def _state(one: SelfStatement) -> str:
    """Return that which there is one of; who is married may be told of with more or less."""
    value = one.value.casefold()
    return value.split()[0] if one.kind == "bond" and value else value


def _other_diet(new: SelfStatement, old: SelfStatement) -> bool:
    eaten, before = _EATEN.search(new.value), _EATEN.search(old.value)
    return bool(eaten and before and eaten[0].lower() != before[0].lower())


def _other_place(new: SelfStatement, old: SelfStatement) -> bool:
    return is_at_other_place(new.value, old.value) and not ALSO_PATTERN.search(new.content)


def _other_work(new: SelfStatement, old: SelfStatement) -> bool:
    return is_at_other_workplace(new.content, old.content) and not ALSO_PATTERN.search(new.content)


def _other_tool(new: SelfStatement, old: SelfStatement) -> bool:
    gone = _things(new.wrong) & _liked(old)[0] if new.wrong else set()
    return bool(gone) or _other_liking(new, old)


def _other_liking(new: SelfStatement, old: SelfStatement) -> bool:
    (liked, disliked), (before, averse) = _liked(new), _liked(old)
    return bool(liked & averse or disliked & before)


def _other_use(new: SelfStatement, old: SelfStatement) -> bool:
    """Tell whether one says that something is used or eaten, and the other that it is not."""
    uses = [_USED.search(one.content) for one in (new, old)]
    said = [found[0].casefold() for found in uses if found]
    return len(said) == 2 and said[0] == said[1] and _other_liking(new, old)


def _other_number(new: str, old: str) -> bool:
    """Tell whether one says how many of something there are, and the other that it is otherwise."""
    now, before = _COUNTED.match(new), _COUNTED.match(old)
    if not now or not before:
        return False
    what, same = (set(search_words(one["what"] or one["thing"])) for one in (now, before))
    many, other = ((one["many"] or one["number"]).lower() for one in (now, before))
    return what == same and many.replace("an", "a") != other.replace("an", "a")


def _other_relative(new: SelfStatement, old: SelfStatement) -> bool:
    """Tell whether somebody of theirs is said to be something else, or to be called otherwise."""
    now, before = (STATEMENT_PATTERNS["family"].match(one.content) for one in (new, old))
    if (
        not now
        or not before
        or search_words(get_named_group(now, "thing"))
        != search_words(get_named_group(before, "thing"))
    ):
        return False
    values = [get_named_group(one, "value") for one in (now, before)]
    named = "name" in get_named_group(now, "thing") or "名字" in get_named_group(now, "thing")
    return values[0] != values[1] and (named or all(_ONE.match(one) for one in values))


def _denied(new: SelfStatement, old: SelfStatement) -> bool:
    if old.kind == "preference":
        return new.former_kind == old.kind and bool(_things(new.value) & _liked(old)[0])
    gone, held = set(search_words(new.value)), set(search_words(old.value))
    if not new.former_kind or old.kind == "former":
        return bool(gone) and gone == held and old.kind != "former"
    if new.former_kind == old.kind == "work":
        return bool(gone) and gone <= set(search_words(old.content))
    # Who is a head nurse no longer may still be a nurse.
    return new.former_kind == old.kind and is_same_value(old.value, new.value) and not held < gone


def _liked(one: SelfStatement) -> tuple[_Things, _Things]:
    """Return what a preference says is liked, and what is not."""
    first, *rest = RATHER_PATTERN.split(one.value, maxsplit=1)
    liked, less = _things(first), _things(" ".join(rest))
    before = one.content[: one.content.rfind(one.value)] if one.value else one.content
    return (less, liked) if NEGATION_PATTERN.search(before) else (liked, less)


def _things(text: str) -> _Things:
    return {
        named
        for part in LIST_SEPARATOR_PATTERN.split(text)
        if (named := frozenset(search_words(part)))
    }


def _corrects(one: SelfStatement, fact: str) -> bool:
    """Tell whether a fact says what is wrong, of that which the correction is about."""
    if is_bare_correction(one) or not is_same_value(one.wrong, fact):
        return False
    wrong = set(search_words(one.wrong))
    left = set(search_words(fact)) - wrong
    about = set(search_words(one.content)) - wrong
    return not left or shares_word_family(" ".join(about), " ".join(left))


def _other_taste(one: SelfStatement, fact: str) -> bool:
    """Tell whether a fact says that answers are liked otherwise."""
    liked = one.tastes
    disliked = parse_unwanted_tastes(one.content) if one.kind in TASTE_KINDS else {}
    if not liked and not disliked:
        return False
    before, averse = parse_tastes(fact), parse_unwanted_tastes(fact)
    return (
        any(before.get(field, value) != value for field, value in liked.items())
        or any(value in averse.get(field, []) for field, value in liked.items())
        or any(before.get(field) in values for field, values in disliked.items())
    )


def _other_tongue(one: SelfStatement, fact: str) -> bool:
    new, old = LANGUAGE_PATTERN.search(one.content), LANGUAGE_PATTERN.search(fact)
    wish = one.category == "preference" and not NEGATION_PATTERN.search(one.content + fact)
    return bool(wish and new and old) and _value(new) != _value(old)


def _value(match: re.Match[str] | None) -> str:
    return get_named_group(match, "value").casefold() if match else ""


def _other_value(one: SelfStatement, fact: str) -> bool:
    """Tell whether a fact says of a thing of theirs that it is otherwise: "My budget is 9"."""
    new, old = POSSESSION_PATTERN.match(one.content), POSSESSION_PATTERN.match(fact)
    if (
        not new
        or not old
        or search_words(get_named_group(new, "thing"))
        != search_words(get_named_group(old, "thing"))
    ):
        return False
    now, then = _value(new), _value(old)
    if now in then or then in now:
        return False
    plainly = one.kind == "correction" or bool(UNIQUE_THING_PATTERN.match(one.content))
    return plainly or _DIGITS.sub("", now) == _DIGITS.sub("", then)


CONTRADICTION_CHECKS: Mapping[str, Callable[[SelfStatement, SelfStatement], bool]] = {
    "identity": _other_place,
    "work": _other_work,
    "diet": _other_diet,
    "family": _other_relative,
    "tool": _other_tool,
    "preference": _other_liking,
}
"""How two statements of one kind contradict each other, where both may hold otherwise."""
