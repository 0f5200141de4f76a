"""Judge one statement by the sources it names."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import NamedTuple

from graph.records import Quote
from report.marks import MARKER, SPOKEN, blank, cites, outside
from report.markup import URL
from report.places import Pages
from report.quotations import Quotation, pieces, quotations, readings
from retrieval.regex import regex

_MARKER = regex(f" ?{MARKER.pattern}")
_FOLLOWING = regex(rf"[.,;:!?。，；：！？]?\s*((?:{MARKER.pattern})+)")
_STOP = regex(r"([.!?。！？])[\s\"'”’」』»]*$")
_STOPS = tuple(".,;:!?。，；：！？")

Edits = dict[tuple[int, int], str]
"""New words for places of a statement."""


class Judged(NamedTuple):
    """What is left of a statement, the quotations in it, and why nothing is left."""

    text: str
    quotes: list[Quote]
    reason: str = ""


class Verbatim(NamedTuple):
    """A quotation, the source that has it, and the words as they stand there."""

    quotation: Quotation
    source: str
    words: str
    parts: tuple[str, ...] = ()
    """Its pieces as they stand there, where words are left out of it or were put into it."""
    joints: tuple[str, ...] = ()
    """What its writer set before each of them, and behind the last one."""


def judge(statement: str, pages: Pages) -> Judged:
    """Return a statement with its quotations proven and its markers resolved.

    A quotation that another source has is given to that source. A statement with a quotation
    that no source has, or with no citation but unknown ones, is taken out.
    """
    proven: list[Verbatim] = []
    for quotation in quotations(statement):
        found = _found(quotation, [quotation.source, *cites(statement)], pages)
        if found is None:
            return Judged("", [], "quote_not_found")
        proven.append(found)
    marked = bool(MARKER.search(blank(statement)))
    text = outside(_repaired(statement, proven), lambda part: _resolved(part, pages))
    if proven and not any(map(str.isalnum, _own_words(statement))):
        text = outside(text, lambda part: _of_quotes(part, proven, pages))
    if marked and not cites(text):
        return Judged("", [], "unknown_source")
    quotes = [
        Quote(source=one.source, text=words) for one in proven for words in one.parts or [one.words]
    ]
    return Judged(text, quotes)


def _found(quotation: Quotation, named: Sequence[str], pages: Pages) -> Verbatim | None:
    """Return a quotation with the source that has it, whole or in the pieces it was cut into."""
    whole = pages.find(readings(quotation), named)
    if whole:
        # An address is not shown, not even as a part of a quotation.
        return Verbatim(quotation, whole[0], max(URL.split(whole[1]), key=len).strip())
    cut = pieces(quotation)
    found = pages.find_cut(cut, named) if cut else None
    if found is None or any(map(URL.search, found[1])):
        return None
    source, parts = found
    joints = tuple(piece.joint for piece in cut)
    return Verbatim(quotation, source, parts[0], tuple(parts), joints)


def _own_words(statement: str) -> str:
    """Return what a statement says beside its quotations."""
    outside_marked = MARKER.sub("", blank(statement)).replace("\0", "")
    return SPOKEN.sub("", outside_marked)


def _of_quotes(text: str, proven: Sequence[Verbatim], pages: Pages) -> str:
    """Return a text without the markers of sources that have none of the quotations."""

    def kept(marker: re.Match[str]) -> str:
        has = (pages.find([one.words], [marker[1]]) for one in proven)
        return marker[0] if any(found and found[0] == marker[1] for found in has) else ""

    return _MARKER.sub(kept, text)


def _repaired(statement: str, proven: Sequence[Verbatim]) -> str:
    """Return the statement with each quotation as its source has it, given to its source."""
    markers = list(MARKER.finditer(blank(statement)))
    edits: Edits = {}
    for one in proven:
        if one.quotation.marked:
            edits |= _rewritten(statement, one, markers)
        elif one.source not in cites(statement):
            edits |= _given(one, markers, {other.source for other in proven}, edits)
    for (start, end), new in sorted(edits.items(), reverse=True):
        statement = statement[:start] + new + statement[end:]
    return statement


def _rewritten(statement: str, one: Verbatim, markers: Sequence[re.Match[str]]) -> Edits:
    """Return the changes that make a marked quotation, and the markers after it, right."""
    quotation = one.quotation
    following = _FOLLOWING.match(statement, quotation.end)
    end = following.end() if following and quotation.source != one.source else quotation.end
    wrong = [
        marker
        for marker in markers
        if quotation.end <= marker.start() < end and marker[1] in (quotation.source, "?")
    ]
    joints = one.joints or ("",)
    marked = "".join(
        f'{joint}<q s="{one.source}">{html.escape(words, quote=False)}</q>'
        for joint, words in zip(joints, one.parts or [one.words], strict=False)
    )
    marked += "".join(joints[len(one.parts) :]) if one.parts else ""
    stop = _STOP.search(quotation.words)
    if stop and not one.words.endswith(stop[1]) and statement[quotation.end :][:1] not in _STOPS:
        marked += stop[1]
    rewritten = {(quotation.start, quotation.end): marked}
    return rewritten | {marker.span(): f"[{one.source}]" for marker in wrong}


def _given(
    one: Verbatim, markers: Sequence[re.Match[str]], needed: set[str], edits: Edits
) -> Edits:
    """Return the change that gives words in quotation marks to the source that has them.

    The nearest marker takes the new source, unless another quotation needs the one it has.
    """
    after = [marker for marker in markers if marker.start() >= one.quotation.start]
    nearest = after[0] if after else markers[-1] if markers else None
    if nearest and nearest[1] not in needed and nearest.span() not in edits:
        return {nearest.span(): f"[{one.source}]"}
    return {(one.quotation.end, one.quotation.end): f"[{one.source}]"}


def _resolved(text: str, pages: Pages) -> str:
    return _MARKER.sub(lambda marker: marker[0] if marker[1] in pages.texts else "", text)
