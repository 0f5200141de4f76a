"""Write the small parts of a page of HTML: text, paragraphs, sections, jumps and excerpts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from report.citations import ExcerptPart
from report.labels import get_label
from report.markdown.sanitizer import to_single_line
from text.regex import regex
from text.script import detect_language

_SUBTAG = regex("[a-z]{2,3}")
_TAGS = {"zh": "zh-CN"}


def escape_line(text: str) -> str:
    """Return a text in one line, escaped for HTML and its attributes."""
    return escape(to_single_line(text))


def render_language(text: str, language: str, declared: str = "") -> str:
    """Return the attribute that tells the language of a text, or "" if it is that of the page.

    Args:
        text: The text, whose script tells English from Chinese where nothing is declared.
        language: The language of the page, `en` or `zh`.
        declared: The primary subtag that its source declares; may be empty.
    """
    own = declared if _SUBTAG.fullmatch(declared) else detect_language(text)
    return "" if own == language else f' lang="{_TAGS.get(own, own)}"'


def to_language_tag(language: str) -> str:
    """Return the tag of a page in `en` or `zh`."""
    return _TAGS.get(language, language)


def render_paragraph(text: str, kind: str = "") -> str:
    """Return a text as a paragraph of a class; "" for an empty one."""
    shown = escape_line(text)
    opening = f'<p class="{kind}">' if kind else "<p>"
    return f"{opening}{shown}</p>" if shown else ""


def render_section(name: str, lines: Sequence[str], language: str, tag: str = "ol") -> str:
    """Return a section with a list; only those with numbered items have a style of their own."""
    if not lines:
        return ""
    heading, items = f"<h2>{get_label(name, language)}</h2>", "\n".join(lines)
    style = f' class="{name}"' if tag == "ol" else ""
    return f"<section{style}>{heading}\n<{tag}>\n{items}\n</{tag}></section>"


def render_disclosure(label: str, content: str, kind: str, *, opened: bool = False) -> str:
    """Return a content that a reader opens on a screen, and that is always printed.

    The content stands behind the element that opens it, since browsers print nothing of a closed
    one.
    """
    state = " open" if opened else ""
    return (
        f"<details{state}><summary>{escape_line(label)}</summary></details>\n"
        f'<div class="{kind}">{content}</div>'
    )


def render_excerpt(pieces: Sequence[ExcerptPart], language: str, declared: str = "") -> str:
    """Return a paragraph of a source with its cited parts marked.

    Args:
        pieces: The parts of the paragraph.
        language: The language of the page, `en` or `zh`.
        declared: The primary subtag of the language that the source declares; may be empty.
    """
    own = render_language("".join(one.text for one in pieces), language, declared)
    return f"<blockquote{own}>{''.join(map(_piece, pieces))}</blockquote>"


def _piece(piece: ExcerptPart) -> str:
    """Return a part of a paragraph, keeping the space at its ends."""
    text = piece.text
    ends = (" " if text[:1].isspace() else "", " " if text[-1:].isspace() else "")
    lines = "<br>\n".join(map(escape_line, text.split("\n")))
    shown = f"{ends[0]}{lines}{ends[1]}" if text.strip() else " "
    return f"<mark>{shown}</mark>" if piece.cited else shown
