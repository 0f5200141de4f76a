"""What a report cites: the document, the place in it, and an excerpt of the words around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from typing import NamedTuple
from urllib.parse import parse_qsl

from graph.records import Source
from report.evidence_spans import EvidenceSpan
from text.regex import regex
from text.text_blocks import find_headings_above

_MAX_PLACE_LINES = 60  # of a longer place only the cited lines are named
SECTION_SEPARATOR = " — "
"""What stands between the title of a document and that of a section in the title of a page."""

RANGE_SEPARATOR = " … "
"""What stands between the first and the last heading in the title of several sections."""

_LONGEST = 48
_LINES = regex(r"L(\d+)(?:-L(\d+))?(?:-\d+)?(?:&part=\d+)?")
_LONG = regex(r"(?P<kind>(?:^|&)rows=(?=\d+-\d)|^L(?=\d+-L))(?P<first>\d+)-L?(?P<last>\d+)")
_RANGE = regex(r"\d+(?:-\d+)?")
_EN = {
    "page": ("p. {}", "pp. {}"),
    "slide": ("slide {}", "slides {}"),
    "chapter": ("chapter {}", "chapters {}"),
    "cell": ("cell {}", "cells {}"),
    "rows": ("row {}", "rows {}"),
    "lines": ("line {}", "lines {}"),
    "sheet": ("sheet {}", "sheet {}"),
    "part": ("part {}", "parts {}"),
    "section": ("“{}”", "“{}”"),
}
_ZH = {
    "page": "第 {} 页",
    "slide": "第 {} 张幻灯片",
    "chapter": "第 {} 章",
    "cell": "第 {} 个单元",
    "rows": "第 {} 行",
    "lines": "第 {} 行",
    "sheet": "工作表 {}",
    "part": "第 {} 部分",
    "section": "“{}”",
}


def get_document_key(source: Source) -> str:
    """Return what all sources of one document share; what is remembered is cited page by page."""
    return _split(source)[0] or source["page"]


def to_whole_document(source: Source) -> Source:
    """Return the document that a source is a part of, as a list of sources names it."""
    path, place = _split(source)
    if not path or not place:
        return source
    title = (
        source["title"].split(SECTION_SEPARATOR, 1)[0]
        if source["kind"] == "file"
        else source["title"]
    )
    number = dict(parse_qsl(place)).get("part", "")
    title = title.removesuffix(f" ({number})") if number else title
    return source | {"title": title, "location": path}


def is_wide_place(source: Source) -> bool:
    """Say whether a place is so long, or so many sections, that the part that is cited is told."""
    return _is_long_place(source) or (
        source["kind"] == "file" and RANGE_SEPARATOR in _section(source)
    )


def _is_long_place(source: Source) -> bool:
    """Say whether a place has so many lines or rows that those that are cited are told."""
    found = _LONG.search(_split(source)[1])
    return found is not None and int(found["last"]) - int(found["first"]) >= _MAX_PLACE_LINES


def narrow_place(source: Source, text: str, cited: EvidenceSpan | None) -> Source:
    """Return a source with a place that is no longer than it must be for what is cited of it.

    Each line of a page's text is a line or row of its document, or several that were joined, so
    those above and below what is cited are certain not to be cited. Of several sections it is the
    one whose heading stands above what is cited.

    Args:
        source: The source.
        text: The text of its page.
        cited: The part of the text that is cited, if that is known.
    """
    path, where = _split(source)
    found = _LONG.search(where)
    if cited and not found and is_wide_place(source):
        return _under_heading(source, text, cited)
    if cited is None or not found or not _is_long_place(source):
        return source
    first, last = int(found["first"]), int(found["last"])
    if text.count("\n") > last - first:
        return source
    first += text.count("\n", 0, cited.start)
    last -= text.count("\n", max(cited.start, cited.end - 1))
    line = "L" if found["kind"] == "L" else ""
    several = f"-{line}{last}" if last > first else ""
    place = f"{where[: found.start()]}{found['kind']}{first}{several}{where[found.end() :]}"
    return source | {"location": f"{path}#{place}"}


def _under_heading(source: Source, text: str, cited: EvidenceSpan) -> Source:
    """Return a source of several sections as the one whose heading is above what is cited."""
    above = [one for one in find_headings_above(text, cited.start) if not one.startswith("-")]
    document = source["title"].partition(SECTION_SEPARATOR)[0]
    return source | {"title": f"{document}{SECTION_SEPARATOR}{above[-1]}"} if above else source


def disambiguate_titles(sources: Sequence[Source]) -> list[Source]:
    """Return documents with the names of their files behind titles that several of them have."""
    titles = Counter(source["title"] for source in sources)
    return [
        source | {"title": f"{source['title']} ({PurePath(source['location']).name})"}
        if source["kind"] == "file" and source["title"] and titles[source["title"]] > 1
        else source
        for source in sources
    ]


def describe_place(source: Source, language: str) -> str:
    """Return where in its document a source stands, in words, or nothing."""
    _, where = _split(source)
    lines = _LINES.fullmatch(where)
    if lines:
        return _worded("lines", "-".join(filter(None, lines.groups())), language)
    named = [(name, value) for name, value in parse_qsl(where) if _is_counted(name, value)]
    if named:
        return ", ".join(_worded(name, value, language) for name, value in _without_part(named))
    section = _section(source)
    if source["kind"] != "file" or not where or not section:
        return ""
    return _worded("section", _cut(section), language)


def _section(source: Source) -> str:
    return source["title"].partition(SECTION_SEPARATOR)[2]


def _split(source: Source) -> tuple[str, str]:
    """Return the address of a document and the place in it; a name may have a `#`, no place has."""
    if source["kind"] == "file":
        path, mark, where = source["location"].rpartition("#")
        return (path, where) if mark else ("", "")
    if source["kind"] == "web":
        path, _, where = source["location"].partition("#")
        return path, where
    return "", ""


def _is_counted(name: str, value: str) -> bool:
    return name == "sheet" or (name in _EN and bool(_RANGE.fullmatch(value)))


def _without_part(named: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Leave out which part of a page it is: a reader sees pages."""
    return [one for one in named if one[0] != "part"] or named


