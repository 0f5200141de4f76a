"""Split the Markdown of a report into blocks, and blocks into statements with their marks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, groupby, pairwise, takewhile
from typing import Literal, NamedTuple

from report.markdown.code import (
    list_code_lines,
    map_inline_code,
    mask_code,
    to_inline_code,
    unmask_code,
)
from report.markdown.markers import MARKER, QUOTE, QUOTED_WORDS, is_quotation_length, list_cited_ids
from text.regex import regex
from text.sentences import split_sentences


def iter_statements(left: Sequence[MarkdownBlock]) -> Iterator[str]:
    """Yield the statements, headings and lines of code of a text, in order."""
    for part in left:
        if part.kind == "fence":
            yield from map(to_inline_code, list_code_lines(part.text))
        else:
            yield from list_statements(part)


BlockKind = Literal["text", "heading", "item", "quote", "row", "rule", "fence", "blank", "gone"]


class MarkdownBlock(NamedTuple):
    """A heading, a paragraph, a bullet, a table row, a code fence or an empty line."""

    kind: BlockKind
    lead: str
    """The indent and the mark of a heading, bullet or quoted line."""
    text: str


_FENCE = regex(r"[ \t]*(`{3,}|~{3,})[ \t]*([^`\n]*)$")
_MARK = regex(r"`{3,}|~{3,}")
_RULE = regex(r"[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_LEADS: list[tuple[BlockKind, re.Pattern[str]]] = [
    ("heading", regex(r"[ \t]{0,3}#{1,6}(?:[ \t]+|$)")),
    ("item", regex(r"[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]+")),
    ("quote", regex(r"[ \t]*(?:>[ \t]?)+")),
    ("row", regex(r"[ \t]*(?=\|)")),
    ("text", regex(r"[ \t]*")),
]
_PROSE = regex(r"<q\b|\[S\d")
_CELL_END = regex(r"(?<!\\)\|")
_SEPARATOR = regex(r"[ \t|:]*-[ \t|:-]*")


def parse_blocks(body: str) -> list[MarkdownBlock]:
    """Return the blocks of a text, in order.

    A code fence that is not closed, or that contains prose with citations, is a mistake: its lines
    are parsed as if the fence were missing.
    """
    lines = body.split("\n")
    fences = _Fences(lines)
    found: list[MarkdownBlock] = []
    at = 0
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        end = fences.end(at, fence[1]) if fence else at
        inside = "\n".join(lines[at : end + 1])
        if not fence:
            _add(found, _block(lines[at]))
        elif end and not _is_prose(fence[2], inside):
            found.append(MarkdownBlock("fence", "", inside))
            at = end
        elif end:
            lines[end] = ""
            fences.remove(end)
        at += 1
    return found


def map_code(body: str, change: Callable[[str], str]) -> str:
    """Return a text with each piece of its code changed, inline or in blocks."""
    parts = [
        part._replace(text=change(part.text))
        if part.kind == "fence"
        else part._replace(text=map_inline_code(part.text, lambda code: change(code.string)))
        for part in parse_blocks(body)
    ]
    return join_blocks(parts)


def join_blocks(parts: list[MarkdownBlock]) -> str:
    """Return the text of some blocks, without consecutive empty lines."""
    lines: list[str] = []
    for part in parts:
        lead = part.lead if part.kind == "quote" else ""
        if part.kind != "blank" or (lines and lines[-1]):
            lines.append(part.lead + part.text.replace("\n", f"\n{lead}"))
    return "\n".join(lines).strip("\n")


def list_cited_in_blocks(parts: Iterable[MarkdownBlock]) -> list[str]:
    """Return the ids that some blocks cite outside code, each once, in order."""
    prose = (list_cited_ids(part.text) for part in parts if part.kind != "fence")
    return list(dict.fromkeys(chain.from_iterable(prose)))


def split_cells(row: str) -> list[str]:
    r"""Return the cells of a table row; a `|` in code or after a `\` does not end a cell."""
    bare, kept = mask_code(row.strip().strip("|"))
    return [unmask_code(cell, kept) for cell in _CELL_END.split(bare)]


def drop_removed_blocks(parts: list[MarkdownBlock]) -> list[MarkdownBlock]:
    """Return blocks without the removed ones and those that are meaningless without them.

    These are headings with nothing below them, and tables without a head or without rows. What was
    nested below a removed bullet moves to the left.
    """
    kept: list[MarkdownBlock] = []
    for is_row, run in groupby(_moved(parts), lambda part: part.kind == "row"):
        rows = list(run)
        kept += rows if not is_row or _is_table(rows) else []
    return [part for at, part in enumerate(kept) if part.kind != "heading" or _filled(kept, at)]


def _moved(parts: list[MarkdownBlock]) -> Iterator[MarkdownBlock]:
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


def _indent(part: MarkdownBlock) -> int:
    """Return the indent of a block, in characters."""
    lead = part.lead.expandtabs(4)
    return len(lead) - len(lead.lstrip())


class _Fences:
    """The lines that may close a code fence."""

    def __init__(self, lines: list[str]) -> None:
        bare = ((at, line.strip()) for at, line in enumerate(lines))
        self._ends = {at: line for at, line in bare if _MARK.fullmatch(line)}
        self._order = [*self._ends]
        self._never: set[str] = set()

    def end(self, at: int, mark: str) -> int:
        """Return the line that closes a fence opened at a line with `mark`, or 0."""
        if mark in self._never:
            return 0
        for place in range(bisect_right(self._order, at), len(self._order)):
            end = self._order[place]
            if self._ends[end].startswith(mark):
                return end
        self._never.add(mark)
        return 0

    def remove(self, end: int) -> None:
        """Remove a line that closes no fence."""
        self._order.remove(end)


def _is_prose(language: str, inside: str) -> bool:
    return language.strip().lower() in ("markdown", "md") or bool(_PROSE.search(inside))


def _block(line: str) -> MarkdownBlock:
    if not line.strip():
        return MarkdownBlock("blank", "", "")
    if _RULE.match(line):
        return MarkdownBlock("rule", "", line)
    leads = ((kind, lead.match(line)) for kind, lead in _LEADS)
    kind, lead = next((kind, lead) for kind, lead in leads if lead)
    return MarkdownBlock(kind, lead[0], line[lead.end() :].rstrip())


def _add(found: list[MarkdownBlock], new: MarkdownBlock) -> None:
    """Add a block, or append it to the previous one if a line continues that."""
    last = found[-1] if found else MarkdownBlock("blank", "", "")
    goes_on = new.kind == "text" and last.kind in ("text", "item", "quote")
    if goes_on or (new.kind == last.kind == "quote" and new.lead == last.lead):
        indented = new.lead + new.text if last.kind == "item" else new.text
        found[-1] = last._replace(text=f"{last.text}\n{indented}")
    else:
        found.append(new)


def _is_table(rows: list[MarkdownBlock]) -> bool:
    heads = [at for at, row in enumerate(rows) if _SEPARATOR.fullmatch(row.text)]
    return not heads or (heads[0] > 0 and len(rows) > heads[0] + 1)


def _filled(parts: list[MarkdownBlock], at: int) -> bool:
    """Tell whether a heading has anything but headings below it before the next of its rank."""
    rank = parts[at].lead.count("#")
    for part in map(parts.__getitem__, range(at + 1, len(parts))):
        if part.kind == "heading" and part.lead.count("#") <= rank:
            return False
        if part.kind not in ("heading", "blank", "rule"):
            return True
    return False


def list_prose_blocks(parts: Sequence[MarkdownBlock]) -> list[tuple[int, MarkdownBlock]]:
    """Return the blocks with statements and their places; the head of a table has none."""
    heads = {at for at, (_, after) in enumerate(pairwise(parts)) if _parts_head(after)}
    kinds = ("text", "item", "quote", "row")
    return [(at, one) for at, one in enumerate(parts) if one.kind in kinds and at not in heads]


def _parts_head(part: MarkdownBlock) -> bool:
    return part.kind == "row" and not any(map(str.isalnum, MARKER.sub("", part.text)))


_MAX_BLOCKS_ABOVE = 50  # that are searched for the introduction of a block
_MAX_TABLE_ROWS = 1_000  # above a row that are searched for its head
_ROWS_AROUND = 25  # on each side of a row


class BlockContext(NamedTuple):
    """What precedes a block: its introduction, and the head of its table."""

    lead: str
    head: list[str]


def get_block_context(parts: Sequence[MarkdownBlock], at: int) -> BlockContext:
    """Return the paragraph above a table or a fence, and the cells of the table's head."""
    first = _top(parts, at)
    has_head = first < at and _parts_head(parts[first + 1])
    near = reversed(parts[max(0, first - _MAX_BLOCKS_ABOVE) : first])
    above = (one.text for one in near if one.kind in ("text", "item", "quote"))
    return BlockContext(next(above, ""), split_cells(parts[first].text) if has_head else [])


def list_nearby_rows(parts: Sequence[MarkdownBlock], at: int) -> list[MarkdownBlock]:
    """Return the rows around and including a table row, without the table's head."""
    near = parts[max(_top(parts, at), at - _ROWS_AROUND) : at + _ROWS_AROUND]
    rows = [*takewhile(lambda one: one.kind == "row", near)]
    return [part for _, part in list_prose_blocks(rows) if not _parts_head(part)]


def list_siblings(parts: Sequence[MarkdownBlock], at: int) -> list[MarkdownBlock]:
    """Return the rows of the table, or the items of the list, to which a block belongs."""
    if parts[at].kind == "row":
        return list_nearby_rows(parts, at)
    if parts[at].kind != "item":
        return [parts[at]]
    above = takewhile(_is_listed, reversed(parts[max(0, at - _ROWS_AROUND) : at]))
    below = takewhile(_is_listed, parts[at : at + _ROWS_AROUND])
    return [one for one in (*reversed([*above]), *below) if one.kind == "item"]


def _is_listed(part: MarkdownBlock) -> bool:
    return part.kind in ("item", "blank")


def _top(parts: Sequence[MarkdownBlock], at: int) -> int:
    """Return where the table of a row begins; the place itself for any other block."""
    if parts[at].kind != "row":
        return at
    first = max(0, at - _MAX_TABLE_ROWS)
    return next((one for one in range(at, first, -1) if parts[one - 1].kind != "row"), first)


_BOLD = r"\*\*[^*\n]+\*\*"
_WHOLE = regex(
    f"(?P<marker>{MARKER.pattern})|(?P<quote>{QUOTE.pattern})|(?P<bold>{_BOLD})"
    f"|(?P<spoken>{QUOTED_WORDS.pattern})",
    re.DOTALL,
)
_CLAUSE = regex(r"(?:[；…]|\.\.\.)[\"'”’」』）)》]*[^\S\n]*$")
_CITED_END = regex(rf"{MARKER.pattern}[.!?]\s+(?=\S)")
"""The certain end of a sentence, even if the next one begins with a lower-case letter."""

_END = regex(r"([.!?。！？…]*)(?:</q>|\*\*|.)$", re.DOTALL)


def split_statements(text: str) -> list[str]:
    """Return the statements of a block; joined, they are equal to the block.

    A sentence does not end inside a quotation, bold type or code, nor at `；` or `…`, since its
    clauses share its citation.
    """
    return list(_split_statements(text))


@lru_cache(maxsize=1024)
def _split_statements(text: str) -> tuple[str, ...]:
    veiled = _WHOLE.sub(_veiled, map_inline_code(text, lambda code: "X" * len(code.string)))
    starts = {sentence.start for sentence in split_sentences(veiled)[1:]}
    # An overlong sentence is split anywhere, but a quotation is never split.
    starts -= {start for start in starts if veiled[start - 1 : start + 1] == "xx"}
    starts |= {end.end() for end in _CITED_END.finditer(text) if veiled[end.end() - 1].isspace()}
    each = pairwise([0, *sorted(starts)])
    whole = [start for before, start in each if not _CLAUSE.search(text, before, start)]
    return tuple(text[start:end] for start, end in pairwise([0, *whole, len(text)]))


def list_statements(part: MarkdownBlock) -> list[str]:
    """Return the statements of a block; a table row is a single one."""
    return [part.text] if part.kind == "row" else split_statements(part.text)


def _veiled(whole: re.Match[str]) -> str:
    """Hide what must not be split, except for a full stop at its end."""
    if whole["marker"]:
        return " " * len(whole[0])
    if whole["spoken"] and not is_quotation_length(whole["spoken"]):
        return whole[0]
    end = _END.search(whole[0])
    cited = re.match(r"\s*(?:\[S|<q)", whole.string[whole.end() : whole.end() + 9])
    stops = end[1] if end and (not whole["bold"] or cited) else ""
    closing = len(whole[0]) - end.end(1) if end else 1
    inside = len(whole[0]) - 1 - len(stops) - closing
    return "X" + "x" * inside + stops + '"' * closing


_TELLING = regex(r"[^\W_]|(?<=\d)[.,:/](?=\d)|[<>≤≥=±−%+]|-(?=\d)")


def statement_key(text: str) -> str:
    """Return the letters and the signed numbers of a text without its citations."""
    return "".join(_TELLING.findall(MARKER.sub("", text)))


def get_text_below(parts: Sequence[MarkdownBlock], at: int) -> str:
    """Return what a block leads to: a list, a table, or a paragraph after one sentence."""
    if parts[at].kind != "text":
        return ""
    below = map(parts.__getitem__, range(at + 1, len(parts)))
    after = next((one for one in below if one.kind != "blank"), None)
    alone = len(split_statements(parts[at].text)) == 1
    kinds = ("item", "row", "text") if alone else ("item", "row")
    return after.text if after and after.kind in kinds else ""
