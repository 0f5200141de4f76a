"""Cut a block into statements: each a sentence together with the marks that follow it."""

from __future__ import annotations

import re
from itertools import pairwise

from report.blocks import Block
from report.code import changed
from report.marks import MARKER, QUOTE, SPOKEN, long_enough
from retrieval.regex import regex
from retrieval.text import sentences

_BOLD = r"\*\*[^*\n]+\*\*"
_WHOLE = regex(
    f"(?P<marker>{MARKER.pattern})|(?P<quote>{QUOTE.pattern})|(?P<bold>{_BOLD})"
    f"|(?P<spoken>{SPOKEN.pattern})",
    re.DOTALL,
)
_CLAUSE = regex(r"(?:[；…]|\.\.\.)[\"'”’」』）)》]*[^\S\n]*$")
_CITED_END = regex(rf"{MARKER.pattern}[.!?]\s+(?=\S)")
"""Where a sentence ends for certain, though the next one may begin with a small letter."""

_END = regex(r"([.!?。！？…]*)(?:</q>|\*\*|.)$", re.DOTALL)


def statements(text: str) -> list[str]:
    """Return the statements of a block; joined, they are the block again.

    A sentence does not end inside a quotation, bold type or code, nor with `；` or `…`: its clauses
    share its citation.
    """
    veiled = _WHOLE.sub(_veiled, changed(text, lambda code: "X" * len(code.string)))
    starts = {sentence.start for sentence in sentences(veiled)[1:]}
    # What is too long for a sentence is cut anywhere, and a quotation nowhere.
    starts -= {start for start in starts if veiled[start - 1 : start + 1] == "xx"}
    starts |= {end.end() for end in _CITED_END.finditer(text) if veiled[end.end() - 1].isspace()}
    each = pairwise([0, *sorted(starts)])
    whole = [start for before, start in each if not _CLAUSE.search(text, before, start)]
    return [text[start:end] for start, end in pairwise([0, *whole, len(text)])]


def statements_of(part: Block) -> list[str]:
    """Return the statements of a block; a row of a table is one."""
    return [part.text] if part.kind == "row" else statements(part.text)


def _veiled(whole: re.Match[str]) -> str:
    """Hide what may not be cut; a full stop that ends it stays to be seen."""
    if whole["marker"]:
        return " " * len(whole[0])
    if whole["spoken"] and not long_enough(whole["spoken"]):
        return whole[0]
    end = _END.search(whole[0])
    stops = end[1] if end and (not whole["bold"] or _is_cited(whole)) else ""
    closing = len(whole[0]) - end.end(1) if end else 1
    inside = len(whole[0]) - 1 - len(stops) - closing
    return "X" + "x" * inside + stops + '"' * closing


def _is_cited(whole: re.Match[str]) -> bool:
    return bool(re.match(r"\s*(?:\[S|<q)", whole.string[whole.end() : whole.end() + 9]))
