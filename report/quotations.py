"""Find the quotations of a statement, and how each may be read."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from report.marks import MARKER, QUOTE, SPOKEN, blank, cites, long_enough
from report.openers import without_transition
from retrieval.regex import regex
from retrieval.script import CJK, HAN

_EMPHASIS = regex(r"\*+|(?<!\w)_+|_+(?!\w)|`")
_OPENING = "\"'“”„«»「」『』‘’‹›＂ \n\t…⋯.-–—"
_CLOSING = _OPENING + ",;:!?。，；：！？、"
_LETTER = regex(rf"\[([^\W_{CJK}])\](?=[^\W\d_{CJK}])")
"""A letter that was made a capital or a small one, as in `[T]he`."""

_DOTS = r"(?:\.{2,}|…+|⋯+|。{2,})"
_REMARK = (
    r"sic!?|(?:emphasis|italics)\s+(?:is\s+)?(?:added|mine|ours|supplied|in\s+(?:the\s+)?original)"
    r"|原文如此|(?:着重|强调|強調|重点|重點)(?:号|號)?(?:为|為|系|由)?(?:引者|笔者|筆者|作者)?所?加"
)
_LEFT_OUT = regex(
    rf"\s*(?:[\[(（［〔【]\s*(?:(?P<dots>{_DOTS}|[前中后後下]?略)|(?P<remark>{_REMARK}))\s*[\])）］〕】]"
    rf"|(?P<bare>{_DOTS})|(?:\b[a-z]+\[[a-z'’]{{1,4}}\]|[\[［〔【](?!S\d|\?)[^\[\]［］〔〕【】\n]{{1,40}}[\]］〕】]))\s*",
    re.IGNORECASE,
)
"""What stands for words that are left out of a quotation, or that its writer put into it."""

DENIES = regex(
    r"\b(?:not|never|no|none|nor|neither|cannot|without|unless|if|hardly|rarely)\b|n['’]t\b"
    r"|[不没沒未无無非别勿]|[否如]|若",
    re.IGNORECASE,
)
"""What may not be left out of a quotation, nor put into it."""

REPLACED = 150
"""Words in brackets take the place of so many characters of a source at most."""

FEWEST = 2
"""So many words at least has each piece of a quotation."""

SHORTEST = 3
"""So many Chinese characters and digits at least, as a name has."""


class Quotation(NamedTuple):
    """Words that a statement says stand in a source: `statement[start:end]`."""

    start: int
    end: int
    source: str
    """The source it names itself, or nothing where the statement names it."""
    words: str
    marked: bool
    """Whether it is marked `<q>`, and not only set in quotation marks."""
    written: str = ""
    """The words as they are written, where a source may itself have `&lt;` in it."""


class Piece(NamedTuple):
    """A part of a quotation that stands in its source as it is, and what is before it here."""

    words: str
    """Nothing for what the writer set behind the last part."""
    joint: str = ""
    """What the writer set before it: an ellipsis, words in brackets, or a remark."""
    reach: int | None = None
    """How many characters of the source at most stand before it in place of that."""


def quotations(statement: str) -> list[Quotation]:
    """Return the quotations of a statement, in order.

    Words in quotation marks count where the statement cites something and they are long enough.
    """
    marked = [
        Quotation(*quote.span(), quote[1] or "", html.unescape(quote[2]), True, quote[2])
        for quote in QUOTE.finditer(statement)
    ]
    if not cites(statement):
        return marked
    spoken = [
        Quotation(*quote.span(), "", quote[quote.lastgroup or 0], False)
        for quote in SPOKEN.finditer(blank(statement))
    ]
    plain = [one for one in spoken if long_enough(one.words) and "\0" not in one.words]
    return sorted([*marked, *plain])


def readings(quotation: Quotation) -> list[str]:
    """Return the ways in which a quotation may be read, from the letter to the looser.

    Marks, emphasis and the punctuation at its ends may be the writer's. Where the words will be
    replaced by those of the source, so may a capital letter at the beginning.
    """
    exact = quotation.words.strip()
    spoken = MARKER.sub("", html.unescape(exact))
    plain = _EMPHASIS.sub("", spoken).strip()
    bare = plain.lstrip(_OPENING).rstrip(_CLOSING)
    ways = [exact, spoken.strip(), plain, bare]
    if quotation.marked:
        ways.append(quotation.written.strip())
        ways += [way[:1].swapcase() + way[1:] for way in (plain, bare)]
    return [way for way in dict.fromkeys(ways) if way]


def pieces(quotation: Quotation) -> list[Piece]:
    """Return the parts of a quotation, cut where its writer left words out or put some in.

    There are none where a part is too short to be known in its source, or where what was put in
    denies something.
    """
    said = _LETTER.sub(r"\1", MARKER.sub("", html.unescape(quotation.words)))
    found: list[Piece] = []
    joint, reach, at = "", None, 0
    for cut in [*_LEFT_OUT.finditer(said), None]:
        words = said[at : cut.start() if cut else len(said)].strip(_CLOSING)
        if any(map(str.isalnum, words)):
            found.append(Piece(words, joint, reach if found else None))
            joint = ""
        if cut:
            joint, reach, at = joint + cut[0], _reach(cut), cut.end()
    runs = [at for at, one in enumerate(found) if one.reach is None]
    groups = [found[start:end] for start, end in pairwise([*runs, len(found)])]
    put_in = "".join(one[0] for one in _LEFT_OUT.finditer(said) if _reach(one))
    short = [group for group in groups if not _is_long(group)]
    if DENIES.search(put_in) or short not in ([], [group for group in groups[:1] if _joins(group)]):
        return []
    return [*found, Piece("", joint.rstrip())] if joint.strip() and found else found


def _reach(cut: re.Match[str]) -> int | None:
    """Return how many characters of a source what stands there may take the place of."""
    if cut["dots"] or cut["bare"]:
        return None
    return 0 if cut["remark"] else REPLACED


def _is_long(run: Sequence[Piece]) -> bool:
    said = " ".join(piece.words for piece in run)
    return len(said.split()) >= FEWEST or _is_named(said)


def _joins(run: Sequence[Piece]) -> bool:
    """Tell whether a part only joins a sentence to the one before it, as "In addition" does."""
    return not without_transition(f"{run[0].words}, ").strip(" ,")


def _is_named(said: str) -> bool:
    signs = re.findall(f"[{HAN}\\d]", said)
    return len(signs) >= SHORTEST and any(not one.isdigit() for one in signs)
