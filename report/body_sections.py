"""Find the sections of a report that have a meaning of their own: judgement, and what is open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from report.checks.sections import SectionKind, list_section_kinds
from report.markdown.markdown_blocks import (
    MarkdownBlock,
    join_blocks,
    list_statements,
    parse_blocks,
    statement_key,
)


class ReportSection(NamedTuple):
    """A heading of the second rank with what stands below it, or the text above the first."""

    kind: SectionKind
    heading: str
    """The line of the heading as Markdown; empty for the text above the first."""
    text: str


def list_report_sections(body: str) -> list[ReportSection]:
    """Return the sections of a body in order."""
    return [_to_section(kind, blocks) for kind, blocks in _split_blocks(body)]


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


def _split_blocks(body: str) -> Iterator[tuple[SectionKind, list[MarkdownBlock]]]:
    """Yield the blocks of each section with its kind."""
    blocks = parse_blocks(body)
    kinds = list_section_kinds(blocks)
    starts = [at for at in range(1, len(blocks)) if _begins(blocks[at], kinds[at - 1], kinds[at])]
    for start, end in pairwise([0, *starts, len(blocks)]):
        yield kinds[start], blocks[start:end]


def _begins(block: MarkdownBlock, before: SectionKind, kind: SectionKind) -> bool:
    """Tell whether a block begins a section: by its heading, or since it is of another kind."""
    return (block.kind == "heading" and block.lead.count("#") < 3) or (
        before != kind and block.kind != "blank"
    )


def _to_section(kind: SectionKind, blocks: list[MarkdownBlock]) -> ReportSection:
    first = blocks[0]
    if first.kind != "heading":
        return ReportSection(kind, "", join_blocks(blocks))
    return ReportSection(kind, first.lead + first.text, join_blocks(blocks[1:]).strip("\n"))


def _join(section: ReportSection) -> str:
    return "\n\n".join(filter(None, (section.heading, section.text)))
