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
    NO_TASTES,
    PHRASES,
    get_named_group,
    parse_tastes,
    strip_matches,
)
from text.pattern_files import PatternFile
from text.regex import regex
from text.sentences import split_sentences

_PATTERNS = PatternFile(__package__, "self_statements.toml")

STATED_CONFIDENCE = 0.95
"""How sure it is what somebody says of themselves in so many words."""

SINGLE_VALUED_KINDS = ("name", "home", "native", "bond")
"""What a person has one of at a time: a new one replaces the old."""

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
"""The category of the fact that a statement becomes, by kind; any other kind is context."""

TASTE_KINDS = (*PREFERENCE_KINDS, "correction", "former")
"""The kinds of statements that may say how answers are liked."""

COMPOUND_KINDS = (
    *("preference", "skill", "tool", "work", "condition", "family", "goal", "habit", "bond"),
)
"""The kinds that may be about several things in one sentence."""

ELLIPTIC_STARTS = ("", "I ", "我")
"""What a clause may leave out at its beginning: "I am a nurse and like tea"."""

ELLIPTIC_BEING_KINDS = ("identity", "condition")
"""The kinds after which a clause may also leave out "I am": "I am a nurse and allergic to tea"."""

SENTENCE_END_MARKS = regex(r"(?<![\s.!。;,:…])[\s.!。;,:…]+$")
"""The marks at the end of a sentence that make no difference."""

ENDABLE_KINDS = (
    *("native", "diet", "identity", "home", "bond", "skill", "tool", "work", "condition"),
    *("family", "preference"),
)
"""What may no longer hold."""

KINDS = (
    *("name", "former", "native", "diet", "identity", "role", "home", "bond", "skill", "tool"),
    *("work", "condition", "family", "origin", "goal", "habit", "preference"),
)
"""All kinds of statements, in the order in which they are tried."""

_NARROW = str.maketrans("，：；！", ",:;!")

_DETERMINERS = frozenset(re.findall(r"\w+", "the a an this that these those my our its their no"))
_FIRST = {"is": "am", "isn't": "am not", "has": "have", "does": "do", "doesn't": "don't"}


class SelfStatement(NamedTuple):
    """Something a person said of themselves, in their own words."""

    kind: str
    """A pattern of a statement in `patterns.toml`, or `former`, `wish`, `note`, `correction`."""
    content: str
    quote: str
    """The words of the message that it is from."""
    value: str = ""
    """Who they are, where they live, what they are called; empty where the content is the value."""
    wrong: str = ""
    """What a correction rejects."""
    changed: bool = False
    """Whether it says that something was different before."""
    former_kind: str = ""
    """The kind of what no longer holds, for `former`; empty if it is unknown."""

    @property
    def category(self) -> str:
        """The category of the fact that it is."""
        return CATEGORY.get(self.kind, "context")

    @property
    def tastes(self) -> Mapping[str, str]:
        """How answers are liked by it, by field of a profile."""
        return parse_tastes(self.content) if self.kind in TASTE_KINDS else NO_TASTES


class _ParsedSentence(NamedTuple):
    """The statements in a sentence, and the rest of it."""

    statements: Sequence[SelfStatement]
    question: str
    """What of it is more than a note to remember."""
    asks_nothing: bool


def extract_statements(message: str) -> list[SelfStatement]:
    """Return what a person says of themselves in a message, in its order."""
    sentences = _parse_sentences(extract_own_words(message))
    return [statement for sentence in sentences for statement in sentence.statements]


def strip_notes(message: str) -> str:
    """Return a message without its notes to remember; unchanged if it holds nothing else.

    What the person passes on, such as a mail, stays whole: nothing of it is remembered.
    """
    parsed = _parse_sentences(message)
    if all(sentence.asks_nothing for sentence in parsed):
        return message
    own, spans = _flag_own_sentences(message), split_sentences(message)
    left = ""
    for sentence, is_own, span in zip(parsed, own, spans, strict=True):
        question = sentence.question if is_own else span.text
        # Chinese sentences have no spaces between them.
        gap = " " if left and message[span.start - 1].isspace() else ""
        left += f"{gap}{question}" if question else ""
    return left


def is_only_statements(message: str) -> bool:
    """Tell whether a message only describes whoever wrote it, and asks nothing."""
    if not extract_statements(message):
        return False
    sentences = zip(_parse_sentences(message), _flag_own_sentences(message), strict=True)
    return all(sentence.asks_nothing and is_own for sentence, is_own in sentences)