def _worded(name: str, value: str, language: str) -> str:
    shown = value.replace("-", "–") if name not in ("sheet", "section") else value
    if language.lower().startswith("zh"):
        return _ZH[name].format(shown)
    return _EN[name]["–" in shown].format(shown)


def _cut(title: str) -> str:
    """Return a section's title, or its first words where it is long; of several, of the ends."""
    ends = title.split(RANGE_SEPARATOR)
    most = _LONGEST // len(ends)
    return " – ".join(one if len(one) <= most else _begun(one, most) for one in ends)


def _begun(title: str, most: int) -> str:
    return f"{title[:most].rsplit(' ', 1)[0]}…"


_EXCERPT_MARGIN = 160  # characters on each side of what is cited
FALLBACK_EXCERPT_CHARS = 300
"""Of a page so many characters are shown where nothing tells which of them are meant."""

_STOP = regex(r"[.!?](?=\s)|[。！？]")
_SPACE = regex(r"\s+")
_HEADING = regex(r"^\s*#{1,6}\s+")
_BREAK = regex(
    r"[ \t]*\n\s*\n\s*|[ \t]*\n(?=[ \t]*(?:[-*+•]|\d{1,3}[.)])\s)|(?<=[:：]) *\n"
)  # a new paragraph, item or row


class ExcerptPart(NamedTuple):
    """Some words of a page, and which of the cited parts they are, from 1; 0 for none."""

    text: str
    cited: int = 0


def group_spans(spans: Sequence[EvidenceSpan]) -> list[list[EvidenceSpan]]:
    """Return the parts of one page in order, those together whose surroundings meet."""
    groups: list[list[EvidenceSpan]] = []
    for span in sorted(set(spans)):
        if groups and span.start - groups[-1][-1].end <= 2 * _EXCERPT_MARGIN:
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


def build_excerpt(text: str, spans: Sequence[EvidenceSpan]) -> list[ExcerptPart]:
    """Return a passage: neighbouring parts of a page that are cited, and what is around them.

    A part that is not certain to be what is cited is shown without being told apart.
    """
    start, end = (
        max(0, spans[0].start - _EXCERPT_MARGIN),
        max(span.end for span in spans) + _EXCERPT_MARGIN,
    )
    stop = _STOP.search(text, end - 1, end + _EXCERPT_MARGIN)
    end = stop.end() if stop else end
    certain = [(number, span) for number, span in enumerate(spans, start=1) if span.certain]
    done = certain[0][1].start if certain else spans[0].start
    found = [ExcerptPart(_from_word(text[start:done], whole=start == 0))]
    for number, span in certain:
        found.append(ExcerptPart(_line(text[done : span.start])))
        found.append(ExcerptPart(_line(text[max(done, span.start) : span.end]), number))
        done = max(done, span.end)
    found.append(ExcerptPart(_to_word(text[done:end], whole=end >= len(text))))
    return [piece for piece in found if piece.text or piece.cited]


def _line(text: str) -> str:
    """Return a text whose wrapped lines are joined; headings lose their marks."""
    parts = (_SPACE.sub(" ", _HEADING.sub("", part)) for part in _BREAK.split(text))
    return "\n".join(parts)


def _from_word(text: str, *, whole: bool) -> str:
    cut = _line(text)
    head, space, rest = cut.partition(" ")
    if whole:
        return cut.lstrip()
    return f"… {rest if space and len(head) < len(cut) // 2 else cut}"


def _to_word(text: str, *, whole: bool) -> str:
    cut = _line(text)
    rest, space, tail = cut.rpartition(" ")
    if whole:
        return cut.rstrip()
    if _STOP.search(f"{cut[-1:]} "):
        return f"{cut} …"
    return f"{rest if space and len(tail) < len(cut) // 2 else cut} …"
