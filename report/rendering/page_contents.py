"""List the headings of a long report, each a link to its place."""

from __future__ import annotations

import re
from typing import NamedTuple

from report.labels import get_label
from report.rendering.html_parts import render_disclosure
from text.regex import regex
from text.script import CJK

_MIN_WORDS = 1500
_MIN_HEADINGS = 3
_MAX_ENTRIES = 40  # with more, the headings of the third rank are left out
_HEADING = regex(r"<h([23])>(.*?)</h\1>")
_MARKS = regex(r'<a class="(?:ref|doubt)".*?</a>|<span class="(?:tag|standing)">.*?</span>|<[^>]+>')
_WORD = regex(f"[{CJK}]|[^\\W_{CJK}]+")


class HeadingEntry(NamedTuple):
    """A heading with its rank, 2 or 3, its id and its text as HTML."""

    rank: int
    name: str
    text: str


def build_contents(body: str, rest: str, language: str) -> tuple[str, str, str]:
    """Return the contents of a report, its body and the rest with ids of headings.

    Of a short report, or one with few headings, there are no contents, and nothing changes.

    Args:
        body: The text of the report as HTML.
        rest: What stands below it, with headings of the second rank.
        language: The language of the page, `en` or `zh`.
    """
    plain = _MARKS.sub(" ", body)
    if len(_HEADING.findall(body)) < _MIN_HEADINGS or len(_WORD.findall(plain)) < _MIN_WORDS:
        return "", body, rest
    entries: list[HeadingEntry] = []

    def name(found: re.Match[str]) -> str:
        """Return a heading with its id, and keep it."""
        entries.append(HeadingEntry(int(found[1]), f"h{len(entries) + 1}", _to_text(found[2])))
        return f'<h{found[1]} id="{entries[-1].name}">{found[2]}</h{found[1]}>'

    body, rest = _HEADING.sub(name, body), _HEADING.sub(name, rest)
    return _render_contents(entries, language), body, rest


def _render_contents(entries: list[HeadingEntry], language: str) -> str:
    label = get_label("contents", language)
    chosen = [one for one in entries if one.rank == 2] if len(entries) > _MAX_ENTRIES else entries
    items = "".join(
        f'<li class="rank{one.rank}"><a href="#{one.name}">{one.text}</a></li>' for one in chosen
    )
    folded = render_disclosure(label, f"<ol>{items}</ol>", "entries")
    heading = f'<h2 id="contents">{label}</h2>'
    return f'<nav class="contents" aria-labelledby="contents">{heading}{folded}</nav>'


def _to_text(heading: str) -> str:
    """Return a heading without its citations, marks and elements."""
    return " ".join(_MARKS.sub("", heading).split())
