"""Find the sections of a report that have a meaning of their own: judgement, and what is open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from report.markdown.markdown_blocks import (
    MarkdownBlock,
    join_blocks,
    list_statements,
    parse_blocks,
    statement_key,
)
from text.pattern_files import PatternFile

_PATTERNS = PatternFile("report", "body_sections.toml")

SectionKind = Literal["", "assessment", "unknown"]
"""What a section holds: what sources say, what the writer concludes, or what is not known."""


class ReportSection(NamedTuple):
    """A heading of the second rank with what stands below it, or the text above the first."""

    kind: SectionKind
    heading: str
    """The line of the heading as Markdown; empty for the text above the first."""
    text: str


def list_report_sections(body: str) -> list[ReportSection]:
    """Return the sections of a body in order."""
    return [_to_section(blocks) for blocks in _split_blocks(body)]


def move_unknown_section(body: str) -> str:
    """Return a body in which the sections on what is not known are one, and the last."""
    sections = list_report_sections(body)
    unknown = [one for one in sections if one.kind == "unknown"]
    if not unknown or (len(unknown) == 1 and sections[-1] is unknown[0]):
        return body
    rest = [_join(one) for one in sections if one.kind != "unknown"]
    texts = [one.text for one in unknown]
    return "\n\n".join(filter(None, [*rest, unknown[0].heading, *texts]))


def list_marked_inferences(body: str, inferred: Sequence[str]) -> list[str]:
    """Return the inferences that are marked one by one: those outside of an assessment."""
    sections = [one for one in list_report_sections(body) if one.kind == "assessment"]
    blocks = [block for one in sections for block in parse_blocks(one.text)]
    within = {statement_key(text) for block in blocks for text in list_statements(block)}
    return [one for one in inferred if statement_key(one) not in within]


def _split_blocks(body: str) -> Iterator[list[MarkdownBlock]]:
    found: list[MarkdownBlock] = []
    for block in parse_blocks(body):
        if block.kind == "heading" and block.lead.strip() in ("#", "##") and found:
            yield found
            found = []
        found.append(block)
    if found:
        yield found


def _to_section(blocks: list[MarkdownBlock]) -> ReportSection:
    first = blocks[0]
    if first.kind != "heading" or first.lead.strip() not in ("#", "##"):
        return ReportSection("", "", join_blocks(blocks))
    return ReportSection(
        _find_kind(first.text), first.lead + first.text, join_blocks(blocks[1:]).strip("\n")
    )


def _find_kind(heading: str) -> SectionKind:
    title = heading.strip(" \t#*_:：。.")
    if _PATTERNS.assessment.fullmatch(title):
        return "assessment"
    return "unknown" if _PATTERNS.unknown.fullmatch(title) else ""


def _join(section: ReportSection) -> str:
    return "\n\n".join(filter(None, (section.heading, section.text)))
