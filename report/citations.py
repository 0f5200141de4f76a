"""What a report cites: a document, and the place in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from urllib.parse import parse_qsl

from graph.records import Source
from report.placing import Part
from retrieval.headings import under
from retrieval.regex import regex

LONG = 60
"""A place of more lines or rows than these is told as those lines that are cited of it."""

SECTION = " — "
"""What stands between the title of a document and that of a section in the title of a page."""

UNTIL = " … "
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


def document_key(source: Source) -> str:
    """Return what all sources of one document share; what is remembered is cited page by page."""
    return _split(source)[0] or source["page"]


def whole(source: Source) -> Source:
    """Return the document that a source is a part of, as a list of sources names it."""
    path, place = _split(source)
    if not path or not place:
        return source
    title = source["title"].split(SECTION, 1)[0] if source["kind"] == "file" else source["title"]
    number = dict(parse_qsl(place)).get("part", "")
    title = title.removesuffix(f" ({number})") if number else title
    return source | {"title": title, "location": path}


def is_wide(source: Source) -> bool:
    """Say whether a place is so long, or so many sections, that the part that is cited is told."""
    return is_long(source) or (source["kind"] == "file" and UNTIL in _section(source))


def is_long(source: Source) -> bool:
    """Say whether a place has so many lines or rows that those that are cited are told."""
    found = _LONG.search(_split(source)[1])
    return found is not None and int(found["last"]) - int(found["first"]) >= LONG


def narrowed(source: Source, text: str, cited: Part | None) -> Source:
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
    if cited and not found and is_wide(source):
        return _under_heading(source, text, cited)
    if cited is None or not found or not is_long(source):
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


def _under_heading(source: Source, text: str, cited: Part) -> Source:
    """Return a source of several sections as the one whose heading is above what is cited."""
    above = [one for one in under(text, cited.start) if not one.startswith("-")]
    document = source["title"].partition(SECTION)[0]
    return source | {"title": f"{document}{SECTION}{above[-1]}"} if above else source


def told_apart(sources: Sequence[Source]) -> list[Source]:
    """Return documents with the names of their files behind titles that several of them have."""
    titles = Counter(source["title"] for source in sources)
    return [
        source | {"title": f"{source['title']} ({PurePath(source['location']).name})"}
        if source["kind"] == "file" and source["title"] and titles[source["title"]] > 1
        else source
        for source in sources
    ]


def place(source: Source, language: str) -> str:
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
    return source["title"].partition(SECTION)[2]


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
    ends = title.split(UNTIL)
    most = _LONGEST // len(ends)
    return " – ".join(one if len(one) <= most else _begun(one, most) for one in ends)


def _begun(title: str, most: int) -> str:
    return f"{title[:most].rsplit(' ', 1)[0]}…"