def _flag_own_sentences(message: str) -> list[bool]:
    """Return for each sentence of a message whether the person speaks in their own voice."""
    text, place = "".join(extract_own_words(message).split()), 0
    flags: list[bool] = []
    for span in split_sentences(message):
        words = "".join(mask_long_quotations(normalize_message(span.text)).split())
        # Nothing after a text that they pass on is theirs.
        flags.append((not flags or flags[-1]) and text.startswith(words, place))
        place += len(words)
    return flags


def parse_clauses(text: str) -> list[SelfStatement]:
    """Return what the clauses of a sentence say of the person, whatever it says as a whole.

    It may name them in the third person, or leave out who it is about: "Uses Docker".
    """
    plain = SENTENCE_END_MARKS.sub("", text)
    wordings = (plain, *_to_first_person(plain))
    readings = (_parse_self_description(one, text, denied=False)[0] for one in wordings)
    return next((statements for statements in readings if statements), [])


def parse_note(text: str) -> list[SelfStatement]:
    """Return what a note about the person says, sentence by sentence, whoever wrote it.

    Besides statements in the first person it may hold jottings: "Prefers tables".
    """
    if statements := extract_statements(text):
        return statements
    return [one for sentence in split_sentences(text) for one in parse_clauses(sentence.text)]


def get_fact_category(statements: Sequence[SelfStatement], default: str) -> str:
    """Return the category of a fact with these statements; `default` where there are none."""
    specific = (one.category for one in statements if one.category != "context")
    return next(specific, "context" if statements else default)


def _to_first_person(text: str) -> list[str]:
    """Return how the person whom a note is about might say it themselves."""
    about = _PATTERNS.about.sub("", text, count=1)
    if not about.isascii():
        return [f"我{about}"]
    verb, _, rest = about.partition(" ")
    first = verb.lower()
    if first in _DETERMINERS:
        return []
    if not _PATTERNS.third_person.match(verb):
        expert = [f"I am a {first} {rest}"] if PHRASES.expertise.match(first) else []
        return [f"I {first} {rest}".strip(), f"I am {first} {rest}".strip(), *expert]
    first = _FIRST.get(first) or re.sub(r"(?<=[cs]h)es$|(?<=i)es$|s$", "", first)
    return [f"I {re.sub('i$', 'y', first)} {rest}"]


def split_aside(sentence: str) -> tuple[str, str]:
    """Return the statement in a sentence, and the question that follows it."""
    separator = PHRASES.aside.search(sentence)
    if not separator:
        return sentence, ""
    return sentence[: separator.start()], sentence[separator.end() :]


def _parse_sentences(text: str) -> list[_ParsedSentence]:
    parsed: list[_ParsedSentence] = []
    denied = False
    for span in split_sentences(text):
        quote = SENTENCE_END_MARKS.sub("", span.text)
        sentence = strip_matches(PHRASES.lead, quote.translate(_NARROW))
        rest = strip_matches(PHRASES.denial, sentence)
        is_note = bool(PHRASES.note.match(rest))
        statement, aside = split_aside(rest) if is_note else (rest, "")
        question = quote[len(quote) - len(aside) :]
        statements, whole = _parse_sentence(statement, quote, denied or rest != sentence)
        asks_nothing = not rest or (whole and not question)
        remainder = question if is_note and whole else span.text
        parsed.append(_ParsedSentence(statements, remainder, asks_nothing))
        # "That is wrong. It should be four." is one correction in two sentences.
        denied = not rest and (denied or rest != sentence)
    return parsed


def _parse_sentence(sentence: str, quote: str, denied: bool) -> tuple[list[SelfStatement], bool]:
    """Return the statements in a sentence, and whether they are all of it."""
    note = PHRASES.note.sub("", sentence, count=1)
    if not note or PHRASES.momentary.search(note):
        return [], False
    if not is_request(note) and (match := _match_correction(note, denied)):
        wrong = get_named_group(match, "wrong")
        return [SelfStatement("correction", note, quote, wrong=wrong)], True
    if PHRASES.wish.match(note):
        return [SelfStatement("wish", note, quote)], not is_request(note)
    statements, whole = _parse_self_description(note, quote, denied)
    if note != sentence and not whole and (_PATTERNS.of_me.match(note) or not is_request(note)):
        return [SelfStatement("note", note, quote)], True
    return statements, whole


def _match_correction(sentence: str, denied: bool) -> re.Match[str] | None:
    if denied:
        return PHRASES.correction.match(sentence) or PHRASES.possession.match(sentence)
    return PHRASES.correction.match(sentence) if PHRASES.contrast.match(sentence) else None


