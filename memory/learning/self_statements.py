"""Parse explicit statements about oneself without a model: "remember that…", "I prefer…", 记住…."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memory.learning.own_words import (
    extract_own_words,
    is_first_person,
    is_request,
    mask_long_quotations,
    normalize_message,
)
from memory.learning.patterns import (
    ASIDE_PATTERN,
    CHANGE_PATTERN,
    CONTRAST_PATTERN,
    CORRECTION_PATTERN,
    DENIAL_PATTERN,
    EXPERTISE_PATTERN,
    FORMER_PATTERN,
    LEAD_PATTERN,
    MOMENTARY_PATTERN,
    NO_TASTES,
    NOT_SO_PATTERN,
    NOTE_PATTERN,
    POSSESSION_PATTERN,
    STATEMENT_PATTERNS,
    WISH_PATTERN,
    get_named_group,
    parse_tastes,
    strip_matches,
)
from text.regex import regex
from text.sentences import split_sentences

STATED_CONFIDENCE = 0.95
"""How sure it is what somebody says of themselves in so many words."""

SINGLE_VALUED_KINDS = ("name", "home", "native", "bond")
"""What a person has one of at a time: another one takes its place."""

PREFERENCE_KINDS = ("preference", "wish")
"""The kinds of statements that say how somebody likes things."""

CATEGORY = {
    "preference": "preference",
    "wish": "preference",
    "correction": "correction",
    "skill": "knowledge",
    "goal": "goal",
    "habit": "behavior",
}
"""The categories of facts; what is not listed is context."""

TASTE_KINDS = (*PREFERENCE_KINDS, "correction", "former")
"""The kinds of statements that may say how answers are liked."""

COMPOUND_KINDS = (
    "preference",
    "skill",
    "tool",
    "work",
    "condition",
    "family",
    "goal",
    "habit",
    "bond",
)
"""What may be said of several things in one sentence."""

ELLIPTIC_STARTS = ("", "I ", "我")
"""What a clause may leave out at its beginning: "I am a nurse and like tea"."""

ELLIPTIC_BEING_KINDS = ("identity", "condition")
"""The kinds behind which it may leave out "I am" too: "I am a nurse and allergic to tea"."""

_NOW = regex(r"^(?:now|currently|also)\s+|(?<!\s)\s+(?:now|these days)$", re.IGNORECASE)
SENTENCE_END_MARKS = regex(r"(?<![\s.!。;,:…])[\s.!。;,:…]+$")
"""The marks at the end of a sentence that make no difference."""

ENDABLE_KINDS = (
    "native",
    "diet",
    "identity",
    "home",
    "bond",
    "skill",
    "tool",
    "work",
    "condition",
    "family",
    "preference",
)
"""What may be so no longer."""

KINDS = (
    "name",
    "former",
    *ENDABLE_KINDS[:3],
    "role",
    *ENDABLE_KINDS[3:-1],
    "origin",
    "goal",
    "habit",
    *ENDABLE_KINDS[-1:],
)

_START = regex(r"^(?:now|nowadays|these days)[,\s]+|^(?:[现現]在|目前)[,\s]*", re.IGNORECASE)
_NARROW = str.maketrans("，：；！", ",:;!")
_OF_ME = regex(r"^(?:i|i'm|i'd|my|we|our)\b[^?]*$|^[我咱][^?]*(?<![吗嗎呢?])$", re.IGNORECASE)
"""What is a statement even if it wants something: "I want to see Rome"."""

_PREDICATE = regex(
    r"\b(?:i|you|he|she|it|we|they|me|us|them|this|that|there|is|are|was|were|am|be|been|do|does"
    r"|did|has|have|had|can|could|will|would|shall|should|may|might|must|not|please|thanks?|hi"
    r"|hello)\b|n't\b|\d",
    re.IGNORECASE,
)
"""Words that a name or a noun behind "and" has not: with them a clause says something itself."""

_JOINED = regex(r"^(?:,\s*|,?\s+and\s+)$", re.IGNORECASE)
_ABOUT = regex(r"^(?:(?:the |this |my )?(?:user|person)|he|she|用[户戶]|他|她)\s*", re.IGNORECASE)
_THIRD = regex(r"^(?:is|has|does|doesn't|isn't|\w+s)\b", re.IGNORECASE)
_DETERMINERS = frozenset(re.findall(r"\w+", "the a an this that these those my our its their no"))
_FIRST = {"is": "am", "isn't": "am not", "has": "have", "does": "do", "doesn't": "don't"}

_CLAUSE = regex(
    r"[,;]\s*|(?:(?<!\s)|(?<=[–—-]\s))\s+(?:and|but|so|because|since|while|who|which)\s+|\s[–—-]\s"
)


class SelfStatement(NamedTuple):
    """Something a person said of themselves, in their own words."""

    kind: str
    """A key of `STATEMENT_PATTERNS`, or `former`, `wish`, `note`, `correction`."""
    content: str
    quote: str
    """The words of the message that it is from."""
    value: str = ""
    """Who they are, where they live, what they are called; empty where it is the whole of it."""
    wrong: str = ""
    """What a correction says is not so."""
    changed: bool = False
    """Whether it says that it was different before."""
    former_kind: str = ""
    """Of which kind that was which a former one says is so no longer; empty if nobody can tell."""

    @property
    def category(self) -> str:
        """The category of the fact that it is."""
        return CATEGORY.get(self.kind, "context")

    @property
    def tastes(self) -> Mapping[str, str]:
        """How answers are liked by it, by field of a profile."""
        return parse_tastes(self.content) if self.kind in TASTE_KINDS else NO_TASTES


class _ParsedSentence(NamedTuple):
    """A sentence that somebody says."""

    statements: Sequence[SelfStatement]
    question: str
    """What of it is not to be remembered only."""
    tells: bool
    """Whether it asks nothing."""


def extract_statements(message: str) -> list[SelfStatement]:
    """Return what a person says of themselves in a message, in its order."""
    return [
        one
        for sentence in _parse_sentences(extract_own_words(message))
        for one in sentence.statements
    ]


def strip_notes(message: str) -> str:
    """Return a message without what it only wants remembered; as it is if that is all of it.

    What the person passes on, such as a mail, stays whole: nothing of it is remembered.
    """
    heard, own = _parse_sentences(message), _own(message)
    if all(one.tells for one in heard):
        return message
    asked = (
        one.question if mine else sentence.text
        for one, mine, sentence in zip(heard, own, split_sentences(message), strict=True)
    )
    return " ".join(filter(None, asked))


def is_only_statements(message: str) -> bool:
    """Tell whether all of a message says something of whoever wrote it, and nothing is asked."""
    if not extract_statements(message):
        return False
    return all(
        one.tells and mine
        for one, mine in zip(_parse_sentences(message), _own(message), strict=True)
    )


def _own(message: str) -> list[bool]:
    """Tell of each sentence of a message whether the person says it in their own voice."""
    text, at = "".join(extract_own_words(message).split()), 0
    own: list[bool] = []
    for sentence in split_sentences(message):
        said = "".join(mask_long_quotations(normalize_message(sentence.text)).split())
        # Behind what they pass on, nothing is theirs.
        own.append((not own or own[-1]) and text.startswith(said, at))
        at += len(said)
    return own


def parse_clauses(text: str) -> list[SelfStatement]:
    """Return what a sentence says of the person in its parts, whatever it says as a whole.

    It may name them in the third person, or leave out who it is about: "Uses Docker".
    """
    plain = SENTENCE_END_MARKS.sub("", text)
    ways = (_of_oneself(one, text, denied=False)[0] for one in (plain, *_in_first_person(plain)))
    return next((told for told in ways if told), [])


def parse_note(text: str) -> list[SelfStatement]:
    """Return what a note about the person says, sentence by sentence, whoever it is put by.

    Beside what they say of themselves these are notes as people write them down: "Prefers tables".
    """
    if told := extract_statements(text):
        return told
    return [one for sentence in split_sentences(text) for one in parse_clauses(sentence.text)]


def get_fact_category(statements: Sequence[SelfStatement], otherwise: str) -> str:
    """Return the category of a fact that says so much; `otherwise` where it says nothing known."""
    named = [one.category for one in statements]
    return next((one for one in named if one != "context"), "context" if named else otherwise)


def _in_first_person(text: str) -> list[str]:
    """Return the ways in which whoever a note is about may say it themselves."""
    about = _ABOUT.sub("", text, count=1)
    if not about.isascii():
        return [f"我{about}"]
    verb, _, rest = about.partition(" ")
    first = verb.lower()
    if first in _DETERMINERS:
        return []
    if not _THIRD.match(verb):
        return [f"I {first} {rest}".strip(), f"I am {first} {rest}".strip(), *_expert(first, rest)]
    first = _FIRST.get(first) or re.sub(r"(?<=[cs]h)es$|(?<=i)es$|s$", "", first)
    return [f"I {re.sub('i$', 'y', first)} {rest}"]


def _expert(first: str, rest: str) -> list[str]:
    return [f"I am a {first} {rest}"] if EXPERTISE_PATTERN.match(first) else []


def split_aside(sentence: str) -> tuple[str, str]:
    """Return what a sentence tells, and what it asks behind that."""
    between = ASIDE_PATTERN.search(sentence)
    return (sentence[: between.start()], sentence[between.end() :]) if between else (sentence, "")


def _parse_sentences(text: str) -> list[_ParsedSentence]:
    found: list[_ParsedSentence] = []
    denied = False
    for sentence in split_sentences(text):
        quote = SENTENCE_END_MARKS.sub("", sentence.text)
        said = strip_matches(LEAD_PATTERN, quote.translate(_NARROW))
        rest = strip_matches(DENIAL_PATTERN, said)
        noted = bool(NOTE_PATTERN.match(rest))
        told, asks_for = split_aside(rest) if noted else (rest, "")
        question = quote[len(quote) - len(asks_for) :]
        statements, whole = _parse_sentence(told, quote, denied or rest != said)
        tells = not rest or (whole and not question)
        found.append(
            _ParsedSentence(statements, question if noted and whole else sentence.text, tells)
        )
        # "That is wrong. It should be four." is one correction in two sentences.
        denied = not rest and (denied or rest != said)
    return found


def _parse_sentence(said: str, quote: str, denied: bool) -> tuple[list[SelfStatement], bool]:
    """Return what a sentence says, and whether that is all of it."""
    note = NOTE_PATTERN.sub("", said, count=1)
    if not note or MOMENTARY_PATTERN.search(note):
        return [], False
    if not is_request(note) and (corrected := _corrected(note, denied)):
        return [
            SelfStatement("correction", note, quote, wrong=get_named_group(corrected, "wrong"))
        ], True
    if WISH_PATTERN.match(note):
        return [SelfStatement("wish", note, quote)], not is_request(note)
    told, whole = _of_oneself(note, quote, denied)
    if note != said and not whole and (_OF_ME.match(note) or not is_request(note)):
        return [SelfStatement("note", note, quote)], True
    return told, whole


def _corrected(said: str, denied: bool) -> re.Match[str] | None:
    if denied or CONTRAST_PATTERN.match(said):
        return CORRECTION_PATTERN.match(said) or (
            POSSESSION_PATTERN.match(said) if denied else None
        )
    return None


def _of_oneself(said: str, quote: str, denied: bool) -> tuple[list[SelfStatement], bool]:
    """Return what a sentence says as a whole or in its clauses, and whether that is all of it."""
    parts = _parts(said)
    asking = is_request(said)
    if asking:
        # "I am a nurse, how do vaccines work?"
        parts = parts[:-1]
    told: list[SelfStatement] = []
    read = 0
    for at, (between, part) in enumerate(parts):
        if read < at:
            # What stands in a longer clause may be what others say.
            break
        # Only what follows a statement can leave out who it is about.
        left = ELLIPTIC_STARTS if told and read == at else ELLIPTIC_STARTS[:1]
        being = ("I am ",) if len(left) > 1 and told[-1].kind in ELLIPTIC_BEING_KINDS else ()
        # "As a nurse, what should I know?" is about who asks, "as a cause of it" is not.
        role = at == 0 and said.startswith(part) and is_first_person(said[len(part) :])
        more = _clause(part, quote, denied, (*left, *being), role=role)
        if not more and len(left) > 1 and _JOINED.match(between) and _names(part):
            told[-1] = _longer(told[-1], between + part)
            read += 1
        told += more
        read += len(more)
    if asking or (told and read == len(parts)):
        return told, not asking
    if not any(is_request(one) for _, one in parts) and (
        whole := _one(said, COMPOUND_KINDS, quote, denied)
    ):
        return [whole], True
    return told, False


def _parts(said: str) -> list[tuple[str, str]]:
    """Return the clauses of a sentence, each with what stands between it and the one before."""
    parts, end, between = list[tuple[str, str]](), 0, ""
    for found in _CLAUSE.finditer(said):
        parts.append((between, said[end : found.start()]))
        end, between = found.end(), found[0]
    parts.append((between, said[end:]))
    return [one for one in parts if one[1]]


def _names(part: str) -> bool:
    """Tell whether a clause is only a name or a noun, which belongs to what was said before it."""
    return (
        part.isascii()
        and len(part.split()) <= 6
        and not (is_request(part) or _PREDICATE.search(part))
    )


def _longer(one: SelfStatement, rest: str) -> SelfStatement:
    """Return a statement with what belongs to it: "an expert in Python" and "FastAPI"."""
    value = one.value + rest if one.value and one.content.endswith(one.value) else one.value
    value = one.value if one.kind in SINGLE_VALUED_KINDS else value
    return one._replace(content=one.content + rest, value=value)


def _clause(
    clause: str, quote: str, denied: bool, starts: Sequence[str], *, role: bool
) -> list[SelfStatement]:
    """Return the one thing that a clause says behind one of some starts, if it says any.

    `role` says whether it may be in which role somebody speaks.
    """
    for start in [] if is_request(clause) else starts:
        one = _one(f"{start}{clause}", KINDS, quote, denied)
        if one and (one.kind != "role" or role):
            return [one]
    return []


def _one(said: str, kinds: Sequence[str], quote: str, denied: bool) -> SelfStatement | None:
    if "former" in kinds and (former := _former(said, quote)):
        return former
    plain = _START.sub("", said, count=1)
    for kind in kinds:
        if kind in STATEMENT_PATTERNS and (match := STATEMENT_PATTERNS[kind].match(plain)):
            value = _NOW.sub("", get_named_group(match, "value"))
            wrong = get_named_group(match, "wrong") if kind == "tool" else ""
            changed = denied or bool(wrong or CHANGE_PATTERN.search(said))
            return SelfStatement(kind, said, quote, value, wrong=wrong, changed=changed)
    return None


def _former(said: str, quote: str) -> SelfStatement | None:
    """Return what somebody says is not so, or no longer, read as if it were."""
    ended = FORMER_PATTERN.match(said)
    match = ended or NOT_SO_PATTERN.match(said)
    if match is None:
        return None
    before, rest = get_named_group(match, "before"), get_named_group(match, "rest")
    was = _one(
        f"{before} {rest}" if before.isascii() else before + rest,
        ENDABLE_KINDS,
        quote,
        denied=False,
    )
    if was is None:
        return SelfStatement("former", said, quote, rest, changed=True) if ended else None
    if not ended and (was.kind == "preference" or STATEMENT_PATTERNS["preference"].match(said)):
        # "I don't like tea" is a preference too.
        return None
    # What somebody no longer teaches they may still speak.
    value = rest if was.kind == "work" else was.value
    return SelfStatement("former", said, quote, value, changed=bool(ended), former_kind=was.kind)


IDENTITY_KINDS = ("identity", "role")
"""The kinds of statements that say who somebody is."""
