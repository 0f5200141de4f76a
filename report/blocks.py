"""Cut the markdown of a report into lines that belong together, and join them again."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise, takewhile
from typing import Literal, NamedTuple

from report.code import with_code, without_code
from report.marks import MARKER
from report.markup import URL
from retrieval.regex import regex

Kind = Literal["text", "heading", "item", "quote", "row", "rule", "fence", "blank", "gone"]


class Block(NamedTuple):
    """A heading, a paragraph, a bullet, a row of a table, a fence of code or an empty line."""

    kind: Kind
    lead: str
    """The indent, and the mark that makes a heading, bullet or quoted line of it."""
    text: str


_FENCE = regex(r"[ \t]*(`{3,}|~{3,})[ \t]*([^`\n]*)$")
_MARK = regex(r"`{3,}|~{3,}")
_RULE = regex(r"[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_LEADS: list[tuple[Kind, re.Pattern[str]]] = [
    ("heading", regex(r"[ \t]{0,3}#{1,6}(?:[ \t]+|$)")),
    ("item", regex(r"[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]+")),
    ("quote", regex(r"[ \t]*(?:>[ \t]?)+")),
    ("row", regex(r"[ \t]*(?=\|)")),
    ("text", regex(r"[ \t]*")),
]
_PROSE = regex(r"<q\b|\[S\d")
_CELL_END = regex(r"(?<!\\)\|")
_SEPARATOR = regex(r"[ \t|:]*-[ \t|:-]*")


def blocks(body: str) -> list[Block]:
    """Return the blocks of a text, in order.

    A fence that is not closed, or that holds prose with citations, is taken for a mistake: its
    lines are read as if it were not there.
    """
    lines = body.split("\n")
    fences = _Fences(lines)
    found: list[Block] = []
    at = 0
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        end = fences.end(at, fence[1]) if fence else at
        inside = "\n".join(lines[at : end + 1])
        if not fence:
            _add(found, _block(lines[at]))
        elif end and not _is_prose(fence[2], inside):
            found.append(Block("fence", "", URL.sub("", inside)))
            at = end
        elif end:
            lines[end] = ""
            fences.remove(end)
        at += 1
    return found


def joined(parts: list[Block]) -> str:
    """Return the text that consists of these blocks, never with two empty lines together."""
    lines: list[str] = []
    for part in parts:
        lead = part.lead if part.kind == "quote" else ""
        if part.kind != "blank" or (lines and lines[-1]):
            lines.append(part.lead + part.text.replace("\n", f"\n{lead}"))
    return "\n".join(lines).strip("\n")


def cells(row: str) -> list[str]:
    r"""Return the cells of a row of a table; a `|` in code or behind a `\` ends none."""
    bare, kept = without_code(row.strip().strip("|"))
    return [with_code(cell, kept) for cell in _CELL_END.split(bare)]


def without_gone(parts: list[Block]) -> list[Block]:
    """Leave out the blocks that are gone, and what is nothing without them.

    That is a heading with nothing below it, and a table without its head or without rows. What
    stood below a bullet that is gone moves to the left.
    """
    kept: list[Block] = []
    for is_row, run in groupby(_moved(parts), lambda part: part.kind == "row"):
        rows = list(run)
        kept += rows if not is_row or _is_table(rows) else []
    return [part for at, part in enumerate(kept) if part.kind != "heading" or _filled(kept, at)]


def _moved(parts: list[Block]) -> Iterator[Block]:
    edge, by = -1, 0
    for part in parts:
        depth = _indent(part)
        if part.kind == "gone":
            edge, by = (edge, by) if 0 <= edge < depth else (depth, 0)
            continue
        if part.kind != "blank" and depth <= edge:
            edge = -1
        if part.kind != "blank" and edge >= 0:
            by = by or depth - edge
            part = part._replace(lead=part.lead.expandtabs(4)[min(by, depth) :])
        yield part


def _indent(part: Block) -> int:
    """Return how far a block is moved to the right, in characters."""
    lead = part.lead.expandtabs(4)
    return len(lead) - len(lead.lstrip())


class _Fences:
    """Knows which lines may close a fence of code, and what is closed nowhere."""

    def __init__(self, lines: list[str]) -> None:
        bare = ((at, line.strip()) for at, line in enumerate(lines))
        self._ends = {at: line for at, line in bare if _MARK.fullmatch(line)}
        self._order = [*self._ends]
        self._never: set[str] = set()

    def end(self, at: int, mark: str) -> int:
        """Return the line that closes the fence opened at a line with `mark`, or 0."""
        if mark in self._never:
            return 0
        for place in range(bisect_right(self._order, at), len(self._order)):
            end = self._order[place]
            if self._ends[end].startswith(mark):
                return end
        self._never.add(mark)
        return 0

    def remove(self, end: int) -> None:
        """Take out a line that closes none."""
        self._order.remove(end)


def _is_prose(language: str, inside: str) -> bool:
    return language.strip().lower() in ("markdown", "md") or bool(_PROSE.search(inside))


def _block(line: str) -> Block:
    if not line.strip():
        return Block("blank", "", "")
    if _RULE.match(line):
        return Block("rule", "", line)
    leads = ((kind, lead.match(line)) for kind, lead in _LEADS)
    kind, lead = next((kind, lead) for kind, lead in leads if lead)
    return Block(kind, lead[0], line[lead.end() :].rstrip())


def _add(found: list[Block], new: Block) -> None:
    """Add a block, or make it part of the one before where a line only goes on."""
    last = found[-1] if found else Block("blank", "", "")
    goes_on = new.kind == "text" and last.kind in ("text", "item", "quote")
    if goes_on or (new.kind == last.kind == "quote" and new.lead == last.lead):
        indented = new.lead + new.text if last.kind == "item" else new.text
        found[-1] = last._replace(text=f"{last.text}\n{indented}")
    else:
        found.append(new)


def _is_table(rows: list[Block]) -> bool:
    heads = [at for at, row in enumerate(rows) if _SEPARATOR.fullmatch(row.text)]
    return not heads or (heads[0] > 0 and len(rows) > heads[0] + 1)


def _filled(parts: list[Block], at: int) -> bool:
    """Tell whether anything but headings stands between a heading and the next of its rank."""
    rank = parts[at].lead.count("#")
    for part in map(parts.__getitem__, range(at + 1, len(parts))):
        if part.kind == "heading" and part.lead.count("#") <= rank:
            return False
        if part.kind not in ("heading", "blank", "rule"):
            return True
    return False


def prose(parts: Sequence[Block]) -> list[tuple[int, Block]]:
    """Return the blocks that say something, with their places; the head of a table does not."""
    heads = {at for at, (_, after) in enumerate(pairwise(parts)) if _parts_head(after)}
    kinds = ("text", "item", "quote", "row")
    return [(at, one) for at, one in enumerate(parts) if one.kind in kinds and at not in heads]


def _parts_head(part: Block) -> bool:
    return part.kind == "row" and not any(map(str.isalnum, MARKER.sub("", part.text)))


ABOVE = 50
"""What leads on to a block is at most so many blocks above it."""

ROWS = 1_000
"""The head of a table is looked for in so many rows above one."""

NEAR = 25
"""So many rows above and below one are compared with it."""


class Around(NamedTuple):
    """What stands above a block: what leads on to it, and the head of its table."""

    lead: str
    head: list[str]


def around(parts: Sequence[Block], at: int) -> Around:
    """Return the paragraph above a table or a fence, and the cells of the table's head."""
    first = _top(parts, at)
    has_head = first < at and _parts_head(parts[first + 1])
    near = reversed(parts[max(0, first - ABOVE) : first])
    above = (one.text for one in near if one.kind in ("text", "item", "quote"))
    return Around(next(above, ""), cells(parts[first].text) if has_head else [])


def table(parts: Sequence[Block], at: int) -> list[Block]:
    """Return the rows near a row of a table, itself among them, without the table's head."""
    near = parts[max(_top(parts, at), at - NEAR) : at + NEAR]
    rows = [*takewhile(lambda one: one.kind == "row", near)]
    return [part for _, part in prose(rows) if not _parts_head(part)]


def _top(parts: Sequence[Block], at: int) -> int:
    """Return where the table of a row begins; any other block stands for itself."""
    if parts[at].kind != "row":
        return at
    first = max(0, at - ROWS)
    return next((one for one in range(at, first, -1) if parts[one - 1].kind != "row"), first)
