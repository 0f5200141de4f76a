"""Recognize requests to change the last report of a conversation, such as "make it shorter"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from text.pattern_files import PatternFile
from text.script import detect_language

_PATTERNS = PatternFile("text", "revision_requests.toml")

LONGEST = 400
"""The longest request that is parsed, in characters."""

_TOPIC_KINDS: dict[str, Literal["deepen", "add"]] = {
    "deepen": "deepen",
    "correct": "add",
    "add": "add",
}
"""The kinds of requests that name a topic, by their patterns; a correction is found out, too."""

LAST = -1
"""The number of the last section, as it is asked for."""


RevisionKind = Literal["shorten", "rewrite", "deepen", "add"]
"""How a report is to be changed: `shorten` and `rewrite` need no research."""


class RevisionRequest(NamedTuple):
    """What a person asks to change in a report."""

    kind: RevisionKind
    topic: str = ""
    """What is deepened or added; empty for the report as a whole."""
    language: Literal["en", "zh", ""] = ""
    """The language that it is to be translated to, as far as there are prompts in it."""


def parse_revision_request(message: str) -> RevisionRequest | None:
    """Return what a message asks to change in the report before it; None if it asks anything else.

    Only plain wording is recognized, as the whole message.
    """
    if len(message) > LONGEST or "\n" in message.strip():
        return None
    text = _strip_politeness(message)
    if not text:
        return None
    if _PATTERNS.shorten.match(text):
        return RevisionRequest("shorten")
    if _PATTERNS.rewrite.match(text):
        return RevisionRequest("rewrite")
    if _PATTERNS.translate.match(text):
        return RevisionRequest("rewrite", language=find_target_language(text))
    if _PATTERNS.deepen_all.match(text):
        return RevisionRequest("deepen")
    return _parse_topic(text)


def is_correction(message: str) -> bool:
    """Tell whether a message says that the report before it is wrong, and what is right."""
    return bool(_PATTERNS.correct.match(_strip_politeness(message)))


def find_target_language(text: str) -> Literal["en", "zh", ""]:
    """Return the language that a request to translate names, if it is one of the prompts.

    A bare "translate" in Chinese or English asks for the other one of the two only by its topic,
    which nobody can tell, so it names none.
    """
    if _PATTERNS.to_english.search(text):
        return "en"
    return "zh" if _PATTERNS.to_chinese.search(text) else ""


def find_section_number(topic: str) -> int:
    """Return the number of the section that a topic names, `LAST` for the last one, else 0."""
    found = _PATTERNS.section.match(topic.strip())
    if not found:
        return 0
    word = next(filter(None, (found["number"], found["ordinal"], found["zh"], found["zh_last"])))
    if word.isdecimal():
        return int(word)
    rows = enumerate(_PATTERNS.get_rows("numbers"), start=1)
    numbers = {name: number for number, row in rows for name in row}
    return numbers.get(word.lower(), LAST)


def resolve_section(topic: str, titles: Sequence[str]) -> str | None:
    """Return the title of the section that a topic names by number, or the topic itself.

    Args:
        topic: What is to be deepened.
        titles: The titles of the sections of the report, in order.

    Returns:
        None where the report has no section of that number.
    """
    number = find_section_number(topic)
    if not number:
        return topic
    if number == LAST:
        return titles[-1] if titles else None
    return titles[number - 1] if number <= len(titles) else None


def _parse_topic(text: str) -> RevisionRequest | None:
    """Return a request to deepen or add something, if it names what."""
    for name, kind in _TOPIC_KINDS.items():
        found = _PATTERNS.get(name).match(text)
        if found is None:
            continue
        topic = next((part for part in found.groupdict().values() if part), "").strip(" .。")
        topic = _PATTERNS.to_report.sub("", topic).strip()
        if topic and not _PATTERNS.not_a_topic.search(topic):
            return RevisionRequest(kind, topic)
    return None


def _strip_politeness(message: str) -> str:
    """Return a message without politeness; a question is none that could be carried out."""
    text = message.replace("’", "'").strip()
    polite = _PATTERNS.before.sub("", text, count=1)
    # "Could you shorten it?" asks for it, "How can it be shorter?" asks something else.
    if text.endswith(("?", "？")) and polite == text and detect_language(text) == "en":
        return ""
    while (shorter := _PATTERNS.before.sub("", text, count=1)) != text:
        text = shorter
    return _PATTERNS.after.sub("", text, count=1).strip()
