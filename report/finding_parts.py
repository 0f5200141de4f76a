"""Split what a researcher wrote: the answer, what was not found, and what it would ask next."""

from __future__ import annotations

from typing import NamedTuple

from graph.records import Finding, StepOutcome
from prompts.loader import render_prompt
from text.pattern_files import PatternFile
from text.regex import regex

_PATTERNS = PatternFile("report", "finding_parts.toml")
_HEADING = regex(r"(?m)^#{1,6}[ \t]+(?P<title>[^\n]+?)[ \t:：#]*$")
_ITEM = regex(r"^(?:[-*+•]|\d{1,2}[.)、])\s*")
_NOTHING = regex(r"(?i)\W*(?:none|nothing|n/a|-|无|沒有|没有)?\W*")

PARTS = ("not_found", "disagreements", "questions", "outcome")
"""The parts that a heading of their own begins, by the names of their patterns."""

MAX_ITEMS = 12
"""How many items of a part are kept."""

MAX_ITEM_CHARS = 500


class FindingParts(NamedTuple):
    """The parts of a finding: its answer, and the items of the others, one each."""

    answer: str
    not_found: list[str]
    disagreements: list[str]
    questions: list[str]
    outcome: StepOutcome | None
    """How the step ended; `None` if the text does not say."""


def split_finding(text: str) -> FindingParts:
    """Return the parts of a finding; a part without its heading is a part of the answer."""
    parts: dict[str, list[str]] = {name: [] for name in PARTS}
    answer: list[str] = []
    current, done = "", 0
    for heading in _HEADING.finditer(text):
        (parts[current] if current else answer).append(text[done : heading.start()])
        current = _part_of(heading["title"])
        done = heading.end() if current else heading.start()
    (parts[current] if current else answer).append(text[done:])
    outcome = "".join(parts.pop("outcome"))
    items = {name: _list_items("".join(found)) for name, found in parts.items()}
    return FindingParts("".join(answer).strip(), **items, outcome=_outcome(outcome))


def join_finding(finding: Finding, language: str) -> str:
    """Return a finding as its researcher wrote it: the answer, and the parts with their items."""
    lists = {
        "disagreements": finding.get("disagreements", []),
        "not_found": finding.get("not_found", []),
        "questions": finding.get("questions", []),
    }
    titles = {name: render_prompt(f"part_{name}", language=language) for name in lists}
    parts = [
        "\n".join([f"## {titles[name]}", *(f"- {item}" for item in items)])
        for name, items in lists.items()
        if items
    ]
    return "\n\n".join(filter(None, [finding["text"], *parts]))


def _part_of(title: str) -> str:
    """Return which part a heading begins; "" for one of the answer."""
    plain = title.strip(" *_#:：")
    found = (name for name in PARTS if getattr(_PATTERNS, name).fullmatch(plain))
    return next(found, "")


def _list_items(text: str) -> list[str]:
    """Return the items of a part, without their marks; a line that marks none goes on with one."""
    items: list[str] = []
    for line in filter(None, map(str.strip, text.split("\n"))):
        mark = _ITEM.match(line)
        if mark or not items:
            items.append(line[mark.end() if mark else 0 :])
        else:
            items[-1] = f"{items[-1]} {line}"
    kept = [item[:MAX_ITEM_CHARS] for item in items if not _NOTHING.fullmatch(item)]
    return kept[:MAX_ITEMS]


def _outcome(text: str) -> StepOutcome | None:
    if _PATTERNS.exhausted.search(text):
        return "exhausted"
    return "answered" if _PATTERNS.answered.search(text) else None
