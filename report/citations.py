"""Describe what a report cites: the document, the place in it, and an excerpt around it."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from typing import Literal, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from graph.records import Source
from report.evidence_spans import EvidenceSpan
from report.labels import format_place, get_label, is_kind_of_place
from report.markdown.sanitizer import strip_foreign_addresses
from text.regex import regex
from text.text_blocks import find_headings_above, split_blocks

_MAX_PLACE_LINES = 60  # a longer place is narrowed to the cited lines
SECTION_SEPARATOR = " — "
"""Separates the title of a document from that of a section in the title of a page."""

RANGE_SEPARATOR = " … "
"""Separates the first from the last heading in the title of several sections."""

_MAX_TITLE_CHARS = 48  # of a section in a citation
_HEADING_PLACE = "heading="
"""Begins the place of a cited part of a long page, which its heading names."""

_LINES = regex(r"L(\d+)(?:-L(\d+))?(?:-\d+)?(?:&part=\d+)?")
_LONG_RANGE = regex(r"(?P<kind>(?:^|&)rows=(?=\d+-\d)|^L(?=\d+-L))(?P<first>\d+)-L?(?P<last>\d+)")
_RANGE = regex(r"\d+(?:-\d+)?")
_STORED = regex(r"[a-z][a-z0-9+.-]*://")
"""How the address of a file in a bucket begins."""


def get_origin(source: Source) -> Literal["file", "web", "memory", "computed", "tool"]:
    """Return what a source is: a file or a web page is one wherever it was found.

    What memory or a knowledge base has found is told by its location.
    """
    if source["kind"] != "memory" and source["kind"] != "knowledge":
        return source["kind"]
    if source["location"].startswith(("http://", "https://")):
        return "web"
    known = source["kind"] == "memory" and _STORED.match(source["location"])
    return "file" if known or source["location"].startswith("/") else "memory"


def get_document_key(source: Source) -> str:
    """Return a key that the sources of one document share; a memory is a document of its own."""
    return _split_location(source)[0] or source["page"]


def to_whole_document(source: Source) -> Source:
    """Return the whole document of a source, as listed in a report."""
    path, place = _split_location(source)
    if not path or not place:
        return source
    title = source["title"]
    if get_origin(source) == "file":
        title = title.partition(SECTION_SEPARATOR)[0]
    number = dict(parse_qsl(place)).get("part", "")
    title = title.removesuffix(f" ({number})") if number else title
    return source | {"title": title, "location": path}


def describe_origin(source: Source, language: str, *, located: bool = False) -> str:
    """Return the author, the site or folder, and the date of a document, as far as known.

    What became of it since the report stands behind them.

    Of a document of a knowledge base, and of what was computed from one, the base is named.

    Args:
        source: The document.
        language: The language of the words.
        located: Whether its location stands beside it, which may name the site already.
    """
    site = _site(source)
    if site and source["kind"] in ("knowledge", "computed"):
        site = get_label("from_base", language).format(site)
    elif located and site.casefold() in source["location"].casefold():
        site = ""
    known = (source.get("author"), site, source.get("published"), source.get("since"))
    return ", ".join(filter(None, known))


def describe_location(source: Source) -> str:
    """Return where a source is, as a person reads it: a path, an address, or a call of a tool.

    The call is empty where the title tells all of it.
    """
    if source["kind"] != "tool":
        return source["location"]
    called, _, written = source["location"].partition("#")[0].partition(" ")
    try:
        arguments = json.loads(written or "{}")
    except ValueError:
        return source["location"]
    server, _, tool = called.partition("/")
    told = ", ".join(f"{name} {_in_words(value)}" for name, value in arguments.items())
    call = f"{server}: {tool} ({told})" if told else f"{server}: {tool}"
    return "" if call == source["title"] else call


def _in_words(value: object) -> str:
    """Return a value of JSON without its punctuation; what lies within others in brackets."""
    if isinstance(value, dict):
        return "(" + ", ".join(f"{name} {_in_words(one)}" for name, one in value.items()) + ")"
    if isinstance(value, list):
        return "(" + ", ".join(map(_in_words, value)) + ")"
    return value if isinstance(value, str) else json.dumps(value)


def _site(source: Source) -> str:
    """Return the site of a web page, the folder of a file, or the name of a knowledge base."""
    path, _ = _split_location(source)
    if get_origin(source) == "web":
        return source.get("site") or extract_host(path or source["location"])
    if get_origin(source) == "file" and (path or source["location"]):
        return source.get("site") or PurePath(path or source["location"]).parent.name
    return source.get("site", "")


def extract_host(address: str) -> str:
    """Return the host of a web address; "" if it has none."""
    try:
        return (urlsplit(address).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def is_wide_place(source: Source) -> bool:
    """Tell whether a place has many lines, many rows or several sections, and needs narrowing."""
    several = get_origin(source) == "file" and RANGE_SEPARATOR in _section(source)
    return several or _is_long_place(source) or _is_numbered_part(source)


def _is_numbered_part(source: Source) -> bool:
    """Tell whether a place is a part by a number of ours alone, which no reader can look up."""
    return [name for name, _ in parse_qsl(_split_location(source)[1])] == ["part"]


def _is_long_place(source: Source) -> bool:
    """Tell whether a place has too many lines or rows to be named as a whole."""
    found = _LONG_RANGE.search(_split_location(source)[1])
    return found is not None and int(found["last"]) - int(found["first"]) >= _MAX_PLACE_LINES


def narrow_place(source: Source, text: str, cited: EvidenceSpan | None) -> Source:
    """Return a source with its place narrowed to the cited part.

    Each line of a page's text is one or more lines or rows of its document, so the lines above and
    below the cited part are certain not to be cited. Several sections, and a part of a long page,
    are narrowed to the section whose heading is above the cited part.

    Args:
        source: The source.
        text: The text of its page.
        cited: The cited part of the text, if it is known.
    """
    path, where = _split_location(source)
    found = _LONG_RANGE.search(where)
    if cited and _is_numbered_part(source):
        # Whoever wrote a page of the web may have written an address into its headings.
        heading = strip_foreign_addresses(_find_heading(text, cited), "")
        place = f"{_HEADING_PLACE}{quote(heading)}"
        return source | {"location": f"{path}#{place}"} if heading else source
    if cited and get_origin(source) == "file" and RANGE_SEPARATOR in _section(source):
        source = _narrow_to_section(source, text, cited)
    if cited is None or not found or not _is_long_place(source):
        return source
    first, last = int(found["first"]), int(found["last"])
    if text.count("\n") > last - first:
        return source
    first += text.count("\n", 0, cited.start)
    last -= text.count("\n", max(cited.start, cited.end - 1))
    line = "L" if found["kind"] == "L" else ""
    end = f"-{line}{last}" if last > first else ""
    place = f"{where[: found.start()]}{found['kind']}{first}{end}{where[found.end() :]}"
    return source | {"location": f"{path}#{place}"}


def _narrow_to_section(source: Source, text: str, cited: EvidenceSpan) -> Source:
    """Return a source of several sections as the one whose heading is above the cited part."""
    heading = _find_heading(text, cited)
    document = source["title"].partition(SECTION_SEPARATOR)[0]
    return source | {"title": f"{document}{SECTION_SEPARATOR}{heading}"} if heading else source


def _find_heading(text: str, cited: EvidenceSpan) -> str:
    """Return the heading above a cited part; "" for none."""
    above = [one for one in find_headings_above(text, cited.start) if not one.startswith("-")]
    return above[-1] if above else ""


def disambiguate_titles(sources: Sequence[Source]) -> list[Source]:
    """Return documents with file names added to titles that several of them share."""
    titles = Counter(source["title"] for source in sources)
    return [
        source | {"title": f"{source['title']} ({PurePath(source['location']).name})"}
        if get_origin(source) == "file" and source["title"] and titles[source["title"]] > 1
        else source
        for source in sources
    ]


def describe_place(source: Source, language: str) -> str:
    """Return the place of a source in its document, in words; "" for a whole document."""
    _, where = _split_location(source)
    if where.startswith(_HEADING_PLACE):
        heading = unquote(where.removeprefix(_HEADING_PLACE))
        return format_place("section", _shorten_title(heading, _MAX_TITLE_CHARS), language)
    lines = _LINES.fullmatch(where)
    if lines:
        counted = format_place("lines", "-".join(filter(None, lines.groups())), language)
        return ", ".join(filter(None, (_describe_section(source, where, language), counted)))
    places = [(name, value) for name, value in parse_qsl(where) if _is_counted(name, value)]
    if places:
        # Readers see pages, not the parts that a page was split into.
        shown = [place for place in places if place[0] != "part"] or places
        return ", ".join(format_place(name, value, language) for name, value in shown)
    return _describe_section(source, where, language)


def _describe_section(source: Source, where: str, language: str) -> str:
    """Return the section of a file in words; "" if the place is none or has no title."""
    section = _section(source)
    if get_origin(source) != "file" or not where or not section:
        return ""
    named = _shorten_section(section)
    return named if named.startswith("§") else format_place("section", named, language)


def _section(source: Source) -> str:
    return source["title"].partition(SECTION_SEPARATOR)[2]


def _split_location(source: Source) -> tuple[str, str]:
    """Return the address of a document and the place in it; only the address may contain `#`."""
    if get_origin(source) == "file":
        path, mark, where = source["location"].rpartition("#")
        if mark:
            return path, where
        # What is said of a file that is gone is no path.
        known = _STORED.match(source["location"]) or source["location"].startswith("/")
        return (source["location"], "") if known else ("", "")
    if get_origin(source) == "web":
        path, _, where = source["location"].partition("#")
        return path, where
    return "", ""


def get_page_anchor(source: Source) -> str:
    """Return the part of a web address behind `#` by which a browser opens a PDF at a page."""
    pages = dict(parse_qsl(_split_location(source)[1])).get("page", "").partition("-")[0]
    return f"page={pages}" if pages.isdecimal() and pages.isascii() else ""


def _is_counted(name: str, value: str) -> bool:
    return name == "sheet" or (is_kind_of_place(name) and bool(_RANGE.fullmatch(value)))


def _shorten_section(title: str) -> str:
    """Return a section, or the ends of a range, by number or else by title.

    A title that is too long is cut after a word.
    """
    ends = title.split(RANGE_SEPARATOR)
    numbers = [found[1] for end in ends if (found := _SECTION_NUMBER.match(end))]
    if len(numbers) == len(ends):
        return "–".join(f"§ {number}" for number in dict.fromkeys(numbers))
    limit = _MAX_TITLE_CHARS // len(ends)
    return " – ".join(_shorten_title(end, limit) for end in ends)


def _shorten_title(title: str, limit: int) -> str:
    """Return a title, one that is too long cut after a word."""
    return title if len(title) <= limit else f"{title[:limit].rsplit(' ', 1)[0]}…"


_SECTION_NUMBER = regex(r"(?:§ ?)?(\d{1,3}(?:\.\d{1,3})+)\.?(?=\s)")
_MAX_MARGIN = 600  # characters of the paragraph on each side of the cited part
_MIN_EXCERPT_CHARS = 240  # less than that is shown with the paragraphs around it
_STOP_MARGIN = 160  # characters in which the end of a sentence is looked for
FALLBACK_EXCERPT_CHARS = 300
"""How many characters of a page are shown if the cited part is not found."""

_STOP = regex(r"[.!?](?=\s)|[。！？]")
_SPACE = regex(r"\s+")
_HEADING = regex(r"^\s*#{1,6}\s+")
_BREAK = regex(
    r"[ \t]*\n\s*\n\s*|[ \t]*\n(?=[ \t]*(?:[-*+•]|\d{1,3}[.)])\s)|(?<=[:：]) *\n"
)  # a new paragraph, item or row


class ExcerptPart(NamedTuple):
    """Words of a page, and the number of the cited part they are, from 1; 0 for none."""

    text: str
    cited: int = 0


def find_paragraph(text: str, span: EvidenceSpan) -> tuple[int, int]:
    """Return the start and the end of the paragraph of a cited part, bounded around the part.

    A part of several paragraphs gets all of them. With a short paragraph come its neighbours.
    """
    blocks = split_blocks(text)
    first = max(0, bisect_right(blocks, (span.start, len(text))) - 1)
    last = max(first, bisect_left(blocks, (span.end, 0)) - 1)
    if blocks and blocks[last][1] - blocks[first][0] < _MIN_EXCERPT_CHARS:
        first, last = max(0, first - 1), min(len(blocks) - 1, last + 1)
    start = min(blocks[first][0], span.start) if blocks else 0
    end = max(blocks[last][1], min(span.end, len(text))) if blocks else len(text)
    start = max(start, span.start - _MAX_MARGIN)
    if end <= span.end + _MAX_MARGIN:
        return start, end
    end = span.end + _MAX_MARGIN
    stop = _STOP.search(text, end - 1, end + _STOP_MARGIN)
    return start, stop.end() if stop else end


def group_spans(text: str, spans: Sequence[EvidenceSpan]) -> list[list[EvidenceSpan]]:
    """Return the spans of one page in order, grouped where their paragraphs overlap."""
    groups: list[list[EvidenceSpan]] = []
    done = -1
    for span in sorted(set(spans)):
        start, end = find_paragraph(text, span)
        if groups and start <= done:
            groups[-1].append(span)
        else:
            groups.append([span])
        done = max(done, end)
    return groups


def build_excerpt(text: str, spans: Sequence[EvidenceSpan]) -> list[ExcerptPart]:
    """Return neighbouring cited parts of a page within their paragraphs.

    An uncertain part is shown, but not numbered.
    """
    bounds = [find_paragraph(text, span) for span in spans]
    start, end = min(start for start, _ in bounds), max(end for _, end in bounds)
    certain = [(number, span) for number, span in enumerate(spans, start=1) if span.certain]
    done = certain[0][1].start if certain else spans[0].start
    parts = [ExcerptPart(_cut_start(text[start:done], whole=_is_edge(text, start, 0)))]
    for number, span in certain:
        parts.append(ExcerptPart(_join_lines(text[done : span.start])))
        parts.append(ExcerptPart(_join_lines(text[max(done, span.start) : span.end]), number))
        done = max(done, span.end)
    parts.append(ExcerptPart(_cut_end(text[done:end], whole=_is_edge(text, end, 1))))
    return [part for part in parts if part.text or part.cited]


def _is_edge(text: str, place: int, side: int) -> bool:
    """Tell whether a paragraph of a text starts (side 0) or ends (side 1) at a place."""
    return place in (0, len(text)) or any(block[side] == place for block in split_blocks(text))


def _join_lines(text: str) -> str:
    """Return a text with wrapped lines joined and without the marks of headings."""
    parts = (_SPACE.sub(" ", _HEADING.sub("", part)) for part in _BREAK.split(text))
    return "\n".join(parts)


def _cut_start(text: str, *, whole: bool) -> str:
    """Return a text from its first whole word on, after an ellipsis."""
    line = _join_lines(text)
    if whole:
        return line.lstrip()
    head, space, rest = line.partition(" ")
    return f"… {rest if space and len(head) < len(line) // 2 else line}"


def _cut_end(text: str, *, whole: bool) -> str:
    """Return a text up to its last whole word or sentence, before an ellipsis."""
    line = _join_lines(text)
    if whole:
        return line.rstrip()
    rest, space, tail = line.rpartition(" ")
    complete = _STOP.search(f"{line[-1:]} ")
    return f"{rest if space and len(tail) < len(line) // 2 and not complete else line} …"
