"""Turn headings and paragraphs into sections that are named after their headings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from retrieval.regex import regex
from retrieval.script import CJK
from tools.files.sections import Piece, arrange
from tools.files.shapes import Document

_NOT_IN_SLUG = regex(r"[^\w\- ]")
_BETWEEN = regex(f"(?<=[{CJK}])\\s+(?=[{CJK}])")


PROSE = 12
"""What has so many words is a paragraph, and no byline, badge or motto."""


class Block(NamedTuple):
    """A paragraph (level 0) or a heading (level 1 to 9)."""

    text: str
    level: int = 0
    linked: float = 0.0
    """The share of its characters that are links."""
    around: bool = False
    """Whether it stands in a menu, a footer or a margin of its page."""


def outline(blocks: Iterable[Block], title: str = "") -> Document:
    """Return the document of these blocks, titled by its own heading if `title` is empty."""
    blocks = [*blocks]
    found = [("", "top", [""])]
    seen: Counter[str] = Counter()
    for block in blocks:
        if block.level:
            found.append((block.text, slug(block.text, seen), []))
        found[-1][2].append(written(block))
    pieces = [Piece(heading, place, place, "".join(texts)) for heading, place, texts in found]
    sections = arrange(pieces, lambda first, last: first)
    return Document(title=title or _heading(blocks), sections=sections)


def _heading(blocks: Sequence[Block]) -> str:
    """Return the heading of a whole document: what it begins with, or its one main heading.

    What stands below the first paragraphs is otherwise the heading of a part.
    """
    at = next((at for at, one in enumerate(blocks) if one.level and one.text.strip()), None)
    if at is None:
        return ""
    main = [one.text for one in blocks if one.level == 1]
    if len(main) != 1 and any(len(one.text.split()) >= PROSE for one in blocks[:at]):
        return ""
    return main[0] if len(main) == 1 else blocks[at].text


def written(block: Block) -> str:
    """Return a block as it stands in the text of a section: headings are marked with `#`."""
    mark = "#" * min(block.level, 6) + " " if block.level else ""
    return f"{mark}{block.text}\n\n"


def slug(heading: str, seen: Counter[str]) -> str:
    """Return the anchor that GitHub gives to a heading; a second one like it gets `-1`."""
    name = _NOT_IN_SLUG.sub("", heading.strip().lower()).replace(" ", "-") or "section"
    seen[name] += 1
    return name if seen[name] == 1 else f"{name}-{seen[name] - 1}"


def one_line(text: str) -> str:
    """Return a text without its line ends; Chinese lines are joined without a space."""
    if not text.isascii():
        text = _BETWEEN.sub(lambda space: "" if "\n" in space[0] else " ", text)
    return " ".join(text.split())


def row(header: list[str], cells: list[str]) -> str:
    """Write a row of a table as a sentence: `hive: A; weight: 38.2.`."""
    names = header + [""] * (len(cells) - len(header))
    pairs = [(name, cell) for name, cell in zip(names, cells, strict=False) if cell]
    line = "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs)
    return f"{line}." if line and line[-1] not in ".!?。！？" else line
