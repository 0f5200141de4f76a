"""Check what a model wrote against the stored text of its sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from graph.records import Quote, Removed
from report.blocks import Block, blocks, joined, without_gone
from report.claims import preference, speaks_to_machines, wish
from report.code import with_code, without_code
from report.judge import Judged, judge
from report.marks import MARKER, blank, cites, outside, point, spell, tidy
from report.markup import disarm, sends, stop, unframe, unsent
from report.places import Pages
from report.statements import statements

PASSES = 6
"""How often a text is gone over, at most, until nothing changes any more."""


class Checked(NamedTuple):
    """A text in which every marker names a source and every quotation stands in its source."""

    body: str
    cited: list[str]
    """The ids of the sources in the order of their first use."""
    quotes: list[Quote]
    removed: list[Removed]


def check(body: str, texts: Mapping[str, str]) -> Checked:
    """Return `body` without what its sources do not say.

    Addresses, links, images, HTML and thoughts are stripped, markers and quotations brought to
    one spelling, quotations found in another source given to it. A sentence that cites only
    unknown sources, or quotes what no source has, is removed. To check twice changes nothing.

    Args:
        body: Markdown as a model wrote it.
        texts: The full text of each source by its id.
    """
    pages = Pages(texts)
    removed: list[Removed] = []
    for _ in range(PASSES):
        checked = _once(body, pages)
        removed += checked.removed
        if checked.body == body:
            break
        body = checked.body
    return checked._replace(removed=removed)


def _once(body: str, pages: Pages) -> Checked:
    quotes: list[Quote] = []
    removed: list[Removed] = []
    parts = blocks(spell(unframe(body), pages.texts))
    for at, part in enumerate(parts):
        if part.kind not in ("blank", "rule", "fence"):
            text = _checked(part, pages, quotes, removed)
            parts[at] = part._replace(text=text, kind=part.kind if text else "gone")
    kept = without_gone(parts)
    cited = [name for part in kept if part.kind != "fence" for name in cites(part.text)]
    return Checked(joined(kept), list(dict.fromkeys(cited)), quotes, removed)


def _checked(part: Block, pages: Pages, quotes: list[Quote], removed: list[Removed]) -> str:
    """Return what is left of the words of a block; note its quotations and what was removed.

    A row of a table is one statement.
    """
    before = len(removed)
    told = part.text if part.kind == "row" else _unsent(part.text, removed)
    text = tidy(point(tidy(told), pages.texts))
    kept: list[str] = []
    for statement in [text] if part.kind == "row" else statements(text):
        judged = _unarmed(statement, pages) or judge(statement, pages)
        kept.append(_disarmed(judged.text))
        quotes += judged.quotes
        if judged.reason:
            removed.append(Removed(text=statement.strip(), reason=judged.reason))
    left = "".join(kept).strip()
    if len(removed) > before and not any(map(str.isalnum, MARKER.sub("", left))):
        return ""
    return left


def _unsent(text: str, removed: list[Removed]) -> str:
    """Return a block without what sends its reader to a web address; note what was left out."""
    kept: list[str] = []
    for statement in statements(text):
        rest = unsent(blank(statement))
        if rest is None:
            kept.append(statement)
            continue
        said = statement[: len(rest)] if any(map(str.isalnum, rest)) else ""
        left = MARKER.findall(statement[len(said) :])
        removed.append(Removed(text=statement[len(said) :].strip(" ,，;；\n"), reason="address"))
        marks = "".join(f"[{name}]" for name in left) if said and not cites(said) else ""
        kept.append(f"{said.rstrip()}{marks and ' '}{marks}{stop(statement)}" if said else "")
    return "".join(kept)


def _unarmed(statement: str, pages: Pages) -> Judged | None:
    """Take out what would have a page speak to its reader, or for its reader; None of the rest."""
    said = blank(statement)
    if sends(said):
        return Judged("", [], "address")
    return Judged("", [], "wish") if wish(said) or _planted(said, pages) else None


def _planted(said: str, pages: Pages) -> bool:
    """Tell whether a statement tells a user's wish of a page that gives orders to models."""
    if not preference(said):
        return False
    named = [name for name in cites(said) if name in pages.texts]
    return any(speaks_to_machines(pages.texts[name]) for name in named or pages.texts)


def _disarmed(statement: str) -> str:
    """Return a statement without bare domains in its prose."""
    bare, kept = without_code(statement)
    return with_code(outside(bare, disarm), kept)
