"""Tell small talk from a question, and turn a question into search queries."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from models.extractive.prompt_parser import ParsedPrompt
from text.definitions import find_defined_term
from text.pattern_files import PatternFile
from text.question_parts import (
    find_comparison,
    find_question_subject,
    is_context_dependent,
    list_named_aspects,
    resolve_pronoun,
    split_question,
)
from text.regex import regex
from text.script import detect_language
from text.sentences import split_sentences
from text.smalltalk import reply_to_smalltalk
from text.term_pairs import restate_terms
from text.topics import extract_names, key_phrase, key_terms

_PATTERNS = PatternFile("models.extractive", "query_rewriting.toml")


MAX_QUERIES = 3
"""The most searches that this model writes for one question; more of its kind find no more."""

_FACETS = {
    "en": ("definition", "examples", "explanation", "history", "facts"),
    "zh": ("定义", "例子", "原理", "历史", "特点"),
}
_ASKS = regex(r"(?<!\W)(?>\W*?[?？])\W*$")
_ARTICLE = regex(r"^(?:the|an?) ", re.IGNORECASE)


class _AskedQuestion(NamedTuple):
    """What a person asked, and the same in words that stand alone."""

    said: str
    alone: str


def rewrite_question(prompt: ParsedPrompt) -> dict[str, object]:
    """Return the question in a form that stands alone, and its queries, each different."""
    question = make_standalone(_without_oneself(prompt.question), prompt.conversation)
    most = min(prompt.query_count, MAX_QUERIES)
    queries = make_queries(question, most, prompt.source_languages)
    return {"question": question, "queries": queries}


def make_queries(question: str, most: int, languages: Collection[str] = ()) -> list[str]:
    """Return up to `most` searches for a question, no two of the same terms.

    If the sources are also in the other language, the first one has its terms in that.
    """
    chosen: dict[frozenset[str], str] = {}
    for text in (make_cross_language_query(question, languages), *_queries(question)):
        found = frozenset(key_terms(text))
        if len(chosen) < most and found:
            chosen.setdefault(found, text)
    return list(chosen.values())


def make_cross_language_query(question: str, languages: Collection[str]) -> str:
    """Return a search in the terms of the other language, if sources are in it; else nothing."""
    other = "en" if detect_language(question) == "zh" else "zh"
    return restate_terms(question).text if other in languages else ""


def _without_oneself(question: str) -> str:
    """Return what is asked without what somebody says of themselves beside it."""
    said = [sentence.text for sentence in split_sentences(question)]
    rest = [text for text in said if not _PATTERNS.oneself.match(text)]
    asks = len(rest) < len(said) and any(map(_ASKS.search, rest))
    return " ".join(rest) if asks else question


def make_standalone(question: str, conversation: str) -> str:
    """Return a question that points back together with what the questions before it are about.

    A pronoun becomes the one thing that was asked about, and "What about X?" asks the last
    question of X; otherwise the topic stands in brackets.
    """
    question = question.strip()
    before: list[_AskedQuestion] = []
    for said in _questions_asked(conversation):
        if said != question:
            before.append(_AskedQuestion(said, _alone(said, before)))
    return _alone(question, before)


def _alone(question: str, before: Sequence[_AskedQuestion]) -> str:
    if not before or not is_context_dependent(question):
        return question
    compared = _compared(question, before) if _PATTERNS.compares.search(question) else ""
    known = [one for one in map(find_question_subject, (asked.alone for asked in before)) if one]
    replaced = resolve_pronoun(question, _spoken_of(before))
    if compared or replaced != question:
        return compared or replaced
    last, other = before[-1].alone, _only_named(question)
    if known and other:
        thing = re.escape(_ARTICLE.sub("", known[-1]))
        swapped = re.sub(rf"(?:\b(?:the|an?) )?{thing}", other, last)
        if swapped != last:
            return swapped
    about = next((one for one in reversed(before) if not is_context_dependent(one.said)), before[0])
    newest = last if not key_terms(question) else about.alone
    return _with_topic(question, " ".join(map(key_phrase, dict.fromkeys([newest, about.alone]))))


def _spoken_of(before: Sequence[_AskedQuestion]) -> str:
    """Return what a pronoun stands for: the thing of the last question that speaks for itself."""
    for asked in reversed(before):
        found = find_question_subject(asked.alone)
        if found or not is_context_dependent(asked.said):
            return found
    return ""


def _only_named(question: str) -> str:
    """Return the thing of "What about X?" or "那X呢？", with its article; else nothing."""
    rest = _PATTERNS.about.sub("", question).strip(" ?？")
    return rest if rest != question.strip(" ?？") and find_defined_term(rest) else ""


def _questions_asked(conversation: str) -> list[str]:
    """Return what a person asked in a conversation, without small talk, oldest first."""
    spoken = [line.partition(":") for line in conversation.splitlines()]
    said = [_said(who.strip(), words.strip()) for who, _, words in spoken]
    asked = [_without_oneself(one) for one in said if one]
    # "I keep bees." tells what a question is about where nothing else does.
    tells = _PATTERNS.oneself.match
    asking = [one for one in asked if not all(tells(span.text) for span in split_sentences(one))]
    numbered = enumerate(asking or asked)
    serious = (one for at, one in numbered if not reply_to_smalltalk(one, earlier=at > 0))
    return [one for one in serious if key_terms(one)]


def _said(who: str, words: str) -> str:
    """Return what a person said, or a summary says that they asked; else nothing."""
    if who == "person":
        return words
    summed = _PATTERNS.summed.match(words) if who == "summary" else None
    return words[summed.end() :] if summed else ""


def _compared(question: str, before: Sequence[_AskedQuestion]) -> str:
    """Return a question that compares the last two things that were asked about."""
    things = [find_question_subject(one.alone) or _only_named(one.said) for one in before]
    two = list(dict.fromkeys(filter(None, things)))[-2:]
    if len(two) < 2:
        return ""
    rest = _PATTERNS.both.sub(" ", _PATTERNS.compares.sub(" ", question))
    about = key_phrase(rest) if key_terms(rest) else ""
    if detect_language(question) == "zh":
        return f"比较{two[0]}和{two[1]}" + (f"：{about}" if about else "")
    return f"Compare {two[0]} and {two[1]}" + (f" in terms of {about}" if about else "")


def _with_topic(question: str, topic: str) -> str:
    own = set(key_terms(question))
    missing = [word for word in topic.split() if not own & set(key_terms(word))]
    if not missing:
        return question
    around = "（{}）" if detect_language(question) == "zh" else " ({})"
    return question + around.format(" ".join(dict.fromkeys(missing)))


def _queries(question: str) -> Iterator[str]:
    """Yield queries for a question, the most telling first."""
    whole = key_phrase(question)
    yield whole
    compared = find_comparison(question)
    if compared:
        yield from (f"{name} {key_phrase(compared.about)}".strip() for name in compared.names)
    if len(split_question(question)) > 1:
        yield from (make_part_query(part, question) for part in split_question(question))
    first = " ".join(whole.split()[:2])
    yield from (f"{first} {item}" for item in list_named_aspects(question))
    yield from extract_names(question)
    words = whole.split()
    if len(words) > 3:
        yield " ".join(words[: len(words) // 2 + 1])
        yield " ".join(words[len(words) // 2 :])
    yield from (f"{whole} {facet}" for facet in _FACETS[detect_language(question)])


def triage_message(prompt: ParsedPrompt) -> dict[str, Any]:
    """Return whether the newest words are something to research, and the answer if not."""
    has_asked = any(not reply_to_smalltalk(one) for one in prompt.earlier_messages)
    reply = reply_to_smalltalk(prompt.last_message, earlier=has_asked)
    return {"research": not reply, "reply": reply}


def make_part_query(part: str, question: str) -> str:
    """Return a search for a part of a question, with the question's topic if the part lacks it."""
    own, whole = key_terms(part), key_terms(question)
    phrase = key_phrase(part)
    lacking = len(own) < 4 and len(whole) > len(own)
    rest = [word for word in key_phrase(question, 4).split() if word not in phrase.split()]
    return " ".join([phrase, *rest[:3]]) if lacking else phrase
