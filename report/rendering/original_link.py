"""Make the address at which a browser shows the cited words of a web page."""

from __future__ import annotations

from urllib.parse import quote

from graph.records import Source
from report.citations import get_origin, get_page_anchor, to_whole_document
from report.markdown.sanitizer import to_safe_url, to_single_line
from text.regex import regex
from text.script import CJK

_MAX_WHOLE_CHARS = 90  # a longer text is named by its first and last words
_END_WORDS = 5
_WORD = regex(rf"[^\s{CJK}]+")
_CLAUSE = regex(r"[^，。；：、！？,.;:!?\n]{4,}")
_CJK = regex(f"[{CJK}]")


def build_original_link(source: Source, words: str) -> str:
    """Return the address of a web page with a text fragment; "" for anything but a web page.

    A browser that finds the words scrolls to them and highlights them; any other opens the page
    (https://wicg.github.io/scroll-to-text-fragment/).

    Args:
        source: The cited page.
        words: The cited words; may be empty.
    """
    if get_origin(source) != "web":
        return ""
    address = to_safe_url(to_whole_document(source)["location"])
    if not address:
        return ""
    anchor = get_page_anchor(source)
    directive = _write_directive(words)
    if not directive:
        return f"{address}#{anchor}" if anchor else address
    return f"{address}#{anchor}:~:{directive}"


def _write_directive(words: str) -> str:
    line = to_single_line(words)
    # A text fragment lies within one block of a page, or begins and ends in two.
    if line and len(line) <= _MAX_WHOLE_CHARS and "\n" not in words.strip():
        return f"text={_escape(line)}"
    ends = _find_ends(line)
    return f"text={_escape(ends[0])},{_escape(ends[1])}" if ends else ""


def _find_ends(line: str) -> tuple[str, str] | None:
    """Return the first and the last words of a long text, at borders of words."""
    if _CJK.search(line):
        clauses = [one[0].strip() for one in _CLAUSE.finditer(line)]
        return (clauses[0], clauses[-1]) if len(clauses) > 1 else None
    words = _WORD.findall(line)
    if len(words) < 2 * _END_WORDS:
        return None
    return " ".join(words[:_END_WORDS]), " ".join(words[-_END_WORDS:])


def _escape(words: str) -> str:
    """Return words for a text directive, in which `-`, `,` and `&` have a meaning."""
    return quote(words, safe="").replace("-", "%2D")
