"""Apply what a writer puts in the place of sentences that the checks took out of a report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from graph.records import RemovedSentence
from report.checks.attribution import CheckedText
from report.checks.sections import has_recommendation, list_section_kinds
from report.checks.verification import replace_statements
from report.labels import grade_reason
from report.markdown.markdown_blocks import (
    MarkdownBlock,
    iter_statements,
    join_blocks,
    parse_blocks,
    statement_key,
)
from text.regex import regex

CORRECTABLE = ("no_source", "quote_not_found", "quote_not_shown", "unknown_source")
"""Reasons of removals that a writer can do something about."""

MAX_SHOWN = 40
"""How many removed sentences a writer is shown."""

_NUMBERED = regex(r"^\s*(?:\*\*)?(\d{1,3})(?:\*\*)?\s*[.):：、．]\s*(.*)$")
_LEFT_OUT = regex(r"[-–—\s.。]*")
_LEAD = regex(r"^(?:[-*+•]|\d{1,3}[.)])\s+")
_HEADING = regex(r"^#{1,6}[ \t]+\S", re.MULTILINE)
_MIN_REWRITTEN_SHARE = 0.5  # of the length of a report, for an answer that is a whole report


class Corrections(NamedTuple):
    """What a writer answered to a list of removed sentences."""

    lines: Mapping[int, str]
    """What stands in the place of each sentence, by its number; "" for nothing."""
    section: str
    """The section that follows them; may be empty."""


def list_correctable(removed: Sequence[RemovedSentence]) -> list[RemovedSentence]:
    """Return the removed sentences that their writer may correct, each once."""
    once = {statement_key(one["text"]): one for one in removed if one["reason"] in CORRECTABLE}
    return [one for key, one in once.items() if key][:MAX_SHOWN]


def parse_corrections(answer: str) -> Corrections:
    """Read the numbered lines of an answer, and the section that follows them."""
    heading = _HEADING.search(answer)
    end = heading.start() if heading else len(answer)
    lines: dict[int, str] = {}
    for line in answer[:end].splitlines():
        if found := _NUMBERED.match(line):
            said = found[2].strip()
            lines.setdefault(int(found[1]), "" if _LEFT_OUT.fullmatch(said) else said)
    return Corrections(lines, answer[end:].strip())


def correct_report(
    text: str, answer: str, shown: Sequence[RemovedSentence], texts: Mapping[str, str]
) -> str:
    """Return a report with the corrections of an answer; an answer may be a whole report instead.

    Args:
        text: The report as its writer wrote it.
        answer: What the writer answered.
        shown: The sentences that the writer was shown, in the order of their numbers from 1.
        texts: The full text of each source by its id.
    """
    corrections = parse_corrections(answer)
    alone = answer.strip() == corrections.section
    if not (corrections.lines or alone) and len(answer) >= _MIN_REWRITTEN_SHARE * len(text):
        return answer
    others = {
        statement_key(shown[number - 1]["text"]): _as_statement(line, shown[number - 1]["text"])
        for number, line in corrections.lines.items()
        if 1 <= number <= len(shown)
    }
    corrected = replace_statements(text, texts, others) if others else text
    return _insert_section(corrected, corrections.section)


def _as_statement(line: str, replaced: str) -> str:
    """Return a line without a mark that its block has already; a row has to stay one."""
    if replaced.lstrip().startswith("|"):
        return line if line.startswith("|") else ""
    return _LEAD.sub("", line)


def _insert_section(text: str, section: str) -> str:
    """Return a report with another section: in its assessment, or else before what is not known."""
    if not section:
        return text
    blocks = parse_blocks(text)
    kinds = list_section_kinds(blocks)
    begins = [at for at, one in enumerate(blocks) if one.kind == "heading"]
    for kind, skipped in (("assessment", 1), ("unknown", 0)):
        place = next((at for at in begins if kinds[at] == kind), None)
        if place is not None:
            added = section.partition("\n")[2].strip() if skipped else section
            new = [
                MarkdownBlock("blank", "", ""),
                *parse_blocks(added),
                MarkdownBlock("blank", "", ""),
            ]
            return join_blocks([*blocks[: place + skipped], *new, *blocks[place + skipped :]])
    return f"{text}\n\n{section}"


def is_improvement(new: CheckedText, old: CheckedText, *, recommends: bool = False) -> bool:
    """Tell whether a corrected report is the better one: it loses no sentence, and mends something.

    Args:
        new: The corrected report after the checks.
        old: The report after the checks.
        recommends: Whether the question asks for a recommendation.
    """
    if not new.cited or _count_contradicted(new) > _count_contradicted(old):
        return False
    if _list_lost(old, new) or _count_statements(new) < _count_statements(old):
        return False
    gained = recommends and has_recommendation(new.body) and not has_recommendation(old.body)
    return gained or len(list_correctable(new.removed)) < len(list_correctable(old.removed))


def _list_lost(old: CheckedText, new: CheckedText) -> bool:
    """Tell whether a corrected text removes a sentence that the checks had let pass."""
    passed = {statement_key(one) for one in iter_statements(parse_blocks(old.body))}
    return any(statement_key(one["text"]) in passed for one in new.removed)


def _count_statements(checked: CheckedText) -> int:
    return sum(1 for one in iter_statements(parse_blocks(checked.body)) if statement_key(one))


def _count_contradicted(checked: CheckedText) -> int:
    return Counter(grade_reason(one["reason"]) for one in checked.doubted)["contradicted"]
