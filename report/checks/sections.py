"""Find the sections in which a report judges, or says what is not known, and their statements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from report.checks.claims import has_attribution, is_assertion
from report.markdown.markdown_blocks import (
    MarkdownBlock,
    list_prose_blocks,
    list_statements,
    parse_blocks,
)
from report.markdown.markers import MARKER, QUOTE
from text.pattern_files import PatternFile
from text.question_types import asks_judgement

_PATTERNS = PatternFile("report.checks", "sections.toml")

_MAX_OPENING_CHARS = 120

SectionKind = Literal["", "assessment", "unknown"]
"""`assessment` is where a report concludes, recommends and infers; `unknown` is where it says what
was not found or is not sure."""


def list_section_kinds(parts: Sequence[MarkdownBlock]) -> list[SectionKind]:
    """Return the kind of the section that each block of a text is in.

    A section goes on to the next heading of its rank or a higher one. A paragraph that begins with
    such a heading in bold type is of that kind; with the heading alone, so is what follows it.
    """
    kinds: list[SectionKind] = []
    kind: SectionKind = ""
    rank = 0
    for part in parts:
        level = part.lead.count("#")
        if part.kind == "heading" and (not kind or level <= rank or not rank):
            kind, rank = _classify_heading(part.text), level
        label, rest = _split_label(part)
        labelled = _classify_heading(label) if label else ""
        if label and not rest and (labelled or not rank):
            kind, rank = labelled, 0
        kinds.append(labelled or kind)
    return kinds


def _split_label(part: MarkdownBlock) -> tuple[str, str]:
    """Return the bold label at the beginning of a paragraph, and what follows it."""
    found = _PATTERNS.labelled.match(part.text) if part.kind in ("text", "item") else None
    return (found["label"], found["rest"].strip()) if found else ("", "")


@lru_cache(maxsize=256)
def _classify_heading(heading: str) -> SectionKind:
    if _PATTERNS.assessment.fullmatch(heading):
        return "assessment"
    return "unknown" if _PATTERNS.unknown.fullmatch(heading) else ""


def find_opening_answer(parts: Sequence[MarkdownBlock]) -> str:
    """Return the statement in which a text says first what to do, or "".

    It is brief, cites nothing, and has no number and no finite verb, as in "Take the Keel pump."
    The rest of its paragraph cites the sources that it rests on.
    """
    first = next((one for one in parts if one.kind not in ("blank", "rule")), None)
    said = list_statements(first) if first and first.kind == "text" else []
    if len(said) < 2 or len(said[0]) > _MAX_OPENING_CHARS or re.search(r"\d", said[0]):
        return ""
    bare = not (MARKER.search(said[0]) or QUOTE.search(said[0]) or is_assertion(said[0]))
    return said[0] if bare and MARKER.search("".join(said[1:])) else ""


def list_inferred_statements(body: str, question: str = "") -> list[str]:
    """Return the statements of a report that are its writer's inferences, in their order.

    They are those of its assessment, and what it recommends elsewhere if the question asks for a
    judgement.
    """
    parts = parse_blocks(body)
    kinds, judges = list_section_kinds(parts), asks_judgement(question)
    opening = find_opening_answer(parts)
    return [
        statement.strip()
        for at, part in list_prose_blocks(parts)
        for statement in list_statements(part)
        if (
            kinds[at] == "assessment"
            or (judges and (recommends(statement) or statement == opening))
        )
        and any(map(str.isalnum, statement))
        and not _classify_heading(MARKER.sub("", statement))
    ]


def recommends(statement: str) -> bool:
    """Tell whether a statement recommends something in its writer's own name."""
    return bool(_PATTERNS.recommends.search(statement)) and not has_attribution(statement)


def has_recommendation(body: str) -> bool:
    """Tell whether a report recommends something, in its assessment or in its writer's name."""
    if any(map(_PATTERNS.advises.search, list_inferred_statements(body))):
        return True
    blocks = (part for _, part in list_prose_blocks(parse_blocks(body)))
    return any(recommends(one) for part in blocks for one in list_statements(part))
