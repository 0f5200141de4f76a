"""The words of a piece of a numbered report, and the citations in it."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

from report.markdown.markdown_reader import make_markdown_reader, may_have_markup
from report.markdown.sanitizer import to_single_line
from report.rendering.numbering import DOUBT_MARK, FIRST_USE_MARK, INFERENCE_START, PRIVATE_MARK
from text.regex import regex

_CITATION = regex("[ \u00a0]*\ue000[^\ue001]*\ue001([\U000f0000-\U000ffffd])")


class CitedText(NamedTuple):
    """Plain words with what they rest on."""

    words: str
    uses: tuple[int, ...] = ()
    """The places of its citations among the uses of the numbered text."""
    is_doubted: bool = False
    is_inferred: bool = False


def read_cited_text(numbered: str) -> CitedText:
    """Return a piece of numbered Markdown in one line as plain words, without numbers and marks."""
    uses = tuple(ord(mark) - FIRST_USE_MARK for mark in _CITATION.findall(numbered))
    bare = PRIVATE_MARK.sub("", _CITATION.sub("", numbered))
    return CitedText(
        words=_to_plain(bare),
        uses=tuple(dict.fromkeys(uses)),
        is_doubted=bool(DOUBT_MARK.search(numbered)),
        is_inferred=INFERENCE_START in numbered,
    )


@lru_cache(maxsize=1024)
def _to_plain(markdown: str) -> str:
    if not may_have_markup(markdown):
        return to_single_line(markdown)
    (inline,) = _get_reader().parseInline(markdown.strip())
    parts = (" " if one.type.endswith("break") else one.content for one in inline.children or [])
    return to_single_line("".join(parts))


_get_reader = cache(make_markdown_reader)
