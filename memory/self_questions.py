"""Answer the questions of people about themselves from their facts and profile."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from memory.facts.fact import Fact
from memory.facts.queries import list_facts
from memory.profile.store import load_profile
from prompts.loader import render_prompt
from text.normalization import fold_text
from text.pattern_files import PatternFile
from text.words import query_terms, search_words

MOST = 30
"""The most facts in an answer."""

LONGEST = 500
"""The longest question that is parsed, in characters."""

SHARED = 0.5
"""The share of a search's words that a matching note must have."""

_PATTERNS = PatternFile(__package__, "self_questions.toml")

_ATTRIBUTES = ("home", "name", "job", "workplace", "age", "birthday", "likes")
"""What people ask about themselves; each has a pattern of its questions and of its facts."""


class SelfQuestion(NamedTuple):
    """A question of a person about themselves."""

    kind: Literal["all", "told", "attribute", "mine"]
    name: str = ""
    """The attribute, or the words of the topic."""
    verb: str = ""

    @property
    def is_certain(self) -> bool:
        """Whether it can only be about the person, so that no research could answer it."""
        return self.kind != "mine"


class PersonalNote(NamedTuple):
    """A fact or trait that answers, with its memory and its id in `dossier memory`."""

    memory: Literal["facts", "profile"]
    id: str
    text: str
    quote: str
    at: float


class PersonalAnswer(NamedTuple):
    """The notes on a question, and whether they answer it or are only related."""

    notes: list[PersonalNote]
    is_exact: bool


def parse_self_question(question: str) -> SelfQuestion | None:
    """Parse a question about the person who asks it; return `None` for any other question."""
    if len(question) > LONGEST:
        return None
    text = fold_text(" ".join(question.split()))
    if not _PATTERNS.of_self.search(text):
        return None
    if _PATTERNS.all.search(text):
        return SelfQuestion("all")
    for name in _ATTRIBUTES:
        if _PATTERNS.get(f"{name}_question").search(text):
            return SelfQuestion("attribute", name)
    told = _PATTERNS.told.search(text)
    found = told or _PATTERNS.mine.search(text)
    if found is None:
        return None
    groups = {key: value for key, value in found.groupdict().items() if value}
    subject = next(value for key, value in groups.items() if key[0] == "x")
    verb = next((value for key, value in groups.items() if key[0] == "v"), "")
    return SelfQuestion("told" if told else "mine", subject, verb)


async def answer_self_question(owner: str, asked: SelfQuestion) -> PersonalAnswer:
    """Return the notes of an owner that answer a question about them, the newest first."""
    facts = [fact for fact in await list_facts(owner) if fact.content][::-1]
    traits = await _traits(owner)
    if asked.kind == "all":
        notes = [_note(fact) for fact in facts]
        return PersonalAnswer([*notes[:MOST], *_unquoted_traits(traits, notes)], True)
    if asked.kind == "attribute":
        matches = _facts_on(asked.name, facts, traits)
    else:
        matches = [fact for fact in facts if _is_about(f"{fact.content} {fact.quote}", asked.name)]
    is_exact = bool(matches) or asked.kind == "attribute" or not _PATTERNS.liking.search(asked.verb)
    if not is_exact:
        matches = [fact for fact in facts if _PATTERNS.likes_fact.search(fact.content)]
    return PersonalAnswer([_note(fact) for fact in matches[:MOST]], is_exact)


async def search_personal_notes(owner: str, query: str, limit: int) -> list[PersonalNote]:
    """Return the notes of an owner that match a search, the best matches first."""
    if asked := parse_self_question(query):
        return (await answer_self_question(owner, asked)).notes[:limit]
    terms = query_terms(query)
    notes = [_note(fact) for fact in (await list_facts(owner))[::-1] if fact.content]
    notes += _unquoted_traits(await _traits(owner), notes)
    scored = [(_shared_part(terms, f"{note.text} {note.quote}"), note) for note in notes]
    matches = sorted((pair for pair in scored if pair[0] >= SHARED), key=lambda pair: -pair[0])
    return [note for _, note in matches[:limit]]


def _unquoted_traits(
    traits: Sequence[PersonalNote], notes: Sequence[PersonalNote]
) -> list[PersonalNote]:
    """Return the traits with a quote that no note has, one for each quote."""
    known = {note.quote or note.text for note in notes}
    return list({trait.quote: trait for trait in traits if trait.quote not in known}.values())


def _shared_part(terms: Sequence[str], text: str) -> float:
    words = set(search_words(text))
    return sum(term in words for term in terms) / len(terms) if terms else 0.0


def _facts_on(name: str, facts: Sequence[Fact], traits: Sequence[PersonalNote]) -> list[Fact]:
    matches = [fact for fact in facts if _PATTERNS.get(f"{name}_fact").search(fact.content)]
    if name == "job":
        # "I am a ..." states a profession only where the profile lists it as an identity.
        quotes = {trait.quote for trait in traits if trait.id == "identities"}
        matches = [fact for fact in matches if fact.quote in quotes] or matches
    return matches


async def _traits(owner: str) -> list[PersonalNote]:
    profile = (await load_profile(owner)).profile
    traits = [("identities", trait) for trait in profile["identities"]]
    traits += [("characteristics", trait) for trait in profile["characteristics"]]
    traits += [("tastes", trait) for trait in profile["tastes"].values()]
    return [
        PersonalNote("profile", name, trait["text"], trait["quote"], trait["at"])
        for name, trait in traits
    ]


def _note(fact: Fact) -> PersonalNote:
    return PersonalNote("facts", fact.id, fact.content, fact.quote, fact.created)


def _is_about(text: str, topic: str) -> bool:
    """Return whether a text has at least half of the words of a topic, in either language."""
    bare = topic.removeprefix("我的")
    is_character = re.fullmatch(r"[\u4e00-\u9fff]", bare)
    words = [bare] if is_character else search_words(re.sub(r"^(?:my|the|我的?)\s*", "", topic))
    lowered, known = text.lower(), set(search_words(text))
    shared = [word for word in words if word in known or _has_synonym(word, lowered, known)]
    return bool(shared) and 2 * len(shared) >= len(words)


def _has_synonym(word: str, text: str, words: set[str]) -> bool:
    for row in _PATTERNS.get_rows("synonyms"):
        synonyms = set(row)
        stems = {stem for name in synonyms for stem in search_words(name)} | synonyms
        if word in stems:
            chinese = [name for name in synonyms if not name.isascii()]
            return bool(stems & words) or any(name in text for name in chinese)
    return False


def render_personal_note(note: PersonalNote, language: str) -> str:
    """Return a note as a sentence with the day it was said and where it is stored."""
    day = datetime.fromtimestamp(note.at, UTC).astimezone().date().isoformat()
    said = {"day": day, "text": note.quote or note.text}
    if note.memory == "facts":
        return render_prompt("said_fact", language=language, id=note.id[:8], **said)
    return render_prompt("said_profile", language=language, **said)
