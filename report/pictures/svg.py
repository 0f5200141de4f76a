"""Write SVG: measured text, wrapped lines, and the element around a drawing."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from html import escape

from report.markdown.sanitizer import to_single_line
from text.regex import regex
from text.script import CJK

WIDTH = 336
"""The width of a drawing in its own units, about as many pixels as a phone has for the text."""

FONT_SIZE = 13
"""The size of words in a drawing, in its own units."""

BOLD = 1.08
"""How much wider bold words are than others."""

_FONTS = "Helvetica, Arial, Liberation Sans, Noto Sans, Noto Sans CJK SC, sans-serif"
_LONGEST_PART = 12  # of a word that is left out whole where a text is cut in it
_NARROW = frozenset("iljtfrI.,:;'!|()[]{} /·-")
_NARROWEST = 0.36  # times the size
_BROAD = frozenset("mwMW@%—…")
_WIDE = ("W", "F", "A")  # East Asian wide, full-width and ambiguous characters
_PIECE = regex(f"\\d+[年月日号號]\\s*|[{CJK}][，。、；：？！）」』”]*\\s*|[^\\s{CJK}]+\\s*|\\s+")


def measure_text(text: str, size: float = FONT_SIZE) -> float:
    """Return about how wide a text is in a sans-serif font, rather too wide than too narrow."""
    return sum(map(_measure_letter, text)) * size


def _measure_letter(letter: str) -> float:
    if letter in _NARROW:
        return _NARROWEST
    if letter in _BROAD:
        return 0.96
    if unicodedata.east_asian_width(letter) in _WIDE and not letter.isascii():
        return 1.0
    return 0.7 if letter.isupper() else 0.57


def shorten_text(text: str, width: float, size: float = FONT_SIZE) -> str:
    """Return a text that is no wider than a width, cut with "…" if it must be."""
    if measure_text(text, size) <= width:
        return text
    kept = text[: round(width / (_NARROWEST * size)) + 1]
    while kept and measure_text(f"{kept}…", size) > width:
        kept = kept[:-1]
    whole, _, part = kept.rpartition(" ")
    kept = whole if whole and len(part) < _LONGEST_PART and part.isascii() else kept
    return f"{kept.rstrip(' ,;:，；：、')}…"


def wrap_text(text: str, width: float, lines: int, size: float = FONT_SIZE) -> list[str]:
    """Return a text in at most some lines of a width; the last one is shortened if it must be."""
    wrapped = [""]
    for piece in _PIECE.findall(to_single_line(text)):
        fits = measure_text((wrapped[-1] + piece).rstrip(), size) <= width
        if fits or not wrapped[-1]:
            wrapped[-1] += piece
        else:
            wrapped.append(piece)
    if len(wrapped) > lines:
        wrapped = [*wrapped[: lines - 1], "".join(wrapped[lines - 1 :])]
    return [shorten_text(one.rstrip(), width, size) for one in wrapped]


def write_text(x: float, y: float, text: str, **attributes: str | float) -> str:
    """Return words at a place; `anchor` is `start`, `middle` or `end` of them."""
    return f"<text{_join(x=x, y=y, **attributes)}>{escape(to_single_line(text))}</text>"


def write_lines(x: float, y: float, lines: Sequence[str], step: float, **more: str | float) -> str:
    """Return lines of words below each other, the first one at a place."""
    return "".join(write_text(x, y + step * at, one, **more) for at, one in enumerate(lines))


def write_shape(tag: str, **attributes: str | float) -> str:
    """Return an element without content; numbers have at most one decimal."""
    return f"<{tag}{_join(**attributes)}/>"


def write_group(content: str, full: str = "") -> str:
    """Return elements as a group; its full words are shown to who points at it."""
    title = f"<title>{escape(to_single_line(full))}</title>" if full else ""
    return f"<g>{title}{content}</g>"


def write_svg(
    content: str, height: float, title: str, description: str, *, has_links: bool = False
) -> str:
    """Return a drawing of the usual width.

    It has no ids, styles, scripts or references, so it can stand in any page. All its colours are
    that of the text around it.

    Args:
        content: The elements.
        height: Its height, in the units of its width.
        title: What it is, in a few words.
        description: What it shows, for who cannot see it.
        has_links: Whether there are links in it, which would be lost in an image.
    """
    label = escape(to_single_line(title))
    around = _join(
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {round(height)}",
        width=WIDTH,
        height=round(height),
        preserveAspectRatio="xMinYMin",
        role="group" if has_links else "img",
        font_family=_FONTS,
        font_size=FONT_SIZE,
        fill="currentColor",
    )
    about = f"<title>{label}</title><desc>{escape(to_single_line(description))}</desc>"
    return f'<svg{around} aria-label="{label}">{about}{content}</svg>'


def _join(**attributes: str | float) -> str:
    return "".join(f' {name}="{value}"' for name, value in _iter_attributes(attributes))


def _iter_attributes(attributes: dict[str, str | float]) -> Iterator[tuple[str, str]]:
    for name, value in attributes.items():
        spelt = {"kind": "class", "anchor": "text-anchor"}.get(name, name.replace("_", "-"))
        told = f"{round(value, 1):g}" if isinstance(value, float) else str(value)
        yield spelt, escape(told)
