"""Put a question into words that stand alone, and into different queries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from models.extractive.blocks import Prompt
from models.extractive.followups import points_back, subject, with_subject
from models.extractive.meaning import thing
from models.extractive.questions import dimensions, parts, sides
from models.extractive.smalltalk import reply
from models.extractive.steps import query
from models.extractive.topic import key_phrase, key_terms, names
from retrieval.regex import regex
from retrieval.text import language, sentences

_COMPARES = regex(
    r"\b(?:compar\w+|contrast|differ\w*|versus|vs|both|the others?|better|worse)\b"
    r"|比[较較]|[对對]比|[区區][别別]|不同|哪一?[个個種种].{0,3}[更好]",
    re.IGNORECASE,
)
_BOTH = regex(r"\b(?:ones?|two|them)\b|一下|[这這那哪]?[一两兩][个個者種种]", re.IGNORECASE)
_FACETS = {
    "en": ("definition", "examples", "explanation", "history", "facts"),
    "zh": ("定义", "例子", "原理", "历史", "特点"),
}
_ABOUT = regex(
    r"^\W*(?:and|but|or|what about|how about)\b(?: what about| how about)?\s*"
    r"|^\W*(?:那么?|[还還]有)|呢\W*$",
    re.IGNORECASE,
)
_SUMMED = regex(r"^(?:Asked|问题)[:：] *")
_ONESELF = regex(
    r"^\W*(?:(?:hi|hello|hey|so|and|but|well|please|remember|note|that)\W+)*"
    r"(?:i|i['’]m|my|we|our)\b(?!.*[?？])"
    r"(?!.*\b(?:want|need|like|wonder\w*|looking|trying|interested|curious)\b)"
    r"|^\W*(?:[请請]?[记記]住\W*)?[我咱](?!想|要|需|希望|打算)(?!.*[?？])",
    re.IGNORECASE,
)
_ASKS = regex(r"(?<!\W)(?>\W*?[?？])\W*$")
_ARTICLE = regex(r"^(?:the|an?) ", re.IGNORECASE)


class Asked(NamedTuple):
    """What a person asked, and the same in words that stand alone."""

    said: str
    alone: str


def rewrite(prompt: Prompt) -> dict[str, object]:
    """Return the question in a form that stands alone, and as many different queries as asked."""
    question = standalone(_without_oneself(prompt.question), prompt.conversation)
    return {"question": question, "queries": queries(question, prompt.most)}


def queries(question: str, most: int) -> list[str]:
    """Return up to `most` searches for a question, no two of the same terms."""
    chosen: dict[frozenset[str], str] = {}
    for text in _queries(question):
        found = frozenset(key_terms(text))
        if len(chosen) < most and found:
            chosen.setdefault(found, text)
    return list(chosen.values())


def _without_oneself(question: str) -> str:
    """Return what is asked without what somebody says of themselves beside it."""
    said = [sentence.text for sentence in sentences(question)]
    rest = [text for text in said if not _ONESELF.match(text)]
    asks = len(rest) < len(said) and any(map(_ASKS.search, rest))
    return " ".join(rest) if asks else question


def _tells(text: str) -> bool:
    return all(_ONESELF.match(one.text) for one in sentences(text))


def standalone(question: str, conversation: str) -> str:
    """Return a question that points back together with what the questions before it are about.

    A pronoun becomes the one thing that was asked about, and "What about X?" asks the last
    question of X; otherwise the topic stands in brackets.
    """
    question = question.strip()
    before: list[Asked] = []
    for said in _asked(conversation):
        if said != question:
            before.append(Asked(said, _alone(said, before)))
    return _alone(question, before)


def _alone(question: str, before: Sequence[Asked]) -> str:
    if not before or not points_back(question):
        return question
    compared = _compared(question, before) if _COMPARES.search(question) else ""
    known = [one for one in map(subject, (asked.alone for asked in before)) if one]
    replaced = with_subject(question, _spoken_of(before))
    if compared or replaced != question:
        return compared or replaced
    last, other = before[-1].alone, _only_named(question)
    if known and other:
        swapped = re.sub(
            rf"(?:\b(?:the|an?) )?{re.escape(_ARTICLE.sub('', known[-1]))}", other, last
        )
        if swapped != last:
            return swapped
    about = next((one for one in reversed(before) if not points_back(one.said)), before[0])
    newest = last if not key_terms(question) else about.alone
    return _with_topic(question, " ".join(map(key_phrase, dict.fromkeys([newest, about.alone]))))


def _spoken_of(before: Sequence[Asked]) -> str:
    """Return what a pronoun stands for: the thing of the last question that speaks for itself."""
    for asked in reversed(before):
        found = subject(asked.alone)
        if found or not points_back(asked.said):
            return found
    return ""


def _only_named(question: str) -> str:
    """Return the thing of "What about X?" or "那X呢？", with its article; else nothing."""
    rest = _ABOUT.sub("", question).strip(" ?？")
    return rest if rest != question.strip(" ?？") and thing(rest) else ""


def _asked(conversation: str) -> list[str]:
    """Return what a person asked in a conversation, without small talk, oldest first."""
    spoken = [line.partition(":") for line in conversation.splitlines()]
    said = [_said(who.strip(), words.strip()) for who, _, words in spoken]
    asked = [_without_oneself(one) for one in said if one]
    # "I keep bees." tells what a question is about where nothing else does.
    said = [one for one in asked if not _tells(one)] or asked
    return [one for at, one in enumerate(said) if key_terms(one) and not reply(one, earlier=at > 0)]


def _said(who: str, words: str) -> str:
    """Return what a person said, or a summary says that they asked; else nothing."""
    if who == "person":
        return words
    return _SUMMED.sub("", words) if who == "summary" and _SUMMED.match(words) else ""


def _compared(question: str, before: Sequence[Asked]) -> str:
    """Return a question that compares the last two things that were asked about."""
    things = [subject(one.alone) or _only_named(one.said) for one in before]
    two = list(dict.fromkeys(filter(None, things)))[-2:]
    if len(two) < 2:
        return ""
    rest = _BOTH.sub(" ", _COMPARES.sub(" ", question))
    about = key_phrase(rest) if key_terms(rest) else ""
    if language(question) == "zh":
        return f"比较{two[0]}和{two[1]}" + (f"：{about}" if about else "")
    return f"Compare {two[0]} and {two[1]}" + (f" in terms of {about}" if about else "")


def _with_topic(question: str, topic: str) -> str:
    own = set(key_terms(question))
    missing = [word for word in topic.split() if not own & set(key_terms(word))]
    if not missing:
        return question
    around = "（{}）" if language(question) == "zh" else " ({})"
    return question + around.format(" ".join(dict.fromkeys(missing)))


def _queries(question: str) -> Iterator[str]:
    """Yield queries for a question, the most telling first."""
    whole = key_phrase(question)
    yield whole
    compared = sides(question)
    if compared:
        yield from (f"{name} {key_phrase(compared.about)}".strip() for name in compared.names)
    if len(parts(question)) > 1:
        yield from (query(part, question) for part in parts(question))
    first = " ".join(whole.split()[:2])
    yield from (f"{first} {item}" for item in dimensions(question))
    yield from names(question)
    words = whole.split()
    if len(words) > 3:
        yield " ".join(words[: len(words) // 2 + 1])
        yield " ".join(words[len(words) // 2 :])
    yield from (f"{whole} {facet}" for facet in _FACETS[language(question)])