def _parse_self_description(
    sentence: str, quote: str, denied: bool
) -> tuple[list[SelfStatement], bool]:
    """Return the statements of a sentence or of its clauses, and whether they are all of it."""
    clauses = _split_clauses(sentence)
    asking = is_request(sentence)
    if asking:
        # "I am a nurse, how do vaccines work?"
        clauses = clauses[:-1]
    statements: list[SelfStatement] = []
    read = 0
    for number, (separator, clause) in enumerate(clauses):
        # Only a clause that follows a statement can leave out who it is about.
        starts = ELLIPTIC_STARTS if statements else ELLIPTIC_STARTS[:1]
        being = ("I am ",) if statements and statements[-1].kind in ELLIPTIC_BEING_KINDS else ()
        # "As a nurse, what should I know?" is about who asks, "as a cause of it" is not.
        role = sentence.startswith(clause) and is_first_person(sentence[len(clause) :])
        statement = _parse_clause(
            clause, quote, denied, (*starts, *being), role=role and not number
        )
        if statement:
            statements.append(statement)
        elif statements and _PATTERNS.joined.match(separator) and _is_noun_phrase(clause):
            statements[-1] = _extend(statements[-1], separator + clause)
        else:
            # What follows may be what others say.
            break
        read += 1
    if asking or (statements and read == len(clauses)):
        return statements, not asking
    if not any(is_request(clause) for _, clause in clauses) and (
        whole := _parse_statement(sentence, COMPOUND_KINDS, quote, denied)
    ):
        return [whole], True
    return statements, False


def _split_clauses(sentence: str) -> list[tuple[str, str]]:
    """Return the clauses of a sentence, each with what separates it from the one before."""
    clauses, end, separator = list[tuple[str, str]](), 0, ""
    for match in _PATTERNS.clause.finditer(sentence):
        clauses.append((separator, sentence[end : match.start()]))
        end, separator = match.end(), match[0]
    clauses.append((separator, sentence[end:]))
    return [one for one in clauses if one[1]]


def _is_noun_phrase(clause: str) -> bool:
    """Tell whether a clause is only a name or a noun, which belongs to the clause before it."""
    is_short = clause.isascii() and len(clause.split()) <= 6
    return is_short and not (is_request(clause) or _PATTERNS.predicate.search(clause))


def _extend(one: SelfStatement, rest: str) -> SelfStatement:
    """Return a statement with what belongs to it: "an expert in Python" and "FastAPI"."""
    ends_with_value = one.value and one.content.endswith(one.value)
    grows = ends_with_value and one.kind not in SINGLE_VALUED_KINDS
    return one._replace(content=one.content + rest, value=one.value + rest if grows else one.value)


def _parse_clause(
    clause: str, quote: str, denied: bool, starts: Sequence[str], *, role: bool
) -> SelfStatement | None:
    """Return the statement that a clause makes after one of some starts, if it makes one.

    `role` allows it to be the role in which somebody speaks.
    """
    for start in [] if is_request(clause) else starts:
        one = _parse_statement(f"{start}{clause}", KINDS, quote, denied)
        if one and (one.kind != "role" or role):
            return one
    return None


def _parse_statement(
    text: str, kinds: Sequence[str], quote: str, denied: bool
) -> SelfStatement | None:
    if "former" in kinds and (former := _parse_former(text, quote)):
        return former
    plain = _PATTERNS.start.sub("", text, count=1)
    for kind in kinds:
        if kind != "former" and (match := PHRASES.get(kind).match(plain)):
            value = _PATTERNS.now.sub("", get_named_group(match, "value"))
            wrong = get_named_group(match, "wrong") if kind == "tool" else ""
            changed = denied or bool(wrong or PHRASES.change.search(text))
            return SelfStatement(kind, text, quote, value, wrong=wrong, changed=changed)
    return None


def _parse_former(text: str, quote: str) -> SelfStatement | None:
    """Parse what somebody says does not hold, or no longer, as if it did."""
    ended = PHRASES.former.match(text)
    match = ended or PHRASES.not_so.match(text)
    if match is None:
        return None
    before, rest = get_named_group(match, "before"), get_named_group(match, "rest")
    positive = f"{before} {rest}" if before.isascii() else before + rest
    former = _parse_statement(positive, ENDABLE_KINDS, quote, denied=False)
    if former is None:
        return SelfStatement("former", text, quote, rest, changed=True) if ended else None
    if not ended and (former.kind == "preference" or PHRASES.preference.match(text)):
        # "I don't like tea" is a preference too.
        return None
    # What somebody no longer teaches they may still speak.
    value = rest if former.kind == "work" else former.value
    return SelfStatement("former", text, quote, value, changed=bool(ended), former_kind=former.kind)


IDENTITY_KINDS = ("identity", "role")
"""The kinds of statements that say who somebody is."""
