"""Compare two reports: every sentence and heading, the sources, the status and the doubts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from graph.records import DoubtedSentence, Source
from report.citations import get_document_key
from report.document import ReportDocument
from report.markdown.markdown_blocks import (
    MarkdownBlock,
    list_prose_blocks,
    list_statements,
    parse_blocks,
    statement_key,
)
from report.markdown.markers import list_cited_ids
from report.rendering.markdown_report import render_plain_text
from report.rendering.numbering import number_document
from report.versions import pair_reworded, strip_citations
from text.regex import regex
from text.script import CJK, detect_language

LineChange = Literal["same", "recited", "moved", "changed", "added", "removed"]
"""What became of a line: `recited` is the same sentence with other sources."""

LineKind = Literal["heading", "text", "item", "row", "code"]

CHANGES: tuple[LineChange, ...] = ("added", "removed", "changed", "moved", "recited")
"""What can become of a line that is not the same, in the order in which it is told."""

_TOKEN = regex(rf"[{CJK}]|[^\W{CJK}]+(?:[.,'’][^\W{CJK}]+)*|\s+|.")
_MIN_SHARED = 2  # letters; less than that between two changes is shown as changed, too


class WordRun(NamedTuple):
    """Words of a sentence that two versions share, or that one of them has."""

    change: Literal["same", "added", "removed"]
    text: str


class ReportEnd(NamedTuple):
    """One of the two reports that are compared."""

    run: str
    document: ReportDocument


class DiffLine(NamedTuple):
    """A sentence, heading, row or line of code, and what became of it."""

    change: LineChange
    kind: LineKind
    starts: bool
    """Whether it begins a paragraph, or is one."""
    before: str
    after: str

    @property
    def words(self) -> list[WordRun]:
        """Its words; of a changed one both versions, merged."""
        if self.change == "changed":
            return compare_words(self.before, self.after)
        shown = {"added": "added", "removed": "removed"}.get(self.change, "same")
        return [WordRun(shown, self.after or self.before)]  # type: ignore[arg-type]


@dataclass
class SectionDiff:
    """A section: its heading, if it has one, and its lines."""

    heading: DiffLine | None = None
    lines: list[DiffLine] = field(default_factory=list)

    @property
    def change(self) -> LineChange:
        """Whether the section is new, gone, changed or the same."""
        heading = self.heading.change if self.heading else "same"
        if heading in ("added", "removed"):
            return heading
        every = [heading, *(one.change for one in self.lines)]
        return "changed" if any(one != "same" for one in every) else "same"


class ReportDiff(NamedTuple):
    """What differs between two reports."""

    before: ReportEnd
    after: ReportEnd
    comparable: bool
    """Whether both are in one language; else there are no sections."""
    sections: list[SectionDiff]
    sources_gained: list[Source]
    sources_lost: list[Source]
    doubts_gained: list[DoubtedSentence]
    doubts_lost: list[DoubtedSentence]

    @property
    def lines(self) -> list[DiffLine]:
        """All lines except headings."""
        return [line for section in self.sections for line in section.lines]

    @property
    def headings(self) -> list[DiffLine]:
        """The headings."""
        return [one.heading for one in self.sections if one.heading]

    @property
    def is_empty(self) -> bool:
        """Whether the reports say the same from the same sources."""
        lists = (self.sources_gained, self.sources_lost, self.doubts_gained, self.doubts_lost)
        statuses = {one.document["status"] for one in (self.before, self.after)}
        same = all(one.change == "same" for one in self.sections)
        return self.comparable and same and not any(lists) and len(statuses) == 1

    def count(self, change: LineChange) -> int:
        """Return how many sentences, rows and lines of code have this change."""
        return sum(line.change == change for line in self.lines)

    def as_dict(self) -> dict[str, Any]:
        """Return what differs as plain data; sentences that are the same are left out."""
        texts = {str(name): [*_list_texts(self.lines, name)] for name in CHANGES}
        headings = {str(name): [*_list_texts(self.headings, name)] for name in CHANGES[:3]}
        return {
            "before": self.before.run,
            "after": self.after.run,
            "comparable": self.comparable,
            **texts,
            "sections": headings,
            "sources": {
                "gained": [*map(_to_plain_source, self.sources_gained)],
                "lost": [*map(_to_plain_source, self.sources_lost)],
            },
            "status": [one.document["status"] for one in (self.before, self.after)],
            "doubts": {"gained": self.doubts_gained, "lost": self.doubts_lost},
        }


def _list_texts(lines: Iterable[DiffLine], change: LineChange) -> Iterator[str | list[str]]:
    for one in lines:
        if one.change == change:
            both = [one.before, one.after]
            yield both if change == "changed" else one.after or one.before


def _to_plain_source(source: Source) -> dict[str, str]:
    return {"title": source["title"], "location": source["location"]}


class _Line(NamedTuple):
    """A line of one report."""

    text: str
    key: str
    kind: LineKind
    starts: bool
    cited: frozenset[str]
    """The keys of the documents that it cites."""
    section: int = 0
    """The number of headings up to it, with itself if it is one."""


def compare_reports(before: ReportEnd, after: ReportEnd) -> ReportDiff:
    """Return what differs between two reports, of one conversation or of two."""
    one, other = before.document, after.document
    languages = {detect_language(end["body"]) for end in (one, other) if end["body"]}
    comparable = len(languages) < 2
    old, new = (_list_lines(document) if comparable else [] for document in (one, other))
    gained, lost = _compare_sources(one, other)
    doubts = [{statement_key(it["text"]): it for it in end["doubted"]} for end in (one, other)]
    return ReportDiff(
        before,
        after,
        comparable,
        _group_sections(_align(old, new)),
        gained,
        lost,
        [each for key, each in doubts[1].items() if key not in doubts[0]],
        [each for key, each in doubts[0].items() if key not in doubts[1]],
    )


def compare_words(before: str, after: str) -> list[WordRun]:
    """Return the words of two sentences as one row: what both have, and what one of them has.

    Chinese is compared by characters.
    """
    one, other = _TOKEN.findall(before), _TOKEN.findall(after)
    steps = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    runs: list[WordRun] = []
    gone = come = ""
    for at, (kind, start, end, other_start, other_end) in enumerate(steps):
        old, new = "".join(one[start:end]), "".join(other[other_start:other_end])
        edge = at in (0, len(steps) - 1)
        if kind == "equal" and (edge or sum(map(str.isalnum, old)) >= _MIN_SHARED):
            runs += [WordRun("removed", gone), WordRun("added", come), WordRun("same", old)]
            gone = come = ""
        else:
            gone, come = gone + old, come + new
    runs += [WordRun("removed", gone), WordRun("added", come)]
    return [run for run in runs if run.text]


def _list_lines(document: ReportDocument) -> list[_Line]:
    """Return the lines of a report as a reader sees them, without citations."""
    blocks = parse_blocks(document["body"])
    prose = {at for at, _ in list_prose_blocks(blocks)}
    keys = {one["id"]: get_document_key(one) for one in document["sources"]}
    found: list[_Line] = []
    for at, block in enumerate(blocks):
        if at in prose or block.kind in ("heading", "fence"):
            found += _list_block_lines(block, keys)
    shown = [one for one in found if one.key.strip("#")]
    numbers = accumulate(one.kind == "heading" for one in shown)
    return [one._replace(section=number) for one, number in zip(shown, numbers, strict=True)]


def _list_block_lines(block: MarkdownBlock, keys: Mapping[str, str]) -> Iterator[_Line]:
    if block.kind == "fence":
        for line in block.text.split("\n")[1:-1]:
            yield _Line(line, statement_key(line), "code", True, frozenset())
        return
    heading = block.kind == "heading"
    kind: LineKind = block.kind if block.kind in ("heading", "item", "row") else "text"
    for at, statement in enumerate([block.text] if heading else list_statements(block)):
        text = " ".join(render_plain_text(strip_citations(statement)).split())
        key = f"#{statement_key(text)}" if heading else statement_key(text)
        cited = frozenset(keys.get(name, name) for name in list_cited_ids(statement))
        yield _Line(text.strip("# ") if heading else text, key, kind, at == 0, cited)


def _align(old: Sequence[_Line], new: Sequence[_Line]) -> Iterator[tuple[DiffLine, int]]:
    """Yield the lines of two reports in the order of the new one, with what is gone in its place.

    A line that is said elsewhere stands where the new report has it. With each comes the number of
    its section in the old report, if it is gone.
    """
    origins = _find_origins(old, new)
    used = {at for _, at in origins.values()}
    gone = [(at, one) for at, one in enumerate(old) if at not in used]
    limits = _list_limits(len(old), len(new), origins)
    for at, line in enumerate(new):
        change, old_at = origins.get(at, ("added", -1))
        reached = old_at if change in ("same", "changed") else -1
        while gone and (
            gone[0][0] < reached or (gone[0][0] < limits[at] and _ends_section(gone[0][1], line))
        ):
            yield _removed(gone.pop(0)[1])
        yield _to_diff_line(line, change, old[old_at] if old_at >= 0 else None), 0
    yield from (_removed(line) for _, line in gone)


def _find_origins(old: Sequence[_Line], new: Sequence[_Line]) -> dict[int, tuple[LineChange, int]]:
    """Return for the places of new lines what became of which old line."""
    left, come = dict(enumerate(old)), dict(enumerate(new))
    origins: dict[int, tuple[LineChange, int]] = {}
    pairs = _pair_equal(left, come)
    stayed = {pairs[one] for one in _list_rising([at for _, at in pairs])}
    for pair in pairs:
        origins[pair[1]] = ("same" if pair in stayed else "moved", pair[0])
        del left[pair[0]], come[pair[1]]
    return origins | {at: ("changed", old_at) for old_at, at in _pair_changed(left, come)}


def _list_rising(numbers: Sequence[int]) -> list[int]:
    """Return the places of a longest rising sequence among different numbers."""
    ends: list[int] = []
    places: list[int] = []
    before: list[int] = []
    for place, number in enumerate(numbers):
        at = bisect_left(ends, number)
        before.append(places[at - 1] if at else -1)
        ends[at : at + 1] = [number]
        places[at : at + 1] = [place]
    found: list[int] = []
    place = places[-1] if places else -1
    while place >= 0:
        found.append(place)
        place = before[place]
    return found[::-1]


def _list_limits(old: int, new: int, origins: Mapping[int, tuple[LineChange, int]]) -> list[int]:
    """Return for each new line the place of the next old one that stayed, from there on."""
    limits, limit = [old] * new, old
    for at in reversed(range(new)):
        change, old_at = origins.get(at, ("added", -1))
        limit = old_at if change == "same" else limit
        limits[at] = limit
    return limits


def _ends_section(gone: _Line, line: _Line) -> bool:
    """Tell whether a new line begins a section, and one that is gone belongs to that before."""
    return line.kind == "heading" and gone.kind != "heading"


def _pair_equal(old: Mapping[int, _Line], new: Mapping[int, _Line]) -> list[tuple[int, int]]:
    """Return the places of lines that both reports have, each once."""
    places: dict[str, list[int]] = {}
    for at, one in new.items():
        places.setdefault(one.key, []).append(at)
    return [(at, places[one.key].pop(0)) for at, one in old.items() if places.get(one.key)]


def _pair_changed(old: Mapping[int, _Line], new: Mapping[int, _Line]) -> list[tuple[int, int]]:
    """Return the places of lines that were reworded; a heading only becomes a heading."""
    pairs: list[tuple[int, int]] = []
    for heading in (True, False):
        one, other = (
            {at: line for at, line in lines.items() if (line.kind == "heading") == heading}
            for lines in (old, new)
        )
        places, other_places = list(one), list(other)
        found = pair_reworded(
            [line.text for line in one.values()], [line.text for line in other.values()]
        )
        pairs += [(places[at], other_places[to]) for at, to in found.items()]
    return pairs


def _to_diff_line(line: _Line, change: LineChange, old: _Line | None) -> DiffLine:
    if old is None:
        return DiffLine("added", line.kind, line.starts, "", line.text)
    if change == "same" and old.cited != line.cited:
        change = "recited"
    return DiffLine(change, line.kind, line.starts, old.text, line.text)


def _removed(line: _Line) -> tuple[DiffLine, int]:
    return DiffLine("removed", line.kind, line.starts, line.text, ""), line.section


def _group_sections(lines: Iterable[tuple[DiffLine, int]]) -> list[SectionDiff]:
    """Return lines by sections; a section that is gone has only lines that are gone."""
    current = SectionDiff()
    found, gone = [current], dict[int, SectionDiff]()
    for line, number in lines:
        if line.kind != "heading":
            gone.get(number, current).lines.append(line)
            continue
        section = SectionDiff(line)
        found.append(section)
        if line.change == "removed":
            gone[number] = section
        else:
            current = section
    return [one for one in found if one.heading or one.lines]


def _compare_sources(
    before: ReportDocument, after: ReportDocument
) -> tuple[list[Source], list[Source]]:
    """Return the cited documents that only the second report has, and those of the first."""
    old, new = (
        {get_document_key(one): one for one in number_document(document)[0].documents}
        for document in (before, after)
    )
    gained = [one for key, one in new.items() if key not in old]
    return gained, [one for key, one in old.items() if key not in new]
